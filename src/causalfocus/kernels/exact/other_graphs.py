"""Branch B of the evidence certificate: every graph but the estimate's."""

import math

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic.sets import (
    as_nodes,
    choose,
    count,
    edge_count,
    is_allowed,
    nondescendants,
    parents_of,
    regressors_of,
)
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.directions import Times, present_row
from causalfocus.kernels.evidence.row_evidence import Prior, log_marginal, residual_at
from causalfocus.kernels.exact.certificate import (
    SAFETY,
    W_EDGE,
    W_SWAP,
    Setting,
    apart_from_class,
    departure_evidence,
    edge_row,
)
from causalfocus.kernels.exact.oracles import all_others
from causalfocus.kernels.records import Bounds, Limits, Parents, Row, Span, bounds_at
from causalfocus.kernels.search.families import best_family
from causalfocus.kernels.search.orders import (
    best_order,
    best_other_order,
    local_mask,
    local_masks,
    tolerance,
)
from causalfocus.kernels.search.row_fit import GAP_HIGH, GAP_LOW, HIGH, LOW, fit_row, two_intervals
from causalfocus.kernels.search.tableau import Workspace, workspace

FIT = 1e-9
"""Share by which the residual of an exact fit may be above the least one."""


@kernel
def family_tables(
    times: Times,
    weights: Floats,
    limits: Limits,
    prior: Prior,
    setting: Setting,
    levels: Span,
    parents: Parents,
) -> tuple[Floats, Floats]:
    """Return per node and set of candidates the cost in SWAP of that family, and the evidence of
    EDGE.

    The cost is log m(pa) plus its share of log pi minus the best log-likelihood of the family in
    the class. EDGE rejects a family when the data put the coefficient of a parent further below
    min_effect, or above max_effect, than they can err. Its evidence is that against
    an alternative with as many edges as the estimate (or one); against one with r times as many it
    is smaller by at most log r.

    levels : the tables serve levels in this range. A family that is rejected at all of them,
    however many edges there are, is not looked at any further, and its cost is infinite; evidence
    below the lowest level counts as none.

    parents : what is known of the graph. Families that it excludes are rejected for nothing: no
    graph that has one is that of a possible truth, so none needs to be rejected by data. The terms
    of the mixture against all others, and their weights, stay as they are
    """
    counts = times.counts[-1]
    p, q = len(counts), times.grams.shape[2]
    costs = np.full((p, 1 << (p - 1)), math.inf)
    evidence = np.full((p, 1 << (p - 1)), -math.inf)
    n_edges = edge_count(weights)
    own_weight = math.log(W_EDGE / n_edges)
    enough = levels.high + max(math.log(0.5 * p * (p - 1) / n_edges), 0.0) + SAFETY
    useful = Span(levels.low - own_weight, enough + SAFETY - own_weight)
    work = workspace(q)
    for j in range(p):
        n, row, bounds = counts[j], present_row(times, j), bounds_at(limits, j)
        own = parents_of(weights, j)
        own_regressors = regressors_of(own, p, q)
        n_own = len(own_regressors) - (q - p)
        swapped = log_marginal(row, own_regressors, n, prior, p)
        swapped -= math.log(p - 1.0) + math.log(p * choose(p - 1, n_own))
        for mask in range(1 << (p - 1)):
            family = as_nodes(mask, j)
            if family == own:
                evidence[j, mask] = math.inf
                continue
            if not is_allowed(family, j, parents):
                evidence[j, mask] = math.inf
                continue
            regressors = regressors_of(family, p, q)
            if family:
                seen = edge_row(times, j, regressors, prior, setting)
                for m in range(len(regressors)):
                    if regressors[m] == p:
                        continue
                    apart = apart_from_class(m, seen.fit.coefficients[m], seen.top, bounds)
                    if min(apart.near, apart.far) > 0.0:
                        own_evidence = departure_evidence(
                            times, seen, apart, own_weight, bounds, useful
                        )
                        evidence[j, mask] = max(evidence[j, mask], own_evidence)
                        if own_evidence >= enough:
                            break
            if evidence[j, mask] < enough:
                costs[j, mask] = swapped + class_row_cost(row, regressors, n, p, bounds, work)
    return costs, evidence


@kernel
def class_row_cost(
    row: Row, regressors: Ints, n: float, p: int, bounds: Bounds, work: Workspace
) -> float:
    """Return minus the largest log-likelihood of a row in the class, or less: minus infinity where
    it has no limit, or where a variable has lost its digits.
    """
    if n <= 0.0:
        return 0.0
    gram, target = row.high, row.target
    for k in regressors:
        if math.isnan(gram[k, k]):
            return -math.inf
    if math.isnan(gram[target, target]):
        return -math.inf
    best = np.empty(len(regressors))
    fit_row(row, regressors, _class_sets(regressors, p, bounds), math.inf, work, best)
    residual = max(residual_at(row, regressors, best) * (1.0 - FIT), 0.0)
    v = min(max(residual / n, bounds.lowest), bounds.highest)
    if not v > 0.0:
        return -math.inf
    return 0.5 * (n * math.log(2.0 * math.pi * v) + residual / v)


@kernel
def _class_sets(regressors: Ints, p: int, bounds: Bounds) -> Floats:
    """Return the allowed coefficients of a row: the class's for parents, all for the constant."""
    allowed = two_intervals(len(regressors), bounds.smallest, bounds.largest)
    if len(regressors) > 0 and regressors[-1] == p:
        allowed[LOW, -1], allowed[GAP_LOW, -1] = -math.inf, 0.0
        allowed[GAP_HIGH, -1], allowed[HIGH, -1] = 0.0, math.inf
    return allowed


@kernel
def _least_by_subset(costs: Floats) -> Floats:
    """Return per node and set of candidates the least cost of a family inside the set."""
    p, size = costs.shape
    table = np.empty((p, size))
    for j in range(p):
        for mask in range(size):
            least = costs[j, mask]
            rest = mask
            while rest:
                least = min(least, table[j, mask ^ (rest & -rest)])
                rest &= rest - 1
            table[j, mask] = least
    return table.ravel()


@kernel
def _most_edges(open_costs: Floats, reference: Ints, offsets: Ints, masks: Ints) -> int:
    """Return the most edges of an acyclic graph of open families and the reference's."""
    p, size = open_costs.shape
    costs = np.empty((p, size))
    for j in range(p):
        for mask in range(size):
            is_open = open_costs[j, mask] < math.inf or as_nodes(mask, j) == reference[j]
            costs[j, mask] = -count(mask) if is_open else math.inf
    least, _ = best_order(p, _least_by_subset(costs), offsets, masks)
    return int(-least)


@kernel
def least_rejected_graph(
    costs: Floats, evidence: Floats, weights: Floats, h: float
) -> tuple[float, Ints]:
    """Return, of all graphs but the estimate's that EDGE does not reject at level h, the one with
    the least evidence of SWAP: that evidence (infinity if there is none), and the parents of every
    node (the estimate's unless the evidence is finite).

    If that evidence is at least h, every other graph is rejected at level h.

    The weight of EDGE falls with the number of edges of the alternative. So families are closed
    with the weight for the largest number of edges that a graph of open families can have; graphs
    with more contain a family that was closed at its own weight, or one that is known not to be. As
    families close, that number falls, until nothing changes.
    """
    p, size = costs.shape
    candidates, starts = all_others(p)
    masks = local_masks(p, candidates, starts)
    offsets = np.arange(p + 1) * size
    parents = np.zeros(p, dtype=np.int64)
    for j in range(p):
        parents[j] = parents_of(weights, j)
    table = _least_by_subset(_open_costs(costs, evidence, weights, h, parents, offsets, masks))
    best = best_other_order(p, table, offsets, masks, parents, np.zeros(p))
    if math.isfinite(best.cost):
        for j in range(p):
            if not best.keeps[j]:
                own = table[offsets[j] : offsets[j + 1]]
                within = local_mask(masks, j, best.predecessors[j])
                parents[j] = as_nodes(best_family(own, within, tolerance(own[within])), j)
    return best.cost + _log_swap_weight(p), parents


@kernel
def _log_swap_weight(p: int) -> float:
    """Return the logarithm of the weight of SWAP that all choices share, and what is taken off."""
    return math.log(W_SWAP) + p * math.log1p(-1.0 / p) - SAFETY


@kernel
def _open_costs(
    costs: Floats,
    evidence: Floats,
    weights: Floats,
    h: float,
    reference: Ints,
    offsets: Ints,
    masks: Ints,
) -> Floats:
    """Return the costs of families that EDGE does not reject at level h; infinity for the others.

    reference : the parents of every node in the estimate
    """
    p, size = costs.shape
    n_edges = edge_count(weights)
    most, before = p * (p - 1) // 2, 0
    open_costs = np.empty((p, size))
    while most != before:
        before = most
        loss = math.log(max(most, n_edges) / n_edges)
        for j in range(p):
            for mask in range(size):
                is_open = evidence[j, mask] - loss < h
                open_costs[j, mask] = costs[j, mask] if is_open else math.inf
        most = max(_most_edges(open_costs, reference, offsets, masks), 1)
    return open_costs


@kernel
def lagging_graphs(
    costs: Floats, evidence: Floats, weights: Floats, h: float
) -> tuple[Floats, Ints]:
    """Return graphs that are not rejected at level h, one per row, the least rejected first: the
    evidence of SWAP against each, and the parents of its nodes.

    They are the least rejected of all and, for every node, the least rejected that changes the
    parents of that node alone. They say where to look next, and nothing else.
    """
    p, size = costs.shape
    candidates, starts = all_others(p)
    masks, offsets = local_masks(p, candidates, starts), np.arange(p + 1) * size
    reference = np.zeros(p, dtype=np.int64)
    for j in range(p):
        reference[j] = parents_of(weights, j)
    found, graphs = np.empty(p + 1), np.empty((p + 1, p), dtype=np.int64)
    found[0], graphs[0] = least_rejected_graph(costs, evidence, weights, h)
    if not found[0] < h:
        return found[:0], graphs[:0]
    open_costs = _open_costs(costs, evidence, weights, h, reference, offsets, masks)
    before, r = nondescendants(weights), 1
    for j in range(p):
        least, parents = math.inf, reference[j]
        for mask in range(size):
            family = as_nodes(mask, j)
            if (
                family != reference[j]
                and family & ~before[j] == 0
                and open_costs[j, mask] < math.inf
            ):
                value = open_costs[j, mask] + _log_swap_weight(p)
                if value < least:
                    least, parents = value, family
        graphs[r] = reference
        graphs[r, j] = parents
        if least < h and (graphs[r] != graphs[0]).any():
            found[r] = least
            r += 1
    return found[:r], graphs[:r]


@kernel
def _is_rejected(costs: Floats, evidence: Floats, weights: Floats, h: float) -> bool:
    """Return whether every other graph is rejected at level h."""
    least, _ = least_rejected_graph(costs, evidence, weights, h)
    return least >= h


@kernel
def different_graph_evidence(
    costs: Floats, evidence: Floats, weights: Floats, levels: Span
) -> float:
    """Return the highest level in a range at which every other graph is rejected, to 1e-3 from
    below; minus infinity if there is none.

    Rejection at a level implies rejection at all lower ones: fewer families are removed as the
    level rises, and the sum that the others must reach rises too.
    """
    low, high = levels.low, levels.high
    if _is_rejected(costs, evidence, weights, high):
        return high
    if not _is_rejected(costs, evidence, weights, low):
        return -math.inf
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        if _is_rejected(costs, evidence, weights, middle):
            low = middle
        else:
            high = middle
    return low
