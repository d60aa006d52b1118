"""The two exact oracles on row moments: the joint MLE and the closest alternative.

Memory: the table of residuals, p 2^(p-1) doubles when every node may be a parent of every other, is
the largest object; scores overwrite residuals in place, and what was chosen is recovered by walking
back through the values.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic.sets import families_of
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.exact.marginals import family_costs
from causalfocus.kernels.exact.scores import noise_variance, row_divergence, row_score
from causalfocus.kernels.records import (
    Bounds,
    Limits,
    Parents,
    PlainParents,
    PlainRows,
    Row,
    Rows,
    as_parents,
    as_rows,
    bounds_at,
    row_of,
)
from causalfocus.kernels.search.families import best_family, priced_fit, residual_table
from causalfocus.kernels.search.orders import (
    best_order,
    best_other_order,
    local_mask,
    local_masks,
    tolerance,
)
from causalfocus.kernels.search.row_fit import GAP_HIGH, GAP_LOW, HIGH, LOW, fit_row, two_intervals
from causalfocus.kernels.search.tableau import workspace

SIDE_TIE = 1e-12
"""Alternatives whose values differ by this share of weight and value, the rounding, are tied."""


class JointEstimate(NamedTuple):
    """The most likely model: score, weights, variances, and the number of searches it took."""

    score: float
    weights: Floats
    variances: Floats
    searches: int


class Alternative(NamedTuple):
    """The closest model of one kind: divergence (infinity if there is none), weights, variances."""

    divergence: float
    weights: Floats
    variances: Floats


@kernel
def all_others(p: int) -> tuple[Ints, Ints]:
    """Return the candidate parents of every node, all others in order, as one list with its start
    indices.
    """
    candidates = np.empty(p * (p - 1), dtype=np.int64)
    starts = np.arange(p + 1) * (p - 1)
    for j in range(p):
        for i in range(p - 1):
            candidates[starts[j] + i] = i if i < j else i + 1
    return candidates, starts


@kernel
def table_offsets(starts: Ints) -> Ints:
    """Return where the table of each node begins in that of all."""
    offsets = np.zeros(len(starts), dtype=np.int64)
    for j in range(len(starts) - 1):
        offsets[j + 1] = offsets[j] + (1 << (starts[j + 1] - starts[j]))
    return offsets


@kernel
def _fill_row(
    row: Row, candidates: Ints, family: int, bounds: Bounds, price: float, weights: Floats
) -> float:
    """Write the best coefficients of a family into its row of the weights; return the residual.

    family : mask over the candidates
    price : see `residual_table`
    """
    gram, target = row.high, row.target
    members = np.array([i for i in range(len(candidates)) if (family >> i) & 1], dtype=np.int64)
    s = len(members)
    if s == 0:
        return gram[target, target]
    best, work = np.empty(s), workspace(s)
    allowed = two_intervals(s, bounds.smallest, bounds.largest)
    residual = fit_row(row, candidates[members], allowed, math.inf, work, best)
    if price < math.inf:
        free = np.empty(s)
        if priced_fit(row, candidates[members], bounds, price, work, free) < residual:
            best = free
            residual = priced_fit(row, candidates[members], bounds, 1.0, work, free)
    for i in range(s):
        weights[target, candidates[members[i]]] = best[i]
    return residual


@kernel
def price_of(slight: float, n: float, p: int) -> float:
    """Return the factor on a residual that costs a row of n samples so many nats; infinity while
    samples are too few for such a gain to mean anything.
    """
    return math.exp(2.0 * slight / n) if n > 4.0 * p else math.inf


@kernel
def joint_mle(rows: Rows, limits: Limits, parents: Parents) -> JointEstimate:
    """Return the most likely model, by subsets (Algorithm finite_joint_mle).

    Parameters
    ----------
    rows : moments of all nodes
    limits : the class
    parents : what is known of the graph
    """
    grams, counts = rows.grams, rows.counts
    p = len(counts)
    candidates, starts = all_others(p)
    offsets = table_offsets(starts)
    table = np.empty(offsets[p])
    searches = 0
    for j in range(p):
        own = table[offsets[j] : offsets[j + 1]]
        mine, bounds = candidates[starts[j] : starts[j + 1]], bounds_at(limits, j)
        families = families_of(j, parents, -1, p)
        searches += residual_table(row_of(rows, j), mine, bounds, families, math.inf, own)
        for mask in range(len(own)):
            if own[mask] < math.inf:
                own[mask] = row_score(own[mask], counts[j], grams[j, j, j], bounds)
    return best_model(rows, candidates, starts, table, limits, math.inf, searches)


@kernel
def best_model(
    rows: Rows,
    candidates: Ints,
    starts: Ints,
    table: Floats,
    limits: Limits,
    slight: float,
    searches: int,
) -> JointEstimate:
    """Return the model with the best graph by a table of scores, fitted row by row.

    table : for all nodes, the least score of any family within each set of candidates
    slight : see `price_of`
    """
    counts = rows.counts
    p = len(counts)
    offsets = table_offsets(starts)
    masks = local_masks(p, candidates, starts)
    score, predecessors = best_order(p, table, offsets, masks)
    weights, variances = np.zeros((p, p)), np.empty(p)
    for j in range(p):
        own = table[offsets[j] : offsets[j + 1]]
        mine, bounds = candidates[starts[j] : starts[j + 1]], bounds_at(limits, j)
        within = local_mask(masks, j, predecessors[j])
        family = best_family(own, within, tolerance(own[within]))
        price = price_of(slight, counts[j], p)
        residual = _fill_row(row_of(rows, j), mine, family, bounds, price, weights)
        variances[j] = noise_variance(residual, counts[j], rows.grams[j, j, j], bounds)
    return JointEstimate(score, weights, variances, searches)


@kernel
def spread_to_supersets(own: Floats) -> None:
    """Replace the score of every family by the least of the families within it."""
    for mask in range(len(own)):
        rest = mask
        while rest:
            own[mask] = min(own[mask], own[mask ^ (rest & -rest)])
            rest &= rest - 1


@kernel
def class_mle(plain: PlainRows, limits: Limits, known: PlainParents) -> tuple[Floats, Floats]:
    """Return weights and noise variances of the most likely model of the class."""
    found = joint_mle(as_rows(plain), limits, as_parents(known))
    return found.weights, found.variances


@kernel
def probable_model(plain: PlainRows, limits: Limits, known: PlainParents) -> tuple[Floats, Floats]:
    """Return weights and noise variances of the most likely model of the class with the most
    probable graph, see `marginals`.
    """
    rows, parents = as_rows(plain), as_parents(known)
    p = len(rows.counts)
    candidates, starts = all_others(p)
    offsets = table_offsets(starts)
    table = np.empty(offsets[p])
    for j in range(p):
        own = table[offsets[j] : offsets[j + 1]]
        mine = candidates[starts[j] : starts[j + 1]]
        bounds, families = bounds_at(limits, j), families_of(j, parents, -1, p)
        family_costs(row_of(rows, j), mine, rows.counts[j], bounds, families, own)
        spread_to_supersets(own)
    found = best_model(rows, candidates, starts, table, limits, math.inf, 0)
    return found.weights, found.variances


@kernel
def graph_mle(rows: Rows, parents: Ints, limits: Limits) -> tuple[Floats, Floats]:
    """Return weights and variances of the most likely model with a given graph.

    parents : per node the set of its parents, bit k for node k.
    """
    grams, counts = rows.grams, rows.counts
    p = len(counts)
    weights, variances = np.zeros((p, p)), np.empty(p)
    for j in range(p):
        row, bounds = row_of(rows, j), bounds_at(limits, j)
        residual = _fill_row(row, np.arange(p), parents[j], bounds, math.inf, weights)
        variances[j] = noise_variance(residual, counts[j], grams[j, j, j], bounds)
    return weights, variances


@kernel
def _cut_side(allowed: Floats, i: int, bound: float, upper: bool) -> bool:
    """Cut the allowed set of coefficient i to b >= bound (upper) or b <= bound; return False if
    nothing is left.
    """
    if upper:
        keeps_low = bound <= allowed[GAP_LOW, i]
        allowed[LOW, i] = max(allowed[LOW, i], bound)
        if not keeps_low:
            allowed[LOW, i] = max(allowed[GAP_HIGH, i], bound)
            allowed[GAP_LOW, i] = allowed[GAP_HIGH, i] = allowed[LOW, i]
    else:
        keeps_high = bound >= allowed[GAP_HIGH, i]
        allowed[HIGH, i] = min(allowed[HIGH, i], bound)
        if not keeps_high:
            allowed[HIGH, i] = min(allowed[GAP_LOW, i], bound)
            allowed[GAP_LOW, i] = allowed[GAP_HIGH, i] = allowed[HIGH, i]
    return allowed[LOW, i] <= allowed[HIGH, i]


@kernel
def same_graph_alternative(
    rows: Rows, weights: Floats, variances: Floats, limits: Limits, radius: float
) -> Alternative:
    """Return the closest model in which one coefficient of one row moves by the radius or more
    (Algorithm same_graph_alternative).

    weights, variances : of the reference model. Of tied alternatives the first by node, parent and
    side (downwards first) wins; both sides of a coefficient tie unless the class cuts one of them.
    """
    grams, counts = rows.grams, rows.counts
    p = len(counts)
    found = math.inf
    best_weights, best_variances = weights.copy(), variances.copy()
    for j in range(p):
        parents = np.array([k for k in range(p) if weights[j, k] != 0.0], dtype=np.int64)
        s = len(parents)
        row, bounds = np.empty(s), bounds_at(limits, j)
        work = workspace(s)
        for i in range(s):
            centre = weights[j, parents[i]]
            for upper in (False, True):
                allowed = two_intervals(s, bounds.smallest, bounds.largest)
                if not _cut_side(allowed, i, centre + radius if upper else centre - radius, upper):
                    continue
                residual = fit_row(row_of(rows, j), parents, allowed, math.inf, work, row)
                total = grams[j, j, j]
                value = row_divergence(residual, counts[j], total, bounds, variances[j])
                is_first = found == math.inf and value < math.inf
                if is_first or value < found - SIDE_TIE * (counts[j] + found):
                    found = value
                    best_weights[:] = weights
                    best_variances[:] = variances
                    for k in range(s):
                        best_weights[j, parents[k]] = row[k]
                    best_variances[j] = noise_variance(residual, counts[j], total, bounds)
    return Alternative(found, best_weights, best_variances)


@kernel
def different_graph_alternative(
    rows: Rows,
    weights: Floats,
    variances: Floats,
    limits: Limits,
    parents: Parents,
) -> Alternative:
    """Return the closest model with another graph, by subsets (Algorithm
    different_graph_alternative).

    parents : what is known of the graph; graphs that it excludes are no alternatives
    weights, variances : of the reference model. A row that keeps its reference family keeps its
    reference parameters: on moments that the reference itself predicts they cost nothing, and
    nothing costs less.
    """
    grams, counts = rows.grams, rows.counts
    p = len(counts)
    candidates, starts = all_others(p)
    offsets = table_offsets(starts)
    table = np.empty(offsets[p])
    reference_sets = np.zeros(p, dtype=np.int64)
    for j in range(p):
        own = table[offsets[j] : offsets[j + 1]]
        mine, bounds = candidates[starts[j] : starts[j + 1]], bounds_at(limits, j)
        excluded = 0
        for i in range(len(mine)):
            if weights[j, mine[i]] != 0.0:
                excluded |= 1 << i
                reference_sets[j] |= 1 << mine[i]
        families = families_of(j, parents, excluded, p)
        residual_table(row_of(rows, j), mine, bounds, families, math.inf, own)
        for mask in range(len(own)):
            if own[mask] < math.inf:
                own[mask] = row_divergence(
                    own[mask], counts[j], grams[j, j, j], bounds, variances[j]
                )
    masks = local_masks(p, candidates, starts)
    best = best_other_order(p, table, offsets, masks, reference_sets, np.zeros(p))
    best_weights, best_variances = weights.copy(), variances.copy()
    if best.cost == math.inf:
        return Alternative(best.cost, best_weights, best_variances)
    for j in range(p):
        if best.keeps[j]:
            continue
        own = table[offsets[j] : offsets[j + 1]]
        mine, bounds = candidates[starts[j] : starts[j + 1]], bounds_at(limits, j)
        within = local_mask(masks, j, best.predecessors[j])
        family = best_family(own, within, tolerance(own[within]))
        best_weights[j] = 0.0
        residual = _fill_row(row_of(rows, j), mine, family, bounds, math.inf, best_weights)
        best_variances[j] = noise_variance(residual, counts[j], grams[j, j, j], bounds)
    return Alternative(best.cost, best_weights, best_variances)
