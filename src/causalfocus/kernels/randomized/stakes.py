"""Stakes: from all rounds that are complete, what the tests of the rounds asked for next will be.

Nothing here carries the guarantee: whatever the stakes are, the tests are valid, because they were
laid before the coins were tossed. Good ones make narrow intervals.

- *Centres.* The mean of the rounds in which the row was free.
- *References.* At first least squares. Then the row at which the tests of the coins are nearest to
  zero, weighed by their noise; least squares still count as a few rounds, which steadies it.
- *Directions.* Setting i moves the regressors of row j by P_i. A direction w moves them by P'w, and
  the one for cause k should move regressor k alone: of all w with P'w = e_k, that with the least
  noise. Entries of P that are not clearly different from zero are taken for zero. What a direction
  moved beside its own regressor in earlier rounds is made good in the next ones, as far as that
  does not cost much noise.
- *Sizes.* A bid is for the variance that the row was thought to have before it was tested. Where
  the residuals turn out larger, as they do with hidden causes and outliers, the directions of the
  row bet less: |w| is the one variance over the other.
- *Aims.* V(b + y) = V(b) - 2 c . y + y' M y. How large V can be among the rows that are left
  (`ellipsoid`) depends on two combinations most: c . y, and the y with the largest y' M y of those
  that the coins see equally well, where a hidden cause of many variables lies. Each has a test of
  its own, with the least noise of those that move it.
"""

import math

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.arithmetic.cholesky import cholesky
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.matrices import (
    apply,
    divide,
    divide_back,
    dot,
    factor,
    multiply,
)
from causalfocus.kernels.randomized.records import (
    N_AIMS,
    SLOPE,
    SPREAD,
    Bets,
    Pool,
    Stakes,
    Sums,
    form_of,
    kept_form,
    turned_form,
)
from causalfocus.kernels.randomized.row_tests import least_scale, scale_of_coins

CLEAR = 3.0
"""Standard errors from which on a coin is taken to move a variable."""

STEADY = 4.0
"""Rounds that least squares count for in a reference."""

REPAIR = 0.4
"""Size of what a direction makes good, at most, as a share of the direction itself."""

APART_FROM_OTHERS = 0.5
"""Share of the variance of a cause that is added where it counts by itself."""

APART = 0.01
"""Share of its variance that a cause has for itself when a row is tested, unless it takes long."""

PATIENCE = 8.0
"""How many times the first rounds are waited for that."""

LEAST_PIVOT = 1e-6
"""Ridge on what a direction is found from, as a share of the diagonal."""

POWERS = 12
"""Steps towards the combination along which V grows most."""

FIRST_SIZE, LEAST_SIZE = 0.7, 0.3
"""Of directions with bids: before anything is known of the residuals, and at least."""

WITHIN_ONE = 1.0 - 1e-6
"""Length of a direction: not above one for rounding to the digits that are kept."""


@kernel
def first_rounds(p: int) -> int:
    """Return how many rounds a row needs before it is tested."""
    return 3 * p + 8


@kernel
def next_stakes(
    sums: Sums, stakes: Stakes, unknown: Bools, growth: float, has_bids: bool
) -> Stakes:
    """Return the stakes for the rounds that are asked for next.

    sums : of all rounds that are complete, those of the present epoch included
    growth : how many rounds the new stakes are laid for, as a share of those so far
    has_bids : whether directions have bids, which sizes are for
    """
    p = len(stakes.is_begun)
    is_begun, first, spreads = stakes.is_begun.copy(), stakes.first.copy(), stakes.spreads.copy()
    centres, references = stakes.centres.copy(), stakes.references.copy()
    anchors = stakes.anchors.copy()
    directions = np.zeros((p, p + N_AIMS, p), dtype=np.float32)
    for j in range(p):
        n = sums.pool.rounds[j]
        if n > 0.0:
            centres[j] += sums.pool.totals[j] / n
        causes = np.flatnonzero(unknown[j])
        spread = _spread(sums.pool, j)
        if not is_begun[j] and _may_begin(spread, causes, j, n):
            is_begun[j] = True
            references[j] = _least_squares(spread, causes, j)
            anchors[j] = references[j]
            form = turned_form(_scale(spread, references[j], causes, j, n), -references[j], j)
            spreads[j] = np.sqrt(np.maximum(np.diag(form), 0.0))
            first[j] = kept_form(form, spreads[j])
            for k in causes:
                directions[j, k, k] = FIRST_SIZE if has_bids else 1.0
        elif is_begun[j]:
            coins = np.flatnonzero(sums.pool.counts[j] > 0.0)
            if len(causes) > 0 and len(coins) > 0:
                step = _reference_step(
                    sums.coins, form_of(stakes, j), references[j], causes, coins, j
                )
                length = _size_of_bets(sums, stakes, causes, coins, j) if has_bids else 1.0
                directions[j] = _directions(sums, causes, coins, j, growth, length)
                for r in range(len(causes)):
                    references[j, causes[r]] += step[r]
    return Stakes(is_begun, centres, references, directions, first, spreads, anchors)


@kernel
def no_stakes(p: int) -> Stakes:
    """Return the stakes before anything is known."""
    none = np.zeros((p, p))
    return Stakes(
        np.zeros(p, dtype=np.bool_),
        none,
        none.copy(),
        np.zeros((p, p + N_AIMS, p), dtype=np.float32),
        np.zeros((p, p, p), dtype=np.float32),
        none.copy(),
        none.copy(),
    )


@kernel
def _spread(pool: Pool, j: int) -> Floats:
    """Return the mean products (p, p) about the means, of a row that is not tested yet."""
    n = max(pool.rounds[j], 1.0)
    means = pool.totals[j] / n
    return pool.grams[j] / n - means.reshape(-1, 1) * means.reshape(1, -1)


@kernel
def _least_pivot(grams: Floats, of: Ints) -> float:
    """Return the smallest share of the variance of one of some variables that those before it leave
    unexplained; 0 if there is none.
    """
    u = len(of)
    scaled, lower = np.empty((u, u)), np.zeros((u, u))
    for r in range(u):
        for s in range(u):
            size = math.sqrt(max(grams[of[r], of[r]], 0.0)) * math.sqrt(
                max(grams[of[s], of[s]], 0.0)
            )
            scaled[r, s] = grams[of[r], of[s]] / size if size > 0.0 else 0.0
    if math.isnan(cholesky(scaled, lower)):
        return 0.0
    least = 1.0
    for r in range(u):
        least = min(least, lower[r, r] ** 2)
    return least


@kernel
def _may_begin(grams: Floats, causes: Ints, j: int, n: float) -> bool:
    """Return whether row j can be tested: no combination of its variables is constant. While there
    are few rounds its causes must vary apart, so that the first reference is not far off.
    """
    enough = first_rounds(len(grams))
    if n < enough or _least_pivot(grams, np.append(causes, j)) == 0.0:
        return False
    return n >= PATIENCE * enough or _least_pivot(grams, causes) > APART


@kernel
def _solve(matrix: Floats, right: Floats) -> Floats:
    """Return the solution of a symmetric system, with a ridge of a share of its diagonal; zeros if
    it has none.
    """
    u = len(matrix)
    scale = np.empty(u)
    for r in range(u):
        scale[r] = 1.0 / math.sqrt(matrix[r, r]) if matrix[r, r] > 0.0 else 0.0
    scaled = matrix * scale.reshape(u, 1) * scale.reshape(1, u)
    for r in range(u):
        scaled[r, r] = 1.0 + LEAST_PIVOT
    upper, found = np.empty((u, u)), right * scale.reshape(u, 1)
    if not factor(scaled, upper):
        return np.zeros(right.shape)
    divide(upper, found)
    divide_back(upper, found)
    return found * scale.reshape(u, 1)


@kernel
def _least_squares(first: Floats, causes: Ints, j: int) -> Floats:
    """Return the row (p,) that fits the rounds before the tests best."""
    u = len(causes)
    matrix, right = np.empty((u, u)), np.empty((u, 1))
    for r in range(u):
        right[r, 0] = first[causes[r], j]
        for s in range(u):
            matrix[r, s] = first[causes[r], causes[s]]
    solved = _solve(matrix, right)
    found = np.zeros(len(first))
    for r in range(u):
        found[causes[r]] = solved[r, 0]
    return found


@kernel
def _scale(spread: Floats, reference: Floats, causes: Ints, j: int, n: float) -> Floats:
    """Return the form (p, p) that gives the scale of row b as q' form q, q = (1, -b).

    It is that of the mean squares of the residuals, corrected for the fit. Distances from the best
    row count more, each coefficient by itself, because few rounds make some directions look
    shorter than they are.
    """
    found = spread.copy()
    for k in causes:
        by = APART_FROM_OTHERS * spread[k, k]
        found[k, k] += by
        found[j, k] += by * reference[k]
        found[k, j] += by * reference[k]
        found[j, j] += by * reference[k] ** 2
    return found * (n / max(n - len(causes), 1.0))


@kernel
def _reference_step(
    coins: Bets, first: Floats, reference: Floats, causes: Ints, used: Ints, j: int
) -> Floats:
    """Return the way from a reference to the next, for every unknown coefficient."""
    u = len(causes)
    row = -reference
    row[j] = 1.0
    bent = apply(first, row)
    noise = dot(row, bent)
    matrix, right = np.zeros((u, u)), np.zeros((u, 1))
    if noise > 0.0:
        for r in range(u):
            right[r, 0] = STEADY * bent[causes[r]] / noise
            for s in range(u):
                matrix[r, s] = STEADY * first[causes[r], causes[s]] / noise
    for i in used:
        size = coins.squares[j, i]
        if size > 0.0:
            distance = dot(coins.moved[j, i], row)
            for r in range(u):
                right[r, 0] += coins.moved[j, i, causes[r]] * distance / size
                for s in range(u):
                    both = coins.moved[j, i, causes[r]] * coins.moved[j, i, causes[s]]
                    matrix[r, s] += both / size
    return _solve(matrix, right)[:, 0].copy()


@kernel
def _clear_moves(sums: Sums, causes: Ints, coins: Ints, j: int) -> Floats:
    """Return what each coin moves (m, u), zero where that is not clear."""
    pool = sums.pool
    found = np.zeros((len(coins), len(causes)))
    for a in range(len(coins)):
        i = coins[a]
        share = pool.counts[j, i] / max(pool.rounds[j], 1.0)
        for b in range(len(causes)):
            r = causes[b]
            moved = sums.coins.moved[j, i, r]
            if r == i or moved * moved > CLEAR**2 * share * pool.grams[j, r, r]:
                found[a, b] = moved
    return found


@kernel
def _aims(sums: Sums, causes: Ints, coins: Ints, j: int, seen: Floats) -> Floats:
    """Return what the aims should move (u, N_AIMS), in the metric of what the coins see: zeros
    where nothing can be aimed at.
    """
    u = len(causes)
    grams, slope, found = np.empty((u, u)), np.zeros((u, 1)), np.zeros((u, N_AIMS))
    v = np.zeros((u, 1))
    for r in range(u):
        for i in coins:
            slope[r, 0] += sums.coins.crossed[j, i, causes[r]]
        for s in range(u):
            grams[r, s] = sums.pool.grams[j, causes[r], causes[s]]
        if seen[r, r] > 0.0:
            v[r, 0] = 1.0 / math.sqrt(seen[r, r])
    found[:, SLOPE] = _solve(seen, slope)[:, 0]
    for _ in range(POWERS):
        v = _solve(seen, multiply(grams, v))
        size = 0.0
        for r in range(u):
            size += v[r, 0] ** 2 * seen[r, r]
        if not size > 0.0 or not math.isfinite(size):
            return found
        v /= math.sqrt(size)
    found[:, SPREAD] = v[:, 0]
    return found


@kernel
def _size_of_bets(sums: Sums, stakes: Stakes, causes: Ints, coins: Ints, j: int) -> float:
    """Return the size of the directions of row j: the variance for which their bids are, over that
    of the residuals.
    """
    thought = least_scale(stakes, j, causes) / scale_of_coins(len(causes))
    squares = counts = 0.0
    for i in coins:
        squares += sums.coins.squares[j, i]
        counts += sums.pool.counts[j, i]
    found = thought * counts / squares if squares > 0.0 else FIRST_SIZE
    return min(max(found, LEAST_SIZE), 1.0)


@kernel
def _directions(
    sums: Sums, causes: Ints, coins: Ints, j: int, growth: float, length: float
) -> Floats:
    """Return the weights of the coins (p + N_AIMS, p) for every unknown cause of row j, of some
    length, and its aims.
    """
    p, m, u = sums.pool.rounds.shape[0], len(coins), len(causes)
    moves = _clear_moves(sums, causes, coins, j)
    weighed = np.empty((m, u))
    for a in range(m):
        size = sums.coins.squares[j, coins[a]]
        for b in range(u):
            weighed[a, b] = moves[a, b] / size if size > 0.0 else 0.0
    wanted = np.zeros((u, 2 * u))
    for b in range(u):
        wanted[b, b] = 1.0
        for c in range(u):
            if b != c:
                wanted[c, u + b] = -sums.directions.moved[j, causes[b], causes[c]] / growth
    seen = multiply(moves.T.copy(), weighed)
    solved = multiply(weighed, _solve(seen, wanted))
    found = np.zeros((p + N_AIMS, p))
    aims = multiply(weighed, _aims(sums, causes, coins, j, seen))
    for a in range(N_AIMS):
        size = math.sqrt((aims[:, a] ** 2).sum())
        if size > 0.0 and math.isfinite(size):
            for i in range(m):
                found[p + a, coins[i]] = aims[i, a] * (WITHIN_ONE / size)
    for b in range(u):
        w = np.zeros(p)
        plain = math.sqrt((solved[:, b] ** 2).sum())
        repair = math.sqrt((solved[:, u + b] ** 2).sum()) / length
        if plain > 0.0:
            share = min(1.0, REPAIR / repair) if repair > 0.0 else 0.0
            for a in range(m):
                w[coins[a]] = solved[a, b] / plain + share * solved[a, u + b] / length
            found[causes[b]] = w * (length * WITHIN_ONE / math.sqrt((w**2).sum()))
        else:
            found[causes[b], causes[b]] = length
    return found
