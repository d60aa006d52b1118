"""Effects that are known to be there, by the randomized rule: shown, sized, and never doubted."""

import math

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.guarantees.closure import closed_at, ruled_out
from causalfocus.guarantees.effects import effects_by_coins
from causalfocus.guarantees.randomized import RandomizedRule
from causalfocus.guarantees.randomized_intervals import Demands
from causalfocus.guarantees.randomized_record import left_unknown, new_record
from causalfocus.moments.effect_intervals import Intervals
from worlds import action_set, finish, rig

EPSILON, LEAST = 0.1, 0.3
NEEDED = np.array([[False, False], [True, False]])


def demands(epsilon: float = EPSILON) -> Demands:
    size = np.ones((2, 2))
    return Demands(epsilon * size, LEAST * size, NEEDED)


def intervals(low: float, high: float) -> Intervals:
    """Of the required effect; that of the other is settled."""
    return Intervals(np.array([[0.0, -0.1], [low, 0.0]]), np.array([[0.0, 0.1], [high, 0.0]]), 50)


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (-math.inf, math.inf, LEAST),
        (-0.05, 0.15, 0.05),
        (-0.4, 0.2, -0.1),
        (-0.02, 0.0, -0.01),
        (0.3, 0.4, 0.35),
    ],
)
def test_a_guess_of_zero_becomes_the_middle(low: float, high: float, shown: float) -> None:
    found = demands().settle(intervals(low, high), np.zeros((2, 2)))
    if (low, high) == (0.3, 0.4):  # all within epsilon of the end that is nearest to the guess
        shown = 0.3
    assert found[1, 0] == pytest.approx(shown)
    assert found[0, 1] == 0.0


def test_zero_in_the_very_middle_is_shown_beside_zero() -> None:
    for half in (0.05, 0.4):
        kept = intervals(-half, half)
        found = demands().settle(kept, np.zeros((2, 2)))
        assert 0.0 < found[1, 0] <= 1e-3 * EPSILON
        assert demands().holds(kept, found)[1, 0] == (half == 0.05)


def test_a_guess_within_the_interval_stands() -> None:
    found = demands().settle(intervals(-0.4, 0.4), np.array([[0.0, 0.0], [0.07, 0.0]]))
    assert found[1, 0] == 0.07


@pytest.mark.parametrize("size", [-0.05, 0.04, 0.0])
def test_the_sign_is_not_asked_but_that_it_is_shown(size: float) -> None:
    kept = intervals(-0.05, 0.05)
    weights = np.array([[0.0, 0.0], [size, 0.0]])
    assert demands().holds(kept, weights)[1, 0] == (size != 0.0)
    asked = Demands(EPSILON * np.ones((2, 2)), LEAST * np.ones((2, 2)))
    assert asked.holds(kept, weights)[1, 0] == (size == 0.0)


def test_the_accuracy_is_asked_in_full() -> None:
    """An interval that would settle an effect that is not there is too wide for one that is."""
    kept = intervals(-0.2, 0.2)
    assert not demands().holds(kept, demands().claim(kept))[1, 0]
    asked = Demands(EPSILON * np.ones((2, 2)), LEAST * np.ones((2, 2)))
    assert asked.holds(kept, asked.claim(kept))[1, 0]


@pytest.mark.parametrize(
    ("low", "high", "verdict", "is_settled"),
    [
        (-0.05, 0.05, "present, small", True),
        (-0.2, 0.2, "open", False),
        (-math.inf, math.inf, "open", False),
        (0.5, 0.9, "present", False),
    ],
)
def test_it_is_never_absent(low: float, high: float, verdict: str, is_settled: bool) -> None:
    kept = intervals(low, high)
    estimate = cf.LinearSEM(demands().settle(kept, np.zeros((2, 2))), 1.0)
    back, there = effects_by_coins(kept, demands(), estimate)
    assert there.cause == "X1" and there.is_required and not back.is_required
    assert (there.verdict, there.is_settled) == (verdict, is_settled)
    if there.is_settled:
        assert there.is_present and not there.has_sign
    graph_alone = effects_by_coins(kept, demands(math.inf), estimate)[1]
    assert graph_alone.is_settled and graph_alone.is_present


def test_required_effects_rule_out_loops_from_the_start() -> None:
    """With a chain that is known, by hand; a test of the evidence starts from the same."""
    needed = np.zeros((3, 3), dtype=np.bool_)
    needed[1, 0] = needed[2, 1] = True
    every = ~np.eye(3, dtype=np.bool_)
    record = new_record(every, acyclic=True, needed=needed)
    assert left_unknown(record).astype(int).tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
    at = closed_at(record, needed)
    assert at is not None
    found = at(record.sums.read(), 3.0)
    assert not found.low[0, 1:].any() and not found.high[0, 1:].any()
    assert math.isinf(found.high[1, 0])
    plain = new_record(every, acyclic=True)
    assert left_unknown(plain).sum() == 6
    assert not ruled_out(plain.kept, np.zeros_like(every)).any()


def test_chains_of_required_and_certain_effects_close_together() -> None:
    """X1 -> X2 is known, X2 -> X3 becomes certain: neither acts back, by intervals that are zero;
    and nothing is closed that the truth has.
    """
    truth = cf.LinearSEM([[0, 0, 0], [0.05, 0, 0], [0, 1.0, 0]], 1.0)
    space = cf.ModelClass(0.4, required=[("X1", "X2")], acyclic=True)
    actions = action_set(truth.names, at_once=None)
    learner = cf.Focus(actions, space, delta=0.1, seed=3)
    rule = learner.guarantee
    assert isinstance(rule, RandomizedRule)
    assert not rule.unknown[0, 1] and rule.unknown.sum() == 5
    finish(learner, rig(3, truth), 4000)
    effects = learner.effects()
    assert learner.has_stopped and learner.result().certified
    assert effects["X3", "X1"].is_given and effects["X3", "X2"].is_given
    assert effects["X2", "X3"].verdict == "present"
    required = effects["X1", "X2"]
    assert required.is_required and required.is_present and required.estimate != 0.0
    assert required.low <= 0.05 <= required.high
    assert rule.holds(learner.result().model, truth)


def test_of_a_total_effect_nothing_is_known_beforehand() -> None:
    """A direct effect may be undone along another way: its total one is shown as it is found."""
    truth = cf.LinearSEM([[0, 0], [0.6, 0]], 1.0)
    space = cf.ModelClass(0.4, required=[("X1", "X2")])
    learner = cf.Focus(action_set(truth.names), space, seed=1)
    assert all(not one.is_required for one in learner.total_effects())
    assert learner.total_effects()["X1", "X2"].estimate == 0.0 or learner.estimate.n_edges
