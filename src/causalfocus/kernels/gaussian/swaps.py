"""Cases 1a and 2 of the resolution certificate: a reported edge is missing, or the order disagrees.

Both swap rows to their reported parents, as the training foretells them. The proof is in
`resolution`; so is why what is known of the graph leaves rivals, and regressors of them, out.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.arithmetic.sets import (
    as_mask,
    choose,
    count,
    may_act,
    parents_of,
    regressors_of,
)
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.subsets import sure_residuals
from causalfocus.kernels.evidence.training import log_predictive
from causalfocus.kernels.exact.certificate import SAFETY
from causalfocus.kernels.gaussian.resolution import W_SWAP, Split
from causalfocus.kernels.records import Parents, row_of


class ContraryOrder(NamedTuple):
    """The cheapest order that disagrees with a graph.

    Attributes
    ----------
    cost : infinity if there is none
    before : (p,), the nodes before each swapped node that may act on it, as sets
    is_swapped : (p,), which rows are swapped
    """

    cost: float
    before: Ints
    is_swapped: Bools


@kernel
def log_family_share(parents: int, foreseen: int, p: int) -> float:
    """Return log q_j: half for the foreseen parents, a quarter for their neighbours, a quarter for
    all.
    """
    share = 0.25 / (p * choose(p - 1, count(parents)))
    if parents == foreseen:
        share += 0.5
    elif count(parents ^ foreseen) == 1:
        share += 0.25 / (p - 1)
    return math.log(share)


@kernel
def swap_costs(split: Split, weights: Floats) -> Floats:
    """Return (p, 2^(p-1)): evidence of the row of j with its reported parents, share included,
    against the best row on each set of other nodes.
    """
    training, later, foreseen = split.training, split.later, split.foreseen
    p, q = len(later.counts), later.grams.shape[1]
    costs = np.empty((p, 1 << (p - 1)))
    for j in range(p):
        n, after = later.counts[j], row_of(later, j)
        own = parents_of(weights, j)
        swapped = log_predictive(
            row_of(training, j), training.counts[j], after, n, regressors_of(own, p, q)
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
    """Return the logarithm of the weight of SWAP without its rows, and the safety."""
    return math.log(W_SWAP) + log_share + p * math.log1p(-1.0 / p) - SAFETY


@kernel
def missing_evidence(costs: Floats, weights: Floats, log_share: float, parents: Parents) -> Floats:
    """Return, for case 1a, the evidence that each reported edge is there, (effect, cause); infinity
    elsewhere, and where it is known.
    """
    p = weights.shape[0]
    nd = may_act(weights, parents)
    found = np.full((p, p), math.inf)
    for j in range(p):
        for k in range(p):
            if weights[j, k] != 0.0 and not (parents.needed[j] >> k) & 1:
                without = as_mask(nd[j] & ~(1 << k), j)
                found[j, k] = costs[j, without] + log_swap_weight(p, log_share)
    return found


@kernel
def contrary_order(costs: Floats, weights: Floats, parents: Parents) -> ContraryOrder:
    """Return, for case 2, the cheapest order that disagrees with the graph.

    parents : what is known; a node comes after those that it needs
    """
    p = costs.shape[0]
    size = 1 << p
    reported = np.empty(p, dtype=np.int64)
    for j in range(p):
        reported[j] = parents_of(weights, j)
    is_closed = np.ones(size, dtype=np.bool_)
    for nodes in range(size):
        for j in range(p):
            if (nodes >> j) & 1 and reported[j] & ~nodes:
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
            if parents.needed[j] & ~before:
                continue
            is_free = is_closed[before] and is_closed[nodes]
            step = 0.0 if is_free else costs[j, as_mask(before & parents.possible[j], j)]
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
        before_each[j] = before & parents.possible[j]
        is_swapped[j] = not (is_closed[before] and is_closed[nodes])
        if begins[nodes]:
            break
        nodes = before
    return ContraryOrder(least[size - 1], before_each, is_swapped)
