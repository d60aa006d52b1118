"""The most probable graph but one, and what every action would tell against it."""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic.sets import as_mask, as_nodes, families_of, parents_of
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.exact.marginals import family_costs
from causalfocus.kernels.exact.oracles import all_others, graph_mle, spread_to_supersets
from causalfocus.kernels.records import (
    Limits,
    Parameters,
    PlainModel,
    PlainParents,
    PlainRows,
    PlainSettings,
    PlainUnits,
    as_model,
    as_parents,
    as_rows,
    as_units,
    bounds_at,
    row_of,
)
from causalfocus.kernels.search.families import best_family
from causalfocus.kernels.search.orders import (
    best_other_order,
    local_mask,
    local_masks,
    tolerance,
)
from causalfocus.kernels.sums.population import divergences
from causalfocus.kernels.sums.row_scales import out_of_units


class RunnerUp(NamedTuple):
    """Another graph than the estimate's.

    Attributes
    ----------
    log_odds : of the estimate's graph against it; infinity if there is no other
    parents : (p,), of every node, as sets
    gains : (k,), the divergence of its most likely model from the estimate under every action
    """

    log_odds: float
    parents: Ints
    gains: Floats


@kernel
def runner_up(
    plain: PlainRows,
    means: Floats,
    limits: Limits,
    estimate: PlainModel,
    actions: PlainSettings,
    intercept: bool,
    units: PlainUnits,
    known: PlainParents,
) -> RunnerUp:
    """Return the most probable graph but the estimate's, by the beliefs of `marginals`.

    Parameters
    ----------
    plain : of the data, in the units of the rows
    means : of the data
    limits : the class, in the units of the rows
    estimate : the model whose graph stands against all others
    actions : which nodes are set, mean and variance of the values
    intercept : whether equations have constants
    units : of the rows
    known : of the graph; those that it excludes do not count
    """
    rows, model = as_rows(plain), as_model(estimate)
    is_set, values, spreads = actions
    p = len(rows.counts)
    size = 1 << (p - 1)
    candidates, starts = all_others(p)
    masks, offsets = local_masks(p, candidates, starts), np.arange(p + 1) * size
    table = np.empty(p * size)
    own_parents, own_costs = np.zeros(p, dtype=np.int64), np.empty(p)
    for j in range(p):
        own = table[offsets[j] : offsets[j + 1]]
        mine, bounds = candidates[starts[j] : starts[j + 1]], bounds_at(limits, j)
        families = families_of(j, as_parents(known), -1, p)
        family_costs(row_of(rows, j), mine, rows.counts[j], bounds, families, own)
        own_parents[j] = parents_of(model.weights, j)
        at = as_mask(own_parents[j], j)
        own_costs[j], own[at] = own[at], math.inf
        spread_to_supersets(own)
    best = best_other_order(p, table, offsets, masks, own_parents, own_costs)
    parents = own_parents.copy()
    if not (math.isfinite(best.cost) and math.isfinite(own_costs.sum())):
        return RunnerUp(math.inf, parents, np.zeros(len(is_set)))
    for j in range(p):
        if not best.keeps[j]:
            own = table[offsets[j] : offsets[j + 1]]
            within = local_mask(masks, j, best.predecessors[j])
            parents[j] = as_nodes(best_family(own, within, tolerance(own[within])), j)
    weights, variances = graph_mle(rows, parents, limits)
    weights, variances = out_of_units(weights, variances, as_units(units))
    intercepts = np.zeros(p)
    if intercept:
        for j in range(p):
            intercepts[j] = means[j, j]
            for k in range(p):
                intercepts[j] -= weights[j, k] * means[j, k]
    rival = Parameters(weights, variances, intercepts)
    gains = divergences(model, rival, is_set, values, spreads)
    return RunnerUp(best.cost - own_costs.sum(), parents, gains)
