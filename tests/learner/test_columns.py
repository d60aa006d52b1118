"""A learner that makes sets of variables on demand: the same run again, pairs, and evidence."""

import pickle
from typing import Any

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.allocation import AdaHedge
from causalfocus.campaign.checkpoint import pack, unpack
from causalfocus.learner.parts import are_same
from causalfocus.learner.schedule import FIRST_COLUMNS, Schedule
from causalfocus.system import choices
from causalfocus.system.columns import first_columns, n_sets
from worlds import action_set, actions_of, play, rig

TRUTH = cf.random_sem(5, density=0.5, seed=3)
ACTIONS = action_set(TRUTH.names, at_once=None)
SPACES = {"class": cf.PAPER_CLASS, "gaussian": cf.ModelClass(0.15, intercept=False)}
RULES = pytest.mark.parametrize("rule", ["class", "gaussian"])


@pytest.fixture
def few_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the sets of five variables were too many to list."""
    monkeypatch.setattr(choices, "MOST_CHOICES", 8)


def focus(rule: str, **options: Any) -> cf.Focus:
    given: dict[str, Any] = {"epsilon": 0.07, "rule": rule, "seed": 4}
    return cf.Focus(ACTIONS, SPACES[rule], **(given | options))


@RULES
@pytest.mark.usefixtures("few_listed")
def test_columns_grow_and_a_replay_is_the_same_to_the_bit(rule: str) -> None:
    learner = play(focus(rule), rig(1, TRUTH), 150)
    first = first_columns(ACTIONS)
    columns = learner.state.columns
    assert columns[: len(first)] == first and len(first) < len(columns) < n_sets(ACTIONS)
    assert learner.choices.columns == columns
    k = len(columns)
    state = learner.state
    assert {len(a) for a in (state.counts, state.played, state.hedge.weights)} == {k}
    assert state.counts.sum() == 150 == sum(learner.counts.values())
    assert state.counts[len(first) :].sum() > 0
    twin = learner.replay()
    assert are_same(twin.state, learner.state)
    assert actions_of(play(twin, rig(2, TRUTH), 30)) == actions_of(play(learner, rig(2, TRUTH), 30))
    same = play(focus(rule), rig(1, TRUTH), 150)
    assert same.state.columns == columns


@RULES
@pytest.mark.parametrize("n", [0, FIRST_COLUMNS, 90])
@pytest.mark.usefixtures("few_listed")
def test_a_checkpoint_has_the_columns(rule: str, n: int) -> None:
    """Also one that is made in the very round in which columns were."""
    learner = play(focus(rule), rig(1, TRUTH), n)
    learner.ask_batch(2)
    state, _ = unpack(pack(learner, {}), focus(rule))
    assert are_same(state, learner.state) and state.columns == learner.state.columns
    assert are_same(state.standing.schedule, learner.state.standing.schedule)
    twin = focus(rule)
    twin.restore(state, list(learner.log))
    assert twin.choices == learner.choices
    assert actions_of(play(twin, rig(2, TRUTH), 40)) == actions_of(play(learner, rig(2, TRUTH), 40))
    assert are_same(twin.state, learner.state)
    assert are_same(pickle.loads(pickle.dumps(learner)).state, learner.state)  # noqa: S301


@RULES
def test_evidence_does_not_know_which_columns_there_are(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same log, told to a learner with all sets and to one with columns."""
    whole = play(focus(rule), rig(1, TRUTH), 200)
    monkeypatch.setattr(choices, "MOST_CHOICES", 8)
    some = focus(rule).replay(whole.log)
    assert whole.choices.is_whole and not some.choices.is_whole
    assert some.decision.evidence == whole.decision.evidence
    assert some.estimate == whole.estimate and some.counts == whole.counts
    assert some.cost == whole.cost


@RULES
@pytest.mark.usefixtures("few_listed")
def test_it_certifies_and_is_right(rule: str) -> None:
    truth = cf.LinearSEM(1.2 * np.eye(4, k=-1), 1.0)
    space = cf.ModelClass(0.5, 1.5, (0.8, 1.2), intercept=False)
    actions = action_set(truth.names, at_once=None)
    learner = cf.Focus(actions, space, epsilon=0.25, rule=rule, seed=1)
    assert cf.run(learner, rig(3, truth), max_rounds=2000)
    assert learner.guarantee.holds(learner.result().model, truth)
    assert learner.indistinguishable() is None
    assert sum(learner.allocation.values()) == pytest.approx(1.0)


@pytest.mark.usefixtures("few_listed")
def test_what_is_in_no_column_is_told_counted_and_paid() -> None:
    learner = play(focus("class"), rig(1, TRUTH), 3)
    absent = cf.do({"X1": 2.0, "X2": -2.0, "X3": 2.0, "X5": 2.0})
    assert learner.choices.index(absent) is None and absent in ACTIONS
    k, cost = len(learner.choices), learner.cost
    learner.tell(absent, TRUTH.sample(absent, 1, 0)[0])
    assert learner.counts[absent] == 1 and learner.cost == cost + 1.0
    assert learner.state.counts.sum() == 3 and len(learner.choices) == k
    outside = cf.do("X1", 0.5)
    learner.tell(outside, TRUTH.sample(outside, 1, 0)[0])
    assert outside not in learner.counts and learner.rounds == 5
    assert learner.ask_batch(2, pending=[absent, outside])


def test_fourteen_variables_any_number_at_once() -> None:
    """Before and after columns were made, fifty rounds are asked for, and every pair of a variable
    that is set and one that is free occurs in them.
    """
    truth = cf.random_sem(14, density=0.15, seed=1)
    actions = action_set(truth.names, at_once=None)
    learner = cf.Focus(actions, cf.PAPER_CLASS, epsilon=0.07, rule="class", seed=2)
    first, system = len(learner.choices), rig(5, truth)
    batch = learner.ask_batch(50)
    assert len(batch) == 50 and max(len(action.targets) for action in batch) > 2
    for action in batch[: FIRST_COLUMNS + 1]:
        learner.tell(action, system(action))
    assert len(learner.choices) > first
    taken = [told.action for told in learner.log] + learner.ask_batch(50)
    assert all(action in actions for action in taken)
    for i in truth.names:
        for j in truth.names:
            assert i == j or any(i in a.targets and j not in a.targets for a in taken)


def test_taking_all_in_turn_needs_a_list() -> None:
    actions = action_set([f"v{i}" for i in range(14)], at_once=None)
    with pytest.raises(cf.InvalidInputError, match="takes all actions in turn, and there are 4,7"):
        cf.Focus(actions, cf.PAPER_CLASS, epsilon=0.07, rule="class", design="uniform")


def test_a_new_action_starts_beside_the_leader() -> None:
    rng = np.random.default_rng(3)
    hedge = AdaHedge.start(4)
    assert hedge.with_actions(4) is hedge
    assert hedge.with_actions(6).weights.tolist() == [1 / 6] * 6
    for _ in range(40):
        hedge = hedge.after(rng.random(4) * [1.0, 0.2, 0.5, 0.1])
    grown = hedge.with_actions(6)
    assert grown.cumulative[4:].tolist() == [hedge.cumulative.max()] * 2
    assert grown.weights.sum() == pytest.approx(1.0)
    assert grown.weights[4] == grown.weights[0] == grown.weights.max()
    slow = np.exp(np.log(6) / hedge.gap * (grown.cumulative - grown.cumulative.max()))
    assert grown.weights == pytest.approx(slow / slow.sum(), rel=1e-12)
    for _ in range(60):
        grown = grown.after(np.array([1.0, 0.2, 0.5, 0.1, 0.9, 0.0]))
    assert grown.weights[0] > grown.weights[4] > grown.weights[5]


def test_columns_are_made_at_moments_that_the_rounds_decide() -> None:
    schedule, made = Schedule(), []
    for rounds in range(200):
        if rounds >= schedule.next_columns:
            schedule = schedule.after_columns(rounds)
            made.append(rounds)
    assert made[:4] == [16, 20, 25, 32] and len(made) == 12
    assert schedule.after_survey(200).next_columns == schedule.next_columns
    assert schedule.after_check(200).with_lags(None).next_columns == schedule.next_columns
