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

**A bid.** Instead of a mixture, l may be one number that was fixed before the first round that is
counted, and it may be a function of b: a test of one hypothesis is laid in view of that hypothesis.
cosh(l S) exp(-l^2 V / 2) is a supermartingale as well, and so is any mean of it and of the mixture:
of a direction with a bid, `BID` of its money is on l, the rest on the mixture. As cosh(x) >=
exp(|x|) / 2, a row that passes fulfils both

    |S|  <=  (h + log 2 - log BID + l^2 V / 2) / l,                                    (bid)

and (direction) with h - log(1 - BID) in the place of h. Both bounds rise with V. The best l for one
V pays log 2 - log BID, the mixture half of log(1 + V / rho). Where S = L b_k at a distance b_k from
the truth, what settles it is l = b_k L / V; with d the half width that is wanted and s half of the
range of k, b_k L / V is near d s / v, and somewhat below it where coins have to be weighed against
each other to isolate k: hence `NEARLY`.

**All coins of a row.** The same with a number l_i for every coin, l_i ~ N(0, 1 / rho) independent:
in place of l sum_i w_i z_i stands sum_i l_i z_i, and the exponents are sums over the coins. So

    sum_i S_i^2 / (V_i + rho)  <=  2 h + sum_i log(1 + V_i / rho)                     (all coins)

at all times, except with probability exp(-h).

**The scale.** rho may be any function of b and of what was known before the first round that is
counted. Of the first test of all coins it is the variance of r(b) in the earlier rounds, `first`,
times a number of rounds: as b goes far, V and rho grow alike, so that the test keeps its power
there. In proportion to its least value over all b is the rho of the second test of all coins, and
that of the directions, the same for all b: they are read only among rows that the first test
leaves. No unit matters.

**Fewer coefficients.** Where some of them are known to be zero, rows with b_k = 0 are all that
there is, and the tests are read among these alone. They stay the same tests: rho is that of all
coefficients that were unknown at the start, however many are left, because what was learned since
must not choose it.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.matrices import (
    add_scaled,
    apply,
    apply_transposed,
    dot,
    factor,
    solve,
    weighed_products,
)
from causalfocus.kernels.randomized.records import N_AIMS, Bets, Stakes, Sums, form_of

SCALE = 64.0
"""rho of a direction is that of so many rounds. It matters little: at 1,000 rounds per coin and 6.5
nats half or twice as many widen the bound of S by less than a percent."""

SCALE_OF_A_COIN = 16.0
"""rho of the first test of all coins is that of so many rounds for each of u + 1 variables, u of
them with an unknown coefficient. It pays a logarithm of V / rho for every coin, so its scale grows
with their number."""

NEAR = 2.25
"""How many times the least rho of the first test of all coins that of the second is."""


BID = 0.65
"""Share of a direction's money that is on its bid, if it has one."""

NEARLY = 0.8
"""Of d s / v, the number l of a bid. At V half or twice as large as suits it, (bid) is 6 percent
above its least multiple of the root of V."""


@kernel
def scale_of_coins(u: int) -> float:
    """Return the rounds that rho of the first test of all coins of a row stands for."""
    return SCALE_OF_A_COIN * (u + 1)


class Family(NamedTuple):
    """The tests of one row at a centre, S = distances - moves . y and V <= squares - 2 slopes . y +
    y' grams y; m of them, with u coefficients. The grams are those of each test (m, u, u), or one
    for all (1, u, u).
    """

    distances: Floats
    moves: Floats
    squares: Floats
    slopes: Floats
    grams: Floats


class Scale(NamedTuple):
    """rho of the first test of all coins of a row, at a centre: value - 2 slope . y + y' form y."""

    value: float
    slope: Floats
    form: Floats


class Row(NamedTuple):
    """All that is known of one row, about a centre, in units in which its grams have diagonal 1;
    `units` are those of the coefficients.
    """

    coins: Family
    directions: Family
    aims: Family
    scale: Scale
    grams: Floats
    centre: Floats
    units: Floats
    is_bounded: bool


@kernel
def grams_of(family: Family, a: int) -> Floats:
    """Return the grams (u, u) of a test."""
    return family.grams[a if len(family.grams) > 1 else 0]


@kernel
def _family(
    tests: Bets, j: int, used: Ints, causes: Ints, row: Floats, units: Floats, pooled: Floats
) -> Family:
    """Return tests of row j about its reference, in units in which the grams of the row have
    diagonal 1.

    pooled : these grams (u, u), for tests that keep none
    """
    m, u = len(used), len(causes)
    has_grams = tests.grams.shape[1] > 0
    grams = np.empty((m if has_grams else 1, u, u))
    for a in range(len(grams)):
        for r in range(u):
            for s in range(u):
                grams[a, r, s] = pooled[r, s]
                if has_grams:
                    both = units[r] * units[s]
                    grams[a, r, s] = tests.grams[j, used[a], causes[r], causes[s]] * both
    distances, squares = np.empty(m), np.empty(m)
    moves, slopes = np.empty((m, u)), np.empty((m, u))
    for a in range(m):
        distances[a] = dot(tests.moved[j, used[a]], row)
        squares[a] = tests.squares[j, used[a]]
        for r in range(u):
            moves[a, r] = tests.moved[j, used[a], causes[r]] * units[r]
            slopes[a, r] = tests.crossed[j, used[a], causes[r]] * units[r]
    return Family(distances, moves, squares, slopes, grams)


@kernel
def move_centre(family: Family, y: Floats) -> Family:
    """Return the same tests about another centre, V rounded upwards."""
    bent = apply(family.grams[0], y)
    squares, distances = family.squares.copy(), family.distances.copy()
    slopes = family.slopes.copy()
    for a in range(len(squares)):
        if len(family.grams) > 1 and a > 0:
            bent = apply(family.grams[a], y)
        square = dot(y, bent)
        distances[a] -= dot(family.moves[a], y)
        cross = 2.0 * dot(family.slopes[a], y)
        value = squares[a] - cross + square
        squares[a] = max(value, 0.0) + 1e-15 * len(y) * (squares[a] + abs(cross) + square)
        add_scaled(slopes[a], -1.0, bent)
    return Family(distances, family.moves, squares, slopes, family.grams)


@kernel
def move_scale(scale: Scale, y: Floats) -> Scale:
    """Return the same scale about another centre."""
    bent = apply(scale.form, y)
    value = scale.value - 2.0 * dot(scale.slope, y) + dot(y, bent)
    return Scale(value, scale.slope - bent, scale.form)


@kernel
def _nearest(coins: Family, scale: float) -> Floats:
    """Return the centre at which the tests of the coins are nearest to zero; of length 0 if there
    is none.
    """
    weights = 1.0 / (coins.squares + scale)
    form = weighed_products(coins.moves, weights)
    upper = np.empty(form.shape)
    if not factor(form, upper):
        return np.empty(0)
    return solve(upper, apply_transposed(coins.moves, weights * coins.distances))


@kernel
def least_scale(stakes: Stakes, j: int, causes: Ints) -> float:
    """Return rho of the first test of all coins of row j where it is least over all rows; 0 if that
    is not above rounding.

    causes : all coefficients that were unknown at the start
    """
    u = len(causes)
    row = -stakes.references[j]
    row[j] = 1.0
    form = form_of(stakes, j)
    bent = apply(form, row)
    matrix, pull, upper = np.empty((u, u)), np.empty(u), np.empty((u, u))
    for r in range(u):
        by = stakes.spreads[j, causes[r]]
        if not by > 0.0:
            return 0.0
        pull[r] = bent[causes[r]] / by
        for s in range(u):
            both = by * stakes.spreads[j, causes[s]]
            matrix[r, s] = form[causes[r], causes[s]] / both if both > 0.0 else 0.0
    value = dot(row, bent)
    if not factor(matrix, upper):
        return 0.0
    least = value - dot(pull, solve(upper, pull))
    return scale_of_coins(u) * least if least > 1e-9 * value else 0.0


@kernel
def row_of_tests(
    sums: Sums, stakes: Stakes, j: int, causes: Ints, coins: Ints, n_unknown: int
) -> Row:
    """Return all that is known of row j about a centre near the middle of what the tests leave.

    causes : the coefficients that are unknown now, one at least; the others are zero, and so are
        those of the reference
    coins : the variables whose coins were tossed while j was free
    n_unknown : how many coefficients were unknown at the start, by which rho goes
    """
    u = len(causes)
    row = -stakes.references[j]
    row[j] = 1.0
    units, grams, form = np.zeros(u), np.empty((u, u)), np.empty((u, u))
    first, rounds = form_of(stakes, j), scale_of_coins(n_unknown)
    bent = apply(first, row)
    slope = np.empty(u)
    for r in range(u):
        size = sums.pool.grams[j, causes[r], causes[r]]
        units[r] = 1.0 / math.sqrt(size) if size > 0.0 else 0.0
    for r in range(u):
        slope[r] = rounds * bent[causes[r]] * units[r]
        for s in range(u):
            both = units[r] * units[s]
            grams[r, s] = sums.pool.grams[j, causes[r], causes[s]] * both
            form[r, s] = rounds * first[causes[r], causes[s]] * both
    scale = Scale(rounds * dot(row, bent), slope, form)
    single = _family(sums.coins, j, coins, causes, row, units, grams)
    alone = _family(sums.directions, j, causes, causes, row, units, grams)
    aims = _family(sums.directions, j, len(row) + np.arange(N_AIMS), causes, row, units, grams)
    none = Row(single, alone, aims, scale, grams, slope, units, False)
    if len(coins) < u or not stakes.is_begun[j] or not (units > 0.0).all() or not scale.value > 0.0:
        return none
    centre = _nearest(single, scale.value)
    if len(centre) == 0:
        return none
    scale = move_scale(scale, centre)
    if not scale.value > 0.0:
        return none
    single, alone = move_centre(single, centre), move_centre(alone, centre)
    aims = move_centre(aims, centre)
    return Row(single, alone, aims, scale, grams, centre, units, True)
