"""Dynamic programs over sets of nodes: the best DAG, and the best DAG other than a given one.

The paper walks over all permutations; the best completion of a set of nodes does not depend on the
order inside the set, so p! becomes 2^p (the sets U that may come first in an order).

Sums that differ by less than TIE of their size are ties, and ties go to graphs in which nodes that
come earlier in the order of the names also come earlier as causes.

Costs come as one table for all nodes: ``costs[offsets[j] + mask]`` is the cost of node j when its
parents are chosen from the candidates in `mask`, bits counted in j's own list of candidates.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.compile import kernel

TIE = 1e-12


class OtherOrder(NamedTuple):
    """The best DAG but one.

    Attributes
    ----------
    cost : infinity if there is no other DAG; what follows is only there if it is finite
    predecessors : (p,), the nodes before every node, as sets
    keeps : (p,), whether the node keeps its reference family
    """

    cost: float
    predecessors: Ints
    keeps: Bools


@kernel
def tolerance(value: float) -> float:
    """Return how far a sum of costs may be off and still count as the same."""
    return TIE * (1.0 + abs(value))


@kernel
def local_masks(p: int, candidates: Ints, starts: Ints) -> Ints:
    """Return a lookup from halves of a set of nodes to a mask over a node's candidates.

    candidates : the lists of all nodes, one after the other; j's starts at starts[j].
    It is (2, p, 2**half): the local mask of U is the union of entries for its lower `half` bits
    and for the bits above.
    """
    half = (p + 1) // 2
    masks = np.zeros((2, p, 1 << half), dtype=np.int64)
    for j in range(p):
        for i in range(starts[j], starts[j + 1]):
            node = candidates[i]
            part, bit = (0, node) if node < half else (1, node - half)
            for u in range(1 << half):
                if (u >> bit) & 1:
                    masks[part, j, u] |= 1 << (i - starts[j])
    return masks


@kernel
def local_mask(masks: Ints, j: int, nodes: int) -> int:
    """Return the nodes that are candidates of j, as a mask over its candidates."""
    half = (masks.shape[1] + 1) // 2
    local: int = masks[0, j, nodes & ((1 << half) - 1)] | masks[1, j, nodes >> half]
    return local


@kernel
def best_order(p: int, costs: Floats, offsets: Ints, masks: Ints) -> tuple[float, Ints]:
    """Return the least total cost over all DAGs, and for every node the set of nodes before it.

    Of tied orders the one whose last node has the largest index wins, and so on downwards.
    """
    least = np.empty(1 << p)
    least[0] = 0.0
    for nodes in range(1, 1 << p):
        found = math.inf
        for j in range(p):
            if (nodes >> j) & 1:
                before = nodes ^ (1 << j)
                cost = least[before] + costs[offsets[j] + local_mask(masks, j, before)]
                found = min(found, cost)
        least[nodes] = found
    predecessors = np.zeros(p, dtype=np.int64)
    nodes = (1 << p) - 1
    while nodes:
        last = -1
        for j in range(p):
            if (nodes >> j) & 1:
                before = nodes ^ (1 << j)
                cost = least[before] + costs[offsets[j] + local_mask(masks, j, before)]
                if cost <= least[nodes] + tolerance(least[nodes]):
                    last = j
        if last < 0:
            raise ArithmeticError("no order attains the least cost")
        nodes ^= 1 << last
        predecessors[last] = nodes
    return least[(1 << p) - 1], predecessors


@kernel
def best_other_order(
    p: int, costs: Floats, offsets: Ints, masks: Ints, reference: Ints, reference_costs: Floats
) -> OtherOrder:
    """Return the best DAG but the reference (Algorithm different_graph_alternative).

    Two states per set of nodes: all families so far are the reference's (`same`), or at least one
    is not (`other`); only `other` counts at the end.

    Parameters
    ----------
    costs : of the families that differ from the reference's
    reference : (p,) parents of every node in the reference graph as sets of nodes
    reference_costs : (p,) costs of these families
    """
    same = np.empty(1 << p)
    other = np.empty(1 << p)
    same[0], other[0] = 0.0, math.inf
    for nodes in range(1, 1 << p):
        found_same, found_other = math.inf, math.inf
        for j in range(p):
            if (nodes >> j) & 1:
                before = nodes ^ (1 << j)
                cost = costs[offsets[j] + local_mask(masks, j, before)]
                found_other = min(found_other, min(same[before], other[before]) + cost)
                if reference[j] & ~before == 0:
                    found_same = min(found_same, same[before] + reference_costs[j])
                    found_other = min(found_other, other[before] + reference_costs[j])
        same[nodes], other[nodes] = found_same, found_other

    predecessors = np.zeros(p, dtype=np.int64)
    keeps = np.zeros(p, dtype=np.bool_)
    nodes, differs = (1 << p) - 1, True
    found = other[nodes]
    while nodes and math.isfinite(found):
        value = other[nodes] if differs else same[nodes]
        highest = value + tolerance(value)
        last, last_keeps, stays = -1, False, False
        for j in range(p):
            if not (nodes >> j) & 1:
                continue
            before = nodes ^ (1 << j)
            cost = costs[offsets[j] + local_mask(masks, j, before)]
            source = other[before] if differs else same[before]
            if reference[j] & ~before == 0 and source + reference_costs[j] <= highest:
                last, last_keeps, stays = j, True, differs
            elif differs and other[before] + cost <= highest:
                last, last_keeps, stays = j, False, True
            elif differs and same[before] + cost <= highest:
                last, last_keeps, stays = j, False, False
        if last < 0:
            raise ArithmeticError("no order attains the least cost of another graph")
        differs = stays
        keeps[last] = last_keeps
        nodes ^= 1 << last
        predecessors[last] = nodes
    return OtherOrder(found, predecessors, keeps)
