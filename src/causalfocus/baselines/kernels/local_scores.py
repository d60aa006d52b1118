"""Marginal likelihoods of all families under a conjugate prior, and draws of their parameters.

Given the noise variance v of a node, each coefficient is N(0, v tau2), the constant N(0, v kappa2);
v is inverse gamma (a0, b0). The posterior has the same form.
"""

import math

import numpy as np
from numpy.typing import NDArray

from causalfocus.kernels.compile import kernel
from causalfocus.kernels.row_evidence import regressors_of
from causalfocus.kernels.subsets import as_nodes, count, residuals_on_subsets

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Prior = tuple[float, float, float, float, float]
"""tau2, kappa2, a0, b0, and the logarithm of the prior odds of an edge."""


@kernel
def ridged(gram: Floats, j: int, p: int, prior: Prior) -> Floats:
    """The Gram matrix of node j's samples with the prior's precision on the regressors."""
    found = gram.copy()
    for k in range(len(found)):
        if k != j:
            found[k, k] += 1.0 / (prior[0] if k < p else prior[1])
    return found


@kernel
def log_scores(grams: Floats, counts: Floats, prior: Prior) -> Floats:
    """Log marginal likelihood and prior of every family: (p, 2^(p - 1)), by mask of the others.

    grams : (p, q, q); with q = p + 1 the last regressor is the constant
    """
    tau2, kappa2, a0, b0, log_odds = prior
    p, q = grams.shape[0], grams.shape[1]
    scores = np.empty((p, 1 << (p - 1)))
    for j in range(p):
        gram = ridged(grams[j], j, p, prior)
        residuals, determinants = residuals_on_subsets((gram, gram, j), p)
        n, a = counts[j], a0 + 0.5 * counts[j]
        shared = a0 * math.log(b0) + math.lgamma(a) - math.lgamma(a0)
        shared -= 0.5 * n * math.log(2.0 * math.pi)
        if q > p:
            shared -= 0.5 * math.log(kappa2 * gram[p, p])
        for mask in range(1 << (p - 1)):
            nodes, size = as_nodes(mask, j), count(mask)
            log_volume = math.log(max(determinants[mask], 1e-300))
            for k in range(p):
                if (nodes >> k) & 1:
                    log_volume += math.log(tau2 * gram[k, k])
            b = b0 + 0.5 * max(residuals[mask], 0.0)
            scores[j, mask] = shared - 0.5 * log_volume - a * math.log(b) + log_odds * size
    return scores


@kernel
def factor(matrix: Floats) -> Floats:
    """Lower Cholesky factor of a small positive definite matrix."""
    s = len(matrix)
    lower = np.zeros((s, s))
    for i in range(s):
        for k in range(i + 1):
            total = matrix[i, k]
            for m in range(k):
                total -= lower[i, m] * lower[k, m]
            lower[i, k] = math.sqrt(total) if i == k else total / lower[k, k]
    return lower


@kernel
def solved(lower: Floats, right: Floats) -> Floats:
    """x of L x = r."""
    s = len(right)
    x = np.empty(s)
    for i in range(s):
        total = right[i]
        for k in range(i):
            total -= lower[i, k] * x[k]
        x[i] = total / lower[i, i]
    return x


@kernel
def solved_transposed(lower: Floats, right: Floats) -> Floats:
    """x of L' x = r."""
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
) -> tuple[Ints, Floats, Floats, float, float]:
    """Regressors, Cholesky factor of the precision, mean, and a and b of the noise variance."""
    regressors = regressors_of(parents, p, len(gram))
    full = ridged(gram, j, p, prior)
    s = len(regressors)
    block, right = np.empty((s, s)), np.empty(s)
    for i in range(s):
        right[i] = gram[regressors[i], j]
        for k in range(s):
            block[i, k] = full[regressors[i], regressors[k]]
    lower = factor(block)
    half = solved(lower, right)
    explained = 0.0
    for i in range(s):
        explained += half[i] ** 2
    b = prior[3] + 0.5 * max(gram[j, j] - explained, 0.0)
    return regressors, lower, solved_transposed(lower, half), prior[2] + 0.5 * n, b


@kernel
def drawn_parameters(
    grams: Floats,
    counts: Floats,
    parents: Ints,
    prior: Prior,
    noise: tuple[Floats, Floats],
) -> tuple[Floats, Floats, Floats]:
    """Weights (m, p, p), variances and constants (m, p) of m graphs, one draw of each.

    parents : (m, p), sets of nodes
    noise : standard normals (m, p, q) and standard gammas (m, p) of shapes a0 + n/2
    """
    normals, gammas = noise
    m, p = parents.shape
    weights, variances, constants = np.zeros((m, p, p)), np.empty((m, p)), np.zeros((m, p))
    for i in range(m):
        for j in range(p):
            regressors, lower, mean, _, b = family_posterior(
                grams[j], j, parents[i, j], counts[j], prior, p
            )
            variances[i, j] = b / gammas[i, j]
            off = solved_transposed(lower, normals[i, j, : len(regressors)])
            for r in range(len(regressors)):
                value = mean[r] + math.sqrt(variances[i, j]) * off[r]
                if regressors[r] < p:
                    weights[i, j, regressors[r]] = value
                else:
                    constants[i, j] = value
    return weights, variances, constants
