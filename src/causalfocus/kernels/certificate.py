"""The evidence certificate: how strongly the data reject every alternative to an estimate.

For a fixed alternative, a mixture of non-negative martingales with fixed weights that sum to at
most one is again one, with mean one if the alternative is true; by Ville's inequality it ever
reaches exp(h) with probability at most exp(-h). A lower bound on any of its terms, weight
included, is a lower bound on the logarithm of the mixture. The terms and their weights:

- EDGE, weight W_EDGE shared equally by the edges k -> j of the alternative: the row of j around the
  alternative's own (`edge_evidence`), coefficient k by about epsilon, the others narrowly.
- NOISE, weight W_NOISE / p for every j: the marginal likelihood of the row of j on the
  alternative's own parents under a fixed prior. It rejects noise variances far from R/n, whatever
  the coefficients.
- SWAP, weight W_SWAP pi(Delta, S): rows in Delta get the marginal likelihood of other parents S_j
  such that the graph stays acyclic. pi = (1-1/p)^p prod_Delta 1/(p-1) * 1/(p C(p-1, |S_j|)) sums to
  one over all choices.

The numerators are products of conditional densities along an acyclic graph, so each integrates to
one given the past, whatever rule chose the action.

With intercepts each row is shifted by its first own sample, which then counts for nothing, and the
constant is one more regressor that every row has. A sample that is the origin of one row and comes
after that of the others counts for no row: otherwise the swapped rows could close a cycle in it.
"""

import math

import numpy as np
from numpy.typing import NDArray

from causalfocus.kernels.compile import kernel
from causalfocus.kernels.edge_evidence import edge_evidence
from causalfocus.kernels.families import best_family
from causalfocus.kernels.oracles import all_others
from causalfocus.kernels.orders import (
    best_order,
    best_other_order,
    local_mask,
    local_masks,
    tolerance,
)
from causalfocus.kernels.row_evidence import (
    Prior,
    edge_spread,
    least_squares,
    log_marginal,
    regressors_of,
    residual_at,
)
from causalfocus.kernels.row_fit import GAP_HIGH, GAP_LOW, HIGH, LOW, fit_row, two_intervals
from causalfocus.kernels.subsets import as_nodes, count
from causalfocus.kernels.tableau import Row, workspace

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

W_EDGE, W_NOISE, W_SWAP = 0.87, 0.04, 0.06
"""The rest is for alarms, see `stopping.alarms`."""

SAFETY = 1e-4
"""Nats taken off every evidence: above the rounding of what is computed, see `row_evidence`."""

NO_DISTANCE = 1e-12
"""Intervals are not made narrower than this; where every value is rejected they are empty."""

FIT = 1e-9
"""Share by which the residual of an exact fit may be above the least one."""

Setting = tuple[float, float, float, float, float]
"""Lowest and highest noise variance of the class; standard deviations by which EDGE mixes the
coefficient in question and the others; and stiffness a0 of the noise around the alternative's."""


@kernel
def parents_of(weights: Floats, j: int) -> int:
    """The parents of a node as a set of nodes."""
    parents = 0
    for k in range(weights.shape[0]):
        if weights[j, k] != 0.0:
            parents |= 1 << k
    return parents


@kernel
def edge_count(weights: Floats) -> int:
    """The number of edges, at least one: what the weight of EDGE is shared by."""
    return max(int(np.count_nonzero(weights)), 1)


@kernel
def same_graph_evidence(
    moments: tuple[Floats, Floats, Floats],
    weights: Floats,
    epsilon: float,
    effects: tuple[float, float],
    prior: Prior,
    setting: Setting,
    enough: float,
) -> Floats:
    """Evidence that each edge's weight is within epsilon of its estimate: branch A, per edge.

    Returns (p, p): infinity where the estimate has no edge. The least entry is the branch's. With
    a finite `enough` it says only whether that is reached, and stops at the first edge below it,
    whose entry is then minus infinity.
    """
    grams, lows, counts = moments
    p, q = len(counts), grams.shape[1]
    result = np.full((p, p), math.inf)
    own_weight = math.log(W_EDGE / edge_count(weights))
    needed = enough + SAFETY - own_weight
    of_use = (needed, needed if enough > -math.inf else math.inf)
    for j in range(p):
        parents = parents_of(weights, j)
        if parents == 0:
            continue
        regressors = regressors_of(parents, p, q)
        row = (grams[j], lows[j], j)
        block, inverse, residual, b = least_squares(row, regressors, counts[j])
        log_m = log_marginal(row, regressors, counts[j], prior, p)
        noise = (log_m + math.log(W_NOISE / p) - own_weight, residual, counts[j])
        fit = (block, inverse, residual, counts[j])
        for i in range(len(regressors)):
            k = regressors[i]
            if k == p:
                continue
            evidence = -math.inf
            if residual > 0.0:
                d = _to_other_weights(b[i], weights[j, k], epsilon, effects)
                spread = edge_spread(regressors, i, p, setting[2], setting[3])
                limits = (setting[0], setting[1])
                evidence = edge_evidence(fit, spread, i, d, limits, setting[4], noise, of_use)
            result[j, k] = evidence + own_weight - SAFETY
            if result[j, k] < enough:
                result[j, k] = -math.inf
                return result
    return result


@kernel
def _to_other_weights(
    b: float, weight: float, epsilon: float, effects: tuple[float, float]
) -> float:
    """From a fitted coefficient to the nearest weight of the class that is epsilon or more away
    from the estimated one; negative if the coefficient is beyond it.
    """
    at, size = (b, weight) if weight > 0.0 else (-b, -weight)
    below = size - epsilon if size - epsilon >= effects[0] else -effects[0]
    found = at - below
    if size + epsilon <= effects[1]:
        found = min(found, size + epsilon - at)
    return found


@kernel
def _beyond(b: float, effects: tuple[float, float]) -> float:
    """Distance of a fitted coefficient from the weights of the class; negative if it is one."""
    return max(effects[0] - abs(b), abs(b) - effects[1])


@kernel
def out_of_class_evidence(
    moments: tuple[Floats, Floats, Floats],
    weights: Floats,
    effects: tuple[float, float],
    prior: Prior,
    setting: Setting,
) -> Floats:
    """Evidence that an edge has a weight outside the class, (effect, cause): it rejects every model
    of the class with this graph. Minus infinity where the fitted one is inside, or no edge is.
    """
    grams, lows, counts = moments
    p, q = len(counts), grams.shape[1]
    result = np.full((p, p), -math.inf)
    own_weight = math.log(W_EDGE / edge_count(weights))
    for j in range(p):
        parents = parents_of(weights, j)
        if parents == 0:
            continue
        regressors = regressors_of(parents, p, q)
        row = (grams[j], lows[j], j)
        block, inverse, residual, b = least_squares(row, regressors, counts[j])
        for i in range(len(regressors)):
            k = regressors[i]
            if k == p or not residual > 0.0:
                continue
            d = _beyond(b[i], effects)
            if d > 0.0:
                log_m = log_marginal(row, regressors, counts[j], prior, p)
                noise = (log_m + math.log(W_NOISE / p) - own_weight, residual, counts[j])
                spread = edge_spread(regressors, i, p, setting[2], setting[3])
                fit = (block, inverse, residual, counts[j])
                limits = (setting[0], setting[1])
                found = edge_evidence(
                    fit, spread, i, d, limits, setting[4], noise, (-math.inf, math.inf)
                )
                result[j, k] = found + own_weight - SAFETY
    return result


@kernel
def family_tables(
    moments: tuple[Floats, Floats, Floats],
    weights: Floats,
    effects: tuple[float, float],
    prior: Prior,
    setting: Setting,
    levels: tuple[float, float],
) -> tuple[Floats, Floats]:
    """Per node and set of candidates: the cost in SWAP of that family, and the evidence of EDGE.

    The cost is log m(pa) plus its share of log pi minus the best log-likelihood of the family in
    the class. EDGE rejects a family when the data put the coefficient of a parent further below
    min_effect, or above max_effect, than they can err. Its evidence is that against
    an alternative with as many edges as the estimate (or one); against one with r times as many it
    is smaller by at most log r.

    levels : the tables serve levels in this range. A family that is rejected at all of them,
    however many edges there are, is not looked at any further, and its cost is infinite; evidence
    below the lowest level counts as none.
    """
    grams, lows, counts = moments
    p, q = len(counts), grams.shape[1]
    costs = np.full((p, 1 << (p - 1)), math.inf)
    evidence = np.full((p, 1 << (p - 1)), -math.inf)
    work, best = workspace(q), np.empty(q)
    n_edges = edge_count(weights)
    own_weight = math.log(W_EDGE / n_edges)
    enough = levels[1] + max(math.log(0.5 * p * (p - 1) / n_edges), 0.0) + SAFETY
    of_use = (levels[0] - own_weight, enough + SAFETY - own_weight)
    limits = (setting[0], setting[1])
    for j in range(p):
        n, row = counts[j], (grams[j], lows[j], j)
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
            regressors = regressors_of(family, p, q)
            if family:
                block, inverse, residual, b = least_squares(row, regressors, n)
                if residual > 0.0:
                    log_m = log_marginal(row, regressors, n, prior, p)
                    noise = (log_m + math.log(W_NOISE / p) - own_weight, residual, n)
                    fit = (block, inverse, residual, n)
                    for m in range(len(regressors)):
                        k = regressors[m]
                        if k < p and _beyond(b[m], effects) > 0.0:
                            d = _beyond(b[m], effects)
                            spread = edge_spread(regressors, m, p, setting[2], setting[3])
                            found = edge_evidence(
                                fit, spread, m, d, limits, setting[4], noise, of_use
                            )
                            found += own_weight - SAFETY
                            evidence[j, mask] = max(evidence[j, mask], found)
                            if found >= enough:
                                break
            if evidence[j, mask] >= enough:
                continue
            allowed = _class_sets(regressors, p, effects)
            fit_row(row, regressors, allowed, math.inf, work, best)
            fitted = residual_at(row, regressors, best) * (1.0 - FIT)
            costs[j, mask] = swapped + _least_negative_likelihood(fitted, n, setting)
    return costs, evidence


@kernel
def class_row_cost(
    row: Row,
    regressors: Ints,
    n: float,
    p: int,
    effects: tuple[float, float],
    limits: tuple[float, float],
) -> float:
    """Minus the largest log-likelihood of a row in the class."""
    if n <= 0.0:
        return 0.0
    q = len(regressors) + 1
    work, best = workspace(q), np.empty(q)
    fit_row(row, regressors, _class_sets(regressors, p, effects), math.inf, work, best)
    fitted = residual_at(row, regressors, best) * (1.0 - FIT)
    return _least_negative_likelihood(fitted, n, (limits[0], limits[1], 0.0, 0.0, 0.0))


@kernel
def _class_sets(regressors: Ints, p: int, effects: tuple[float, float]) -> Floats:
    """Allowed coefficients of a row: the class's for parents, all for the constant."""
    allowed = two_intervals(len(regressors), effects[0], effects[1])
    if len(regressors) > 0 and regressors[-1] == p:
        allowed[LOW, -1], allowed[GAP_LOW, -1] = -math.inf, 0.0
        allowed[GAP_HIGH, -1], allowed[HIGH, -1] = 0.0, math.inf
    return allowed


@kernel
def choose(n: int, k: int) -> float:
    result = 1.0
    for i in range(k):
        result *= (n - i) / (i + 1)
    return result


@kernel
def _least_negative_likelihood(residual: float, n: float, setting: Setting) -> float:
    """Minus the largest log-likelihood of a row; minus infinity where it is not bounded."""
    if n <= 0.0:
        return 0.0
    if not residual > 0.0:
        residual = 0.0
    v = min(max(residual / n, setting[0]), setting[1])
    if v <= 0.0:
        return -math.inf
    return 0.5 * (n * math.log(2.0 * math.pi * v) + residual / v)


@kernel
def _least_by_subset(costs: Floats) -> Floats:
    """Per node and set of candidates the least cost of a family inside the set, for all nodes."""
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
    """The largest number of edges of an acyclic graph of open families and the reference's."""
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
    """Of all graphs but the estimate's that EDGE does not reject at level h, the one with the least
    evidence of SWAP: that evidence (infinity if there is none), and the parents of every node
    (the estimate's unless the evidence is finite).

    If that evidence is at least h, every other graph is rejected at level h.

    The weight of EDGE falls with the number of edges of the alternative. So families are closed
    with the weight for the largest number of edges that a graph of open families can have; graphs
    with more contain a family that was closed at its own weight. As families close, that number
    falls, until nothing changes.
    """
    p, size = costs.shape
    candidates, starts = all_others(p)
    masks = local_masks(p, candidates, starts)
    offsets = np.arange(p + 1) * size
    reference = np.zeros(p, dtype=np.int64)
    for j in range(p):
        reference[j] = parents_of(weights, j)
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
    table = _least_by_subset(open_costs)
    least, predecessors, keeps = best_other_order(p, table, offsets, masks, reference, np.zeros(p))
    parents = reference.copy()
    if math.isfinite(least):
        for j in range(p):
            if not keeps[j]:
                own = table[offsets[j] : offsets[j + 1]]
                within = local_mask(masks, j, predecessors[j])
                parents[j] = as_nodes(best_family(own, within, tolerance(own[within])), j)
    return least + math.log(W_SWAP) + p * math.log1p(-1.0 / p) - SAFETY, parents


@kernel
def different_graph_evidence(
    costs: Floats, evidence: Floats, weights: Floats, levels: tuple[float, float]
) -> float:
    """The highest level in a range at which every other graph is rejected, to 1e-3 from below;
    minus infinity if there is none.

    Rejection at a level implies rejection at all lower ones: fewer families are removed as the
    level rises, and the sum that the others must reach rises too.
    """
    low, high = levels
    if least_rejected_graph(costs, evidence, weights, high)[0] >= high:
        return high
    if not least_rejected_graph(costs, evidence, weights, low)[0] >= low:
        return -math.inf
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        if least_rejected_graph(costs, evidence, weights, middle)[0] >= middle:
            low = middle
        else:
            high = middle
    return low


@kernel
def interval_reach(
    moments: tuple[Floats, Floats, Floats],
    weights: Floats,
    edge: tuple[int, int],
    prior: Prior,
    setting: Setting,
    level: float,
) -> tuple[float, float]:
    """Centre and half-width of the weights of one edge that EDGE does not reject at a level.

    The evidence rises with the distance from the least-squares fit; bisection, rounded outwards.
    Infinite if no distance up to 1e6 is rejected.
    """
    grams, lows, counts = moments
    p, q = len(counts), grams.shape[1]
    j, k = edge
    row = (grams[j], lows[j], j)
    regressors = regressors_of(parents_of(weights, j), p, q)
    block, inverse, residual, b = least_squares(row, regressors, counts[j])
    if not residual > 0.0:
        return weights[j, k], math.inf
    own_weight = math.log(W_EDGE / edge_count(weights))
    log_m = log_marginal(row, regressors, counts[j], prior, p)
    noise = (log_m + math.log(W_NOISE / p) - own_weight, residual, counts[j])
    limits = (setting[0], setting[1])
    i = 0
    while regressors[i] != k:
        i += 1
    spread = edge_spread(regressors, i, p, setting[2], setting[3])
    fit = (block, inverse, residual, counts[j])
    needed = level + SAFETY - own_weight
    near, far = 0.0, 1e6
    of_use = (needed, needed)
    if edge_evidence(fit, spread, i, far, limits, setting[4], noise, of_use) < needed:
        return b[i], math.inf
    while far - near > 1e-6 * far and far > NO_DISTANCE:
        middle = 0.5 * (near + far)
        if edge_evidence(fit, spread, i, middle, limits, setting[4], noise, of_use) < needed:
            near = middle
        else:
            far = middle
    return b[i], far
