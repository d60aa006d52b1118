"""Sets of nodes as the bits of an integer, and graphs as one such set per node.

A set of nodes has bit k for node k. A mask over all nodes but j leaves out the bit of j.
"""

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.records import Families, Parents


@kernel
def as_nodes(mask: int, j: int) -> int:
    """Return the set of nodes that a mask over all nodes but j stands for."""
    low = mask & ((1 << j) - 1)
    return low | ((mask ^ low) << 1)


@kernel
def as_mask(nodes: int, j: int) -> int:
    """Return the mask over all nodes but j that stands for a set of nodes without j."""
    low = nodes & ((1 << j) - 1)
    return low | ((nodes ^ low) >> 1)


@kernel
def count(nodes: int) -> int:
    """Return the size of a set of nodes."""
    n = 0
    while nodes:
        n += 1
        nodes &= nodes - 1
    return n


@kernel
def choose(n: int, k: int) -> float:
    """Return the number of sets of k out of n nodes."""
    result = 1.0
    for i in range(k):
        result *= (n - i) / (i + 1)
    return result


@kernel
def regressors_of(parents: int, p: int, q: int) -> Ints:
    """Return the indices of the nodes in a set and, if moments have one, q > p, of the constant."""
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
def position(k: int, members: Ints) -> int:
    """Return where a node stands in a list that has it."""
    i = 0
    while members[i] != k:
        i += 1
    return i


@kernel
def parents_of(weights: Floats, j: int) -> int:
    """Return the parents of a node as a set of nodes."""
    parents = 0
    for k in range(weights.shape[0]):
        if weights[j, k] != 0.0:
            parents |= 1 << k
    return parents


@kernel
def edge_count(weights: Floats) -> int:
    """Return the number of edges, at least one: what the weight of EDGE is shared by."""
    return max(int(np.count_nonzero(weights)), 1)


@kernel
def is_allowed(family: int, j: int, parents: Parents) -> bool:
    """Return whether a set of nodes may be the parents of j, by what is known beforehand."""
    return parents.needed[j] & ~family == 0 and family & ~parents.possible[j] == 0


@kernel
def families_of(j: int, parents: Parents, excluded: int, p: int) -> Families:
    """Return which sets of parents j may have, as masks over all other nodes.

    excluded : such a mask, -1 for none
    """
    everyone = (1 << p) - 1
    needed, possible = parents.needed[j] & everyone, parents.possible[j] & everyone
    return Families(as_mask(needed, j), as_mask(possible & ~(1 << j), j), excluded)


@kernel
def nondescendants(weights: Floats) -> Ints:
    """Return for every node the set of nodes, without itself, that it has no path to."""
    p = weights.shape[0]
    reach = np.zeros(p, dtype=np.int64)
    for k in range(p):
        for j in range(p):
            if weights[j, k] != 0.0:
                reach[k] |= 1 << j
    for m in range(p):
        for k in range(p):
            if (reach[k] >> m) & 1:
                reach[k] |= reach[m]
    found = np.empty(p, dtype=np.int64)
    for k in range(p):
        found[k] = ((1 << p) - 1) & ~reach[k] & ~(1 << k)
    return found


@kernel
def may_act(weights: Floats, parents: Parents) -> Ints:
    """Return for every node the set of nodes that may act on it if all reported effects are there:
    those that it has no reported path to, without those that are known not to act on it.

    weights : of the estimate. Reported parents are always among them
    """
    found = nondescendants(weights)
    for j in range(len(found)):
        found[j] &= parents.possible[j] | parents_of(weights, j)
    return found
