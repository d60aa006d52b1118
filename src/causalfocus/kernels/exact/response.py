"""One round's best response: the closest alternative and what each action would tell of it."""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.exact.oracles import (
    different_graph_alternative,
    same_graph_alternative,
)
from causalfocus.kernels.records import (
    Limits,
    Parameters,
    PlainActions,
    PlainModel,
    PlainParents,
    PlainUnits,
    Rows,
    as_actions,
    as_model,
    as_parents,
    as_units,
)
from causalfocus.kernels.sums.moment_sums import expected_sums, row_moments
from causalfocus.kernels.sums.population import divergences
from causalfocus.kernels.sums.row_scales import in_units, out_of_units, parameters_in_units


class ClassRival(NamedTuple):
    """The closest alternative: its gains (Eq. intervention_gain), whether the graph is the same,
    and its parameters.
    """

    gains: Floats
    is_same: bool
    weights: Floats
    variances: Floats
    intercepts: Floats


@kernel
def closest_rival(
    model: PlainModel,
    weighted: PlainActions,
    limits: Limits,
    epsilon: float,
    intercept: bool,
    units: PlainUnits,
    known: PlainParents,
) -> ClassRival:
    """Return the closest alternative.

    model, weighted : the reference and the actions, see `records`
    limits, epsilon : the class and the accuracy, zero for the graph alone, in the units of the rows
    units : of the rows
    known : of the graph. The gains are the divergences of the model found under every action,
        evaluated afresh; infinity if there is no alternative: for a single node, or because
        everything is known.
    """
    reference, actions, scales = as_model(model), as_actions(weighted), as_units(units)
    moments = row_moments(expected_sums(reference, actions), intercept)
    if not np.all(np.isfinite(moments.grams)):
        raise ArithmeticError("the expected moments overflow")
    counts, means = moments.counts, moments.means
    rows = in_units(Rows(moments.grams, moments.lows, counts), scales)
    p = len(counts)
    own_weights, own_variances = parameters_in_units(reference.weights, reference.variances, scales)
    value, weights, variances = math.inf, own_weights, own_variances
    if epsilon > 0.0:
        same = same_graph_alternative(rows, own_weights, own_variances, limits, epsilon)
        value, weights, variances = same.divergence, same.weights, same.variances
    parents = as_parents(known)
    other = different_graph_alternative(rows, own_weights, own_variances, limits, parents)
    is_same = value <= other.divergence
    if not is_same:
        value, weights, variances = other.divergence, other.weights, other.variances
    has_moved = np.zeros(p, dtype=np.bool_)
    for j in range(p):
        has_moved[j] = variances[j] != own_variances[j]
        for k in range(p):
            has_moved[j] = has_moved[j] or weights[j, k] != own_weights[j, k]
    weights, variances = out_of_units(weights, variances, scales)
    intercepts = reference.intercepts.copy()
    for j in range(p):
        if not has_moved[j]:
            weights[j], variances[j] = reference.weights[j], reference.variances[j]
        elif intercept and counts[j] > 0.0:
            intercepts[j] = means[j, j]
            for k in range(p):
                intercepts[j] -= weights[j, k] * means[j, k]
    if value == math.inf:
        is_anything_known = False
        for j in range(p):
            others = ((1 << p) - 1) ^ (1 << j)
            if parents.needed[j] or others & ~parents.possible[j]:
                is_anything_known = True
        if p > 1 and not is_anything_known:
            raise ArithmeticError("no alternative has a finite divergence")
        gains = np.full(len(actions.weights), math.inf)
        return ClassRival(gains, is_same, weights, variances, intercepts)
    rival = Parameters(weights, variances, intercepts)
    gains = divergences(reference, rival, actions.is_set, actions.values, actions.spreads)
    return ClassRival(gains, is_same, weights, variances, intercepts)
