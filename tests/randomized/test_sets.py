"""The rows that are left, against searches: no row that passes all tests is outside the bounds."""

import math

import numpy as np
import pytest
from scipy import optimize

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees.portions import own_nats
from causalfocus.guarantees.randomized_intervals import intervals_at
from causalfocus.kernels.randomized.ball import (
    Ball,
    first_ball,
    largest_ratios,
    largest_shares,
    no_ball,
)
from causalfocus.kernels.randomized.box import largest_squares, stand_alone
from causalfocus.kernels.randomized.ellipsoid import (
    Nats,
    common_growth,
    reach_of,
    smallest_ellipsoid,
)
from causalfocus.kernels.randomized.heading import (
    N_STEPS,
    STEP,
    Heading,
    ellipsoid_of_heading,
    first_factor,
    heading_of,
    sides_of,
)
from causalfocus.kernels.randomized.levels import Box, levels_over
from causalfocus.kernels.randomized.row_tests import (
    SCALE,
    Row,
    move_centre,
    row_of_tests,
    scale_of_coins,
)
from causalfocus.moments.effect_intervals import Intervals
from randomized.rigs import (
    CHAIN,
    LOOP,
    Bench,
    Noise,
    bench,
    bounded_evidence,
    gaussian,
    hidden,
    play_only,
)

LEVEL = math.log(20)


def worked(
    weights: Floats,
    noise: Noise,
    n: int,
    seed: int = 0,
    large: float = math.inf,
    has_grams: bool = True,
    wanted: float | None = None,
) -> Bench:
    more = {"failing": 0.1, "miss": 0.1}
    one = bench(weights, noise, seed, None, large, has_grams, wanted, **more)
    one.play(n)
    return one


def excess(one: Bench, j: int, b: Floats) -> float:
    """How far the tests of row j are from rejecting b: negative if one of them does."""
    return bounded_evidence(one.state, j, b).excess(one.state, j, b, LEVEL)


def levels(one: Bench) -> Nats:
    return Nats(*(LEVEL + nats for nats in own_nats(one.state.unknown)))


def narrowed(one: Bench, j: int) -> Ball:
    """The last ellipsoid of a row."""
    row = row_view(one, j)
    ratios = largest_ratios(row)
    scale = ratios.least_scale * SCALE / scale_of_coins(len(row.centre))
    return smallest_ellipsoid(
        row, ratios, scale, heading_at(one, j, row), levels(one), no_ball(row)
    )


def heading_at(one: Bench, j: int, row: Row) -> Heading:
    reading = one.state.read()
    causes = np.flatnonzero(one.state.unknown[j])
    coins = np.flatnonzero(reading.sums.pool.counts[j] > 0)
    found: Heading = heading_of(reading.stakes, row, j, causes, coins, causes)
    return found


def row_view(one: Bench, j: int) -> Row:
    reading = one.state.read()
    causes = np.flatnonzero(one.state.unknown[j])
    coins = np.flatnonzero(reading.sums.pool.counts[j] > 0)
    return row_of_tests(reading.sums, reading.stakes, j, causes, coins, len(causes))


@pytest.mark.parametrize("has_grams", [True, False])
@pytest.mark.parametrize(
    ("weights", "noise", "large", "wanted"),
    [
        (CHAIN, gaussian, math.inf, None),
        (LOOP, hidden, math.inf, 0.1),
        (CHAIN, hidden, 0.3, None),
        (LOOP, gaussian, 0.2, 0.15),
        (CHAIN, hidden, 0.3, 0.08),
    ],
)
def test_every_row_that_passes_is_within_the_bounds(
    weights: Floats, noise: Noise, large: float, wanted: float | None, has_grams: bool
) -> None:
    """A grid over more than the bounds; and they are not much wider than what passes."""
    one = worked(weights, noise, 900, 0, large, has_grams, wanted)
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


@pytest.mark.parametrize("has_grams", [True, False])
@pytest.mark.parametrize("n", [300, 900])
def test_bounds_hold_against_an_optimiser(n: int, has_grams: bool) -> None:
    """Four variables: the largest and smallest coefficient over what passes, from many starts."""
    rng = np.random.default_rng(n)
    weights = np.tril(rng.uniform(-0.9, 0.9, (4, 4)), -1)
    one = bench(weights, gaussian, seed=n, large=0.25, has_grams=has_grams, wanted=0.15)
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


def border(ball: Ball, n: int = 2000) -> Floats:
    """Points on the border of an ellipsoid in the plane."""
    angles = np.linspace(0, 2 * np.pi, n)
    circle = ball.radius * np.stack([np.cos(angles), np.sin(angles)])
    return np.asarray(ball.middle + np.linalg.solve(ball.upper, circle).T)


@pytest.mark.parametrize("has_grams", [True, False])
@pytest.mark.parametrize("n", [600, 1500])
def test_every_row_that_passes_is_in_every_ellipsoid(n: int, has_grams: bool) -> None:
    """On a grid about the first, which is left by none of them."""
    one = worked(LOOP, hidden, n, has_grams=has_grams)
    for j in range(3):
        row = row_view(one, j)
        h, own = levels(one), own_nats(one.state.unknown)
        ratios = largest_ratios(row)
        first, last = first_ball(row, ratios, h.all_coins), narrowed(one, j)
        assert math.isfinite(first.radius) and last.radius > 0
        reference = one.state.read().stakes.references[j]
        causes = np.flatnonzero(one.state.unknown[j])
        spans = 1.2 * np.abs(border(first)).max(axis=0)
        n_passed = 0
        for x in np.linspace(-1.0, 1.0, 41):
            for z in np.linspace(-1.0, 1.0, 41):
                y = spans * (x, z)
                b = reference.copy()
                b[causes] += row.units * (row.centre + y)
                against = bounded_evidence(one.state, j, b)
                coins = max(against.coins, against.heading)
                if coins < LEVEL + own.all_coins and against.aims.max() < LEVEL + own.aim:
                    n_passed += 1
                    for ball in (first, last):
                        away = ball.upper @ (y - ball.middle)
                        assert away @ away <= ball.radius**2
        assert n_passed > 5
        common = common_growth(row, ratios)
        reached = [reach_of(common, ball).most for ball in (first, last)]
        assert reached[1] < reached[0] or (reached[1] == reached[0] and (has_grams or n == 600))


@pytest.mark.parametrize("has_grams", [True, False])
def test_an_ellipsoid_holds_its_own_bounds(has_grams: bool) -> None:
    """V / rho over everything, U and V over the ellipsoid, by search; V is attained to some."""
    one = worked(LOOP, gaussian, 600, has_grams=has_grams)
    rng = np.random.default_rng(1)
    for j in range(3):
        row = row_view(one, j)
        ratios = largest_ratios(row)
        ball = narrowed(one, j)
        points = np.concatenate([border(ball), 0.5 * (border(ball) + ball.middle)])
        common = common_growth(row, ratios)
        bent = np.einsum("ni,ij,nj->n", points, common.curve, points)
        grown, reach = 1.0 - 2.0 * points @ common.slope + bent, reach_of(common, ball)
        assert reach.least <= grown.min() and grown.max() <= reach.most <= 1.2 * grown.max()
        wide = Box(np.full(2, -1e9), np.full(2, 1e9))
        there = move_centre(row.directions, ball.middle)
        shares = largest_shares(ball.form, ball.upper, there, np.zeros((2, 2)))
        tops = largest_squares(ball, shares, there, wide)
        ways = points - ball.middle
        squares = there.squares + np.einsum("ni,kij,nj->nk", ways, there.grams, ways)
        squares = squares - 2 * ways @ there.slopes.T
        assert (squares.max(axis=0) <= tops).all() and (tops <= 1.2 * squares.max(axis=0)).all()
        for size in (0.1, 1.0, 10.0, 1e3, 1e5):
            y = size * rng.normal(size=(2000, 2))
            bent = np.einsum("ni,kij,nj->nk", y, row.coins.grams, y)
            squares = row.coins.squares + bent - 2 * y @ row.coins.slopes.T
            scale = row.scale.value - 2 * y @ row.scale.slope
            scale = scale + np.einsum("ni,ij,nj->n", y, row.scale.form, y)
            assert scale.min() >= ratios.least_scale * (1 - 1e-9)
            assert (squares / scale[:, None] <= ratios.largest * (1 + 1e-9)).all()


def test_a_box_that_is_known_narrows_what_is_found() -> None:
    """It is never left, helps where it is narrow, and stays where the rounds bound nothing."""
    one = worked(LOOP, hidden, 700)
    plain = intervals_at(one.state, LEVEL)
    again = intervals_at(one.state, LEVEL, plain)
    assert (again.low >= plain.low).all() and (again.high <= plain.high).all()
    low, high = plain.low.copy(), plain.high.copy()
    low[:, 0], high[:, 0] = LOOP[:, 0] - 1e-3, LOOP[:, 0] + 1e-3
    helped = intervals_at(one.state, LEVEL, Intervals(low, high, 700))
    assert (helped.half[1:, 0] <= 1.001e-3).all() and helped.half[0, 1] <= plain.half[0, 1]
    assert ((helped.low <= LOOP) & (helped.high >= LOOP)).all()
    early = intervals_at(worked(LOOP, hidden, 60).state, LEVEL, plain)
    assert np.array_equal(early.low, plain.low) and np.array_equal(early.high, plain.high)
    with pytest.raises(InvalidInputError, match="Give those of this run"):
        intervals_at(one.state, LEVEL, Intervals(low[:2], high[:2], 700))


def test_parts_that_stand_alone_make_a_sum_no_larger() -> None:
    rng = np.random.default_rng(2)
    n_better = 0
    for _ in range(200):
        parts, together, alone = np.exp(rng.normal(size=(3, 8)))
        by_itself = stand_alone(parts, together, alone)
        rest = math.sqrt(float(((parts * together)[~by_itself] ** 2).sum()))
        split, whole = (parts * alone)[by_itself].sum() + rest, np.linalg.norm(parts * together)
        assert split <= whole * (1 + 1e-12)
        n_better += split < 0.95 * whole
    assert n_better > 20


def test_a_higher_level_makes_wider_intervals() -> None:
    one = worked(CHAIN, hidden, 700)
    before = intervals_at(one.state, 0.5)
    for level in (1.0, 2.0, 4.0, 8.0):
        now = intervals_at(one.state, level)
        assert (now.low <= before.low + 1e-12).all() and (now.high >= before.high - 1e-12).all()
        before = now


def test_the_shares_of_a_row_add_up_whatever_the_row_is() -> None:
    """At one row what its directions may err together is what equal shares give; over a box no
    level is lower than at a row in it. Of one that is known to be zero the share is counted too.
    """
    rng, h = np.random.default_rng(5), 4.0
    for _ in range(100):
        u, n = 5, 6
        large = rng.uniform(0.1, 0.6, u)
        ends = Box(-large, large)
        b = rng.normal(size=u) * rng.choice([0.1, 1.0], u)
        point = levels_over(Box(b, b), ends, n, h)
        each = np.where(np.abs(b) >= large, point.where_large, point.where_small)
        assert np.array_equal(point.can_be_large, np.abs(b) >= large)
        assert np.array_equal(point.can_be_small, np.abs(b) < large)
        known = point.where_large + math.log(n)
        assert np.exp(-each).sum() + math.exp(-known) == pytest.approx(n * math.exp(-h))
        wide = rng.exponential(0.2, u)
        over = levels_over(Box(b - wide, b + wide), ends, n, h)
        assert over.where_small >= point.where_small and over.where_large >= point.where_large
        assert (over.can_be_large >= point.can_be_large).all()
        assert (over.can_be_small >= point.can_be_small).all()
    equal = levels_over(Box(b, b), Box(np.full(u, -np.inf), np.full(u, np.inf)), u, h)
    assert equal.where_small == pytest.approx(h) and not equal.can_be_large.any()


def test_a_bid_that_suits_makes_narrower_intervals() -> None:
    """At the width that it is for; far from that the mixture bounds them, wider than without a bid
    by its own price and because smaller bets have the same rho.
    """
    plain, suited, unsuited = (
        intervals_at(worked(CHAIN, hidden, 1200, wanted=wanted).state, LEVEL).half
        for wanted in (None, 0.08, 1e-3)
    )
    off = plain > 0.0
    assert np.median(suited[off] / plain[off]) < 0.98
    assert (unsuited[off] / plain[off] > 1.0).all() and (unsuited[off] / plain[off] < 1.2).all()


def test_effects_that_matter_are_bounded_sooner() -> None:
    """With a size that matters, the bounds of larger effects are narrower. (That they still hold
    what passes is shown above.)
    """
    plain, sized = (
        intervals_at(worked(CHAIN, hidden, 900, large=size).state, LEVEL) for size in (np.inf, 0.3)
    )
    is_large = (plain.low > 0.3) | (plain.high < -0.3)
    assert is_large.any() and (sized.half[is_large] < plain.half[is_large]).all()


@pytest.mark.parametrize("has_grams", [True, False])
@pytest.mark.parametrize(("noise", "n"), [(gaussian, 450), (hidden, 600), (gaussian, 1500)])
def test_every_row_that_the_heading_leaves_is_in_its_ellipsoids(
    noise: Noise, n: int, has_grams: bool
) -> None:
    """Near and far, for every c that is tried; rows that it rejects are outside, too."""
    one = worked(LOOP, noise, n, has_grams=has_grams)
    rng, n_passed, n_left_out = np.random.default_rng(n), 0, 0
    for j in range(3):
        row = row_view(one, j)
        sides, heading = sides_of(row, heading_at(one, j, row)), heading_at(one, j, row)
        ratios, h = largest_ratios(row), levels(one).all_coins
        c = first_factor(sides)
        balls = [
            ellipsoid_of_heading(sides, ratios, heading.share, h, c * STEP**at)
            for at in range(N_STEPS)
        ]
        finite = [ball for ball in balls if math.isfinite(ball.radius)]
        assert finite
        causes = np.flatnonzero(one.state.unknown[j])
        reference = one.state.read().stakes.references[j]
        near = min(finite, key=lambda ball: ball.radius / np.linalg.det(ball.upper))
        for size in (1.05, 2.0, 30.0, 1e4, 1e8):
            for y in near.middle + size * rng.random((150, 1)) * (border(near, 150) - near.middle):
                b = reference.copy()
                b[causes] += row.units * (row.centre + y)
                if bounded_evidence(one.state, j, b).heading < h:
                    n_passed += 1
                    for ball in finite:
                        away = ball.upper @ (y - ball.middle)
                        assert away @ away <= ball.radius**2
                else:
                    n_left_out += 1
    assert n_passed > 100 and n_left_out > 100


def test_with_many_coins_the_heading_bounds_a_row_before_all_coins_do() -> None:
    """The test of all coins pays a logarithm for each, and bounds nothing for long."""
    p = 24
    rng = np.random.default_rng(3)
    weights = np.tril(rng.uniform(-0.6, 0.6, (p, p)) * (rng.random((p, p)) < 0.1), -1)
    one = bench(weights, lambda rng, _: rng.normal(size=p), seed=4, has_grams=False)
    one.play(1200)
    for j in (5, 20):
        row = row_view(one, j)
        first = first_ball(row, largest_ratios(row), levels(one).all_coins)
        last = narrowed(one, j)
        assert math.isinf(first.radius) and math.isfinite(last.radius)
        causes = np.flatnonzero(one.state.unknown[j])
        truth = (weights[j] - one.state.read().stakes.references[j])[causes] / row.units
        away = last.upper @ (truth - row.centre - last.middle)
        assert away @ away <= last.radius**2


def test_the_heading_counts_coins_that_were_not_tossed_yet() -> None:
    """|w| is a function of the row in question alone: the same before and after they are."""
    unknown = np.zeros((4, 4), dtype=np.bool_)
    unknown[2, :2] = True
    one = bench(np.zeros((4, 4)), lambda rng, _: rng.normal(size=4), unknown=unknown)
    rng, causes = np.random.default_rng(0), np.array([0, 1])
    for may_be_set in (np.array([True, False, False, True]), np.ones(4, dtype=np.bool_)):
        play_only(one, 150, may_be_set)
        reading = one.state.read()
        stakes, coins = reading.stakes, np.flatnonzero(reading.sums.pool.counts[2] > 0)
        assert (1 in coins) == may_be_set[1]
        row = row_of_tests(reading.sums, stakes, 2, causes, coins, 2)
        sides = sides_of(row, heading_of(stakes, row, 2, causes, coins, causes))
        for y in rng.normal(size=(20, 2)):
            b = stakes.references[2, :2] + row.units * (row.centre + y)
            w = stakes.spreads[2, :2] * (b - stakes.anchors[2, :2])
            square = y @ sides.form_of_weights @ y + 2 * sides.slope_of_weights @ y
            assert square + sides.value_of_weights == pytest.approx(w @ w)
