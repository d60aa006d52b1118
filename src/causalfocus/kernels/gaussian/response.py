"""One round's best response under the resolution claim: which system that breaks it is closest.

Within the report's order the closest one differs in one row: on all nodes that j has no reported
path to, coefficient k is moved by d, the others follow along G^-1 e_k, and the noise grows. Its
divergence is W/2 log(1 + d^2 / (R (G^-1)_kk)), with W, G and R the weight, Gram matrix and residual
of the row. Against the order it is the least-squares model of the cheapest contrary one.
"""

import math

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.edge_evidence import invert
from causalfocus.kernels.evidence.row_evidence import least_squares, regressors_of
from causalfocus.kernels.exact.response import Model
from causalfocus.kernels.gaussian.resolution import Rows, nondescendants
from causalfocus.kernels.gaussian.swaps import contrary_order
from causalfocus.kernels.search.subsets import residuals_on_subsets
from causalfocus.kernels.sums.moment_sums import expected_sums, row_moments
from causalfocus.kernels.sums.population import divergences

RIDGE = 1e-12
"""Relative: what no action moves has an enormous variance instead of none."""

NO_MOVE = 1e-9
"""Coefficients below this share of the move are rounding."""


@kernel
def refitted(rows: Rows, weights: Floats) -> Floats:
    """The weights of a graph, each row fitted on all nodes that it has no path to; rows whose
    samples do not determine that fit stay as they are.
    """
    grams, lows, counts = rows
    p = len(counts)
    nd = nondescendants(weights)
    found = weights.copy()
    for j in range(p):
        if not weights[j].any():
            continue
        members = regressors_of(nd[j], p, p)
        _, _, residual, b = least_squares((grams[j], lows[j], j), members, counts[j])
        if residual > 0.0:
            for i in range(len(members)):
                k = members[i]
                if weights[j, k] != 0.0 and b[i] != 0.0:
                    found[j, k] = b[i]
    return found


@kernel
def _regression(gram: Floats, j: int, members: Ints) -> tuple[Floats, Floats, float]:
    """G^-1, coefficients and residual of a row, with a ridge for what does not vary."""
    s = len(members)
    block, inverse, b = np.empty((s, s)), np.zeros((s, s)), np.zeros(s)
    for i in range(s):
        for k in range(s):
            block[i, k] = gram[members[i], members[k]]
        block[i, i] += RIDGE * (block[i, i] if block[i, i] > 0.0 else 1.0)
    if math.isnan(invert(block, inverse, np.empty((s, s)))):
        for i in range(s):
            inverse[i, :] = 0.0
            inverse[i, i] = 1.0 / (RIDGE * block[i, i])
        return inverse, b, gram[j, j]
    residual = gram[j, j]
    for i in range(s):
        for k in range(s):
            b[i] += inverse[i, k] * gram[members[k], j]
        residual -= b[i] * gram[members[i], j]
    return inverse, b, residual


@kernel
def direction(gram: Floats, j: int, k: int, parents: int, move: float) -> Floats:
    """(p,): how the row of j on some parents changes when coefficient k moves and the others follow
    as the data let them.
    """
    p = gram.shape[0]
    found = np.zeros(p)
    members = regressors_of(parents, p, p)
    inverse, _, _ = _regression(gram, j, members)
    i = 0
    while members[i] != k:
        i += 1
    for m in range(len(members)):
        found[members[m]] = move * inverse[m, i] / inverse[i, i]
    return found


@kernel
def fitted_on(gram: Floats, j: int, nodes: int) -> tuple[Floats, float]:
    """(p,): the least-squares row of j on a set of nodes, and its residual."""
    p = gram.shape[0]
    found = np.zeros(p)
    members = regressors_of(nodes, p, p)
    _, b, residual = _regression(gram, j, members)
    for m in range(len(members)):
        found[members[m]] = b[m]
    return found, residual


@kernel
def _closest_row(
    rows: Rows, reported: Floats, radii: tuple[float, float]
) -> tuple[float, int, int, float]:
    """Least divergence of an alternative within the order, its effect, cause, and the move."""
    grams, _, counts = rows
    p = len(counts)
    nd = nondescendants(reported)
    best, effect, cause, move = math.inf, -1, -1, 0.0
    for j in range(p):
        members = regressors_of(nd[j], p, p)
        if len(members) == 0:
            continue
        inverse, b, residual = _regression(grams[j], j, members)
        for i in range(len(members)):
            k = members[i]
            is_reported = reported[j, k] != 0.0
            d = min(radii[0], abs(b[i])) if is_reported else max(radii[1] - abs(b[i]), 0.0)
            value = 0.0
            if counts[j] > 0.0:
                value = 0.5 * counts[j] * math.log1p(d * d / (residual * inverse[i, i]))
            if value < best:
                best, effect, cause = value, j, k
                move = -d if (b[i] > 0.0) == is_reported else d
    return best, effect, cause, move


@kernel
def alternative(
    reference: Model,
    reported: Floats,
    actions: tuple[Ints, Floats, Floats],
    radii: tuple[float, float],
    intercept: bool,
) -> tuple[Floats, tuple[int, int], Floats, Floats, Floats]:
    """The closest system that breaks the claim: its gains, the (effect, cause) that it moves
    ((-1, -1) for another order), weights, variances and intercepts.

    reported : the claimed weights; the reference is the system itself, and may have more edges
    radii : epsilon (infinity for the graph alone) and min_effect
    """
    targets, values, amounts = actions
    sums = expected_sums(reference, targets, values, amounts)
    grams, lows, counts, means = row_moments(sums, intercept)
    if not np.all(np.isfinite(grams)):
        raise ArithmeticError("the expected moments overflow")
    p = len(counts)
    weights, variances = reference[0].copy(), reference[1].copy()
    intercepts = reference[2].copy()
    if p == 1:
        return np.full(len(targets), math.inf), (-1, -1), weights, variances, intercepts
    value, effect, cause, move = _closest_row((grams, lows, counts), reported, radii)
    order_cost, before_each, is_swapped = _closest_order((grams, lows, counts), reference, reported)
    if value <= order_cost:
        is_swapped[:] = False
        is_swapped[effect] = True
        before_each[effect] = nondescendants(reported)[effect]
    else:
        effect, cause = -1, -1
    for j in range(p):
        if not is_swapped[j]:
            continue
        members = regressors_of(before_each[j], p, p)
        inverse, b, residual = _regression(grams[j], j, members)
        if j == effect:
            i = 0
            while members[i] != cause:
                i += 1
            residual += move * move / inverse[i, i]
            for m in range(len(members)):
                b[m] += move * inverse[m, i] / inverse[i, i]
        weights[j] = 0.0
        for m in range(len(members)):
            if abs(b[m]) > NO_MOVE * radii[1]:
                weights[j, members[m]] = b[m]
        if counts[j] > 0.0 and residual > 0.0:
            variances[j] = residual / counts[j]
        if intercept and counts[j] > 0.0:
            intercepts[j] = means[j, j]
            for k in range(p):
                intercepts[j] -= weights[j, k] * means[j, k]
    gains = divergences(reference, (weights, variances, intercepts), targets, values)
    return gains, (effect, cause), weights, variances, intercepts


@kernel
def _closest_order(rows: Rows, reference: Model, reported: Floats) -> tuple[float, Ints, Bools]:
    """The contrary order of least divergence."""
    grams, lows, counts = rows
    p = len(counts)
    costs = np.zeros((p, 1 << (p - 1)))
    for j in range(p):
        if counts[j] > 0.0:
            residuals, _ = residuals_on_subsets((grams[j], lows[j], j), p)
            expected = counts[j] * reference[1][j]
            for mask in range(1 << (p - 1)):
                ratio = max(residuals[mask] / expected, 1e-300)
                costs[j, mask] = 0.5 * counts[j] * math.log(ratio)
    return contrary_order(costs, reported)
