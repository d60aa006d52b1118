"""Verdicts, claims and levels from intervals."""

import math

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.guarantees.effects import Effect, effects_by_coins
from causalfocus.guarantees.randomized_intervals import (
    Demands,
    intervals_at,
    level_of,
)
from causalfocus.moments.effect_intervals import Intervals, no_intervals
from causalfocus.moments.randomized_sums import RandomizedSums
from randomized.rigs import CHAIN, bench, hidden

COARSE = Demands(np.full((3, 3), 0.3), np.full((3, 3), 0.35))


def verdict(low: float, high: float, epsilon: float = 0.1, min_effect: float = 0.3) -> Effect:
    lows, highs = np.array([[0.0, 0.0], [low, 0.0]]), np.array([[0.0, 0.0], [high, 0.0]])
    found = Intervals(lows, highs, 100)
    demands = Demands(np.full((2, 2), epsilon), np.full((2, 2), min_effect))
    claim = cf.LinearSEM(demands.claim(found), 1.0, names=["a", "b"])
    (one,) = (v for v in effects_by_coins(found, demands, claim) if v.effect == "b")
    return one


@pytest.mark.parametrize(
    ("low", "high", "finding"),
    [
        (0.1, 0.5, "present"),
        (-0.5, -0.1, "present"),
        (0.1, 0.29, "present, small"),
        (-0.2, -0.1, "present, small"),
        (-0.29, 0.29, "absent"),
        (0.0, 0.2, "absent"),
        (-0.3, 0.1, "open"),
        (-0.1, 0.3, "open"),
        (-math.inf, math.inf, "open"),
    ],
)
def test_findings(low: float, high: float, finding: str) -> None:
    assert verdict(low, high).verdict == finding


def test_what_an_open_pair_waits_for() -> None:
    absent = verdict(-0.25, 0.35)  # its middle leaves 0.25 to min_effect
    assert absent.half == pytest.approx(0.3) and not absent.is_settled
    assert absent.waits_for == pytest.approx(100 * (0.3 / 0.25) ** 2)
    assert verdict(0.4, 0.8).waits_for == pytest.approx(400)
    settled = verdict(0.45, 0.55)
    assert settled.is_settled and settled.waits_for == 100
    assert verdict(-math.inf, math.inf).waits_for == math.inf


def test_a_refuted_row_is_open() -> None:
    refuted = verdict(0.4, 0.3)
    assert refuted.verdict == "open" and not refuted.is_settled


def test_a_claim_holds_where_intervals_prove_it() -> None:
    low, high = np.array([[0, -0.1], [0.4, 0]]), np.array([[0, 0.2], [0.5, 0]])
    demands = Demands(np.full((2, 2), 0.06), np.full((2, 2), 0.25))
    found = Intervals(low, high, 10)
    claim = demands.claim(found)
    assert claim.tolist() == [[0, 0], [0.45, 0]] and demands.holds(found, claim).all()
    assert not demands.holds(found, np.array([[0, 0], [0.52, 0]]))[1, 0]
    assert not demands.holds(found, np.zeros((2, 2)))[1, 0]
    assert not demands.holds(found, np.array([[0, 0.05], [0.45, 0]]))[0, 1]


@pytest.mark.parametrize("epsilon", [math.inf, 2.0])
def test_what_is_reported_has_a_sign_however_coarse_the_weights_may_be(epsilon: float) -> None:
    """Asked for the graph alone, a weight may be anything, and zero still has to be excluded."""
    demands = Demands(np.full((2, 2), epsilon), np.full((2, 2), 0.3))
    for low, high, holds in [(-1, 1, False), (0, 1, False), (0.01, 1, True), (-1, -0.01, False)]:
        found = Intervals(np.array([[0, 0], [low, 0]]), np.array([[0, 0], [high, 0]]), 10)
        assert demands.holds(found, np.array([[0, 0], [0.7, 0]]))[1, 0] == holds
        mirrored = Intervals(-found.high, -found.low, 10)
        assert demands.holds(mirrored, np.array([[0, 0], [-0.7, 0]]))[1, 0] == holds
    nothing = no_intervals(~np.eye(2, dtype=np.bool_))
    assert not demands.holds(nothing, np.array([[0, 0.0], [0.7, 0]])).all(axis=1).any()
    coarse = verdict(-0.5, 1.5, epsilon=epsilon)
    assert not coarse.is_settled and coarse.waits_for == pytest.approx(400)


def played(n: int) -> tuple[Floats, RandomizedSums]:
    one = bench(CHAIN, hidden, seed=3)
    one.play(n)
    return COARSE.claim(intervals_at(one.state, 3.0)), one.state


def test_the_level_is_the_largest_at_which_the_claim_stands() -> None:
    claim, state = played(1200)
    level = level_of(state, claim, COARSE)
    assert level > 1.0
    assert COARSE.holds(intervals_at(state, level), claim).all()
    assert not COARSE.holds(intervals_at(state, 1.002 * level), claim).all()
    assert level_of(state, -claim, COARSE) == 0.0


def test_levels_rise_with_the_rounds() -> None:
    levels = [level_of(state, claim, COARSE) for claim, state in map(played, (100, 700, 2000))]
    assert levels[0] == 0.0 and levels[0] < levels[1] < levels[2]


def test_verdicts_never_change_back() -> None:
    one = bench(CHAIN, hidden, seed=6)
    kept = no_intervals(one.state.unknown)
    findings: dict[tuple[str, str], str] = {}
    for _ in range(60):
        one.play(20)
        kept = kept.intersect(intervals_at(one.state, 3.0))
        claim = cf.LinearSEM(COARSE.claim(kept) * (CHAIN != 0.0), 1.0, names=["a", "b", "c"])
        for pair in effects_by_coins(kept, COARSE, claim):
            before = findings.get((pair.cause, pair.effect), "open")
            assert before == "open" or pair.verdict in (before, "present, small")
            findings[pair.cause, pair.effect] = pair.verdict
    assert findings["a", "b"] == findings["b", "c"] == "present"
    assert findings["a", "c"] == findings["c", "b"] == "absent"


@pytest.mark.parametrize("bad", [np.zeros((2, 2)), np.ones(3), np.full((2, 2), np.nan)])
def test_bad_demands_are_refused(bad: Floats) -> None:
    with pytest.raises(cf.InvalidInputError, match="a table of positive numbers"):
        Demands(bad, np.ones((2, 2)))


def test_a_level_is_positive() -> None:
    _, state = played(20)
    with pytest.raises(cf.InvalidInputError, match="above 0; got 0"):
        intervals_at(state, 0)
