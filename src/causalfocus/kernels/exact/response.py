"""One round's best response: the closest alternative and what each action would tell of it."""

import math

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.exact.oracles import (
    all_others,
    different_graph_alternative,
    same_graph_alternative,
)
from causalfocus.kernels.sums.moment_sums import expected_sums, row_moments
from causalfocus.kernels.sums.population import divergences

Model = tuple[Floats, Floats, Floats, Ints]
"""Weights, noise variances, intercepts, topological order."""


@kernel
def alternative(
    reference: Model,
    actions: tuple[Ints, Floats, Floats],
    effects: tuple[float, float],
    limits: tuple[float, float],
    epsilon: float,
    intercept: bool,
) -> tuple[Floats, bool, Floats, Floats, Floats]:
    """The closest alternative: its gains (Eq. intervention_gain), whether the graph is the same,
    weights, variances and intercepts.

    actions : targets, values and weights. epsilon : zero for the graph alone. The gains are the
    divergences of the model found under every action, evaluated afresh; infinity if there is no
    alternative, for a single node.
    """
    targets, values, amounts = actions
    sums = expected_sums(reference, targets, values, amounts)
    grams, lows, counts, means = row_moments(sums, intercept)
    if not np.all(np.isfinite(grams)):
        raise ArithmeticError("the expected moments overflow")
    moments = (grams, lows, counts)
    p = len(counts)
    own = (reference[0], reference[1])
    same_value, weights, variances = math.inf, reference[0], reference[1]
    if epsilon > 0.0:
        same_value, weights, variances = same_graph_alternative(
            moments, own, effects, limits, epsilon
        )
    candidates, starts = all_others(p)
    value, other_weights, other_variances, _ = different_graph_alternative(
        moments, own, candidates, starts, effects, limits
    )
    is_same = same_value <= value
    if is_same:
        value = same_value
    else:
        weights, variances = other_weights, other_variances
    intercepts = reference[2].copy()
    if intercept:
        for j in range(p):
            moved = variances[j] != reference[1][j]
            for k in range(p):
                moved = moved or weights[j, k] != reference[0][j, k]
            if moved and counts[j] > 0.0:
                intercepts[j] = means[j, j]
                for k in range(p):
                    intercepts[j] -= weights[j, k] * means[j, k]
    if value == math.inf:
        if p > 1:
            raise ArithmeticError("no alternative has a finite divergence")
        return np.full(len(targets), math.inf), is_same, weights, variances, intercepts
    gains = divergences(reference, (weights, variances, intercepts), targets, values)
    return gains, is_same, weights, variances, intercepts
