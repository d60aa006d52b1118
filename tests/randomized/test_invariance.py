"""Names, units and batches do not matter; and nothing odd comes of odd data."""

import math

import numpy as np
import pytest

from causalfocus.arrays import Bools, Floats
from causalfocus.guarantees.randomized_intervals import (
    intervals_at,
    unidentified_rows,
)
from causalfocus.moments.effect_intervals import Intervals, no_intervals
from causalfocus.moments.randomized_sums import RandomizedSums
from randomized.rigs import CHAIN, LOOP, Noise, bench, gaussian, hidden

LEVEL = 3.0

Rounds = list[tuple[Bools, Floats, Floats]]


def recorded(weights: Floats = LOOP, n: int = 600) -> Rounds:
    one = bench(weights, hidden, seed=5, miss=0.1)
    one.play(n)
    return [(asked, signs, row) for _, asked, signs, row in one.literal.rounds]


def replayed(rounds: Rounds, unknown: Bools) -> RandomizedSums:
    state = RandomizedSums.empty(unknown)
    for number, (asked, signs, row) in enumerate(rounds, 1):
        state = state.issue(number, asked, signs).answer(number, row)
    return state


def everything(p: int) -> Bools:
    return ~np.eye(p, dtype=np.bool_)


def assert_same(one: Intervals, other: Intervals, slack: float) -> None:
    widths = np.where(one.half > 0, one.half, 1.0)
    assert (np.abs(one.low - other.low) <= slack * widths).all()
    assert (np.abs(one.high - other.high) <= slack * widths).all()


def test_other_names() -> None:
    rounds, order = recorded(), np.array([2, 0, 1])
    plain = intervals_at(replayed(rounds, everything(3)), LEVEL)
    other = [(asked[order], signs[order], row[order]) for asked, signs, row in rounds]
    found = intervals_at(replayed(other, everything(3)), LEVEL)
    both = np.ix_(order, order)
    assert np.isfinite(plain.low).all()
    assert_same(Intervals(plain.low[both], plain.high[both], plain.rounds), found, 1e-7)


@pytest.mark.parametrize("units", [(2.0, 0.25, 1024.0), (1e-9, 3.7, 1e6), (1e50, 1e-40, 1.0)])
def test_other_units(units: tuple[float, ...]) -> None:
    rounds, by = recorded(), np.array(units)
    plain = intervals_at(replayed(rounds, everything(3)), LEVEL)
    other = [(asked, signs, by * row) for asked, signs, row in rounds]
    found = intervals_at(replayed(other, everything(3)), LEVEL)
    back = by[None, :] / by[:, None]
    assert_same(plain, Intervals(back * found.low, back * found.high, 600), 1e-6)


def test_another_origin() -> None:
    """Data far from zero, as far as doubles resolve them."""
    rounds = recorded()
    plain = intervals_at(replayed(rounds, everything(3)), LEVEL)
    other = [(asked, signs, row + np.array([300.0, -1e6, 5.0])) for asked, signs, row in rounds]
    found = intervals_at(replayed(other, everything(3)), LEVEL)
    assert_same(plain, found, 1e-5)


def test_the_same_rounds_give_the_same_bits() -> None:
    rounds = recorded(n=300)
    one, other = (intervals_at(replayed(rounds, everything(3)), LEVEL) for _ in range(2))
    assert np.array_equal(one.low, other.low) and np.array_equal(one.high, other.high)


@pytest.mark.parametrize("p", [1, 2, 5])
def test_without_rounds_nothing_is_said(p: int) -> None:
    state = RandomizedSums.empty(everything(p))
    found = intervals_at(state, LEVEL)
    assert (found.low[everything(p)] == -math.inf).all() and not found.is_refuted.any()
    assert (found.high.diagonal() == 0.0).all()
    assert unidentified_rows(state).tolist() == [p > 1] * p


def test_two_variables() -> None:
    weights = np.array([[0.0, 0.0], [0.7, 0.0]])
    one = bench(weights, gaussian, seed=1)
    one.play(600)
    found = intervals_at(one.state, LEVEL)
    assert (found.low <= weights).all() and (weights <= found.high).all()
    assert found.low[1, 0] > 0.0 and found.half[0, 1] < 0.3


def test_one_variable_has_nothing_to_find() -> None:
    state = RandomizedSums.empty(everything(1))
    for number in range(1, 80):
        state = state.issue(number, [True], [1.0]).answer(number, [2.0])
    assert intervals_at(state, LEVEL).half.tolist() == [[0.0]]


@pytest.mark.parametrize("values", [0.0, 7.0, 1e90])
def test_constant_values_say_nothing(values: float) -> None:
    """Whatever is set, all stay where they are, or one of them does."""
    for stuck in ([0, 1, 2], [2]):
        rounds = recorded(n=200)
        for _, _, row in rounds:
            row[stuck] = values
        found = intervals_at(replayed(rounds, everything(3)), LEVEL)
        assert not np.isnan(found.low).any() and not found.is_refuted.any()
        assert (found.half[:2][everything(3)[:2]] == math.inf).all()


def test_copies_of_a_variable_say_nothing_false() -> None:
    rounds = recorded(n=400)
    for _, _, row in rounds:
        row[2] = 2.0 * row[1]
    found = intervals_at(replayed(rounds, everything(3)), LEVEL)
    assert (found.half[0, 1:] == math.inf).all() and not np.isnan(found.low).any()


def quiet(size: float) -> Noise:
    return lambda rng, _: size * rng.normal(size=3)


def test_hardly_any_noise() -> None:
    """The bounds stay right where digits end, and there are some as long as digits tell the noise
    of a precise instrument from none.
    """
    for size in (1e-3, 1e-4, 1e-5, 1e-6, 1e-9, 0.0):
        one = bench(LOOP, quiet(size), seed=2)
        one.play(300)
        found = intervals_at(one.state, LEVEL)
        assert (found.low <= LOOP + 1e-12).all() and (found.high >= LOOP - 1e-12).all()
        if size >= 1e-6:
            assert found.half.max() < 10 * size


def test_an_outcome_needs_no_coin() -> None:
    """The last variable is never set. As an outcome it hides nothing; else it does."""
    rounds = [one for one in recorded(CHAIN, 1200) if not one[0][2]]
    found = replayed(rounds, everything(3))
    assert unidentified_rows(found).tolist() == [True, True, False]
    assert (intervals_at(found, LEVEL).half[0, 1:] == math.inf).all()
    outcome = everything(3)
    outcome[:, 2] = False
    state = replayed(rounds, outcome)
    now = intervals_at(state, LEVEL)
    assert not unidentified_rows(state).any() and np.isfinite(now.half).all()
    assert (now.low <= CHAIN).all() and (now.high >= CHAIN).all() and (now.half[:, 2] == 0).all()


def test_effects_that_are_known_not_to_exist_help() -> None:
    rounds = recorded(CHAIN, 500)
    less = CHAIN != 0.0
    wide, narrow = (
        intervals_at(replayed(rounds, unknown), LEVEL) for unknown in (everything(3), less)
    )
    assert (narrow.low <= CHAIN).all() and (narrow.high >= CHAIN).all()
    assert (narrow.half[less] < wide.half[less]).all()


def test_a_wrong_mask_is_refuted() -> None:
    """An effect that is there and was said not to be: more coins than coefficients show it."""
    rounds = recorded(CHAIN, 1500)
    mask = everything(3)
    mask[1, 0] = False
    found = intervals_at(replayed(rounds, mask), LEVEL)
    assert found.is_refuted.tolist() == [False, True, False]


def test_an_effect_that_changes_is_refuted() -> None:
    """The intersection of all times is empty."""
    one = bench(np.array([[0.0, 0.0], [0.9, 0.0]]), gaussian, seed=3)
    kept = no_intervals(one.state.unknown)
    for n in range(60):
        if n == 20:
            one.rig.weights = np.array([[0.0, 0.0], [-0.9, 0.0]])
        one.play(40)
        kept = kept.intersect(intervals_at(one.state, LEVEL))
        if n < 20:
            assert not kept.is_refuted.any()
    assert kept.is_refuted.tolist() == [False, True]
