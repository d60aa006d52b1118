"""Sums over all orders of the nodes: how probable an edge is where all DAGs are too many.

A DAG counts once for every order that agrees with it, so that graphs with few edges count for more
than in a sum over DAGs; in return the sum is one over sets of nodes. With alpha_j(U) the sum over
the families of j within U, f(U) over all ways to order U first and b(U) over all ways to go on from
U, the edge k -> j has the weight of f(U) alpha_j^k(U) b(U and j), summed over all U without j; here
alpha^k counts the families with k only. Everything is in logarithms.
"""

import math

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic.sets import as_mask
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.posterior.log_sums import log_add


@kernel
def sum_within(own: Floats) -> None:
    """Replace the log weight of every family by the log sum of all families within it."""
    size, bit = len(own), 1
    while bit < size:
        for mask in range(size):
            if mask & bit:
                own[mask] = log_add(own[mask], own[mask ^ bit])
        bit <<= 1


@kernel
def _ways(within: Floats) -> tuple[Floats, Floats]:
    """Return log f and log b of every set of nodes."""
    p = within.shape[0]
    size = 1 << p
    before, after = np.full(size, -math.inf), np.full(size, -math.inf)
    before[0], after[size - 1] = 0.0, 0.0
    for nodes in range(size):
        for j in range(p):
            if not (nodes >> j) & 1:
                step = before[nodes] + within[j, as_mask(nodes, j)]
                wider = nodes | (1 << j)
                before[wider] = log_add(before[wider], step)
    for nodes in range(size - 2, -1, -1):
        for j in range(p):
            if not (nodes >> j) & 1:
                step = within[j, as_mask(nodes, j)] + after[nodes | (1 << j)]
                after[nodes] = log_add(after[nodes], step)
    return before, after


@kernel
def edge_probabilities(log_scores: Floats) -> Floats:
    """Return (p, p), [effect, cause], from the log weights of all families, (p, 2^(p - 1))."""
    p, families = log_scores.shape
    within = log_scores.copy()
    for j in range(p):
        sum_within(within[j])
    before, after = _ways(within)
    total = before[(1 << p) - 1]
    found = np.zeros((p, p))
    having = np.empty(families)
    for j in range(p):
        for k in range(p):
            if k == j:
                continue
            bit = as_mask(1 << k, j)
            for mask in range(families):
                having[mask] = log_scores[j, mask] if mask & bit else -math.inf
            sum_within(having)
            for nodes in range(1 << p):
                if not (nodes >> j) & 1:
                    mask = as_mask(nodes, j)
                    log_part = before[nodes] + having[mask] + after[nodes | (1 << j)] - total
                    found[j, k] += math.exp(log_part)
    return found
