"""Exact sums and draws over all DAGs whose weight is a product over families.

A DAG has a first layer, the nodes without parents; a second, those with parents in the first only;
and so on. Given the layer R before it and the set U of all nodes so far, R among them, a node of
the next layer L has a parent in R and none outside U. So the sum over all ways to go on depends on
(R, U) alone: 4^p steps instead of all DAGs. Everything is in logarithms, and every sum is one of
positive terms: nothing cancels and nothing underflows.
"""

import math

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic.sets import as_mask
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.posterior.log_sums import draw_index, log_add, log_sum

NEVER = -math.inf


@kernel
def lowest(nodes: int) -> int:
    """Return the first node of a set that is not empty."""
    j = 0
    while not (nodes >> j) & 1:
        j += 1
    return j


@kernel
def sums_having(scores: Floats, v: int, p: int) -> Floats:
    """Return the log sum of the families of v within U that have r as a member: [r, U]."""
    size = 1 << p
    found = np.full((p, size), NEVER)
    for r in range(p):
        for nodes in range(size):
            if (nodes >> r) & 1 and not (nodes >> v) & 1:
                found[r, nodes] = scores[as_mask(nodes, v)]
        for k in range(p):
            for nodes in range(size):
                if k not in (r, v) and (nodes >> k) & 1:
                    found[r, nodes] = log_add(found[r, nodes], found[r, nodes ^ (1 << k)])
    return found


@kernel
def family_sums(scores: Floats) -> Floats:
    """Return the log sum of the families of v in U that have a member in R: [v, U, R], R in U.

    Split by the first member r of R: the families with r, and those without that have a member in
    the rest of R.
    """
    p = scores.shape[0]
    size = 1 << p
    sums = np.full((p, size, size), NEVER)
    for v in range(p):
        having = sums_having(scores[v], v, p)
        for nodes in range(size):
            layer = 0 if (nodes >> v) & 1 else nodes
            while layer:
                r = lowest(layer)
                rest = sums[v, nodes ^ (1 << r), layer ^ (1 << r)]
                sums[v, nodes, layer] = log_add(having[r, nodes], rest)
                layer = (layer - 1) & nodes
    return sums


@kernel
def next_layers(
    sums: Floats, empty: Floats, ways: Floats, layer: int, nodes: int, terms: Floats
) -> int:
    """Write the log weights of all ways to go on from (R, U) by their next layer, in the order of
    its mask over the nodes that are left; return how many there are.

    empty : log weights of having no parents, for the first layer
    """
    p = sums.shape[0]
    left = members_of(((1 << p) - 1) ^ nodes, p)
    terms[0] = 0.0
    for mask in range(1, 1 << len(left)):
        first = lowest(mask)
        v = left[first]
        own = sums[v, nodes, layer] if nodes else empty[v]
        terms[mask] = terms[mask & (mask - 1)] + own
    terms[0] = NEVER
    for mask in range(1, 1 << len(left)):
        following = spread(mask, left)
        terms[mask] += ways[nodes | following, following]
    return 1 << len(left)


@kernel
def members_of(nodes: int, p: int) -> Ints:
    """Return the nodes of a set, in order."""
    found = np.empty(p, dtype=np.int64)
    n = 0
    for v in range(p):
        if (nodes >> v) & 1:
            found[n] = v
            n += 1
    return found[:n]


@kernel
def spread(mask: int, left: Ints) -> int:
    """Return the set of nodes that a mask over the nodes that are left stands for."""
    nodes, i = 0, 0
    while mask:
        if mask & 1:
            nodes |= 1 << left[i]
        mask >>= 1
        i += 1
    return nodes


@kernel
def ways_on(sums: Floats, empty: Floats) -> tuple[float, Floats]:
    """Return the log sum over all DAGs, and over all ways to go on from (R, U): [U, R]."""
    p = sums.shape[0]
    size = 1 << p
    ways = np.full((size, size), NEVER)
    terms = np.empty(size)
    layer = size - 1
    while layer:
        ways[size - 1, layer] = 0.0
        layer = (layer - 1) & (size - 1)
    for nodes in range(size - 2, 0, -1):
        layer = nodes
        while layer:
            n = next_layers(sums, empty, ways, layer, nodes, terms)
            ways[nodes, layer] = log_sum(terms, n)
            layer = (layer - 1) & nodes
    n = next_layers(sums, empty, ways, 0, 0, terms)
    return log_sum(terms, n), ways


@kernel
def drawn_graph(
    scores: Floats, sums: Floats, ways: Floats, uniforms: Floats, terms: Floats
) -> Ints:
    """Draw one DAG in proportion to its weight: the parents of every node as sets of nodes.

    uniforms : (2 p,)
    """
    p = scores.shape[0]
    parents = np.zeros(p, dtype=np.int64)
    nodes, layer, used = 0, 0, 0
    empty = scores[:, 0]
    while nodes != (1 << p) - 1:
        n = next_layers(sums, empty, ways, layer, nodes, terms)
        mask = draw_index(terms, n, uniforms[used])
        used += 1
        following = spread(mask, members_of(((1 << p) - 1) ^ nodes, p))
        for v in range(p):
            if (following >> v) & 1 and nodes:
                parents[v] = drawn_family(scores, v, nodes, layer, uniforms[used], terms)
                used += 1
        nodes, layer = nodes | following, following
    return parents


@kernel
def drawn_family(scores: Floats, v: int, nodes: int, layer: int, u: float, terms: Floats) -> int:
    """Draw the parents of v within `nodes`, at least one of them in `layer`."""
    n, family = 0, nodes
    while family:
        if family & layer:
            terms[n] = scores[v, as_mask(family, v)]
            n += 1
        family = (family - 1) & nodes
    at, n, family = draw_index(terms, n, u), 0, nodes
    while family:
        if family & layer:
            if n == at:
                return family
            n += 1
        family = (family - 1) & nodes
    return 0


@kernel
def drawn_graphs(scores: Floats, sums: Floats, ways: Floats, uniforms: Floats) -> Ints:
    """Draw (m, p) parents of m independent DAGs; uniforms : (m, 2 p)."""
    terms = np.empty(1 << scores.shape[0])
    found = np.empty((len(uniforms), scores.shape[0]), dtype=np.int64)
    for i in range(len(uniforms)):
        found[i] = drawn_graph(scores, sums, ways, uniforms[i], terms)
    return found


@kernel
def family_marginals(scores: Floats, sums: Floats, ways: Floats) -> Floats:
    """Return the posterior probability of every family: (p, 2^(p - 1)).

    Forward: the log weight of all ways to come to (R, U). A family of v is used at (R, U) with the
    weight of the ways there, of its companions in the next layer, and of the ways on.
    """
    p = scores.shape[0]
    size = 1 << p
    empty = scores[:, 0]
    coming = np.full((size, size), NEVER)
    coming[0, 0] = 0.0
    terms = np.empty(size)
    used = np.full((p, size, size), NEVER)
    for nodes in range(size - 1):
        left = members_of((size - 1) ^ nodes, p)
        layer = nodes
        while True:
            if coming[nodes, layer] > NEVER:
                n = next_layers(sums, empty, ways, layer, nodes, terms)
                for mask in range(1, n):
                    if terms[mask] == NEVER:
                        continue
                    following = spread(mask, left)
                    whole = coming[nodes, layer] + terms[mask]
                    onward = whole - ways[nodes | following, following]
                    after = nodes | following
                    coming[after, following] = log_add(coming[after, following], onward)
                    for v in members_of(following, p):
                        used[v, nodes, layer] = log_add(used[v, nodes, layer], whole)
            if layer == 0:
                break
            layer = (layer - 1) & nodes
    return _share_out(scores, sums, used)


@kernel
def _share_out(scores: Floats, sums: Floats, used: Floats) -> Floats:
    """Share the weight of all DAGs in which v comes after (R, U) among its families."""
    p = scores.shape[0]
    size = 1 << p
    found = np.zeros(scores.shape)
    for v in range(p):
        total = NEVER
        for nodes in range(size):
            layer = nodes
            while True:
                total = log_add(total, used[v, nodes, layer])
                if layer == 0:
                    break
                layer = (layer - 1) & nodes
        found[v, 0] = math.exp(used[v, 0, 0] - total)
        for nodes in range(1, size):
            layer = nodes
            while layer:
                if used[v, nodes, layer] > NEVER:
                    share = used[v, nodes, layer] - total - sums[v, nodes, layer]
                    family = nodes
                    while family:
                        if family & layer:
                            mask = as_mask(family, v)
                            found[v, mask] += math.exp(share + scores[v, mask])
                        family = (family - 1) & nodes
                layer = (layer - 1) & nodes
    return found
