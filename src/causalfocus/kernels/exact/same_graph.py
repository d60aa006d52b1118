"""Branch A of the evidence certificate: other weights with the estimate's graph."""

import math

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic.sets import edge_count, parents_of, position, regressors_of
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.direction_evidence import Departure, Times
from causalfocus.kernels.evidence.row_evidence import Prior
from causalfocus.kernels.exact.certificate import (
    NO_DISTANCE,
    SAFETY,
    W_EDGE,
    Setting,
    departure_evidence,
    edge_row,
)
from causalfocus.kernels.records import Bounds, Span


@kernel
def same_graph_evidence(
    times: Times,
    weights: Floats,
    epsilon: float,
    bounds: Bounds,
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
        regressors = regressors_of(parents, p, q)
        row = edge_row(times, j, regressors, prior, setting)
        for i in range(len(regressors)):
            k = regressors[i]
            if k == p:
                continue
            d = _distance_to_others(row.fit.coefficients[i], weights[j, k], epsilon, bounds)
            departure = Departure(i, d)
            result[j, k] = departure_evidence(times, row, departure, own_weight, bounds, useful)
            if result[j, k] < enough:
                result[j, k] = -math.inf
                return result
    return result


@kernel
def _distance_to_others(b: float, weight: float, epsilon: float, bounds: Bounds) -> float:
    """Return the distance from a fitted coefficient to the nearest weight of the class that is
    epsilon or more away from the estimated one; negative if the coefficient is beyond it.
    """
    at, size = (b, weight) if weight > 0.0 else (-b, -weight)
    below = size - epsilon if size - epsilon >= bounds.smallest else -bounds.smallest
    found = at - below
    if size + epsilon <= bounds.largest:
        found = min(found, size + epsilon - at)
    return found


@kernel
def distance_to_class(b: float, bounds: Bounds) -> float:
    """Return the distance of a fitted coefficient from the weights of the class; negative if it is
    one of them.
    """
    return max(bounds.smallest - abs(b), abs(b) - bounds.largest)


@kernel
def out_of_class_evidence(
    times: Times, weights: Floats, bounds: Bounds, prior: Prior, setting: Setting
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
        regressors = regressors_of(parents, p, q)
        row = edge_row(times, j, regressors, prior, setting)
        for i in range(len(regressors)):
            k = regressors[i]
            if k == p:
                continue
            d = distance_to_class(row.fit.coefficients[i], bounds)
            if d > 0.0:
                departure = Departure(i, d)
                result[j, k] = departure_evidence(
                    times, row, departure, own_weight, bounds, everything
                )
    return result


@kernel
def interval_reach(
    times: Times,
    weights: Floats,
    edge: tuple[int, int],
    bounds: Bounds,
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
    regressors = regressors_of(parents_of(weights, j), p, q)
    row = edge_row(times, j, regressors, prior, setting)
    if not row.fit.residual > 0.0:
        return weights[j, k], math.inf
    own_weight = math.log(W_EDGE / edge_count(weights))
    i = position(k, regressors)
    b = row.fit.coefficients[i]
    needed = level + SAFETY - own_weight
    useful = Span(needed, needed + SAFETY)
    near, far = 0.0, 1e6
    if departure_evidence(times, row, Departure(i, far), own_weight, bounds, useful) < level:
        return b, math.inf
    while far - near > 1e-6 * far and far > NO_DISTANCE:
        middle = 0.5 * (near + far)
        departure = Departure(i, middle)
        if departure_evidence(times, row, departure, own_weight, bounds, useful) < level:
            near = middle
        else:
            far = middle
    return b, far
