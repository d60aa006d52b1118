"""Marginal likelihoods of all families under a conjugate prior, and draws of their parameters.

Given the noise variance v of a node, each coefficient is N(0, v tau2), the constant N(0, v kappa2);
v is inverse gamma (a0, b0). The posterior has the same form.

Symbols: tau2, kappa2, a0 and b0 are `effect_variance`, `constant_variance`, `shape` and `scale` of
the `Prior`; a and b, the same after the data, are `shape` and `scale` of the `FamilyPosterior`.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.baselines.kernels.records import Models
from causalfocus.kernels.arithmetic.sets import count, regressors_of
from causalfocus.kernels.compile import kernel


class Prior(NamedTuple):
    """The prior of every row, and the logarithm of the prior odds of an edge."""

    effect_variance: float
    constant_variance: float
    shape: float
    scale: float
    log_odds: float


class FamilyPosterior(NamedTuple):
    """The posterior of one row on one set of parents: the Cholesky factor of the precision and the
    mean of its coefficients, and a and b of the noise variance.
    """

    regressors: Ints
    lower: Floats
    mean: Floats
    shape: float
    scale: float


@kernel
def precision_of(k: int, p: int, prior: Prior) -> float:
    """Return the prior's precision of a coefficient, or of the constant, in units of 1 / v."""
    return 1.0 / (prior.effect_variance if k < p else prior.constant_variance)


@kernel
def add_precision(gram: Floats, j: int, p: int, prior: Prior) -> Floats:
    """Return the Gram matrix of node j's samples with the prior's precision on the regressors."""
    found = gram.copy()
    for k in range(len(found)):
        if k != j:
            found[k, k] += precision_of(k, p, prior)
    return found


@kernel
def penalised_residuals(gram: Floats, j: int, p: int, prior: Prior) -> tuple[Floats, Floats]:
    """Return per mask over the other nodes the penalised residual of node j, and the logarithm of
    |Lambda| / |prior precision|, the constant always among the regressors if there is one.

    A set is its upper nodes and one more: one new row of the Cholesky factor, as in the engine's
    `residuals_on_subsets`. That one drops collinear regressors; here the prior keeps them apart. No
    pivot is below its precision; so one that comes out below, by rounding, is that.
    """
    q = gram.shape[0]
    base = q - p
    size = 1 << (p - 1)
    residuals, volumes = np.empty(size), np.empty(size)
    lower, explained = np.zeros((q, q)), np.zeros(q)
    nodes = np.zeros(q, dtype=np.int64)
    rest, volume = np.empty(q + 1), np.empty(q + 1)
    rest[0], volume[0] = gram[j, j], 0.0
    for mask in range(1 - base, size):
        level, node = 0, p
        if mask > 0:
            bit = 0
            while not (mask >> bit) & 1:
                bit += 1
            level, node = base + count(mask) - 1, bit if bit < j else bit + 1
        nodes[level] = node
        pivot, product = gram[node, node], gram[node, j]
        for i in range(level):
            total = gram[node, nodes[i]]
            for m in range(i):
                total -= lower[level, m] * lower[i, m]
            lower[level, i] = total / lower[i, i]
            pivot -= lower[level, i] ** 2
            product -= lower[level, i] * explained[i]
        least = precision_of(node, p, prior)
        pivot = max(pivot, least)
        lower[level, level] = math.sqrt(pivot)
        explained[level] = product / lower[level, level]
        rest[level + 1] = rest[level] - explained[level] ** 2
        volume[level + 1] = volume[level] + math.log(pivot / least)
        residuals[mask], volumes[mask] = rest[level + 1], volume[level + 1]
    if base == 0:
        residuals[0], volumes[0] = rest[0], 0.0
    return residuals, volumes


@kernel
def log_scores(grams: Floats, counts: Floats, prior: Prior) -> Floats:
    """Return the log marginal likelihood and prior of every family: (p, 2^(p - 1)), by mask.

    grams : (p, q, q); with q = p + 1 the last regressor is the constant
    """
    a0, b0 = prior.shape, prior.scale
    p = grams.shape[0]
    scores = np.empty((p, 1 << (p - 1)))
    for j in range(p):
        residuals, volumes = penalised_residuals(add_precision(grams[j], j, p, prior), j, p, prior)
        a = a0 + 0.5 * counts[j]
        shared = a0 * math.log(b0) + math.lgamma(a) - math.lgamma(a0)
        shared -= 0.5 * counts[j] * math.log(2.0 * math.pi)
        for mask in range(1 << (p - 1)):
            b = b0 + 0.5 * max(residuals[mask], 0.0)
            own = shared - 0.5 * volumes[mask] - a * math.log(b)
            scores[j, mask] = own + prior.log_odds * count(mask)
    return scores


@kernel
def factor(matrix: Floats, least: Floats) -> Floats:
    """Return the lower Cholesky factor; no pivot is below what it must be at least."""
    s = len(matrix)
    lower = np.zeros((s, s))
    for i in range(s):
        for k in range(i):
            total = matrix[i, k]
            for m in range(k):
                total -= lower[i, m] * lower[k, m]
            lower[i, k] = total / lower[k, k]
        pivot = matrix[i, i]
        for m in range(i):
            pivot -= lower[i, m] ** 2
        lower[i, i] = math.sqrt(max(pivot, least[i]))
    return lower


@kernel
def solve_lower(lower: Floats, right: Floats) -> Floats:
    """Return x of L x = r."""
    s = len(right)
    x = np.empty(s)
    for i in range(s):
        total = right[i]
        for k in range(i):
            total -= lower[i, k] * x[k]
        x[i] = total / lower[i, i]
    return x


@kernel
def solve_upper(lower: Floats, right: Floats) -> Floats:
    """Return x of L' x = r."""
    s = len(right)
    x = np.empty(s)
    for i in range(s - 1, -1, -1):
        total = right[i]
        for k in range(i + 1, s):
            total -= lower[k, i] * x[k]
        x[i] = total / lower[i, i]
    return x


@kernel
def family_posterior(
    gram: Floats, j: int, parents: int, n: float, prior: Prior, p: int
) -> FamilyPosterior:
    """Return the posterior of one row on one set of parents."""
    regressors = regressors_of(parents, p, len(gram))
    full = add_precision(gram, j, p, prior)
    s = len(regressors)
    block, right, least = np.empty((s, s)), np.empty(s), np.empty(s)
    for i in range(s):
        right[i] = gram[regressors[i], j]
        least[i] = precision_of(regressors[i], p, prior)
        for k in range(s):
            block[i, k] = full[regressors[i], regressors[k]]
    lower = factor(block, least)
    half = solve_lower(lower, right)
    explained = 0.0
    for i in range(s):
        explained += half[i] ** 2
    b = prior.scale + 0.5 * max(gram[j, j] - explained, 0.0)
    mean = solve_upper(lower, half)
    return FamilyPosterior(regressors, lower, mean, prior.shape + 0.5 * n, b)


@kernel
def drawn_parameters(
    grams: Floats,
    counts: Floats,
    parents: Ints,
    prior: Prior,
    noise: tuple[Floats, Floats],
) -> Models:
    """Return m models, one draw of the parameters of each graph.

    parents : (m, p), sets of nodes
    noise : standard normals (m, p, q) and standard gammas (m, p) of shapes a0 + n/2
    """
    normals, gammas = noise
    m, p = parents.shape
    weights, variances, constants = np.zeros((m, p, p)), np.empty((m, p)), np.zeros((m, p))
    for i in range(m):
        for j in range(p):
            found = family_posterior(grams[j], j, parents[i, j], counts[j], prior, p)
            regressors, mean = found.regressors, found.mean
            variances[i, j] = found.scale / gammas[i, j]
            off = solve_upper(found.lower, normals[i, j, : len(regressors)])
            for r in range(len(regressors)):
                value = mean[r] + math.sqrt(variances[i, j]) * off[r]
                if regressors[r] < p:
                    weights[i, j, regressors[r]] = value
                else:
                    constants[i, j] = value
    return Models(weights, variances, constants)
