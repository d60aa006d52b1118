"""A smaller ellipsoid from a larger one, again and again: with proof.

Let E hold every row that the tests leave; the first is that of `ball`. Here the second test of all
coins counts (`row_tests`), whose rho is the same for all rows. With a_i^2 = V_i(b0) + rho and d_i =
(slope of V_i) / a_i^2, d their mean, let U(y) = 1 - 2 d . y + y' N y, N = grams / min_i a_i^2. It
is at least u over E. As (V_i + rho) / a_i^2 <= U(y) + 2 (d - d_i) . y, with x_i >= 0 the largest
value of 2 (d - d_i) . y over E

    V_i + rho  <=  A_i^2 (U(y) + s),    A_i^2 = a_i^2 (1 + x_i / (u + s)),    over E,

for every s >= 0 with u + s > 0. By the concavity of the logarithm sum_i log((V_i + rho) / a_i^2) <=
m log(U), because the mean of the d_i is d. So, with t the largest U over E and B = 2 h + sum_i
log(a_i^2 / rho) + m log t, the test gives for every row that it leaves

    sum_i (S_i(0) - P_i . y)^2 / A_i^2  <=  B (U(y) + s)  =  B (1 + s - 2 d . y + y' N y).

Where sum_i P_i P_i' / A_i^2 - B N is positive definite, that is an ellipsoid, exactly: longer in
directions in which V grows and to the side on which it does, and not in others. Every row that is
left fulfils this inequality and that of E, and so every weighted mean of both: an ellipsoid that
holds them all, of which the one with the lowest U is taken. The next step starts from it.

**Largest values.** For k with k form - N positive definite, over v' form v <= radius^2

    -2 c . v + v' N v  <=  k radius^2 + c' (k form - N)^-1 c,

because k v' form v - v' N v + 2 c . v is at least -c' (k form - N)^-1 c.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.ball import NO_ROW, Ball, Ratios, first_ball
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
from causalfocus.kernels.randomized.row_tests import NEAR, Row

STEPS = 12
"""How often the ellipsoid is made smaller, at most."""

LEAST_GAIN = 0.005
"""Unless a step lowers U over the ellipsoid by less than such a share."""

LEAST_GROWTH = 0.1
"""s keeps U + s above this."""

PARTS = (1.0, 0.6, 0.3)
"""Of the new inequality in the next ellipsoid; the rest is of the last one."""


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
    curve, upper = row.grams / sizes.min(), np.empty(row.grams.shape)
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
def inequality_over(row: Row, common: Common, ball: Ball, reach: Reach, h: float) -> Inequality:
    """Return the inequality that all rows of an ellipsoid fulfil that the coins leave."""
    grows = np.maximum(highest(ball, 2.0 * (common.slope - common.slopes)), 0.0)
    added = max(0.0, LEAST_GROWTH - reach.least)
    sizes = common.sizes * (1.0 + grows / (reach.least + added))
    logs = np.log(common.sizes / common.scale).sum() + len(sizes) * math.log(reach.most)
    return _inequality(row, common, 2.0 * h + logs, added, sizes)


@kernel
def smallest_ellipsoid(row: Row, ratios: Ratios, h: float) -> Ball:
    """Return an ellipsoid that holds all rows that the coins leave at a level of h nats."""
    ball = first_ball(row, ratios, h)
    if math.isinf(ball.radius) or ball.radius == NO_ROW:
        return ball
    common = common_growth(row, ratios)
    reach = reach_of(common, ball)
    for _ in range(STEPS):
        more = inequality_over(row, common, ball, reach, h)
        before = reach.most
        last = ball
        for part in PARTS:
            one = blend(last, more, part)
            if one.radius == NO_ROW:
                return one
            there = reach_of(common, one)
            if there.most < reach.most:
                ball, reach = one, there
        if not reach.most < (1.0 - LEAST_GAIN) * before:
            break
    return ball
