"""Cases 1a and 2 of the resolution certificate: a reported edge is missing, or the order disagrees.

Both swap rows to their reported parents, as the training foretells them. The proof is in
`resolution`.
"""

import math

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.row_evidence import regressors_of
from causalfocus.kernels.evidence.training import log_predictive
from causalfocus.kernels.exact.certificate import SAFETY, choose, parents_of
from causalfocus.kernels.gaussian.resolution import W_SWAP, Split, nondescendants
from causalfocus.kernels.search.subsets import as_mask, count, sure_residuals


@kernel
def log_family_share(parents: int, foreseen: int, p: int) -> float:
    """log q_j: half for the foreseen parents, a quarter for their neighbours, a quarter for all."""
    share = 0.25 / (p * choose(p - 1, count(parents)))
    if parents == foreseen:
        share += 0.5
    elif count(parents ^ foreseen) == 1:
        share += 0.25 / (p - 1)
    return math.log(share)


@kernel
def swap_costs(split: Split, weights: Floats) -> Floats:
    """(p, 2^(p-1)): evidence of the row of j with its reported parents, share included, against
    the best row on each set of other nodes.
    """
    training, later, _, foreseen = split
    p, q = len(later[2]), later[0].shape[1]
    costs = np.empty((p, 1 << (p - 1)))
    for j in range(p):
        n, after = later[2][j], (later[0][j], later[1][j], j)
        own = parents_of(weights, j)
        swapped = log_predictive(
            (training[0][j], training[1][j], j), training[2][j], after, n, regressors_of(own, p, q)
        )
        swapped += log_family_share(own, foreseen[j], p) - math.log(p - 1.0)
        costs[j] = swapped
        if n > 0.0:
            residuals = sure_residuals(after, n, p)
            for mask in range(1 << (p - 1)):
                if residuals[mask] > 0.0:
                    v = residuals[mask] / n
                    costs[j, mask] += 0.5 * n * (math.log(2.0 * math.pi * v) + 1.0)
                else:
                    costs[j, mask] = -math.inf
    return costs


@kernel
def log_swap_weight(p: int, log_share: float) -> float:
    """Of SWAP without its rows, and the safety."""
    return math.log(W_SWAP) + log_share + p * math.log1p(-1.0 / p) - SAFETY


@kernel
def missing_evidence(costs: Floats, weights: Floats, log_share: float) -> Floats:
    """Case 1a: evidence that each reported edge is there, (effect, cause); infinity elsewhere."""
    p = weights.shape[0]
    nd = nondescendants(weights)
    found = np.full((p, p), math.inf)
    for j in range(p):
        for k in range(p):
            if weights[j, k] != 0.0:
                without = as_mask(nd[j] & ~(1 << k), j)
                found[j, k] = costs[j, without] + log_swap_weight(p, log_share)
    return found


@kernel
def contrary_order(costs: Floats, weights: Floats) -> tuple[float, Ints, Bools]:
    """Case 2: the cheapest order that disagrees with the graph (infinity if there is none): its
    cost, the nodes before each node, and which rows are swapped. The nodes before are given for
    the swapped rows.
    """
    p = costs.shape[0]
    size = 1 << p
    parents = np.empty(p, dtype=np.int64)
    for j in range(p):
        parents[j] = parents_of(weights, j)
    is_closed = np.ones(size, dtype=np.bool_)
    for nodes in range(size):
        for j in range(p):
            if (nodes >> j) & 1 and parents[j] & ~nodes:
                is_closed[nodes] = False
    # Ways on which some set so far was not closed; all others cost nothing.
    least = np.full(size, math.inf)
    last = np.full(size, -1, dtype=np.int64)
    begins = np.zeros(size, dtype=np.bool_)
    for nodes in range(1, size):
        for j in range(p):
            if not (nodes >> j) & 1:
                continue
            before = nodes ^ (1 << j)
            is_free = is_closed[before] and is_closed[nodes]
            step = 0.0 if is_free else costs[j, as_mask(before, j)]
            if least[before] + step < least[nodes]:
                least[nodes], last[nodes], begins[nodes] = least[before] + step, j, False
            if is_closed[before] and not is_closed[nodes] and step < least[nodes]:
                least[nodes], last[nodes], begins[nodes] = step, j, True
    before_each = np.zeros(p, dtype=np.int64)
    is_swapped = np.zeros(p, dtype=np.bool_)
    nodes = size - 1
    while math.isfinite(least[size - 1]) and nodes:
        j = last[nodes]
        before = nodes ^ (1 << j)
        before_each[j] = before
        is_swapped[j] = not (is_closed[before] and is_closed[nodes])
        if begins[nodes]:
            break
        nodes = before
    return least[size - 1], before_each, is_swapped
