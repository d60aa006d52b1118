"""One round's best response under the resolution claim: which system that breaks it is closest.

Within the claim's order the closest one differs in one row: on all nodes that j has no reported
path to, coefficient k is moved by d, the others follow along G^-1 e_k, and the noise grows. Its
divergence is W/2 log(1 + d^2 / (R (G^-1)_kk)), with W, G and R the weight, Gram matrix and residual
of the row. Against the order it is the least-squares model of the cheapest contrary one.

Symbols: W is an entry of `Rows.counts`; (G^-1) and R are `inverse` and `residual` of a
`RidgedFit`; d is `ClosestRow.move`, with its sign.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic.cholesky import invert
from causalfocus.kernels.arithmetic.sets import (
    choose,
    count,
    families_of,
    may_act,
    position,
    regressors_of,
)
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.row_evidence import least_squares
from causalfocus.kernels.evidence.subsets import residuals_on_subsets
from causalfocus.kernels.exact.oracles import (
    all_others,
    best_model,
    price_of,
    spread_to_supersets,
    table_offsets,
)
from causalfocus.kernels.exact.scores import row_score
from causalfocus.kernels.gaussian.swaps import ContraryOrder, contrary_order
from causalfocus.kernels.records import (
    Bounds,
    Parameters,
    Parents,
    PlainActions,
    PlainModel,
    PlainParents,
    PlainRows,
    PlainUnits,
    Rows,
    as_actions,
    as_model,
    as_parents,
    as_rows,
    as_units,
    row_of,
)
from causalfocus.kernels.search.families import residual_table
from causalfocus.kernels.sums.moment_sums import expected_sums, row_moments
from causalfocus.kernels.sums.population import divergences
from causalfocus.kernels.sums.row_scales import in_units, parameters_in_units

RIDGE = 1e-12
"""Relative: what no action moves has an enormous variance instead of none."""

SLIGHT = 12.0
"""Nats that an effect below min_effect must explain to be reported: about what it takes to certify
that it is there, and far more than chance gives."""

NO_MOVE = 1e-9
"""Coefficients below this share of the move are rounding."""


class RidgedFit(NamedTuple):
    """The fit of a row with a ridge for what does not vary: G^-1, coefficients and residual."""

    inverse: Floats
    coefficients: Floats
    residual: float


class ClosestRow(NamedTuple):
    """The closest rival within the order: its divergence, and which coefficient moves how far."""

    divergence: float
    effect: int
    cause: int
    move: float


class GaussianRival(NamedTuple):
    """The closest system that breaks the claim: its gains, the effect and the cause of the
    coefficient that it moves (-1 for another order), and its parameters.
    """

    gains: Floats
    effect: int
    cause: int
    weights: Floats
    variances: Floats
    intercepts: Floats


@kernel
def reported_model(rows: Rows, min_effect: float, parents: Parents) -> tuple[Floats, Floats]:
    """Return weights, whose zeros are the graph, and noise variances of the model that explains
    the data best for its price, with effects of size min_effect or more, and of any size at SLIGHT
    nats each on top.

    The price of a family is that of `marginals` without a largest effect: half of log(1 + n) for
    every parent, a row with the information of one sample beforehand, and the number of sets of so
    many parents. What is known of the graph is in every graph; so what needed parents cost, small
    ones too, is paid by all alike, and decides nothing.
    """
    grams, counts = rows.grams, rows.counts
    p = len(counts)
    bounds = Bounds(min_effect, math.inf, 0.0, math.inf)
    candidates, starts = all_others(p)
    offsets = table_offsets(starts)
    table = np.empty(offsets[p])
    for j in range(p):
        own = table[offsets[j] : offsets[j + 1]]
        mine = candidates[starts[j] : starts[j + 1]]
        n, total = counts[j], grams[j, j, j]
        families = families_of(j, parents, -1, p)
        n_needed = count(families.needed)
        n_free = count(families.possible) - n_needed
        residual_table(row_of(rows, j), mine, bounds, families, price_of(SLIGHT, n, p), own)
        for mask in range(len(own)):
            if own[mask] == math.inf or mask & ~families.possible:
                own[mask] = math.inf
                continue
            size = count(mask)
            residual = (total + n * own[mask]) / (1.0 + n)
            own[mask] = row_score(residual, n, total, bounds)
            own[mask] += 0.5 * size * math.log1p(n) + math.log(choose(n_free, size - n_needed))
        spread_to_supersets(own)
    limits = np.empty((p, 4))
    for j in range(p):
        limits[j, 0], limits[j, 1], limits[j, 2], limits[j, 3] = bounds
    found = best_model(rows, candidates, starts, table, limits, SLIGHT, 0)
    return found.weights, found.variances


@kernel
def refit_weights(rows: Rows, weights: Floats, parents: Parents) -> Floats:
    """Return the weights of a graph, each row fitted on all nodes that may act on it (`may_act`);
    rows whose samples do not determine that fit stay as they are.
    """
    counts = rows.counts
    p = len(counts)
    nd = may_act(weights, parents)
    found = weights.copy()
    for j in range(p):
        if not weights[j].any():
            continue
        members = regressors_of(nd[j], p, p)
        fit = least_squares(row_of(rows, j), members, counts[j])
        b = fit.coefficients
        if fit.residual > 0.0:
            for i in range(len(members)):
                k = members[i]
                if weights[j, k] != 0.0 and b[i] != 0.0:
                    found[j, k] = b[i]
    return found


@kernel
def gaussian_estimate(
    plain: PlainRows, min_effect: float, known: PlainParents
) -> tuple[Floats, Floats]:
    """Return weights, whose zeros are the graph, and noise variances of the estimate: the graph is
    that of `reported_model`, the weights are fitted anew.
    """
    rows, parents = as_rows(plain), as_parents(known)
    graph, variances = reported_model(rows, min_effect, parents)
    return refit_weights(rows, graph, parents), variances


@kernel
def _ridged_fit(gram: Floats, j: int, members: Ints) -> RidgedFit:
    """Return the fit of a row, with a ridge for what does not vary."""
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
        return RidgedFit(inverse, b, gram[j, j])
    residual = gram[j, j]
    for i in range(s):
        for k in range(s):
            b[i] += inverse[i, k] * gram[members[k], j]
        residual -= b[i] * gram[members[i], j]
    return RidgedFit(inverse, b, residual)


@kernel
def move_row(gram: Floats, j: int, k: int, parents: int, move: float) -> Floats:
    """Return (p,): how the row of j on some parents changes when coefficient k moves and the others
    follow as the data let them.
    """
    p = gram.shape[0]
    found = np.zeros(p)
    members = regressors_of(parents, p, p)
    inverse = _ridged_fit(gram, j, members).inverse
    i = position(k, members)
    for m in range(len(members)):
        found[members[m]] = move * inverse[m, i] / inverse[i, i]
    return found


@kernel
def fit_row_on(gram: Floats, j: int, nodes: int) -> tuple[Floats, float]:
    """Return (p,) the least-squares row of j on a set of nodes, and its residual."""
    p = gram.shape[0]
    found = np.zeros(p)
    members = regressors_of(nodes, p, p)
    fit = _ridged_fit(gram, j, members)
    for m in range(len(members)):
        found[members[m]] = fit.coefficients[m]
    return found, fit.residual


@kernel
def _closest_row(
    rows: Rows, claimed: Floats, epsilon: float, min_effect: float, parents: Parents
) -> ClosestRow:
    """Return the rival within the order of least divergence; no cause if there is none."""
    counts = rows.counts
    p = len(counts)
    nd = may_act(claimed, parents)
    best, effect, cause, move = math.inf, -1, -1, 0.0
    for j in range(p):
        members = regressors_of(nd[j], p, p)
        if len(members) == 0:
            continue
        fit = _ridged_fit(rows.grams[j], j, members)
        inverse, b, residual = fit.inverse, fit.coefficients, fit.residual
        for i in range(len(members)):
            k = members[i]
            is_reported = claimed[j, k] != 0.0
            d = min(epsilon, abs(b[i])) if is_reported else max(min_effect - abs(b[i]), 0.0)
            if is_reported and (parents.needed[j] >> k) & 1:
                d = epsilon
            value = 0.0 if d < math.inf else math.inf
            if counts[j] > 0.0:
                value = 0.5 * counts[j] * math.log1p(d * d / (residual * inverse[i, i]))
            if value < best:
                best, effect, cause = value, j, k
                move = -d if (b[i] > 0.0) == is_reported else d
    return ClosestRow(best, effect, cause, move)


@kernel
def _closest_order(
    rows: Rows, variances: Floats, claimed: Floats, parents: Parents
) -> ContraryOrder:
    """Return the contrary order of least divergence.

    variances : of the reference, in the units of the rows
    """
    counts = rows.counts
    p = len(counts)
    costs = np.zeros((p, 1 << (p - 1)))
    for j in range(p):
        if counts[j] > 0.0:
            residuals, _ = residuals_on_subsets(row_of(rows, j), p)
            expected = counts[j] * variances[j]
            for mask in range(1 << (p - 1)):
                ratio = max(residuals[mask] / expected, 1e-300)
                costs[j, mask] = 0.5 * counts[j] * math.log(ratio)
    return contrary_order(costs, claimed, parents)


@kernel
def closest_rival(
    model: PlainModel,
    claimed: Floats,
    weighted: PlainActions,
    epsilon: float,
    min_effect: float,
    intercept: bool,
    units: PlainUnits,
    known: PlainParents,
) -> GaussianRival:
    """Return the closest system that breaks the claim; gains are infinite if there is none.

    model, weighted : the reference and the actions, see `records`
    claimed : the claimed weights; the reference is the system itself, and may have more edges
    epsilon, min_effect : in the units of the rows; epsilon is infinity for the graph alone
    units : of the rows
    known : of the graph; systems that it excludes are no rivals
    """
    reference, actions, scales = as_model(model), as_actions(weighted), as_units(units)
    moments = row_moments(expected_sums(reference, actions), intercept)
    if not np.all(np.isfinite(moments.grams)):
        raise ArithmeticError("the expected moments overflow")
    rows = in_units(Rows(moments.grams, moments.lows, moments.counts), scales)
    counts, means = moments.counts, moments.means
    _, own_variances = parameters_in_units(reference.weights, reference.variances, scales)
    p = len(counts)
    weights, variances = reference.weights.copy(), reference.variances.copy()
    intercepts = reference.intercepts.copy()
    never = np.full(len(actions.weights), math.inf)
    nothing = GaussianRival(never, -1, -1, weights, variances, intercepts)
    if p == 1:
        return nothing
    parents = as_parents(known)
    row = _closest_row(rows, claimed, epsilon, min_effect, parents)
    order = _closest_order(rows, own_variances, claimed, parents)
    if row.divergence == math.inf and order.cost == math.inf:
        return nothing
    effect, cause = row.effect, row.cause
    before, is_swapped = order.before, order.is_swapped
    if row.divergence <= order.cost:
        is_swapped[:] = False
        is_swapped[effect] = True
        before[effect] = may_act(claimed, parents)[effect]
    else:
        effect, cause = -1, -1
    for j in range(p):
        if not is_swapped[j]:
            continue
        members = regressors_of(before[j], p, p)
        fit = _ridged_fit(rows.grams[j], j, members)
        inverse, b, residual = fit.inverse, fit.coefficients, fit.residual
        if j == effect:
            i = position(cause, members)
            residual += row.move * row.move / inverse[i, i]
            for m in range(len(members)):
                b[m] += row.move * inverse[m, i] / inverse[i, i]
        weights[j] = 0.0
        for m in range(len(members)):
            if abs(b[m]) > NO_MOVE * min_effect:
                weights[j, members[m]] = b[m] * scales.effects[j, members[m]]
        if counts[j] > 0.0 and residual > 0.0:
            variances[j] = residual / counts[j] * (scales.own[j] * scales.own[j])
        if intercept and counts[j] > 0.0:
            intercepts[j] = means[j, j]
            for k in range(p):
                intercepts[j] -= weights[j, k] * means[j, k]
    rival = Parameters(weights, variances, intercepts)
    gains = divergences(reference, rival, actions.is_set, actions.values, actions.spreads)
    return GaussianRival(gains, effect, cause, weights, variances, intercepts)
