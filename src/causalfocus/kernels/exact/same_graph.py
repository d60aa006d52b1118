"""Branch A of the evidence certificate: other weights with the estimate's graph."""

import math

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic.sets import edge_count, parents_of, position, regressors_of
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.directions import Times
from causalfocus.kernels.evidence.row_evidence import Prior
from causalfocus.kernels.exact.certificate import (
    NO_DISTANCE,
    SAFETY,
    W_EDGE,
    Setting,
    apart_from,
    apart_from_class,
    departure_evidence,
    edge_row,
)
from causalfocus.kernels.records import Limits, Span, bounds_at


@kernel
def same_graph_evidence(
    times: Times,
    weights: Floats,
    epsilon: float,
    limits: Limits,
    prior: Prior,
    setting: Setting,
    enough: float,
) -> Floats:
    """Return the evidence that each edge's weight is within epsilon of its estimate: branch A, per
    edge.

    It is (p, p), infinity where the estimate has no edge. The least entry is the branch's. With a
    finite `enough` it says only whether that is reached, and stops at the first edge below it,
    whose entry is then minus infinity.
    """
    p, q = times.counts.shape[1], times.grams.shape[2]
    result = np.full((p, p), math.inf)
    own_weight = math.log(W_EDGE / edge_count(weights))
    needed = enough + SAFETY - own_weight
    useful = Span(needed, needed if enough > -math.inf else math.inf)
    for j in range(p):
        parents = parents_of(weights, j)
        if parents == 0:
            continue
        regressors, bounds = regressors_of(parents, p, q), bounds_at(limits, j)
        row = edge_row(times, j, regressors, prior, setting)
        for i in range(len(regressors)):
            k = regressors[i]
            if k == p:
                continue
            b = row.fit.coefficients[i]
            apart = apart_from(i, b, weights[j, k], epsilon, row.top, bounds)
            result[j, k] = departure_evidence(times, row, apart, own_weight, bounds, useful)
            if result[j, k] < enough:
                result[j, k] = -math.inf
                return result
    return result


@kernel
def out_of_class_evidence(
    times: Times, weights: Floats, limits: Limits, prior: Prior, setting: Setting
) -> Floats:
    """Return the evidence that an edge has a weight outside the class, (effect, cause): it rejects
    every model of the class with this graph. Minus infinity where the fitted one is inside, or
    there is no edge.
    """
    p, q = times.counts.shape[1], times.grams.shape[2]
    result = np.full((p, p), -math.inf)
    own_weight = math.log(W_EDGE / edge_count(weights))
    everything = Span(-math.inf, math.inf)
    for j in range(p):
        parents = parents_of(weights, j)
        if parents == 0:
            continue
        regressors, bounds = regressors_of(parents, p, q), bounds_at(limits, j)
        row = edge_row(times, j, regressors, prior, setting)
        for i in range(len(regressors)):
            k = regressors[i]
            if k == p:
                continue
            apart = apart_from_class(i, row.fit.coefficients[i], row.top, bounds)
            if min(apart.near, apart.far) > 0.0:
                result[j, k] = departure_evidence(times, row, apart, own_weight, bounds, everything)
    return result


@kernel
def interval_reach(
    times: Times,
    weights: Floats,
    edge: tuple[int, int],
    limits: Limits,
    prior: Prior,
    setting: Setting,
    level: float,
) -> tuple[float, float]:
    """Return centre and half-width of the weights of one edge that EDGE does not reject at a level.

    The evidence rises with the distance from the least-squares fit; bisection, rounded outwards.
    Infinite if no distance up to 1e6 is rejected.
    """
    p, q = times.counts.shape[1], times.grams.shape[2]
    j, k = edge
    regressors, bounds = regressors_of(parents_of(weights, j), p, q), bounds_at(limits, j)
    row = edge_row(times, j, regressors, prior, setting)
    if not row.fit.residual > 0.0:
        return weights[j, k], math.inf
    own_weight = math.log(W_EDGE / edge_count(weights))
    i = position(k, regressors)
    b = row.fit.coefficients[i]
    needed = level + SAFETY - own_weight
    useful = Span(needed, needed + SAFETY)
    near, far = 0.0, 1e6
    apart = apart_from(i, b, b, far, row.top, bounds)
    if departure_evidence(times, row, apart, own_weight, bounds, useful) < level:
        return b, math.inf
    while far - near > 1e-6 * far and far > NO_DISTANCE:
        middle = 0.5 * (near + far)
        apart = apart_from(i, b, b, middle, row.top, bounds)
        if departure_evidence(times, row, apart, own_weight, bounds, useful) < level:
            near = middle
        else:
            far = middle
    return b, far
