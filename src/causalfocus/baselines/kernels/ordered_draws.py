"""DAGs by way of orders, for more nodes than the layers allow: p^2 2^p steps to begin with.

An order has the weight of all DAGs that fit it, so a program over sets of nodes draws orders
independently and exactly, and given the order the families are independent. A DAG then comes as
often as it fits orders; dividing by their number, the linear extensions, makes up for it.
"""

import math

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic.sets import as_mask, as_nodes
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.posterior.log_sums import draw_index, log_add, log_sum


@kernel
def sums_within(scores: Floats) -> Floats:
    """Return the log sum of the families of every node within every set: (p, 2^(p - 1))."""
    sums = scores.copy()
    p = scores.shape[0]
    for j in range(p):
        for bit in range(p - 1):
            for mask in range(1 << (p - 1)):
                if (mask >> bit) & 1:
                    sums[j, mask] = log_add(sums[j, mask], sums[j, mask ^ (1 << bit)])
    return sums


@kernel
def order_sums(within: Floats) -> Floats:
    """Return the log sum over all orders of every set of nodes: (2^p,)."""
    p = within.shape[0]
    found, terms = np.zeros(1 << p), np.empty(p)
    for nodes in range(1, 1 << p):
        n = _last_nodes(within, found, nodes, terms)
        found[nodes] = log_sum(terms, n)
    return found


@kernel
def _last_nodes(within: Floats, found: Floats, nodes: int, terms: Floats) -> int:
    """Write the log weights of a set's orders by their last node; return how many there are."""
    n = 0
    for v in range(within.shape[0]):
        if (nodes >> v) & 1:
            before = nodes ^ (1 << v)
            terms[n] = within[v, as_mask(before, v)] + found[before]
            n += 1
    return n


@kernel
def drawn_by_order(scores: Floats, within: Floats, found: Floats, uniforms: Floats) -> Ints:
    """Draw (m, p) parents of m DAGs by way of orders; uniforms : (m, 2 p)."""
    p = scores.shape[0]
    parents = np.zeros((len(uniforms), p), dtype=np.int64)
    terms = np.empty(1 << (p - 1) if p > 1 else 1)
    for i in range(len(uniforms)):
        nodes, used = (1 << p) - 1, 0
        while nodes:
            n = _last_nodes(within, found, nodes, terms)
            at = draw_index(terms, n, uniforms[i, used])
            last = 0
            for v in range(p):
                if (nodes >> v) & 1:
                    if at == 0:
                        last = v
                    at -= 1
            nodes ^= 1 << last
            mask = as_mask(nodes, last)
            parents[i, last] = _drawn_within(scores[last], last, mask, uniforms[i, used + 1], terms)
            used += 2
    return parents


@kernel
def _drawn_within(scores: Floats, v: int, within: int, u: float, terms: Floats) -> int:
    """Draw the parents of v within a mask, as a set of nodes."""
    n, family = 0, within
    while True:
        terms[n] = scores[family]
        n += 1
        if family == 0:
            break
        family = (family - 1) & within
    at = draw_index(terms, n, u)
    family = within
    for _ in range(at):
        family = (family - 1) & within
    return as_nodes(family, v)


@kernel
def linear_extensions(parents: Ints) -> float:
    """Return in how many orders causes come before effects."""
    p = len(parents)
    ways = np.zeros(1 << p)
    ways[0] = 1.0
    for nodes in range(1 << p):
        if ways[nodes] > 0.0:
            for v in range(p):
                if not (nodes >> v) & 1 and parents[v] & ~nodes == 0:
                    ways[nodes | (1 << v)] += ways[nodes]
    return ways[(1 << p) - 1]


@kernel
def log_corrections(parents: Ints) -> Floats:
    """Return minus the log number of orders that every DAG fits."""
    found = np.empty(len(parents))
    for i in range(len(parents)):
        found[i] = -math.log(linear_extensions(parents[i]))
    return found
