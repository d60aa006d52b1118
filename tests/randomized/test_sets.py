"""The rows that are left, against searches: no row that passes all tests is outside the bounds."""

import math

import numpy as np
import pytest
from scipy import optimize

from causalfocus.arrays import Floats
from causalfocus.guarantees.randomized_intervals import intervals_at, own_nats
from causalfocus.kernels.randomized.ball import largest_ratios, peaks, radius_of_ball
from causalfocus.kernels.randomized.box import largest_distance
from causalfocus.kernels.randomized.row_tests import Row, row_of_tests
from randomized.rigs import CHAIN, LOOP, Bench, Noise, bench, bounded_evidence, gaussian, hidden

LEVEL = math.log(20)


def worked(weights: Floats, noise: Noise, n: int, seed: int = 0) -> Bench:
    one = bench(weights, noise, seed=seed, failing=0.1, miss=0.1)
    one.play(n)
    return one


def excess(one: Bench, j: int, b: Floats) -> float:
    """How far the tests of row j are from rejecting b: negative if one of them does."""
    own = own_nats(one.state.unknown)
    coins, directions = bounded_evidence(one.state, j, b)
    needed = LEVEL + own.direction
    return min(LEVEL + own.all_coins - coins, float((needed - directions).min()))


def row_view(one: Bench, j: int) -> Row:
    reading = one.state.read()
    causes = np.flatnonzero(one.state.unknown[j])
    coins = np.flatnonzero(reading.sums.pool.counts[j] > 0)
    return row_of_tests(reading.sums, reading.stakes, j, causes, coins)


@pytest.mark.parametrize(("weights", "noise"), [(CHAIN, gaussian), (LOOP, hidden)])
def test_every_row_that_passes_is_within_the_bounds(weights: Floats, noise: Noise) -> None:
    """A grid over more than the bounds; and they are not much wider than what passes."""
    one = worked(weights, noise, 900)
    found = intervals_at(one.state, LEVEL)
    assert np.isfinite(found.low).all()
    for j in range(3):
        causes = np.flatnonzero(one.state.unknown[j])
        middle, half = found.middle[j, causes], found.half[j, causes]
        passed = []
        for x in np.linspace(-1.6, 1.6, 41):
            for y in np.linspace(-1.6, 1.6, 41):
                b = np.zeros(3)
                b[causes] = middle + half * (x, y)
                if excess(one, j, b) > 0:
                    passed.append((x, y))
        hull = np.abs(np.array(passed)).max(axis=0)
        assert (hull <= 1.0).all() and (hull >= 0.6).all()


@pytest.mark.parametrize("n", [300, 900])
def test_bounds_hold_against_an_optimiser(n: int) -> None:
    """Four variables: the largest and smallest coefficient over what passes, from many starts."""
    rng = np.random.default_rng(n)
    weights = np.tril(rng.uniform(-0.9, 0.9, (4, 4)), -1)
    one = bench(weights, gaussian, seed=n)
    one.play(n)
    found, j = intervals_at(one.state, LEVEL), 2
    causes = np.flatnonzero(one.state.unknown[j])
    is_finite = np.isfinite(found.half[j, causes]).all()
    assert is_finite or n == 300
    start = weights[j, causes]

    def row(y: Floats) -> Floats:
        b = np.zeros(4)
        b[causes] = y
        return b

    for at, k in enumerate(causes):
        for sign in (-1.0, 1.0):
            best = optimize.minimize(
                lambda y, at=at, sign=sign: -sign * y[at],
                start,
                constraints={"type": "ineq", "fun": lambda y: excess(one, j, row(y))},
                method="SLSQP",
                options={"maxiter": 60},
            )
            if excess(one, j, row(best.x)) > -1e-6:
                assert found.low[j, k] - 1e-6 <= best.x[at] <= found.high[j, k] + 1e-6


def test_far_rows_are_rejected_too() -> None:
    """In every direction and at every distance, once there are bounds."""
    one = worked(LOOP, hidden, 900)
    rng = np.random.default_rng(0)
    for j in range(3):
        for size in (3.0, 30.0, 1e3, 1e6, 1e12):
            for _ in range(20):
                b = LOOP[j] + size * rng.normal(size=3) * one.state.unknown[j]
                assert excess(one, j, b) < 0 or np.abs(b - LOOP[j]).max() < 1.0


def test_the_ball_holds_its_own_bounds() -> None:
    """V over the ball and V / rho over everything, by search; the peak is attained to a percent."""
    one = worked(LOOP, gaussian, 600)
    rng = np.random.default_rng(1)
    for j in range(3):
        row = row_view(one, j)
        radius = radius_of_ball(row, LEVEL + own_nats(one.state.unknown).all_coins)
        assert math.isfinite(radius)
        ratios, tops = largest_ratios(row), peaks(row.curves, row.coins.slopes, radius)
        angles = np.linspace(0, 2 * np.pi, 2000)
        circle = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        grown = circle**2 @ row.curves - 2 * row.coins.slopes @ circle.T
        assert (grown.max(axis=1) <= tops * (1 + 1e-12)).all()
        assert (grown.max(axis=1) >= 0.99 * tops).all()
        for size in (0.1, 1.0, 10.0, 1e3, 1e5):
            v = size * rng.normal(size=(2000, 2))
            squares = row.coins.squares + (v**2 @ row.curves)[:, None] - 2 * v @ row.coins.slopes.T
            scale = row.scale.value - 2 * v @ row.scale.slope
            scale = scale + np.einsum("ni,ij,nj->n", v, row.scale.form, v)
            assert scale.min() >= ratios.least_scale * (1 - 1e-9)
            assert (squares / scale[:, None] <= ratios.largest * (1 + 1e-9)).all()


def test_the_largest_distance_is_at_an_end_of_the_scales() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        v, low, h = np.exp(rng.normal(size=3) * 2)
        high = low * (1 + rng.exponential())
        bound = largest_distance(v, low, high, h)
        for rho in np.linspace(low, high, 50):
            for part in (0.2, 0.7, 1.0):
                inside = (part * v + rho) * (2 * h + math.log1p(part * v / rho))
                assert math.sqrt(inside) <= bound * (1 + 1e-12)


def test_a_higher_level_makes_wider_intervals() -> None:
    one = worked(CHAIN, hidden, 700)
    before = intervals_at(one.state, 0.5)
    for level in (1.0, 2.0, 4.0, 8.0):
        now = intervals_at(one.state, level)
        assert (now.low <= before.low + 1e-12).all() and (now.high >= before.high - 1e-12).all()
        before = now
