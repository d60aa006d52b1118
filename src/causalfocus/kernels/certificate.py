"""The evidence certificate: how strongly the data reject every alternative to an estimate.

For a fixed alternative, a mixture of non-negative martingales with fixed weights that sum to at
most one is again one, with mean one if the alternative is true; by Ville's inequality it ever
reaches exp(h) with probability at most exp(-h). A lower bound on any of its terms, weight
included, is a lower bound on the logarithm of the mixture. The terms and their weights:

- EDGE, weight W_EDGE shared equally by the edges k -> j of the alternative: the row of j around the
  alternative's own (`edge_evidence`), coefficient k by about epsilon, the others narrowly.
- ROW, weight W_ROW / (p |S_j|) for every edge k -> j of the alternative, S_j its parents of j: the
  same with coefficient k by about min_effect.
- NOISE, weight W_NOISE / p for every j: the marginal likelihood of the row of j on the
  alternative's own parents under a fixed prior. It rejects noise variances far from R/n, whatever
  the coefficients.
- SWAP, weight W_SWAP pi(Delta, S): rows in Delta get the marginal likelihood of other parents S_j
  such that the graph stays acyclic. pi = (1-1/p)^p prod_Delta 1/(p-1) * 1/(p C(p-1, |S_j|)) sums to
  one over all choices.

The numerators are products of conditional densities along an acyclic graph, so each integrates to
one given the past, whatever rule chose the action.

With intercepts each row is shifted by its first own sample, which then counts for nothing, and the
constant is one more regressor that every row has.
"""

import math

import numpy as np
from numpy.typing import NDArray

from causalfocus.kernels.compile import kernel
from causalfocus.kernels.edge_evidence import edge_evidence, invert
from causalfocus.kernels.orders import best_other_order, local_masks
from causalfocus.kernels.row_fit import GAP_HIGH, GAP_LOW, HIGH, LOW, fit_row, two_intervals
from causalfocus.kernels.tableau import CAREFUL, PRECISE, workspace

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

W_EDGE, W_ROW, W_NOISE, W_SWAP = 0.6, 0.25, 0.05, 0.1

CONSTANT_SPREAD = 1e-3
"""Variance of the mixed intercept, in units of the alternative's noise variance."""

SAFETY = 1e-4
"""Nats taken off every evidence: far above the rounding of what is computed here."""

Prior = tuple[float, float, float]
"""tau2, a0, b0: coefficients are N(0, v tau2) given v, and v is inverse gamma(a0, b0)."""

Setting = tuple[float, float, float, float, float]
"""Lowest and highest noise variance of the class; standard deviations by which EDGE mixes the
coefficient in question and the others; and stiffness a0 of the noise around the alternative's."""


@kernel
def parents_of(weights: Floats, j: int) -> int:
    """The parents of a node as a set of nodes."""
    parents = 0
    for k in range(weights.shape[0]):
        if weights[j, k] != 0.0:
            parents |= 1 << k
    return parents


@kernel
def regressors_of(parents: int, p: int, q: int) -> Ints:
    """Indices of the parents in a set of nodes and, if moments have one, of the constant."""
    found = np.empty(q, dtype=np.int64)
    n = 0
    for k in range(p):
        if (parents >> k) & 1:
            found[n] = k
            n += 1
    if q > p:
        found[n] = p
        n += 1
    return found[:n]


@kernel
def _least_squares(
    gram: Floats, target: int, regressors: Ints
) -> tuple[Floats, Floats, float, Floats]:
    """G, G^-1, R and b^ of a row; R is nan, and the row gives no evidence, where 53 bits are not
    enough: a variance inflation above CAREFUL, or R below PRECISE of the node's sum of squares.
    Within these the rounding of what follows is far below SAFETY.
    """
    s = len(regressors)
    block, inverse, b = np.empty((s, s)), np.zeros((s, s)), np.zeros(s)
    for i in range(s):
        for k in range(s):
            block[i, k] = gram[regressors[i], regressors[k]]
    residual = gram[target, target]
    if math.isnan(invert(block, inverse)):
        return block, inverse, math.nan, b
    inflation = 1.0
    for i in range(s):
        for k in range(s):
            b[i] += inverse[i, k] * gram[regressors[k], target]
        residual -= b[i] * gram[regressors[i], target]
        inflation = max(inflation, inverse[i, i] * block[i, i])
    if not (inflation < CAREFUL and residual > PRECISE * gram[target, target]):
        residual = math.nan
    return block, inverse, residual, b


@kernel
def log_marginal(
    gram: Floats, target: int, regressors: Ints, n: float, prior: Prior, p: int
) -> float:
    """Log marginal likelihood of a row under the conjugate prior; the constant has tau2 = 1."""
    tau2, a0, b0 = prior
    s = len(regressors)
    precision, inverse = np.empty((s, s)), np.zeros((s, s))
    log_determinant = 0.0
    for i in range(s):
        for k in range(s):
            precision[i, k] = gram[regressors[i], regressors[k]]
        variance = 1.0 if regressors[i] == p else tau2
        precision[i, i] += 1.0 / variance
        log_determinant += math.log(variance)
    log_determinant += invert(precision, inverse)
    rest = gram[target, target]
    for i in range(s):
        for k in range(s):
            rest -= gram[regressors[i], target] * inverse[i, k] * gram[regressors[k], target]
    a, b = a0 + 0.5 * n, b0 + 0.5 * max(rest, 0.0)
    value = (
        -0.5 * n * math.log(2.0 * math.pi)
        - 0.5 * log_determinant
        + a0 * math.log(b0)
        - a * math.log(b)
        + math.lgamma(a)
        - math.lgamma(a0)
    )
    return value if value == value else -math.inf


@kernel
def same_graph_evidence(
    moments: tuple[Floats, Floats, Floats],
    weights: Floats,
    epsilon: float,
    prior: Prior,
    setting: Setting,
    enough: float,
) -> Floats:
    """Evidence that each edge's weight is within epsilon of its estimate: branch A, per edge.

    Returns (p, p): infinity where the estimate has no edge. The least entry is the branch's.
    """
    grams, _, counts = moments
    p, q = len(counts), grams.shape[1]
    result = np.full((p, p), math.inf)
    n_edges = np.count_nonzero(weights)
    for j in range(p):
        parents = parents_of(weights, j)
        if parents == 0:
            continue
        regressors = regressors_of(parents, p, q)
        block, inverse, residual, b = _least_squares(grams[j], j, regressors)
        own_weight = math.log(W_EDGE / n_edges)
        noise = log_marginal(grams[j], j, regressors, counts[j], prior, p)
        noise += math.log(W_NOISE / p) - own_weight
        fit = (block, inverse, residual, counts[j])
        for i in range(len(regressors)):
            k = regressors[i]
            if k == p:
                continue
            evidence = -math.inf
            if residual > 0.0:
                d = epsilon - abs(b[i] - weights[j, k])
                spread = edge_spread(regressors, i, p, setting[2], setting[3])
                limits = (setting[0], setting[1])
                evidence = edge_evidence(fit, spread, i, d, limits, setting[4], noise, enough)
            result[j, k] = evidence + own_weight - SAFETY
    return result


@kernel
def edge_spread(regressors: Ints, i: int, p: int, wide: float, narrow: float) -> Floats:
    """Mixing: coefficient i widely, the others narrowly, the constant in noise units."""
    spread = np.zeros((2, len(regressors)))
    for m in range(len(regressors)):
        if regressors[m] == p:
            spread[1, m] = CONSTANT_SPREAD
        else:
            spread[0, m] = (wide if m == i else narrow) ** 2
    return spread


@kernel
def family_tables(
    moments: tuple[Floats, Floats, Floats],
    weights: Floats,
    effects: tuple[float, float],
    prior: Prior,
    setting: Setting,
    enough: float,
) -> tuple[Floats, Floats]:
    """Per node and set of candidates: the cost in SWAP of that family, and the evidence of ROW.

    The cost is log m(pa) plus its share of log pi minus the best log-likelihood of the family in
    the class. ROW rejects a family with a parent that the estimate does not have, when the data
    put that coefficient further below min_effect than they can err.
    """
    grams, lows, counts = moments
    p, q = len(counts), grams.shape[1]
    costs = np.full((p, 1 << (p - 1)), -math.inf)
    evidence = np.full((p, 1 << (p - 1)), -math.inf)
    work, best = workspace(q), np.empty(q)
    for j in range(p):
        n, gram = counts[j], grams[j]
        own = parents_of(weights, j)
        own_regressors = regressors_of(own, p, q)
        n_own = len(own_regressors) - (q - p)
        swapped = log_marginal(gram, j, own_regressors, n, prior, p)
        swapped -= math.log(p - 1.0) + math.log(p * _choose(p - 1, n_own))
        for mask in range(1 << (p - 1)):
            low = mask & ((1 << j) - 1)
            family = low | ((mask ^ low) << 1)
            if family == own:
                costs[j, mask], evidence[j, mask] = math.inf, math.inf
                continue
            regressors = regressors_of(family, p, q)
            n_parents = len(regressors) - (q - p)
            block, inverse, residual, b = _least_squares(gram, j, regressors)
            fitted = fit_row(
                (gram, lows[j], j),
                regressors,
                _class_sets(regressors, p, effects),
                math.inf,
                work,
                best,
            )
            fitted = max(fitted * (1.0 - 1e-9) - 1e-12 * gram[j, j], 0.0)
            costs[j, mask] = swapped + _least_negative_likelihood(fitted, n, setting)
            if not residual > 0.0:
                continue
            own_weight = math.log(W_ROW / (p * max(n_parents, 1)))
            noise = log_marginal(gram, j, regressors, n, prior, p)
            noise += math.log(W_NOISE / p) - own_weight
            limits = (setting[0], setting[1])
            fit = (block, inverse, residual, n)
            for m in range(len(regressors)):
                k = regressors[m]
                if k < p and not (own >> k) & 1:
                    d = effects[0] - abs(b[m])
                    spread = edge_spread(regressors, m, p, effects[0], setting[3])
                    found = edge_evidence(fit, spread, m, d, limits, setting[4], noise, enough)
                    found += own_weight - SAFETY
                    evidence[j, mask] = max(evidence[j, mask], found)
    return costs, evidence


@kernel
def _class_sets(regressors: Ints, p: int, effects: tuple[float, float]) -> Floats:
    """Allowed coefficients of a row: the class's for parents, all for the constant."""
    allowed = two_intervals(len(regressors), effects[0], effects[1])
    if len(regressors) > 0 and regressors[-1] == p:
        allowed[LOW, -1], allowed[GAP_LOW, -1] = -math.inf, 0.0
        allowed[GAP_HIGH, -1], allowed[HIGH, -1] = 0.0, math.inf
    return allowed


@kernel
def _choose(n: int, k: int) -> float:
    result = 1.0
    for i in range(k):
        result *= (n - i) / (i + 1)
    return result


@kernel
def _least_negative_likelihood(residual: float, n: float, setting: Setting) -> float:
    """Minus the largest log-likelihood of a row; minus infinity where it is not bounded."""
    if n <= 0.0:
        return 0.0
    if not residual > 0.0:
        residual = 0.0
    v = min(max(residual / n, setting[0]), setting[1])
    if v <= 0.0:
        return -math.inf
    return 0.5 * (n * math.log(2.0 * math.pi * v) + residual / v)


@kernel
def _rejects_all(costs: Floats, evidence: Floats, reference: Ints, h: float) -> bool:
    """Whether every graph but the reference is rejected at level h: branch B."""
    p, size = costs.shape
    table = np.empty((p, size))
    for j in range(p):
        for mask in range(size):
            least = costs[j, mask] if evidence[j, mask] < h else math.inf
            rest = mask
            while rest:
                least = min(least, table[j, mask ^ (rest & -rest)])
                rest &= rest - 1
            table[j, mask] = least
    candidates = np.empty(p * (p - 1), dtype=np.int64)
    for j in range(p):
        for i in range(p - 1):
            candidates[j * (p - 1) + i] = i if i < j else i + 1
    masks = local_masks(p, candidates, np.arange(p + 1) * (p - 1))
    offsets = np.arange(p + 1) * size
    least, _, _ = best_other_order(p, table.ravel(), offsets, masks, reference, np.zeros(p))
    return least + math.log(W_SWAP) + p * math.log1p(-1.0 / p) - SAFETY >= h


@kernel
def different_graph_evidence(
    costs: Floats, evidence: Floats, weights: Floats, highest: float
) -> float:
    """The largest level up to `highest` at which every other graph is rejected, to 1e-3 from below.

    Rejection at a level implies rejection at all lower ones: fewer families are removed as the
    level rises, and the sum that the others must reach rises too.
    """
    p = weights.shape[0]
    reference = np.zeros(p, dtype=np.int64)
    for j in range(p):
        reference[j] = parents_of(weights, j)
    if _rejects_all(costs, evidence, reference, highest):
        return highest
    low, high = -64.0, highest
    if not _rejects_all(costs, evidence, reference, low):
        return -math.inf
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        if _rejects_all(costs, evidence, reference, middle):
            low = middle
        else:
            high = middle
    return low


@kernel
def interval_reach(
    moments: tuple[Floats, Floats, Floats],
    weights: Floats,
    edge: tuple[int, int],
    prior: Prior,
    setting: Setting,
    level: float,
) -> tuple[float, float]:
    """Centre and half-width of the weights of one edge that EDGE does not reject at a level.

    The evidence rises with the distance from the least-squares fit; bisection, rounded outwards.
    Infinite if no distance up to 1e6 is rejected.
    """
    grams, _, counts = moments
    p, q = len(counts), grams.shape[1]
    j, k = edge
    regressors = regressors_of(parents_of(weights, j), p, q)
    block, inverse, residual, b = _least_squares(grams[j], j, regressors)
    if not residual > 0.0:
        return weights[j, k], math.inf
    own_weight = math.log(W_EDGE / np.count_nonzero(weights))
    noise = log_marginal(grams[j], j, regressors, counts[j], prior, p)
    noise += math.log(W_NOISE / p) - own_weight
    limits = (setting[0], setting[1])
    i = 0
    while regressors[i] != k:
        i += 1
    spread = edge_spread(regressors, i, p, setting[2], setting[3])
    fit = (block, inverse, residual, counts[j])
    needed = level + SAFETY - own_weight
    near, far = 0.0, 1e6
    if edge_evidence(fit, spread, i, far, limits, setting[4], noise, -math.inf) < needed:
        return b[i], math.inf
    while far - near > 1e-6 * far:
        middle = 0.5 * (near + far)
        if edge_evidence(fit, spread, i, middle, limits, setting[4], noise, -math.inf) < needed:
            near = middle
        else:
            far = middle
    return b[i], far
