"""Adding up rounds for the tests of the randomized rule, and putting epochs together.

A round is taken by intention: what was asked for decides in which rows it counts and which coins
it has; the values are those that were achieved. See `records` for the sums.
"""

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.matrices import add_scaled, apply, dot, multiply
from causalfocus.kernels.randomized.records import N_AIMS, Bets, Epoch, Pool, Stakes, Sums

ROUNDING = 1e-15
"""Share of the largest part of V that is added to it where a reference moves, for every
coefficient: more than the rounding of the parts, so that V stays an upper bound."""


@kernel
def no_tests(p: int, q: int, has_grams: bool) -> Bets:
    """Return sums of no rounds, of q tests of each of p rows."""
    grams = np.zeros((p, q if has_grams else 0, p, p))
    return Bets(np.zeros((p, q, p)), np.zeros((p, q)), np.zeros((p, q, p)), grams)


@kernel
def no_pool(p: int) -> Pool:
    """Return sums of no rounds."""
    return Pool(np.zeros((p, p, p)), np.zeros((p, p)), np.zeros((p, p)), np.zeros(p))


@kernel
def no_epoch(p: int, has_grams: bool) -> Epoch:
    """Return the sums of an epoch in which nothing was asked for."""
    return Epoch(no_tests(p, p, has_grams), no_pool(p))


@kernel
def no_sums(p: int, has_grams: bool) -> Sums:
    """Return the sums of no epochs.

    has_grams : whether each test keeps its own
    """
    return Sums(no_tests(p, p, has_grams), no_tests(p, p + N_AIMS, has_grams), no_pool(p))


@kernel
def add_rounds(epoch: Epoch, stakes: Stakes, asked: Bools, signs: Floats, samples: Floats) -> None:
    """Add rounds, one after the other, to the sums of their epoch, in place.

    asked : (n, p), which variables were asked to be set
    signs : (n, p), the coins of these: 1 for the high end, -1 for the low one, 0 for no coin of
        this round
    samples : (n, p), the values that were achieved
    """
    p = samples.shape[1]
    x = np.empty(p)
    for t in range(samples.shape[0]):
        for j in range(p):
            if not asked[t, j]:
                for r in range(p):
                    x[r] = samples[t, r] - stakes.centres[j, r]
                _add_to_pool(epoch.pool, j, x, signs[t])
                if stakes.is_begun[j]:
                    _add_to_coins(epoch.coins, j, x, signs[t], stakes.references[j])


@kernel
def _add_to_pool(pool: Pool, j: int, x: Floats, signs: Floats) -> None:
    p = len(x)
    pool.rounds[j] += 1.0
    for r in range(p):
        pool.totals[j, r] += x[r]
        pool.counts[j, r] += abs(signs[r])
        for s in range(p):
            pool.grams[j, r, s] += x[r] * x[s]


@kernel
def _add_to_coins(coins: Bets, j: int, x: Floats, signs: Floats, reference: Floats) -> None:
    p = len(x)
    residual = x[j]
    for r in range(p):
        residual -= reference[r] * x[r]
    square = residual * residual
    for i in range(p):
        if signs[i] != 0.0:
            coins.squares[j, i] += square
            for r in range(p):
                coins.moved[j, i, r] += signs[i] * x[r]
                coins.crossed[j, i, r] += residual * x[r]
            if coins.grams.shape[1] > 0:
                for r in range(p):
                    add_scaled(coins.grams[j, i, r], x[r], x)


@kernel
def close_epoch(sums: Sums, epoch: Epoch, stakes: Stakes, following: Stakes) -> None:
    """Add the sums of an epoch to those of earlier ones, in place, and move them to the references
    of the stakes that follow.

    What a row collected before it was tested is dropped when its tests begin, but for its means.
    """
    p = len(stakes.is_begun)
    for j in range(p):
        _add_pool(sums.pool, epoch.pool, j)
        shift = following.centres[j] - stakes.centres[j]
        if not stakes.is_begun[j]:
            _move_grams(sums.pool, shift, j)
        sums.pool.totals[j] -= sums.pool.rounds[j] * shift
        if following.is_begun[j] and not stakes.is_begun[j]:
            sums.pool.grams[j], sums.pool.counts[j] = 0.0, 0.0
        if stakes.is_begun[j]:
            _add_coins(sums.coins, epoch.coins, j)
            _add_directions(sums.directions, epoch.coins, stakes.directions[j], j)
            step = following.references[j] - stakes.references[j]
            _move(sums.coins, sums.pool.grams[j], step, j)
            _move(sums.directions, sums.pool.grams[j], step, j)


@kernel
def strike(sums: Sums, references: Floats, j: int, struck: Ints) -> None:
    """Put the sums of row j, in place, about the reference without some coefficients, and these to
    zero in the references (p, p).
    """
    step = np.zeros(references.shape[1])
    for k in struck:
        step[k] = -references[j, k]
        references[j, k] = 0.0
    if step.any():
        _move(sums.coins, sums.pool.grams[j], step, j)
        _move(sums.directions, sums.pool.grams[j], step, j)


@kernel
def _add_pool(pool: Pool, more: Pool, j: int) -> None:
    pool.grams[j] += more.grams[j]
    pool.totals[j] += more.totals[j]
    pool.counts[j] += more.counts[j]
    pool.rounds[j] += more.rounds[j]


@kernel
def _move_grams(pool: Pool, shift: Floats, j: int) -> None:
    """Put the grams of a row that is not tested yet about another centre. Later each round keeps
    the centre under which it was asked for.
    """
    for r in range(len(shift)):
        for s in range(len(shift)):
            crossed = shift[r] * pool.totals[j, s] + pool.totals[j, r] * shift[s]
            pool.grams[j, r, s] += pool.rounds[j] * shift[r] * shift[s] - crossed


@kernel
def _add_coins(tests: Bets, more: Bets, j: int) -> None:
    tests.moved[j] += more.moved[j]
    tests.squares[j] += more.squares[j]
    tests.crossed[j] += more.crossed[j]
    tests.grams[j] += more.grams[j]


@kernel
def _add_directions(tests: Bets, coins: Bets, directions: Floats, j: int) -> None:
    """S of a direction is the weighted sum of those of the coins, V that with squared weights,
    because every coin of a round has its own term in both.
    """
    weights = directions.astype(np.float64)
    squared = weights * weights
    tests.moved[j] += multiply(weights, coins.moved[j])
    tests.squares[j] += apply(squared, coins.squares[j])
    tests.crossed[j] += multiply(squared, coins.crossed[j])
    if coins.grams.shape[1] > 0:
        p = coins.squares.shape[1]
        both = multiply(squared, coins.grams[j].reshape(p, p * p))
        tests.grams[j] += both.reshape(len(squared), p, p)


@kernel
def _move(tests: Bets, grams: Floats, step: Floats, j: int) -> None:
    """Put the sums of row j about another reference: V is the same quadratic, rounded upwards.

    grams : of the row, for tests that keep none
    """
    p = len(step)
    bent = apply(grams, step)
    for k in range(tests.squares.shape[1]):
        if tests.grams.shape[1] > 0:
            bent = apply(tests.grams[j, k], step)
        square, cross = dot(step, bent), dot(step, tests.crossed[j, k])
        largest = tests.squares[j, k] + 2.0 * abs(cross) + square
        moved = tests.squares[j, k] - 2.0 * cross + square
        tests.squares[j, k] = max(moved, 0.0) + ROUNDING * p * largest
        for r in range(p):
            tests.crossed[j, k, r] -= bent[r]
