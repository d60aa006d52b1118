"""A smaller ellipsoid from a larger one, again and again: with proof.

Let E hold every row that the tests leave; the first is that of `ball`. Here the second test of all
coins counts (`row_tests`), whose rho is the same for all rows. With a_i^2 = V_i(b0) + rho and d_i =
(slope of V_i) / a_i^2, d their mean, let U(y) = 1 - 2 d . y + y' N y, N above all grams_i / a_i^2
(`common_grams`). It is at least u over E. As (V_i + rho) / a_i^2 <= U(y) + 2 (d - d_i) . y, with
x_i >= 0 the largest value of 2 (d - d_i) . y over E

    V_i + rho  <=  A_i^2 (U(y) + s),    A_i^2 = a_i^2 (1 + x_i / (u + s)),    over E,

for every s >= 0 with u + s > 0. By the concavity of the logarithm sum_i log((V_i + rho) / a_i^2) <=
m log(U), because the mean of the d_i is d. So, with t the largest U over E and B = 2 h + sum_i
log(a_i^2 / rho) + m log t, the test gives for every row that it leaves

    sum_i (S_i(0) - P_i . y)^2 / A_i^2  <=  B (U(y) + s)  =  B (1 + s - 2 d . y + y' N y).

Where sum_i P_i P_i' / A_i^2 - B N is positive definite, that is an ellipsoid, exactly: longer in
directions in which V grows and to the side on which it does, and not in others. Every row that is
left fulfils this inequality and that of E, and so every weighted mean of both: an ellipsoid that
holds them all, of which the one with the lowest U is taken. The next step starts from it.

**Aims.** Two more tests of the row bound c . y and the y along which V grows most. With V_a at most
v over E, a row that an aim leaves has (S_a(0) - L_a . y)^2 <= g^2 = (v + rho)(2 h + log(1 + v /
rho)), which rises with v: one more inequality that every row of E fulfils that is left, and so one
more to take means with.

**What earlier rounds left.** An ellipsoid that they left holds the true row on the same event
(`regions`). It is one more inequality, and where U reaches less over it than over that of `ball`,
the one to start from.

**Largest values.** For k with k form - N positive definite, over v' form v <= radius^2

    -2 c . v + v' N v  <=  k radius^2 + c' (k form - N)^-1 c,

because k v' form v - v' N v + 2 c . v is at least -c' (k form - N)^-1 c.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.ball import (
    NO_ROW,
    Ball,
    Ratios,
    common_grams,
    first_ball,
    largest_shares,
)
from causalfocus.kernels.randomized.heading import (
    N_STEPS,
    STEP,
    Heading,
    ellipsoid_of_heading,
    first_factor,
    sides_of,
)
from causalfocus.kernels.randomized.matrices import (
    apply,
    apply_transposed,
    dot,
    dual_length,
    dual_lengths,
    factor,
    largest_share,
    solve,
    weighed_products,
)
from causalfocus.kernels.randomized.records import N_AIMS
from causalfocus.kernels.randomized.row_tests import NEAR, Family, Row, move_centre

STEPS = 12
"""How often the ellipsoid is made smaller, at most."""

LEAST_GAIN = 0.005
"""Unless a step lowers U over the ellipsoid by less than such a share."""

FAR = 3.0
"""U over the first ellipsoid from which on that of the heading is looked at."""

LEAST_GROWTH = 0.1
"""s keeps U + s above this."""

PARTS = (1.0, 0.6, 0.3)
"""Of the new inequality in the next ellipsoid; the rest is of the last one."""

PARTS_OF_AIMS = (0.5, 0.15)
"""The same of an aim's, which bounds one combination and lets all others go."""

PARTS_OF_SLOPE = (0.4, 1.0)
"""Of the usual slope, that k is above the share of the grams."""


class Nats(NamedTuple):
    """Levels of tests, or what they need on top of log(1 / delta): one of all coins of a row, an
    aim, and a direction.
    """

    all_coins: float
    aim: float
    direction: float


class Reach(NamedTuple):
    """Bounds of U over an ellipsoid."""

    least: float
    most: float


class Inequality(NamedTuple):
    """y' form y - 2 pull . y + value <= 0."""

    form: Floats
    pull: Floats
    value: float


class Common(NamedTuple):
    """U: 1 - 2 slope . y + y' curve y, with its least value over all y; and d_i and a_i^2 of the
    coins, and rho.
    """

    slope: Floats
    curve: Floats
    least: float
    slopes: Floats
    sizes: Floats
    scale: float


@kernel
def highest(ball: Ball, rows: Floats) -> Floats:
    """Return the largest value over an ellipsoid of every row . y."""
    return apply(rows, ball.middle) + ball.radius * dual_lengths(ball.upper, rows)


@kernel
def common_growth(row: Row, ratios: Ratios) -> Common:
    """Return what all coins of a row have in common."""
    scale = NEAR * ratios.least_scale
    sizes = row.coins.squares + scale
    slopes = row.coins.slopes / sizes.reshape(len(sizes), 1)
    mean = apply_transposed(slopes, np.full(len(sizes), 1.0 / len(sizes)))
    curve, upper = common_grams(row.coins, 1.0 / sizes), np.empty(row.grams.shape)
    least = 1.0 - dual_length(upper, mean) ** 2 if factor(curve, upper) else -math.inf
    return Common(mean, curve, least - 1e-6, slopes, sizes, scale)


@kernel
def reach_of(common: Common, ball: Ball) -> Reach:
    """Return bounds of U over an ellipsoid; infinite if there is none."""
    if math.isinf(ball.radius):
        return Reach(common.least, math.inf)
    r = ball.radius
    bent = apply(common.curve, ball.middle)
    slope = common.slope - bent
    at = 1.0 - 2.0 * dot(common.slope, ball.middle) + dot(ball.middle, bent)
    steep = dual_length(ball.upper, slope)
    share = largest_share(ball.form, ball.upper, common.curve)
    most, upper = 2.0 * steep * r + share * r * r, np.empty(ball.form.shape)
    by = share + 0.8 * steep / r
    if factor(by * ball.form - common.curve, upper):
        most = min(most, by * r * r + dual_length(upper, slope) ** 2)
    return Reach(max(at - 2.0 * steep * r, common.least), (at + most) * (1.0 + 1e-9))


@kernel
def _inequality(row: Row, common: Common, bound: float, added: float, sizes: Floats) -> Inequality:
    """Return that of sum_i S_i^2 / sizes_i <= bound (U + added)."""
    weights, coins = 1.0 / sizes, row.coins
    form = weighed_products(coins.moves, weights) - bound * common.curve
    pull = apply_transposed(coins.moves, weights * coins.distances) - bound * common.slope
    distance = (coins.distances**2 * weights).sum() * (1.0 - 1e-9)
    return Inequality(form, pull, distance - bound * (1.0 + added))


@kernel
def blend(ball: Ball, more: Inequality, part: float) -> Ball:
    """Return an ellipsoid that holds what is in another and fulfils an inequality as well."""
    rest, u = 1.0 - part, len(ball.middle)
    form, upper = part * more.form + rest * ball.form, np.empty((u, u))
    if not factor(form, upper):
        return Ball(ball.middle, ball.form, ball.upper, math.inf)
    turned = apply(ball.form, ball.middle)
    pull = part * more.pull + rest * turned
    middle = solve(upper, pull)
    old = dot(ball.middle, turned) - ball.radius**2
    square = dot(middle, pull) - part * more.value - rest * old
    square += 1e-9 * (abs(dot(middle, pull)) + abs(part * more.value) + abs(rest * old))
    radius = math.sqrt(square) * (1.0 + 1e-9) if square >= 0.0 else NO_ROW
    return Ball(middle, form, upper, radius)


@kernel
def largest_distances(squares: Floats, scale: float, h: Floats) -> Floats:
    """Return the largest S that tests leave at levels h where V is at most squares."""
    return np.sqrt((squares + scale) * (2.0 * h + np.log1p(squares / scale)))


@kernel
def squares_over(there: Family, ball: Ball, shares: Floats) -> Floats:
    """Return the largest V of tests over an ellipsoid.

    there : the tests about its middle
    shares : of the grams of every test in the ellipsoid
    """
    steep = np.median(dual_lengths(ball.upper, there.slopes)) / ball.radius
    upper, most = np.empty(ball.form.shape), np.full(len(there.squares), math.inf)
    for part in PARTS_OF_SLOPE:
        for g in range(len(there.grams)):
            by = shares[g] + part * steep
            if not factor(by * ball.form - there.grams[g], upper):
                continue
            of = slice(g, g + 1) if len(there.grams) > 1 else slice(0, len(most))
            bent = dual_lengths(upper, there.slopes[of]) ** 2 * (1.0 + 1e-9)
            most[of] = np.minimum(most[of], by * ball.radius**2 + bent)
    return there.squares + most


@kernel
def aim_over(row: Row, ball: Ball, a: int, scale: float, h: float) -> Inequality:
    """Return the inequality that all rows of an ellipsoid fulfil that an aim leaves, in units of
    the square of its radius; where the aim bounds nothing, one that all rows fulfil.
    """
    moves, there = row.aims.moves[a], move_centre(row.aims, ball.middle)
    shares = largest_shares(ball.form, ball.upper, there, np.zeros(ball.form.shape))
    squares = squares_over(there, ball, shares)
    most = largest_distances(squares, scale, np.full(N_AIMS, h))[a]
    if not (math.isfinite(most) and most > 0.0 and dot(moves, moves) > 0.0):
        return Inequality(np.zeros(ball.form.shape), np.zeros(len(moves)), -(ball.radius**2))
    unit, at = (ball.radius / most) ** 2, row.aims.distances[a]
    form = unit * moves.reshape(-1, 1) * moves.reshape(1, -1)
    value = unit * at * at * (1.0 - 1e-9) - ball.radius**2 * (1.0 + 1e-9)
    return Inequality(form, (unit * at) * moves, value)


@kernel
def inequality_over(row: Row, common: Common, ball: Ball, reach: Reach, h: float) -> Inequality:
    """Return the inequality that all rows of an ellipsoid fulfil that the coins leave."""
    grows = np.maximum(highest(ball, 2.0 * (common.slope - common.slopes)), 0.0)
    added = max(0.0, LEAST_GROWTH - reach.least)
    sizes = common.sizes * (1.0 + grows / (reach.least + added))
    logs = np.log(common.sizes / common.scale).sum() + len(sizes) * math.log(reach.most)
    return _inequality(row, common, 2.0 * h + logs, added, sizes)


@kernel
def inequality_of(known: Ball, ball: Ball) -> Inequality:
    """Return that of an ellipsoid that is known, in units of the square of another's radius; where
    nothing is known, one that all rows fulfil.
    """
    if math.isinf(known.radius):
        return Inequality(np.zeros(ball.form.shape), np.zeros(len(ball.middle)), -(ball.radius**2))
    unit = (ball.radius / known.radius) ** 2 if known.radius > 0.0 else 1.0
    pull = unit * apply(known.form, known.middle)
    return Inequality(unit * known.form, pull, dot(pull, known.middle) - unit * known.radius**2)


class Held(NamedTuple):
    """An ellipsoid, and how far U reaches over it."""

    ball: Ball
    reach: Reach


@kernel
def _best_mean(held: Held, common: Common, more: Inequality, parts: tuple[float, ...]) -> Held:
    """Return the ellipsoid over which U reaches least, of one and of its means with an inequality;
    NO_ROW if nothing fulfils both.
    """
    best = held
    for part in parts:
        one = blend(held.ball, more, part)
        if one.radius == NO_ROW:
            return Held(one, held.reach)
        there = reach_of(common, one)
        if there.most < best.reach.most:
            best = Held(one, there)
    return best


@kernel
def _with_heading(
    held: Held, row: Row, ratios: Ratios, common: Common, heading: Heading, h: float
) -> Held:
    """Return the one of an ellipsoid and of those that the heading leaves over which U reaches
    least; of several c, up to the first that is worse than one before it.
    """
    sides = sides_of(row, heading)
    c, last = first_factor(sides), math.inf
    for _ in range(N_STEPS):
        one = ellipsoid_of_heading(sides, ratios, heading.share, h, c)
        if one.radius == NO_ROW:
            return Held(one, held.reach)
        there = reach_of(common, one)
        if there.most > last:
            break
        last = there.most
        if last < held.reach.most:
            held = Held(one, there)
        c *= STEP
    return held


@kernel
def _start(
    row: Row, ratios: Ratios, common: Common, heading: Heading, h: float, known: Ball
) -> Held:
    """Return the best of the ellipsoids that are there without another; NO_ROW if one says so."""
    first = first_ball(row, ratios, h)
    held = Held(first, reach_of(common, first))
    if first.radius == NO_ROW or known.radius == NO_ROW:
        return Held(Ball(first.middle, first.form, first.upper, NO_ROW), held.reach)
    other = Held(known, reach_of(common, known))
    if other.reach.most < held.reach.most:
        held = other
    if held.reach.most > FAR:
        held = _with_heading(held, row, ratios, common, heading, h)
    return held


@kernel
def smallest_ellipsoid(
    row: Row, ratios: Ratios, scale: float, heading: Heading, h: Nats, known: Ball
) -> Ball:
    """Return an ellipsoid that holds all rows that the coins, the heading and the aims leave at
    levels in nats.

    scale : rho of the aims
    known : one that earlier rounds left at the same levels; infinite if there is none
    """
    if not ratios.least_scale > 0.0:
        return known
    common = common_growth(row, ratios)
    held = _start(row, ratios, common, heading, h.all_coins, known)
    if math.isinf(held.ball.radius) or held.ball.radius == NO_ROW:
        return held.ball
    for _ in range(STEPS):
        before = held.reach.most
        more = inequality_over(row, common, held.ball, held.reach, h.all_coins)
        held = _best_mean(held, common, more, PARTS)
        for a in range(N_AIMS + 1):
            if held.ball.radius == NO_ROW:
                return held.ball
            if a < N_AIMS:
                more = aim_over(row, held.ball, a, scale, h.aim)
            else:
                more = inequality_of(known, held.ball)
            held = _best_mean(held, common, more, PARTS_OF_AIMS)
        if held.ball.radius == NO_ROW or not held.reach.most < (1.0 - LEAST_GAIN) * before:
            break
    return held.ball
