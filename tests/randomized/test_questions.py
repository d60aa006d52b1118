"""Less is asked than everything: shares of delta, claims, design and stop follow."""

import math

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.guarantees.portions import (
    SHARE_OF_DESCENTS,
    SHARE_OF_GUARDS,
    Scope,
    portions_of,
    scope_of_all,
    total_nats,
)
from causalfocus.guarantees.randomized import RandomizedRule
from causalfocus.kernels.randomized.records import N_AIMS
from causalfocus.system.question import Question
from worlds import action_set, rig

TRUTH = cf.LinearSEM([[0, 0, 0, 0], [0.8, 0, 0, 0], [0, -0.7, 0, 0], [0.6, 0, 0.9, 0]], 1.0)
NAMES = TRUTH.names
SPACE = cf.ModelClass(0.3)


def mask(*pairs: tuple[int, int], p: int = 4) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    found = np.zeros((p, p), dtype=np.bool_)
    for j, k in pairs:
        found[j, k] = True
    return found


ALL = ~np.eye(4, dtype=np.bool_)
SCOPES = [
    scope_of_all(ALL),
    Scope(ALL, mask((3, 0), (3, 1), (3, 2)), mask()),
    Scope(ALL, mask((3, 0)), mask()),
    Scope(ALL, mask(), mask((3, 0))),
    Scope(ALL, mask((1, 0), (2, 1)), mask((3, 0), (3, 1))),
]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("acyclic", [False, True])
def test_all_shares_together_are_at_most_delta(scope: Scope, acyclic: bool) -> None:
    """Every test that counts in a union, at level 0: three of all coins and two aims a row, one
    direction a pair, the total effects, the guardrails and the descents.
    """
    spent = SHARE_OF_GUARDS + (SHARE_OF_DESCENTS if acyclic else 0.0)
    seen = np.zeros(4, dtype=np.int64)
    for portion in portions_of(scope, acyclic):
        rows = int((scope.unknown.any(axis=1) & portion.rows).sum())
        spent += 3 * rows * math.exp(-portion.own.all_coins)
        spent += N_AIMS * rows * math.exp(-portion.own.aim)
        spent += int(scope.unknown[portion.rows].sum()) * math.exp(-portion.own.direction)
        seen += portion.rows
    assert seen.tolist() == [1, 1, 1, 1], "every row is in one portion"
    spent += np.exp(-total_nats(scope))[ALL].sum()
    assert 0.85 < spent <= 1.0 + 1e-12


def test_what_is_asked_pays_less() -> None:
    everything, row, _, totals, _ = SCOPES
    least = portions_of(everything)[0].own.direction
    assert portions_of(row)[0].own.direction < least - 1.0
    assert total_nats(totals)[3, 0] < total_nats(everything)[3, 0] - 3.0


def learner_about(about: object, seed: int, delta: float = 0.05) -> cf.Focus:
    actions = action_set(NAMES, at_once=None)
    return cf.Focus(actions, SPACE, delta=delta, seed=seed, about=about)  # type: ignore[arg-type]


def finish(learner: cf.Focus, seed: int, most: int = 6000) -> cf.Focus:
    system = rig(seed, TRUTH)
    while not learner.has_stopped and learner.rounds < most:
        action = learner.ask()
        learner.tell(action, system(action))
    return learner


def test_fewer_rounds_for_less_and_the_claim_is_of_what_is_asked() -> None:
    rounds = {}
    for name, about in {"all": None, "X4": "X4", "pair": ("X1", "X4")}.items():
        learner = finish(learner_about(about, 3), 3)
        assert learner.result().certified
        assert learner.guarantee.holds(learner.result().model, TRUTH)
        rounds[name] = learner.rounds
    assert rounds["X4"] < 0.7 * rounds["all"] and rounds["pair"] < 0.7 * rounds["all"]


def test_a_total_effect_is_asked_for() -> None:
    learner = finish(learner_about(cf.total("X1", "X4"), 5), 5)
    assert learner.result().certified
    found, truth = learner.total_effects()["X1", "X4"], TRUTH.total_effects()[3, 0]
    assert found.is_settled and found.is_asked and found.low <= truth <= found.high
    assert abs(found.estimate - truth) <= 0.15
    alone = learner.counts
    assert sum(n for action, n in alone.items() if action.targets == ("X1",)) > 0.8 * learner.rounds
    assert "total effect of X1 on X4" in learner.decision.reason
    assert learner.decision.evidence >= learner.decision.threshold


def test_what_is_not_asked_has_intervals_all_the_same_and_nothing_waits_for_it() -> None:
    learner = finish(learner_about("X4", 8), 8)
    effects = learner.effects()
    assert effects.n_asked == 3 == effects.n_settled
    assert not effects["X1", "X2"].is_asked
    wide = [one for one in effects if not one.is_asked and one.is_bounded]
    for one in wide:
        truth = TRUTH.weights[NAMES.index(one.effect), NAMES.index(one.cause)]
        assert one.low <= truth <= one.high


def test_claims_are_right_in_a_few_hundred_short_runs() -> None:
    """At a large delta: whatever is asked, no interval may miss more often than that."""
    n_wrong = n = 0
    for seed in range(120):
        about = ["X4", cf.total("X1", "X4"), ("X2", "X3"), ["X2", cf.total("X2", "X4")]][seed % 4]
        learner = learner_about(about, seed, delta=0.4)
        finish(learner, seed, most=220)
        direct, total = TRUTH.weights, TRUTH.total_effects()
        missed = False
        for table, truth in ((learner.effects(), direct), (learner.total_effects(), total)):
            for one in table:
                at = NAMES.index(one.effect), NAMES.index(one.cause)
                missed = missed or not one.low - 1e-12 <= truth[at] <= one.high + 1e-12
        n_wrong += missed
        n += 1
    assert n_wrong <= 0.4 * n


def test_variables_whose_coin_tells_nothing_are_not_set() -> None:
    learner = finish(learner_about("X4", 2), 2)
    assert not any("X4" in action.targets for action, n in learner.counts.items() if n)


def test_it_is_restored_from_its_parts() -> None:
    learner = finish(learner_about(["X4", cf.total("X1", "X3")], 4), 4, most=150)
    twin = learner.replay()
    assert twin.guarantee.about == learner.guarantee.about
    assert twin.effects() == learner.effects()
    other = learner.with_rule("gaussian")
    assert other.guarantee.about.is_everything, "that rule claims all of them together"


def test_the_forecast_is_for_what_is_asked() -> None:
    actions = action_set(NAMES)
    rounds = [
        RandomizedRule(actions, SPACE, 0.15, 0.05, about=Question.of(about, NAMES)).forecast(
            TRUTH, lambda _: {}
        )
        for about in (None, "X4", cf.total("X1", "X4"))
    ]
    assert rounds[1] < 0.7 * rounds[0] and rounds[2] < 0.5 * rounds[0]
