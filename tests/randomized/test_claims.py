"""What is stated as certain is what was asked and settled, and nothing else."""

import numpy as np
import pandas as pd
import pytest

import causalfocus as cf
from worlds import action_set, rig

TRUTH = cf.LinearSEM([[0, 0, 0], [0.35, 0, 0], [0.8, 0, 0]], 1.0)
CANCELLED = cf.LinearSEM([[0, 0, 0], [0.8, 0, 0], [0.4, -0.5, 0]], 1.0)
"""X1 acts on X3 directly and through X2, and together that is nothing."""


def finish(learner: cf.Focus, truth: cf.LinearSEM, seed: int, most: int = 5000) -> cf.Focus:
    system = rig(seed, truth)
    while not learner.has_stopped and learner.rounds < most:
        action = learner.ask()
        learner.tell(action, system(action))
    return learner


def test_pairs_that_nobody_asked_about_are_not_stated_as_certified() -> None:
    learner = cf.Focus(action_set(TRUTH.names), cf.ModelClass(0.3), about=("X1", "X3"), seed=3)
    finish(learner, TRUTH, 3)
    result, effects = learner.result(), learner.effects()
    assert result.certified and result.claimed == (("X1", "X3"),)
    for one in learner.verdicts():
        shown = effects[one.cause, one.effect]
        assert (one.stand == "open") == (shown.verdict == "open")
    frame = result.to_frame().set_index(["cause", "effect"])
    assert frame["certified"].sum() == 1 and frame["certified"]["X1", "X3"]


def test_a_total_effect_that_was_asked_for_is_in_the_result() -> None:
    question = cf.total("X1", "X3")
    learner = cf.Focus(action_set(TRUTH.names), cf.ModelClass(0.3), about=question, seed=1)
    result = finish(learner, TRUTH, 1).result()
    assert result.certified and result.claimed == ()
    (total,) = result.totals
    assert (total.cause, total.effect) == ("X1", "X3") and total.low <= 0.8 <= total.high


@pytest.mark.parametrize("seed", range(6))
def test_a_required_direct_effect_says_nothing_of_the_total_one(seed: int) -> None:
    space = cf.ModelClass(0.3, required=[("X1", "X3")])
    question = cf.total("X1", "X3")
    learner = cf.Focus(action_set(TRUTH.names), space, about=question, seed=seed)
    (total,) = finish(learner, CANCELLED, seed).result().totals
    assert total.estimate == 0.0, "its sign is not certain, so none is shown"
    assert total.low <= 0.0 <= total.high


def test_questions_of_which_nothing_is_left_are_refused() -> None:
    actions = cf.ActionSet({"x": (-2, 2), "y": (-2, 2), "z": None})
    known = cf.ModelClass(0.3, outcomes=["z"], forbidden=[("x", "y")])
    for about in (("z", "x"), ("x", "y")):
        with pytest.raises(cf.InvalidInputError, match="nothing is left to find out"):
            cf.Focus(actions, known, about=about)
    with pytest.raises(cf.InvalidInputError, match="nothing is left to find out"):
        cf.Focus(actions, known, about=cf.total("z", "x"))


def test_a_budget_is_a_limit_for_batches_as_well() -> None:
    learner = cf.Focus(action_set(TRUTH.names), cf.ModelClass(0.3), budget=5, seed=0)
    with pytest.raises(cf.AlreadyStoppedError, match="the budget is 5"):
        learner.ask_batch(6)
    assert len(learner.ask_batch(5)) == 5
    with pytest.raises(cf.AlreadyStoppedError, match="budget"):
        learner.ask_batch(6)


def test_rows_that_could_be_exchanged_need_their_numbers() -> None:
    """Sorted by an outcome, a table would match outcomes to coins of other asks."""
    learner = cf.Focus(action_set(TRUTH.names), cf.ModelClass(0.3), seed=0)
    rng, rows = np.random.default_rng(0), []
    learner.ask_batch(40)
    for ask in learner.pending:
        values = dict(zip(TRUTH.names, rng.standard_normal(3).tolist(), strict=True))
        rows.append({"action": str(ask.action), "ask": ask.number, **values})
    frame = pd.DataFrame(rows)
    with pytest.raises(cf.InvalidInputError, match="Add a column ask"):
        learner.tell_many(frame.drop(columns="ask"), unread="nominal")
    assert learner.rounds == 0, "nothing was taken in"
    other = cf.Focus(action_set(TRUTH.names), cf.ModelClass(0.3), seed=0)
    other.ask_batch(40)
    other.tell_many(frame.sort_values("X3"), unread="nominal")
    learner.tell_many(frame, unread="nominal")
    assert learner.effects() == other.effects(), "with numbers the order does not matter"


def test_the_evidence_reaches_the_threshold_when_it_stops_and_not_before() -> None:
    learner, system = cf.Focus(action_set(TRUTH.names), cf.ModelClass(0.3), seed=5), rig(5, TRUTH)
    while not learner.has_stopped and learner.rounds < 4000:
        action = learner.ask()
        learner.tell(action, system(action))
        decision = learner.decision
        if learner.rounds > 150 and not decision.stop and learner.rounds % 7 == 0:
            assert decision.evidence < decision.threshold
    assert learner.decision.evidence >= learner.decision.threshold
