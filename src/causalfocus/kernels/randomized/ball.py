"""A ball that holds every row that the coins leave, near or far: with proof.

Take any centre b0 (here where the tests of the coins are nearest to zero), b = b0 + y, a_i^2 =
V_i(b0) + rho(b0), and |y|^2 = sum_i (P_i . y)^2 / a_i^2 with P_i what coin i moves; |c|* is the
largest c . y over |y| <= 1. With s^2 = sum_i S_i(b0)^2 / a_i^2 and g = |sum_i S_i(b0) P_i /
a_i^2|*, because S_i(b) = S_i(b0) - P_i . y,

    s^2 - 2 g |y| + |y|^2  <=  sum_i S_i(b)^2 / a_i^2.                                     (left)

The test of all coins (`row_tests`) bounds the right side of this for every row b that it leaves, in
two ways. Both make a quadratic inequality in |y|. If its leading coefficient is positive, |y| is at
most the larger root; if it has no root, no row is left: that can be where there are more coins than
unknown coefficients, s > 0.

**By V + rho.** V_i(y) + rho(y) <= a_i^2 (1 + 2 eta |y| + theta |y|^2), eta = max_i |slope of i|* /
a_i^2, theta = max_i (largest share of y' (grams_i + form) y in |y|^2) / a_i^2. V_i / rho is at most
tau_i over ALL y (`largest_ratios`), so that (left) is at most (2 h + sum_i log(1 + tau_i)) (1 + 2
eta |y| + theta |y|^2).

**By V or by rho.** Let W = max_i V_i and z = rho / W, which is at least 1 / max_i tau_i. Rows with
u <= z <= v have V_i + rho <= (1 + v) W and V_i + rho <= (1 + 1 / u) rho, and log(1 + V_i / rho) <=
log(1 + 1 / u). W and rho are quadratic in |y| at most, and (left) is at most (2 h + m log(1 + 1 /
u)) / min_i a_i^2 times either bound of V_i + rho. Steps from u to v cover all z, the last without
an end and by rho alone; the largest of their roots counts. Far off, where V / rho differs from
direction to direction, that loses less: what is lost by a large logarithm is not lost by rho.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.matrices import (
    apply_transposed,
    dot,
    dual_length,
    dual_lengths,
    factor,
    largest_share,
    solve,
    weighed_products,
)
from causalfocus.kernels.randomized.row_tests import Family, Row, move_centre

NO_ROW = -1.0
"""The radius of a ball in which there is nothing."""

STEP = 1.25
"""From one ratio of rho to V to the next."""

LARGEST_STEP = 16.0
"""The ratio from which on the last step has no end."""


class Ratios(NamedTuple):
    """Upper bounds of V / rho over all rows, for every coin, of the first test of all coins, and
    its least rho of all rows.
    """

    largest: Floats
    least_scale: float


class Ball(NamedTuple):
    """All y about `middle` with (y - middle)' form (y - middle) <= radius^2; form = upper' upper.

    An infinite radius says that nothing is known, NO_ROW that there is no row.
    """

    middle: Floats
    form: Floats
    upper: Floats
    radius: float


@kernel
def largest_shares(form: Floats, upper: Floats, family: Family, more: Floats) -> Floats:
    """Return the largest share of the grams of every test, and of more (u, u), in a form = U'U."""
    found = np.empty(len(family.squares))
    for a in range(len(found)):
        if a == 0 or len(family.grams) > 1:
            found[a] = largest_share(form, upper, family.grams[a] + more)
        else:
            found[a] = found[0]
    return found


@kernel
def common_grams(family: Family, weights: Floats) -> Floats:
    """Return a matrix N (u, u) with y' N y at least weights_a y' grams_a y, for all tests and y.

    With grams of each test it is their weighted sum, made smaller by the largest share that one of
    them has in it.
    """
    if len(family.grams) == 1:
        return family.grams[0] * weights.max()
    u = family.grams.shape[1]
    found, upper, most = np.zeros((u, u)), np.empty((u, u)), 0.0
    for a in range(len(weights)):
        found += weights[a] * family.grams[a]
    if not factor(found, upper):
        return found
    for a in range(len(weights)):
        most = max(most, largest_share(found, upper, weights[a] * family.grams[a]))
    return found * min(most, 1.0)


class Growth(NamedTuple):
    """A quadratic that is nowhere exceeded: value + 2 slope |y| + curve |y|^2."""

    value: float
    slope: float
    curve: float


@kernel
def largest_ratios(row: Row) -> Ratios:
    """Return bounds that hold for all rows; a least rho of 0 says that there are none.

    rho = least + |z|^2 with z = C (y - y1), C'C its form and y1 where it is least. There V_i = v +
    2 g . (y - y1) + (y - y1)' grams (y - y1) <= v + 2 c |z| + k |z|^2, c the length of C^-T g and
    k the largest share of the grams in the form. So the ratio is at most that of two quadratic
    forms in (1, |z|): the larger eigenvalue of [[v / least, c / sqrt(least)], [c / sqrt(least),
    k]].
    """
    u, m = len(row.centre), len(row.coins.squares)
    found, upper = np.full(m, math.inf), np.empty((u, u))
    if not factor(row.scale.form, upper):
        return Ratios(found, 0.0)
    at = solve(upper, row.scale.slope)
    least = row.scale.value - dot(row.scale.slope, at)
    if not least > 1e-9 * row.scale.value:
        return Ratios(found, 0.0)
    there = move_centre(row.coins, at)
    slopes = dual_lengths(upper, there.slopes)
    shares = largest_shares(row.scale.form, upper, there, np.zeros((u, u)))
    for i in range(m):
        v, c = there.squares[i] / least, slopes[i] / math.sqrt(least)
        most = shares[i]
        found[i] = 0.5 * (v + most) + math.sqrt(0.25 * (v - most) ** 2 + c * c)
    return Ratios(found, least)


@kernel
def _largest_root(grows: Growth, by: float, tilt: float, distance: float) -> float:
    """Return the largest |y| with distance - 2 tilt |y| + |y|^2 at most a multiple of a quadratic:
    infinity if there is no largest, NO_ROW if there is none.
    """
    lead, half = 1.0 - by * grows.curve, tilt + by * grows.slope
    if not lead > 0.0:
        return math.inf
    inside = half * half - lead * (distance - by * grows.value)
    return (half + math.sqrt(inside)) / lead if inside >= 0.0 else NO_ROW


@kernel
def _root_by_steps(
    squares: Growth, scale: Growth, ratios: Floats, h: float, tilt: float, distance: float
) -> float:
    """Return the largest |y| by V or by rho, both in units of the least a_i^2."""
    m = len(ratios)
    found, low = NO_ROW, 1.0 / ratios.max()
    while True:
        bound = 2.0 * h + m * math.log1p(1.0 / low)
        by_scale = _largest_root(scale, bound * (1.0 + 1.0 / low), tilt, distance)
        if low > LARGEST_STEP:
            return max(found, by_scale)
        by_squares = _largest_root(squares, bound * (1.0 + STEP * low), tilt, distance)
        found = max(found, min(by_scale, by_squares))
        if math.isinf(found):
            return found
        low *= STEP


@kernel
def no_ball(row: Row) -> Ball:
    """Return that nothing is known."""
    return Ball(np.zeros(len(row.centre)), row.grams, row.grams, math.inf)


@kernel
def first_ball(row: Row, ratios: Ratios, h: float) -> Ball:
    """Return a ball about the centre that holds all rows that the coins leave at a level of h
    nats.
    """
    coins, scale, u = row.coins, row.scale, len(row.centre)
    sizes = coins.squares + scale.value
    form, upper = weighed_products(coins.moves, 1.0 / sizes), np.empty((u, u))
    if not ratios.least_scale > 0.0 or not factor(form, upper):
        return no_ball(row)
    distance = (coins.distances**2 / sizes).sum() * (1.0 - 1e-9)
    tilt = dual_length(upper, apply_transposed(coins.moves, coins.distances / sizes))
    unit = sizes.min()
    slopes = dual_lengths(upper, coins.slopes + scale.slope)
    shares = largest_shares(form, upper, coins, scale.form)
    both = Growth(1.0, (slopes / sizes).max(), (shares / sizes).max())
    bound = 2.0 * h + np.log1p(ratios.largest).sum()
    radius = _largest_root(both, bound, tilt, distance)
    squares = Growth(
        coins.squares.max() / unit,
        dual_lengths(upper, coins.slopes).max() / unit,
        largest_shares(form, upper, coins, np.zeros((u, u))).max() / unit,
    )
    alone = Growth(
        scale.value / unit,
        dual_length(upper, scale.slope) / unit,
        largest_share(form, upper, scale.form) / unit,
    )
    radius = min(radius, _root_by_steps(squares, alone, ratios.largest, h, tilt, distance))
    return Ball(np.zeros(u), form, upper, radius * (1.0 + 1e-9))
