"""Case 1b of the resolution certificate: from its tables to levels, the shares included.

The tables are `RowTables.evidence`. The share of EDGE depends on how many strong edges an
alternative can have; see `resolution`.
"""

import math

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.exact.certificate import SAFETY
from causalfocus.kernels.gaussian.resolution import W_EDGE, W_WEAK


@kernel
def _strong_evidence(tables: Floats, weights: Floats) -> Floats:
    """Return the evidence, before its share, against each unreported edge being strong, in rising
    order.
    """
    p = weights.shape[0]
    found = np.empty(p * p)
    n = 0
    for j in range(p):
        for k in range(p):
            if weights[j, k] == 0.0 and tables[0, j, k] < math.inf:
                found[n] = tables[1, j, k]
                n += 1
    return np.sort(found[:n])


@kernel
def _most_hidden_edges(ordered: Floats, weights: Floats) -> int:
    """Return how many unreported edges an alternative can have beside the reported ones."""
    p = weights.shape[0]
    return min(len(ordered), p * (p - 1) // 2 - int(np.count_nonzero(weights)))


@kernel
def strong_edges(tables: Floats, weights: Floats, level: float) -> int:
    """Return the largest number of strong edges of an alternative that is not rejected at a level
    for one of its unreported ones.
    """
    n_reported = int(np.count_nonzero(weights))
    ordered = _strong_evidence(tables, weights)
    for u in range(_most_hidden_edges(ordered, weights), 0, -1):
        if ordered[u - 1] + math.log(W_EDGE / (n_reported + u)) < level + SAFETY:
            return n_reported + u
    return max(n_reported, 1)


@kernel
def _edge_level(ordered: Floats, weights: Floats, least: float, others: float) -> float:
    """Return the highest level at which EDGE rejects, from its least evidence before its share:
    `least` on reported edges, `others` on unreported ones.
    """
    n_reported = int(np.count_nonzero(weights))
    best, below = -math.inf, math.inf
    for u in range(_most_hidden_edges(ordered, weights), -1, -1):
        # At levels up to `below`, no more than u unreported edges can be strong.
        found = least if u == 0 else min(least, others)
        best = max(best, min(below, found + math.log(W_EDGE / max(n_reported + u, 1))))
        if u > 0:
            below = min(below, ordered[u - 1] + math.log(W_EDGE / (n_reported + u)))
    return best - SAFETY


@kernel
def row_evidence(tables: Floats, weights: Floats) -> float:
    """Return, for case 1b, the highest level at which every such alternative is rejected."""
    p = weights.shape[0]
    least, others = math.inf, math.inf
    for j in range(p):
        for k in range(p):
            if weights[j, k] != 0.0:
                least = min(least, tables[0, j, k])
            else:
                others = min(others, tables[0, j, k])
    found = _edge_level(_strong_evidence(tables, weights), weights, least, others)
    return min(found, weak_evidence(tables, weights).min())


@kernel
def weak_evidence(tables: Floats, weights: Floats) -> Floats:
    """Return per reported edge, (effect, cause), the level at which it is rejected that it is weak
    and breaks the claim; infinity elsewhere.
    """
    p = weights.shape[0]
    found = np.full((p, p), math.inf)
    for j in range(p):
        for k in range(p):
            if weights[j, k] != 0.0:
                found[j, k] = tables[1, j, k] + math.log(W_WEAK / (0.5 * p * (p - 1))) - SAFETY
    return found


@kernel
def edge_levels(tables: Floats, weights: Floats) -> Floats:
    """Return, for case 1b, per reported edge, (effect, cause), the level at which it is rejected
    that this edge breaks the claim; infinity elsewhere.
    """
    p = weights.shape[0]
    ordered = _strong_evidence(tables, weights)
    found = weak_evidence(tables, weights)
    for j in range(p):
        for k in range(p):
            if weights[j, k] != 0.0:
                level = _edge_level(ordered, weights, tables[0, j, k], math.inf)
                found[j, k] = min(found[j, k], level)
    return found
