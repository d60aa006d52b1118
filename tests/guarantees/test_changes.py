"""Bounds of changes hold every system in the box, and are not much wider than they must be."""

import math
from itertools import product

import numpy as np
import pytest

from causalfocus.arrays import Bools, Floats
from causalfocus.guarantees.changes import (
    EffectBounds,
    Span,
    bounds_of_solution,
    no_bounds,
)
from causalfocus.moments.effect_intervals import Intervals


def box_of(weights: Floats, radius: float, rng: np.random.Generator) -> Intervals:
    """Intervals about given weights, of different widths and off the middle."""
    p = len(weights)
    below, above = radius * rng.random((2, p, p))
    off = ~np.eye(p, dtype=np.bool_)
    return Intervals(np.where(off, weights - below, 0.0), np.where(off, weights + above, 0.0), 9)


def drawn_from(box: Intervals, rng: np.random.Generator, at_corner: bool) -> Floats:
    share = rng.random(box.low.shape)
    return box.low + np.where(at_corner, share.round(), share) * (box.high - box.low)


def change_of(weights: Floats, is_set: Bools, steps: Floats) -> Floats:
    """The equations of all variables, solved at once: those that are set move by their steps."""
    system = np.eye(len(steps)) - np.where(is_set[:, None], 0.0, weights)
    return np.asarray(np.linalg.solve(system, np.where(is_set, steps, 0.0)), dtype=np.float64)


def with_no_totals(box: Intervals, *, acyclic: bool = False) -> EffectBounds:
    return EffectBounds(box, None, acyclic=acyclic, basis="guaranteed")


def holds(span: Span, change: Floats) -> bool:
    return bool(((span.low <= change) & (change <= span.high)).all())


@pytest.mark.parametrize("seed", range(12))
def test_every_system_in_the_box_is_within_with_loops(seed: int) -> None:
    """At corners and inside; two variables are held, of which one moves in every other case."""
    rng = np.random.default_rng([seed, 1])
    p = int(rng.integers(3, 7))
    weights = rng.normal(size=(p, p)) * 0.8 / p
    box = box_of(weights, 0.25 / p, rng)
    is_set = np.arange(p) < 2
    steps = np.where(is_set, [1.5, -2.0 * (seed % 2), *[0.0] * (p - 2)], 0.0)
    found = with_no_totals(box).change(is_set, steps)
    assert np.isfinite(found.low).all()
    assert found.low[:2].tolist() == found.high[:2].tolist() == steps[:2].tolist()
    for i in range(400):
        assert holds(found, change_of(drawn_from(box, rng, i % 2 == 0), is_set, steps))


@pytest.mark.parametrize("seed", range(30))
def test_what_has_a_bound_keeps_to_it_where_not_all_have_one(seed: int) -> None:
    """Wide boxes, of which some systems are near to not settling, or beyond."""
    rng = np.random.default_rng([seed, 3])
    p = 4
    box = box_of(rng.normal(size=(p, p)) * 0.4, rng.uniform(0.2, 0.8), rng)
    box = Intervals(np.where(rng.random((p, p)) < 0.3, 0.0, box.low), box.high, 9)
    closed = rng.random((p, p)) < 0.3
    box = Intervals(np.where(closed, 0.0, box.low), np.where(closed, 0.0, box.high), 9)
    box = Intervals(np.minimum(box.low, box.high), np.maximum(box.low, box.high), 9)
    is_set, steps = np.arange(p) == 0, np.array([1.0, 0.0, 0.0, 0.0])
    found = with_no_totals(box).change(is_set, steps)
    for i in range(400):
        assert holds(
            found,
            np.where(is_set, steps, change_of(drawn_from(box, rng, i % 2 == 0), is_set, steps)),
        )


def test_the_bounds_are_those_of_the_corners_but_for_the_second_order() -> None:
    """A component of the solution is a quotient of linear functions of each single entry, so its
    extremes are at corners: for three free variables all 2^9 are taken.
    """
    rng = np.random.default_rng(5)
    weights = np.array([[0, 0.3, -0.2], [0.4, 0, 0.5], [-0.6, 0.2, 0]])
    start, excess = rng.normal(size=3), []
    for radius in (0.1, 0.02):
        low, high = weights - radius, weights + radius
        np.fill_diagonal(low, 0.0)
        np.fill_diagonal(high, 0.0)
        spread = Span(start - radius, start + radius)
        found = bounds_of_solution(Span(low, high), spread)
        off, solutions = ~np.eye(3, dtype=np.bool_), []
        for ends in product((0.0, 1.0), repeat=9):
            matrix = np.zeros((3, 3))
            matrix[off] = low[off] + np.array(ends[:6]) * (high - low)[off]
            b = spread.low + np.array(ends[6:]) * (spread.high - spread.low)
            solutions.append(np.linalg.solve(np.eye(3) - matrix, b))
        least, most = np.min(solutions, axis=0), np.max(solutions, axis=0)
        assert (found.low <= least).all() and (most <= found.high).all()
        excess.append(float(np.max((found.high - found.low) / (most - least))) - 1.0)
    assert excess[1] < 0.5 * excess[0] < 0.5


def test_in_an_order_it_is_interval_substitution() -> None:
    """A chain with one interval each, by hand: 2 [1, 2] = [2, 4], then [-1, 0.5] [2, 4]."""
    low, high = np.zeros((3, 3)), np.zeros((3, 3))
    low[1, 0], high[1, 0], low[2, 1], high[2, 1] = 1.0, 2.0, -1.0, 0.5
    bounds = with_no_totals(Intervals(low, high, 1))
    found = bounds.change(np.array([True, False, False]), np.array([2.0, 0.0, 0.0]))
    assert found.low == pytest.approx([2.0, 2.0, -4.0]) and (found.low <= [2.0, 2.0, -4.0]).all()
    assert found.high == pytest.approx([2.0, 4.0, 2.0]) and (found.high >= [2.0, 4.0, 2.0]).all()


def test_without_loops_many_variables_have_bounds_too() -> None:
    """Of nine free variables in a chain of ones, against whose order all pairs are open a bit."""
    n = 9
    low, high = np.full((n, n), -1e-3), np.full((n, n), 1e-3)
    chain = np.eye(n, k=-1)
    inner = Span(np.where(chain > 0, 0.5, low), np.where(chain > 0, 3.0, high))
    np.fill_diagonal(inner.low, 0.0)
    np.fill_diagonal(inner.high, 0.0)
    start = Span(np.eye(n)[0], np.eye(n)[0])
    found = bounds_of_solution(inner, start, acyclic=True)
    assert np.isfinite(found.high).all() and found.high[-1] >= 3.0 ** (n - 1)
    assert np.isinf(bounds_of_solution(inner, start).high).any()
    assert found.low[-1] <= 0.5 ** (n - 1)


@pytest.mark.parametrize("seed", range(8))
def test_without_loops_there_is_always_a_bound(seed: int) -> None:
    """Both directions are open and may be strong, but no system has both."""
    rng = np.random.default_rng([seed, 2])
    p = 5
    low, high = -rng.uniform(0.5, 2.0, (p, p)), rng.uniform(0.5, 2.0, (p, p))
    np.fill_diagonal(low, 0.0)
    np.fill_diagonal(high, 0.0)
    box = Intervals(low, high, 9)
    is_set, steps = np.arange(p) == 0, np.array([1.0, 0, 0, 0, 0])
    assert not np.isfinite(with_no_totals(box).change(is_set, steps).low[1:]).any()
    found = with_no_totals(box, acyclic=True).change(is_set, steps)
    assert np.isfinite(found.low).all() and np.isfinite(found.high).all()
    reached = 0.0
    for i in range(300):
        order = rng.permutation(p)
        rank = np.argsort(order)
        weights = np.where(rank[:, None] > rank, drawn_from(box, rng, i % 2 == 0), 0.0)
        change = change_of(weights, is_set, steps)
        assert holds(Span(found.low[1:], found.high[1:]), change[1:])
        reached = max(reached, float(np.max(change[1:] / found.high[1:])))
    assert reached > 0.1


def test_where_loops_may_not_settle_there_is_none() -> None:
    """1 / (1 - a b) grows without bound as a b comes to 1, and 1.1 is in the box."""
    low, high = np.zeros((3, 3)), np.zeros((3, 3))
    low[1, 0] = high[1, 0] = 1.0
    low[1, 2], high[1, 2], low[2, 1], high[2, 1] = 0.5, 1.1, 0.5, 1.0
    is_set, steps = np.array([True, False, False]), np.array([1.0, 0.0, 0.0])
    found = with_no_totals(Intervals(low, high, 1)).change(is_set, steps)
    assert np.isinf(found.low[1:]).all() and np.isinf(found.high[1:]).all()
    high[1, 2] = 0.9
    found = with_no_totals(Intervals(low, high, 1)).change(is_set, steps)
    assert found.high[1] >= 1.0 / (1.0 - 0.9) and math.isfinite(found.high[1])
    held = with_no_totals(Intervals(low, np.maximum(high, 1.1 * (high > 0)), 1))
    both = held.change(np.array([True, False, True]), steps)  # what is held is on no loop
    assert both.low[1] == pytest.approx(1.0) and both.high[1] == pytest.approx(1.1)


def test_what_nothing_leads_to_does_not_move_and_open_pairs_elsewhere_do_no_harm() -> None:
    low, high = np.zeros((4, 4)), np.zeros((4, 4))
    low[1, 0], high[1, 0] = 0.5, 0.75
    low[1, 3], high[1, 3] = -math.inf, math.inf  # 3 acts on 1, and nothing acts on 3
    low[2, 1], high[2, 1] = -math.inf, math.inf
    bounds = with_no_totals(Intervals(low, high, 1))
    found = bounds.change(np.array([True, False, False, False]), np.array([4.0, 0, 0, 0]))
    assert found.low[3] == found.high[3] == 0.0
    assert found.low[1] == pytest.approx(2.0) and found.high[1] == pytest.approx(3.0)
    assert math.isinf(found.low[2]) and math.isinf(found.high[2])
    held = bounds.change(np.array([True, True, False, False]), np.array([4.0, 0, 0, 0]))
    assert held.low[2] == held.high[2] == 0.0  # its only cause stays where it is


def test_a_total_effect_counts_where_its_variable_alone_is_set() -> None:
    low, high = np.full((3, 3), -0.2), np.full((3, 3), 0.2)
    np.fill_diagonal(low, 0.0)
    np.fill_diagonal(high, 0.0)
    totals = Intervals(0.1 * np.ones((3, 3)), 0.15 * np.ones((3, 3)), 9)
    bounds = EffectBounds(Intervals(low, high, 9), totals, acyclic=False, basis="guaranteed")
    alone, steps = np.array([True, False, False]), np.array([-2.0, 0.0, 0.0])
    found = bounds.change(alone, steps)
    assert found.low[1:] == pytest.approx([-0.3, -0.3])
    assert found.high[1:] == pytest.approx([-0.2, -0.2])
    held = bounds.change(np.array([True, True, False]), steps)
    assert held.low[2] == pytest.approx(-0.4) and held.high[2] == pytest.approx(0.4)
    known = Intervals(np.zeros((3, 3)), np.zeros((3, 3)), 9)
    contrary = EffectBounds(known, totals, acyclic=False, basis="guaranteed").change(alone, steps)
    assert contrary.low[1] == contrary.high[1] == 0.0  # no way leads there, whatever a test says


def test_after_a_refutation_nothing_is_said() -> None:
    low, high = np.zeros((3, 3)), np.zeros((3, 3))
    low[1, 0], high[1, 0] = 1.0, 0.5
    is_set, steps = np.array([True, False, False]), np.array([1.0, 0.0, 0.0])
    for bounds in (with_no_totals(Intervals(low, high, 1)), no_bounds(3)):
        found = bounds.change(is_set, steps)
        assert np.isinf(found.low[1:]).all() and np.isinf(found.high[1:]).all()


def test_units_change_nothing() -> None:
    """What is measured in thousandths moves by a thousand times as much."""
    rng = np.random.default_rng(8)
    box = box_of(rng.normal(size=(4, 4)) * 0.2, 0.05, rng)
    is_set, steps = np.arange(4) == 1, np.array([0.0, 3.0, 0.0, 0.0])
    units = np.array([1.0, 1e-3, 1e4, 7.0])
    scale = units[:, None] / units
    other = Intervals(box.low * scale, box.high * scale, 9)
    here = with_no_totals(box).change(is_set, steps)
    there = with_no_totals(other).change(is_set, steps * units)
    assert np.array(there.low) == pytest.approx(np.array(here.low) * units, rel=1e-6)
    assert np.array(there.high) == pytest.approx(np.array(here.high) * units, rel=1e-6)
