"""An ellipsoid that holds every row that one more test leaves, near or far: with proof.

**The heading of a row.** The weights of a test may be any function of the row in question and of
what was known before the first round that is counted (`row_tests`). Take the way from an anchor a
to the row b, w_i(b) = G_i (b_i - a_i) for every coin of an unknown cause: a is the least squares of
the rounds before the row was tested, G_i the spread of variable i in them, and both stay as they
are. If b is far from the true row, its residual holds (a - b) . x and little else, so this is
nearly the best bet against it, and it pays for one number: the test of all coins pays a logarithm
for every coin, and with many of them has no bound for long. With S_i and V_i those of the single
coins, S = sum_i w_i S_i, V = sum_i w_i^2 V_i, and with the scale rho |w|^2, rho in proportion to
that of the first test of all coins,

    S^2  <=  (V + rho |w|^2) (2 h + log(1 + V / (rho |w|^2)))                          (heading)

at all times, except with probability exp(-h). Where w = 0 the row passes. |w| is that of all
unknown causes: of those whose coins were not tossed yet S and V are zero, and were they left out,
rho |w|^2 would change when they are.

**An ellipsoid.** V / |w|^2 is a mean of the V_i, so it is at most m - rho, with m any bound of all
V_i + rho, and at most rho max_i tau_i, tau_i the largest V_i / rho of all rows. With g^2 = 2 h +
log(1 + max_i tau_i), a row that is left has, for every c > 0,

    -S  <=  g |w| m^(1/2)  <=  (c |w|^2 + m / c) g / 2.

About a centre, V_i + rho <= value_i - 2 slope_i . y + y' (grams + form) y, with grams above those
of all coins (`common_grams`). With s the mean slope and e_i = slope_i - s, -2 e_i . y <= APART y'
grams y + e_i' grams^-1 e_i / APART: so m may be one quadratic of y. As w and the S_i are linear in
y, both sides are quadratics, and where the form of their difference is positive definite that is an
ellipsoid, exactly. Of some c the one is taken that is best.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.ball import NO_ROW, Ball, Ratios, common_grams
from causalfocus.kernels.randomized.matrices import (
    apply_transposed,
    dot,
    dual_lengths,
    factor,
    solve,
)
from causalfocus.kernels.randomized.records import Stakes
from causalfocus.kernels.randomized.row_tests import SCALE, Row, scale_of_coins

APART = 0.25
"""Share of the grams by which the V of the coins are brought under one bound."""

FIRST_STEP, STEP, N_STEPS = 0.6, 1.5, 8
"""The values of c that are tried, in units in which both sides have the same size on average."""


class Heading(NamedTuple):
    """The weights of a row's coins about its centre, w_a = at_a + by_a y_(of_a); of_a is -1 where
    the coefficient is certain to be zero or was never unknown, by_a is 0 there. After those of the
    coins that were tossed come those of the other unknown causes, which count in |w| alone. share :
    rho over that of the first test of all coins.
    """

    at: Floats
    by: Floats
    of: Ints
    share: float


@kernel
def heading_of(
    stakes: Stakes, row: Row, j: int, causes: Ints, coins: Ints, at_start: Ints
) -> Heading:
    """Return the heading of row j about its centre.

    causes, coins : as for `row_of_tests`
    at_start : all coefficients that were unknown at the start
    """
    others = np.array([i for i in at_start if not (coins == i).any()], dtype=np.int64)
    of_weights = np.append(coins, others)
    m = len(of_weights)
    at, by, of = np.zeros(m), np.zeros(m), np.full(m, -1)
    for a in range(m):
        i = of_weights[a]
        if (at_start == i).any():
            at[a] = -stakes.spreads[j, i] * stakes.anchors[j, i]
        for r in range(len(causes)):
            if causes[r] == i:
                of[a], by[a] = r, stakes.spreads[j, i] * row.units[r]
                at[a] += stakes.spreads[j, i] * stakes.references[j, i] + by[a] * row.centre[r]
    return Heading(at, by, of, SCALE / scale_of_coins(len(at_start)))


class Sides(NamedTuple):
    """Quadratics in y, y' form y + 2 slope . y + value: -S, |w|^2, and a bound m of all V_i +
    rho.
    """

    form: Floats
    slope: Floats
    value: float
    form_of_weights: Floats
    slope_of_weights: Floats
    value_of_weights: float
    form_of_squares: Floats
    slope_of_squares: Floats
    value_of_squares: float


@kernel
def sides_of(row: Row, heading: Heading) -> Sides:
    """Return both sides of the inequality; the last value is infinite where nothing is known."""
    coins, u, m = row.coins, len(row.centre), len(row.coins.distances)
    form, square = np.zeros((u, u)), np.zeros((u, u))
    slope = 0.5 * apply_transposed(coins.moves, heading.at[:m])
    slope_of_weights = np.zeros(u)
    for a in range(len(heading.at)):
        r, by = heading.of[a], heading.by[a]
        if r >= 0:
            slope_of_weights[r] += heading.at[a] * by
            square[r, r] += by * by
        if r >= 0 and a < m:
            slope[r] -= 0.5 * by * coins.distances[a]
            for s in range(u):
                form[r, s] += 0.5 * by * coins.moves[a, s]
                form[s, r] += 0.5 * by * coins.moves[a, s]
    mean = apply_transposed(coins.slopes, np.full(m, 1.0 / m))
    upper, value, grams = np.empty((u, u)), math.inf, common_grams(coins, np.ones(m))
    if factor(grams, upper):
        apart = dual_lengths(upper, coins.slopes - mean.reshape(1, u)) ** 2 * (1.0 + 1e-9)
        value = (coins.squares + apart / APART).max() + heading.share * row.scale.value
    return Sides(
        form,
        slope,
        -dot(heading.at[:m], coins.distances),
        square,
        slope_of_weights,
        dot(heading.at, heading.at),
        (1.0 + APART) * grams + heading.share * row.scale.form,
        -mean - heading.share * row.scale.slope,
        value,
    )


@kernel
def first_factor(sides: Sides) -> float:
    """Return the first c to try; `STEP` times as large is the next, and so on."""
    usual = np.trace(sides.form_of_squares) / max(np.trace(sides.form_of_weights), 1e-300)
    return FIRST_STEP * math.sqrt(usual)


@kernel
def ellipsoid_of_heading(sides: Sides, ratios: Ratios, share: float, h: float, c: float) -> Ball:
    """Return the ellipsoid of one c, which holds all rows that the heading leaves at a level of h
    nats; infinite if there is none.
    """
    g = math.sqrt(2.0 * h + math.log1p(ratios.largest.max() / share))
    one, other = 0.5 * g * c, 0.5 * g / c
    form = sides.form - one * sides.form_of_weights - other * sides.form_of_squares
    slope = sides.slope - one * sides.slope_of_weights - other * sides.slope_of_squares
    value = sides.value - one * sides.value_of_weights - other * sides.value_of_squares
    upper = np.empty(form.shape)
    if not (0.0 < c < math.inf and math.isfinite(value)) or not factor(form, upper):
        return Ball(slope, form, form, math.inf)
    middle = solve(upper, -slope)
    far = -dot(middle, slope)
    size = abs(sides.value) + one * sides.value_of_weights + other * sides.value_of_squares
    square = far - value + 1e-9 * (far + size)
    return Ball(middle, form, upper, math.sqrt(square) if square >= 0.0 else NO_ROW)
