"""What an outcome tells about which model of an ensemble is at work: nested Monte Carlo.

    I = 1/(M S) sum over m, s of [ log p(y_ms | m) - log 1/M sum over m' of p(y_ms | m') ],
    y_ms drawn from model m under the action.

The factor of the node that is set is left out. The log density of a linear-Gaussian model is a
quadratic polynomial in y, so all M of them are one product of its monomials with a table; and one
draw of the noise serves all actions, so that their differences are those of the actions.
"""

import math

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.baselines.kernels.quick_exp import LARGEST, quick_exp
from causalfocus.baselines.kernels.records import Models
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.sums.population import causal_order

FAR = 1e8
"""Squares above this many noise variances lose digits that matter."""


@kernel
def causal_orders(weights: Floats) -> Ints:
    """Return an order with causes before effects in every model: (m, p)."""
    m, p = weights.shape[0], weights.shape[1]
    orders = np.empty((m, p), dtype=np.int64)
    for i in range(m):
        orders[i] = causal_order(weights[i])
    return orders


@kernel
def outcome(
    models: Models, m: int, order: Ints, action: tuple[int, float], noise: Floats, y: Floats
) -> None:
    """Write the outcome of an action in model m for given standard noise."""
    weights, variances, constants = models.weights, models.variances, models.constants
    target, value = action
    for j in order:
        if j == target:
            y[j] = value
            continue
        total = constants[m, j] + math.sqrt(variances[m, j]) * noise[j]
        for k in range(len(order)):
            if weights[m, j, k] != 0.0:
                total += weights[m, j, k] * y[k]
        y[j] = total


@kernel
def centre_of(models: Models, orders: Ints, action: tuple[int, float], noise: Floats) -> Floats:
    """Return what outcomes are counted from: nought, unless they are so far from it that their
    squares would lose digits; then the mean outcome of all models.
    """
    m, p = orders.shape
    y, total = np.empty(p), np.zeros(p)
    for i in range(m):
        outcome(models, i, orders[i], action, noise, y)
        total += y / m
    far = np.abs(total).max() ** 2 > FAR * models.variances.min()
    return total if far else np.zeros(p)


@kernel
def move_models(models: Models, centre: Floats) -> Models:
    """Return the same models in coordinates about the centre."""
    weights = models.weights
    m, p = models.variances.shape
    found = models.constants - centre
    for i in range(m):
        for j in range(p):
            for k in range(p):
                found[i, j] += weights[i, j, k] * centre[k]
    return Models(weights, models.variances, found)


@kernel
def n_monomials(p: int) -> int:
    """Return how many products of two, single variables, and ones there are."""
    return (p + 1) * (p + 2) // 2


@kernel
def monomials(y: Floats, found: Floats) -> None:
    """Write 1, y_1, ..., y_p, y_1 y_1, y_1 y_2, ...; see `density_table`."""
    p = len(y)
    n = 0
    for i in range(p + 1):
        left = 1.0 if i == 0 else y[i - 1]
        for k in range(i, p + 1):
            found[n] = left * (1.0 if k == 0 else y[k - 1])
            n += 1


@kernel
def density_table(models: Models, target: int) -> Floats:
    """Return the coefficients of the monomials in the models' log densities: (monomials, m)."""
    weights, variances, constants = models.weights, models.variances, models.constants
    m, p = variances.shape
    table = np.zeros((n_monomials(p), m))
    residual = np.empty(p + 1)
    for i in range(m):
        for j in range(p):
            if j == target:
                continue
            residual[0] = -constants[i, j]
            for k in range(p):
                residual[k + 1] = 1.0 if k == j else -weights[i, j, k]
            n = 0
            for a in range(p + 1):
                for b in range(a, p + 1):
                    twice = 1.0 if a == b else 2.0
                    table[n, i] -= 0.5 * twice * residual[a] * residual[b] / variances[i, j]
                    n += 1
            table[0, i] -= 0.5 * math.log(2.0 * math.pi * variances[i, j])
    return table


@kernel
def used_monomials(table: Floats) -> tuple[Ints, Floats]:
    """Return the monomials with a coefficient somewhere, and their rows of the table; filled up
    with rows of zeros to a multiple of four. Without constants the single variables have none.
    """
    used = np.zeros(len(table) + 3, dtype=np.int64)
    n = 0
    for i in range(len(table)):
        if np.any(table[i] != 0.0):
            used[n] = i
            n += 1
    rows = np.zeros((n + (-n) % 4, table.shape[1]))
    for i in range(n):
        rows[i] = table[used[i]]
    return used[: len(rows)], rows


@kernel
def log_densities(found: Floats, used: Ints, rows: Floats, densities: Floats) -> None:
    """Write the log density of an outcome in every model; four monomials at a time, so that the
    sums are loaded and stored once for all four.
    """
    densities[:] = 0.0
    for n in range(0, len(used), 4):
        a, b, c, d = found[used[n]], found[used[n + 1]], found[used[n + 2]], found[used[n + 3]]
        of_a, of_b, of_c, of_d = rows[n], rows[n + 1], rows[n + 2], rows[n + 3]
        for i in range(len(densities)):
            densities[i] += (a * of_a[i] + b * of_b[i]) + (c * of_c[i] + d * of_d[i])


@kernel
def exp_sum(values: Floats, reference: float) -> float:
    """Return the sum of exp(value - reference), each kept within what a double holds; the
    values are lost.

    Two loops, the second with four sums at a time: both can run in parallel lanes.
    """
    m = len(values)
    for i in range(m):
        values[i] = quick_exp(min(max(values[i] - reference, -LARGEST), LARGEST))
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for i in range(0, m - 3, 4):
        a += values[i]
        b += values[i + 1]
        c += values[i + 2]
        d += values[i + 3]
    for i in range(m - m % 4, m):
        a += values[i]
    return a + b + c + d


@kernel
def information_gains(models: Models, targets: Ints, values: Floats, noise: Floats) -> Floats:
    """Return the nested Monte-Carlo information of every action, in nats.

    noise : (m, s, p) standard normals
    """
    n_models, n_draws, p = noise.shape
    orders = causal_orders(models.weights)
    gains = np.empty(len(targets))
    y, found, densities = np.empty(p), np.empty(n_monomials(p)), np.empty(n_models)
    for a in range(len(targets)):
        action = (targets[a], values[a])
        centre = centre_of(models, orders, action, np.zeros(p))
        used, rows = used_monomials(density_table(move_models(models, centre), targets[a]))
        total = 0.0
        for m in range(n_models):
            for s in range(n_draws):
                outcome(models, m, orders[m], action, noise[m, s], y)
                y -= centre
                monomials(y, found)
                log_densities(found, used, rows, densities)
                total -= math.log(exp_sum(densities, densities[m]) / n_models)
        gains[a] = total / (n_models * n_draws)
    return gains
