"""One row and all its tests, about a centre: with the proof that they are tests.

**One direction.** Fix a row b, and let it be the true row j. Then r_t = r_t(b) is made of what the
coins of round t do not influence. Let F be all that was known when round t was asked for, and all
earlier asked rounds: given F and r_t the coins of the round are fair and independent, and weights w
and centre are known. So, as cosh(x) <= exp(x^2 / 2), for every number l

    E[exp(l r_t sum_i w_i z_i - l^2 r_t^2 sum_i w_i^2 / 2) | F, r_t]
        = prod_i cosh(l w_i r_t) exp(-l^2 w_i^2 r_t^2 / 2)  <=  1,

and exp(l S - l^2 V / 2) is a supermartingale that starts at 1, whatever the law of the r_t. So is
its mean over l ~ N(0, 1 / rho), which is exp(S^2 / (2 (V + rho))) / sqrt(1 + V / rho). It falls
with V, so with an upper bound in place of V it is below a supermartingale. By Ville's inequality

    S^2  <=  (V + rho) (2 h + log(1 + V / rho))                                      (direction)

at all times, except with probability exp(-h).

**All coins of a row.** The same with a number l_i for every coin, l_i ~ N(0, 1 / rho) independent:
in place of l sum_i w_i z_i stands sum_i l_i z_i, and the exponents are sums over the coins. So

    sum_i S_i^2 / (V_i + rho)  <=  2 h + sum_i log(1 + V_i / rho)                     (all coins)

at all times, except with probability exp(-h).

**The scale.** rho may be any function of b and of what was known before the first round that is
counted; here it is the variance of r(b) in the earlier rounds, times a number of rounds. As b goes
far, V and rho grow alike, so that tests keep their power there, and no unit matters.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic.cholesky import cholesky
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.records import Bets, Stakes, Sums

SCALE = 64.0
"""rho of a direction is that of so many rounds. It matters little: at 1,000 rounds per coin and 6.5
nats half or twice as many widen the bound of S by less than a percent."""

SCALE_OF_A_COIN = 24.0
"""rho of the test of all coins is that of so many rounds for each of u + 1 variables, u of them
with an unknown coefficient. This test pays a logarithm of V / rho for every coin, so its scale
grows with their number."""


@kernel
def scale_of_coins(u: int) -> float:
    """Return the rounds that rho of the test of all coins of a row stands for."""
    return SCALE_OF_A_COIN * (u + 1)


class Family(NamedTuple):
    """The tests of one row at a centre, S = distances - moves . y and V <= squares - 2 slopes . y +
    y' grams y; m of them, with u coefficients.
    """

    distances: Floats
    moves: Floats
    squares: Floats
    slopes: Floats


class Scale(NamedTuple):
    """rho of the test of all coins of a row, at a centre: value - 2 slope . y + y' form y. That of
    a direction is the same, times SCALE / scale_of_coins(u).
    """

    value: float
    slope: Floats
    form: Floats


class Row(NamedTuple):
    """All that is known of one row, about a centre, in coordinates in which the norm is the usual
    one and the grams are diagonal, `curves`: y = back @ (coordinates). `units` are those of the
    coefficients.
    """

    coins: Family
    directions: Family
    scale: Scale
    curves: Floats
    back: Floats
    centre: Floats
    units: Floats
    is_bounded: bool


@kernel
def inverse_of(matrix: Floats) -> Floats:
    """Return the inverse of a matrix that has one."""
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


@kernel
def _family(tests: Bets, j: int, used: Ints, causes: Ints, row: Floats, units: Floats) -> Family:
    """Return tests of row j about its reference, in units in which the grams have diagonal 1."""
    m, u = len(used), len(causes)
    distances, squares = np.empty(m), np.empty(m)
    moves, slopes = np.empty((m, u)), np.empty((m, u))
    for a in range(m):
        distances[a] = tests.moved[j, used[a]] @ row
        squares[a] = tests.squares[j, used[a]]
        for r in range(u):
            moves[a, r] = tests.moved[j, used[a], causes[r]] * units[r]
            slopes[a, r] = tests.crossed[j, used[a], causes[r]] * units[r]
    return Family(distances, moves, squares, slopes)


@kernel
def move_centre(family: Family, grams: Floats, y: Floats) -> Family:
    """Return the same tests about another centre, V rounded upwards."""
    bent = grams @ y
    square = y @ bent
    squares = family.squares.copy()
    for a in range(len(squares)):
        cross = 2.0 * (family.slopes[a] @ y)
        value = squares[a] - cross + square
        squares[a] = max(value, 0.0) + 1e-15 * len(y) * (squares[a] + abs(cross) + square)
    return Family(family.distances - family.moves @ y, family.moves, squares, family.slopes - bent)


@kernel
def turn(family: Family, back: Floats) -> Family:
    """Return the same tests in other coordinates."""
    return Family(family.distances, family.moves @ back, family.squares, family.slopes @ back)


@kernel
def _norm_factor(coins: Family, scale: float) -> Floats:
    """Return B with y = B v and |v| the norm of y, (u, u); one by one nan if there is none."""
    u = coins.moves.shape[1]
    weighed = coins.moves / np.sqrt(coins.squares + scale).reshape(len(coins.squares), 1)
    form = weighed.T @ weighed
    lower = np.zeros((u, u))
    if math.isnan(cholesky(form, lower)):
        return np.full((1, 1), math.nan)
    return np.ascontiguousarray(inverse_of(lower).T)


@kernel
def row_of_tests(sums: Sums, stakes: Stakes, j: int, causes: Ints, coins: Ints) -> Row:
    """Return all that is known of row j about a centre near the middle of what the tests leave.

    causes : the unknown coefficients, one at least
    coins : the variables whose coins were tossed while j was free
    """
    u = len(causes)
    row = -stakes.references[j]
    row[j] = 1.0
    units, grams, form = np.zeros(u), np.empty((u, u)), np.empty((u, u))
    bent, rounds = stakes.first[j] @ row, scale_of_coins(u)
    slope = np.empty(u)
    for r in range(u):
        size = sums.pool.grams[j, causes[r], causes[r]]
        units[r] = 1.0 / math.sqrt(size) if size > 0.0 else 0.0
    for r in range(u):
        slope[r] = rounds * bent[causes[r]] * units[r]
        for s in range(u):
            both = units[r] * units[s]
            grams[r, s] = sums.pool.grams[j, causes[r], causes[s]] * both
            form[r, s] = rounds * stakes.first[j, causes[r], causes[s]] * both
    scale = Scale(rounds * float(row @ bent), slope, form)
    single = _family(sums.coins, j, coins, causes, row, units)
    aimed = _family(sums.directions, j, causes, causes, row, units)
    none = Row(single, aimed, scale, slope, grams, slope, units, False)
    if len(coins) < u or not stakes.is_begun[j] or not (units > 0.0).all() or not scale.value > 0.0:
        return none
    back = _norm_factor(single, scale.value)
    if math.isnan(back[0, 0]):
        return none
    weights = single.squares + scale.value
    centre = back @ (back.T @ (single.moves.T @ (single.distances / weights)))
    value = float(scale.value - 2.0 * (scale.slope @ centre) + centre @ (scale.form @ centre))
    if not value > 0.0:
        return none
    single, aimed = move_centre(single, grams, centre), move_centre(aimed, grams, centre)
    back = _norm_factor(single, value)
    if math.isnan(back[0, 0]):
        return none
    curves, axes = np.linalg.eigh(back.T @ grams @ back)
    back = back @ axes
    turned = Scale(value, back.T @ (scale.slope - scale.form @ centre), back.T @ form @ back)
    return Row(
        turn(single, back),
        turn(aimed, back),
        turned,
        curves,
        back,
        centre,
        units,
        True,
    )
