"""The DAG of the highest score, by the engine's program over sets of nodes."""

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic.sets import as_nodes
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.exact.oracles import all_others
from causalfocus.kernels.search.families import best_family
from causalfocus.kernels.search.orders import best_order, local_mask, local_masks, tolerance


@kernel
def likeliest_dag(scores: Floats) -> Ints:
    """Return the parents of every node, sets of nodes; scores : (p, 2^(p - 1)) by mask."""
    p = scores.shape[0]
    size = 1 << (p - 1)
    costs = -scores
    for j in range(p):
        for bit in range(p - 1):
            for mask in range(size):
                if (mask >> bit) & 1:
                    costs[j, mask] = min(costs[j, mask], costs[j, mask ^ (1 << bit)])
    candidates, starts = all_others(p)
    masks = local_masks(p, candidates, starts)
    _, before = best_order(p, costs.reshape(-1), np.arange(p + 1) * size, masks)
    parents = np.empty(p, dtype=np.int64)
    for j in range(p):
        within = local_mask(masks, j, before[j])
        family = best_family(costs[j], within, tolerance(costs[j, within]))
        parents[j] = as_nodes(family, j)
    return parents
