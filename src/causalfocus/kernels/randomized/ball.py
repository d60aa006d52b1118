"""A ball that holds every row that the coins leave, near or far: with proof.

Take any centre b0 (here where the tests of the coins are nearest to zero), b = b0 + y, a_i^2 =
V_i(b0) + rho(b0), and |y|^2 = sum_i (P_i . y)^2 / a_i^2 with P_i what coin i moves. Coordinates are
such that this is the usual norm. V_i and rho are quadratic in y, so

    V_i(y) + rho(y)  <=  a_i^2 (1 + 2 eta |y| + theta |y|^2),
        eta = max_i |slope of i| / a_i^2,  theta = (largest eigenvalue) / min_i a_i^2,

and V_i / rho is at most tau_i over ALL y (`largest_ratios`). With R^2 = 2 h + sum_i log(1 + tau_i),
s^2 = sum_i S_i(b0)^2 / a_i^2 and g the length of sum_i S_i(b0) P_i / a_i^2, the test of all coins
(`row_tests`) gives for every row b that it leaves, because S_i(b) = S_i(b0) - P_i . y,

    s^2 - 2 g |y| + |y|^2  <=  sum_i S_i(b)^2 / a_i^2  <=  R^2 (1 + 2 eta |y| + theta |y|^2).

If R^2 theta < 1, this bounds |y| by the larger root of a quadratic equation, and if it has no root,
no row is left: that can be where there are more coins than unknown coefficients, s > 0. If R^2
theta >= 1, nothing is said.

**Smaller and smaller.** Given a ball that holds all rows that are left, V and rho are bounded over
it, and the test with these bounds makes a smaller ball that holds them all. No step assumes what it
is to show: the first ball is bounded without one.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic.cholesky import cholesky
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.row_tests import Row, inverse_of, move_centre

NO_ROW = -1.0
"""The radius of a ball in which there is nothing."""

STEPS = 20
"""How often the ball is made smaller, at most."""


class Ratios(NamedTuple):
    """Upper bounds of V / rho over all rows, for every coin, and the least rho of all rows."""

    largest: Floats
    least_scale: float


@kernel
def largest_eigenvalue(matrix: Floats) -> float:
    """Return the largest eigenvalue of a symmetric matrix."""
    return float(np.linalg.eigvalsh(matrix)[-1])


@kernel
def lengths(vectors: Floats) -> Floats:
    """Return the length of every row of a matrix."""
    return np.sqrt((vectors * vectors).sum(axis=1))


@kernel
def largest_ratios(row: Row) -> Ratios:
    """Return bounds that hold for all rows; a least rho of 0 says that there are none.

    rho = least + |z|^2 with z = C (y - y1), C'C its form and y1 where it is least. There V_i = v +
    2 g . (y - y1) + (y - y1)' grams (y - y1) <= v + 2 c |z| + k |z|^2, c the length of C^-T g and
    k the largest eigenvalue of C^-T grams C^-1. So the ratio is at most that of two quadratic forms
    in (1, |z|): the larger eigenvalue of [[v / least, c / sqrt(least)], [c / sqrt(least), k]].
    """
    u, m = len(row.centre), len(row.coins.squares)
    found = np.full(m, math.inf)
    lower = np.zeros((u, u))
    if math.isnan(cholesky(row.scale.form, lower)):
        return Ratios(found, 0.0)
    inverse = inverse_of(lower)
    at = inverse.T @ (inverse @ row.scale.slope)
    least = row.scale.value - float(row.scale.slope @ at)
    if not least > 1e-9 * row.scale.value:
        return Ratios(found, 0.0)
    least *= 1.0 - 1e-6
    grams = np.diag(row.curves)
    there = move_centre(row.coins, grams, at)
    slopes = lengths(there.slopes @ inverse.T)
    most = largest_eigenvalue(inverse @ grams @ inverse.T)
    for i in range(m):
        v, c = there.squares[i] / least, slopes[i] / math.sqrt(least)
        found[i] = 0.5 * (v + most) + math.sqrt(0.25 * (v - most) ** 2 + c * c)
    return Ratios(found, least)


@kernel
def _largest_root(lead: float, half: float, rest: float) -> float:
    """Return the largest x with lead x^2 - 2 half x + rest <= 0: infinity if there is no largest,
    NO_ROW if there is no x.
    """
    if not lead > 0.0:
        return math.inf
    inside = half * half - lead * rest
    return (half + math.sqrt(inside)) / lead if inside >= 0.0 else NO_ROW


@kernel
def peaks(curves: Floats, slopes: Floats, radius: float) -> Floats:
    """Return upper bounds of -2 slopes . v + sum_a curves_a v_a^2 over the ball, for every test.

    For every k above all curves it is at most k |v|^2 - sum_a ((k - curves_a) v_a^2 + 2 slopes_a
    v_a) <= k radius^2 + sum_a slopes_a^2 / (k - curves_a); the best k is found by bisection.
    """
    found = np.empty(len(slopes))
    most = curves.max()
    for i in range(len(slopes)):
        length = math.sqrt(slopes[i] @ slopes[i])
        low, high = most, most + length / radius + 1e-9 * most
        for _ in range(30):
            middle = 0.5 * (low + high)
            if ((slopes[i] / (middle - curves)) ** 2).sum() > radius**2:
                low = middle
            else:
                high = middle
        found[i] = high * radius**2 + (slopes[i] ** 2 / (high - curves)).sum()
    return found


@kernel
def radius_of_ball(row: Row, h: float) -> float:
    """Return the radius of a ball about the centre that holds all rows that the coins leave at a
    level of h nats; infinity if they do not bound them, NO_ROW if they leave none.
    """
    coins, scale = row.coins, row.scale
    ratios = largest_ratios(row)
    if not ratios.least_scale > 0.0:
        return math.inf
    sizes = coins.squares + scale.value
    distance = float((coins.distances**2 / sizes).sum()) * (1.0 - 1e-9)
    lean = coins.moves.T @ (coins.distances / sizes)
    tilt = math.sqrt(lean @ lean)
    own = math.sqrt(scale.slope @ scale.slope)
    eta = (lengths(coins.slopes + scale.slope) / sizes).max()
    most_scale = largest_eigenvalue(scale.form)
    theta = largest_eigenvalue(np.diag(row.curves) + scale.form) / sizes.min()
    bound = 2.0 * h + np.log1p(ratios.largest).sum()
    radius = _largest_root(1.0 - bound * theta, tilt + bound * eta, distance - bound)
    for _ in range(STEPS):
        if math.isinf(radius) or radius == NO_ROW:
            return radius
        squares = coins.squares + peaks(row.curves, coins.slopes, radius)
        low = max(ratios.least_scale, scale.value - 2.0 * own * radius)
        high = scale.value + 2.0 * own * radius + most_scale * radius**2
        bound = 2.0 * h + np.log1p(np.minimum(ratios.largest, squares / low)).sum()
        everywhere = _largest_root(1.0 - bound * theta, tilt + bound * eta, distance - bound)
        most = bound * ((squares + high) / sizes).max()
        before = radius
        radius = min(radius, everywhere, _largest_root(1.0, tilt, distance - most))
        if radius > 0.99 * before:
            break
    return radius * (1.0 + 1e-9)
