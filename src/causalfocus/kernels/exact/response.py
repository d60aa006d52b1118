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
    Parameters,
    PlainActions,
    PlainBounds,
    PlainModel,
    PlainParents,
    Rows,
    as_actions,
    as_bounds,
    as_model,
    as_parents,
)
from causalfocus.kernels.sums.moment_sums import expected_sums, row_moments
from causalfocus.kernels.sums.population import divergences


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
    limits: PlainBounds,
    epsilon: float,
    intercept: bool,
    known: PlainParents,
) -> ClassRival:
    """Return the closest alternative.

    model, weighted, limits, known : the reference, the actions, the class and what is known of the
    graph, see `records`; epsilon : zero for the graph alone. The gains are the divergences of the
    model found under every action, evaluated afresh; infinity if there is no alternative: for a
    single node, or because everything is known.
    """
    reference, actions, bounds = as_model(model), as_actions(weighted), as_bounds(limits)
    moments = row_moments(expected_sums(reference, actions), intercept)
    if not np.all(np.isfinite(moments.grams)):
        raise ArithmeticError("the expected moments overflow")
    counts, means = moments.counts, moments.means
    rows = Rows(moments.grams, moments.lows, counts)
    p = len(counts)
    value, weights, variances = math.inf, reference.weights, reference.variances
    if epsilon > 0.0:
        same = same_graph_alternative(rows, reference.weights, reference.variances, bounds, epsilon)
        value, weights, variances = same.divergence, same.weights, same.variances
    parents = as_parents(known)
    other = different_graph_alternative(
        rows, reference.weights, reference.variances, bounds, parents
    )
    is_same = value <= other.divergence
    if not is_same:
        value, weights, variances = other.divergence, other.weights, other.variances
    intercepts = reference.intercepts.copy()
    if intercept:
        for j in range(p):
            has_moved = variances[j] != reference.variances[j]
            for k in range(p):
                has_moved = has_moved or weights[j, k] != reference.weights[j, k]
            if has_moved and counts[j] > 0.0:
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
