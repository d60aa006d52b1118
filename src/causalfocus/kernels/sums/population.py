"""Exact moments and divergences of a linear-Gaussian system under every action.

Implements Eq. interventional_distribution with intercepts. Actions come as parallel arrays of
targets (-1 for passive observation) and values.
"""

import math

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.records import Model, Parameters


@kernel
def causal_order(weights: Floats) -> Ints:
    """Return an order with causes before effects, the earliest possible node first;
    the weights must be acyclic.
    """
    p = weights.shape[0]
    order = np.empty(p, dtype=np.int64)
    is_placed = np.zeros(p, dtype=np.bool_)
    for n in range(p):
        for j in range(p):
            is_next = not is_placed[j]
            for k in range(p):
                if weights[j, k] != 0.0 and not is_placed[k]:
                    is_next = False
            if is_next:
                order[n] = j
                is_placed[j] = True
                break
    return order


@kernel
def total_effects(weights: Floats, order: Ints, target: int) -> Floats:
    """Return T = (I - A')^-1 where A' is A with the row of the target removed.

    T[k, j] is the total effect of a unit of noise in j on k. Substitution along the topological
    order: no pivots, and structural zeros stay exactly zero.
    """
    p = weights.shape[0]
    effects = np.zeros((p, p))
    for j in order:
        effects[j, j] = 1.0
        if j == target:
            continue
        for k in range(p):
            weight = weights[j, k]
            if weight != 0.0:
                for i in range(p):
                    effects[j, i] += weight * effects[k, i]
    return effects


@kernel
def action_mean(effects: Floats, intercepts: Floats, target: int, value: float) -> Floats:
    """Return the mean of all nodes; the constant of the target is its assigned value."""
    p = effects.shape[0]
    mean = np.empty(p)
    for j in range(p):
        if j == target:
            mean[j] = value
            continue
        total = 0.0
        for i in range(p):
            constant = value if i == target else intercepts[i]
            total += effects[j, i] * constant
        mean[j] = total
    return mean


@kernel
def action_covariance(effects: Floats, variances: Floats, target: int) -> Floats:
    """Return the covariance of all nodes; the target has none."""
    p = effects.shape[0]
    covariance = np.zeros((p, p))
    for j in range(p):
        for k in range(j + 1):
            total = 0.0
            for i in range(p):
                if i != target:
                    total += effects[j, i] * effects[k, i] * variances[i]
            covariance[j, k] = total
            covariance[k, j] = total
    return covariance


@kernel
def divergences(reference: Model, other: Parameters, targets: Ints, values: Floats) -> Floats:
    """Return KL(P_a^reference || P_a^other) for every action, in nats (Eq. intervention_gain).

    Row by row: with d = b - b' and c - c' the differences in coefficients and constants,
    E(residual^2) = v + 2 d.Cov(x, noise_j) + d'Vd + (d.mean + c - c')^2. Every term vanishes where
    the models agree, so the divergence of nearly equal models keeps its digits.
    """
    weights, variances, intercepts = reference.weights, reference.variances, reference.intercepts
    weights_other, variances_other = other.weights, other.variances
    intercepts_other = other.intercepts
    p = weights.shape[0]
    result = np.zeros(len(targets))
    for a in range(len(targets)):
        target = targets[a]
        effects = total_effects(weights, reference.order, target)
        mean = action_mean(effects, intercepts, target, values[a])
        covariance = action_covariance(effects, variances, target)
        total = 0.0
        for j in range(p):
            if j == target:
                continue
            shift = intercepts[j] - intercepts_other[j]
            spread = 0.0
            for k in range(p):
                d_k = weights[j, k] - weights_other[j, k]
                if d_k == 0.0:
                    continue
                shift += d_k * mean[k]
                spread += 2.0 * d_k * effects[k, j] * variances[j]
                for i in range(p):
                    spread += d_k * (weights[j, i] - weights_other[j, i]) * covariance[k, i]
            ratio = variances[j] / variances_other[j] - 1.0
            excess = (spread + shift * shift) / variances_other[j]
            total += 0.5 * (ratio - math.log1p(ratio) + excess)
        result[a] = total
    return result
