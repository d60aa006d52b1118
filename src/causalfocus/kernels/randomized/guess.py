"""A guess from the coins: the effects that explain what the coins moved, at a price for each.

Nothing here carries the guarantee. With S_i(b) = P_i,j - b . P_i, what coin i moved of row j beyond
what a row b explains, and V_i its noise, a row with k effects costs

    1/2 sum_i S_i(b)^2 / V_i  +  k (1 + log(n) / 2)     nats:

the instrumental fit, with the price per edge that keeps effects made by chance out. Effects are
taken one by one, each time the one that gains most, as long as it gains more than its price.
Nothing but what follows a coin enters, so hidden causes and feedback do not mislead it.
"""

import math

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.records import Stakes, Sums

LEAST_LEFT = 1e-6
"""Share of what the coins moved of a cause that is left beside the causes taken before it, below
which it is not taken: nobody could tell it from them."""


@kernel
def guess_rows(sums: Sums, stakes: Stakes, unknown: Bools) -> tuple[Floats, Floats, Floats]:
    """Return weights (p, p), noise variances (p,) and constants (p,).

    A row that is not tested yet has no effects; one without any rounds a noise of 1.
    """
    p = len(stakes.is_begun)
    weights, noise, constants = np.zeros((p, p)), np.ones(p), np.zeros(p)
    for j in range(p):
        rounds = sums.pool.rounds[j]
        if rounds > 0.0:
            mean = sums.pool.totals[j] / rounds
            if stakes.is_begun[j]:
                noise[j] = _residual_variance(sums, j)
                causes = np.flatnonzero(unknown[j])
                weights[j] = _guess_row(sums, j, causes)
            else:
                noise[j] = sums.pool.grams[j, j, j] / rounds - mean[j] ** 2
            centre = stakes.centres[j] + mean
            constants[j] = centre[j]
            for r in range(p):
                constants[j] -= weights[j, r] * centre[r]
        if not noise[j] > 0.0:
            noise[j] = 1.0
    return weights, noise, constants


@kernel
def _residual_variance(sums: Sums, j: int) -> float:
    """Return the mean square of the residual at the reference."""
    squares, counts = 0.0, 0.0
    for i in range(len(sums.coins.squares)):
        squares += sums.coins.squares[j, i]
        counts += sums.pool.counts[j, i] if sums.coins.squares[j, i] > 0.0 else 0.0
    return squares / counts if counts > 0.0 else 0.0


@kernel
def _guess_row(sums: Sums, j: int, causes: Ints) -> Floats:
    """Return the row (p,) of effects that are worth their price."""
    p, u = len(sums.pool.rounds), len(causes)
    moves, left = np.zeros((u, p)), np.zeros(p)
    for i in range(p):
        size = sums.coins.squares[j, i]
        if size > 0.0:
            scale = 1.0 / math.sqrt(size)
            left[i] = sums.coins.moved[j, i, j] * scale
            for a in range(u):
                moves[a, i] = sums.coins.moved[j, i, causes[a]] * scale
    price = 1.0 + 0.5 * math.log(max(sums.pool.rounds[j], 1.0))
    taken, basis, parts = np.zeros(u, dtype=np.int64), np.zeros((u, p)), np.zeros((u, u + 1))
    bare, sizes, n = moves.copy(), np.zeros(u), 0
    for a in range(u):
        sizes[a] = _dot(moves[a], moves[a])
    while n < u:
        best, most = -1, price
        for a in range(u):
            length = _dot(bare[a], bare[a])
            if length > LEAST_LEFT * sizes[a]:
                gain = 0.5 * _dot(bare[a], left) ** 2 / length
                if gain > most:
                    best, most = a, gain
        if best < 0:
            break
        taken[n] = best
        basis[n] = bare[best] / math.sqrt(_dot(bare[best], bare[best]))
        for m in range(n + 1):
            parts[n, m] = _dot(basis[m], moves[best])
        parts[n, u] = _dot(basis[n], left)
        _project_out(left, basis[n])
        for a in range(u):
            _project_out(bare[a], basis[n])
        sizes[best] = math.inf
        n += 1
    found = np.zeros(p)
    for a in range(n - 1, -1, -1):
        value = parts[a, u]
        for later in range(a + 1, n):
            value -= parts[later, a] * found[causes[taken[later]]]
        found[causes[taken[a]]] = value / parts[a, a]
    return found


@kernel
def _dot(one: Floats, other: Floats) -> float:
    total = 0.0
    for r in range(len(one)):
        total += one[r] * other[r]
    return total


@kernel
def _project_out(vector: Floats, unit: Floats) -> None:
    share = _dot(vector, unit)
    for r in range(len(vector)):
        vector[r] -= share * unit[r]
