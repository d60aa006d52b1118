"""Exact moments and divergences of a linear-Gaussian system under every action.

Implements Eq. interventional_distribution with intercepts. Actions come as parallel arrays, one
row each: which nodes are set, the mean of the values that they are set to, and the variance of
these, zero where the value is fixed.
"""

import math

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.records import Model, Parameters


@kernel
def causal_order(weights: Floats) -> Ints:
    """Return an order with causes before effects, the earliest possible node first. Nodes on a
    loop, or behind one, have no place: -1 stands in their places, the last ones.
    """
    p = weights.shape[0]
    order = np.full(p, -1, dtype=np.int64)
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
def total_effects(weights: Floats, order: Ints, is_set: Bools) -> Floats:
    """Return T = (I - A')^-1 where A' is A with the rows of the nodes that are set removed.

    T[k, j] is the total effect of a unit of noise in j on k. Substitution along the topological
    order: no pivots, and structural zeros stay exactly zero.
    """
    p = weights.shape[0]
    effects = np.zeros((p, p))
    for j in order:
        effects[j, j] = 1.0
        if is_set[j]:
            continue
        for k in range(p):
            weight = weights[j, k]
            if weight != 0.0:
                for i in range(p):
                    effects[j, i] += weight * effects[k, i]
    return effects


@kernel
def action_mean(effects: Floats, intercepts: Floats, is_set: Bools, values: Floats) -> Floats:
    """Return the mean of all nodes; the constant of a node that is set is its assigned value."""
    p = effects.shape[0]
    mean = np.empty(p)
    for j in range(p):
        if is_set[j]:
            mean[j] = values[j]
            continue
        total = 0.0
        for i in range(p):
            constant = values[i] if is_set[i] else intercepts[i]
            total += effects[j, i] * constant
        mean[j] = total
    return mean


@kernel
def action_covariance(effects: Floats, variances: Floats, is_set: Bools, spreads: Floats) -> Floats:
    """Return the covariance of all nodes; a node that is set has that of its assigned value."""
    p = effects.shape[0]
    covariance = np.zeros((p, p))
    for j in range(p):
        for k in range(j + 1):
            total = 0.0
            for i in range(p):
                own = spreads[i] if is_set[i] else variances[i]
                if own != 0.0:
                    total += effects[j, i] * effects[k, i] * own
            covariance[j, k] = total
            covariance[k, j] = total
    return covariance


@kernel
def divergences(
    reference: Model, other: Parameters, is_set: Bools, values: Floats, spreads: Floats
) -> Floats:
    """Return KL(P_a^reference || P_a^other) for every action, in nats (Eq. intervention_gain);
    where an assigned value has a variance, the mean over these values.

    Row by row: with d = b - b' and c - c' the differences in coefficients and constants,
    E(residual^2) = v + 2 d.Cov(x, noise_j) + d'Vd + (d.mean + c - c')^2. Every term vanishes where
    the models agree, so the divergence of nearly equal models keeps its digits.
    """
    result = np.zeros(len(is_set))
    for a in range(len(is_set)):
        effects = total_effects(reference.weights, reference.order, is_set[a])
        mean = action_mean(effects, reference.intercepts, is_set[a], values[a])
        covariance = action_covariance(effects, reference.variances, is_set[a], spreads[a])
        result[a] = _divergence(reference, other, is_set[a], effects, mean, covariance)
    return result


@kernel
def mixed_divergences(
    reference: Model,
    others: Parameters,
    shares: Floats,
    is_set: Bools,
    values: Floats,
    spreads: Floats,
) -> Floats:
    """Return the mean of the same over a mixture of models, for every action. What does not depend
    on the model is computed once.

    others : as one model has them, with the m models first: weights (m, p, p), and so on
    shares : (m,), of the mixture
    """
    result = np.zeros(len(is_set))
    for a in range(len(is_set)):
        effects = total_effects(reference.weights, reference.order, is_set[a])
        mean = action_mean(effects, reference.intercepts, is_set[a], values[a])
        covariance = action_covariance(effects, reference.variances, is_set[a], spreads[a])
        for m in range(len(shares)):
            other = Parameters(others.weights[m], others.variances[m], others.intercepts[m])
            told = _divergence(reference, other, is_set[a], effects, mean, covariance)
            result[a] += shares[m] * told
    return result


@kernel
def _divergence(
    reference: Model,
    other: Parameters,
    is_set: Bools,
    effects: Floats,
    mean: Floats,
    covariance: Floats,
) -> float:
    """Return the divergence under one action, of which effects, mean and covariance are given."""
    weights, variances, intercepts = reference.weights, reference.variances, reference.intercepts
    weights_other, variances_other = other.weights, other.variances
    intercepts_other = other.intercepts
    p, total = len(variances), 0.0
    for j in range(p):
        if is_set[j]:
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
    return total
