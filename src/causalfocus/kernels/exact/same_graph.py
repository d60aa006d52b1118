"""Branch A of the evidence certificate: other weights with the estimate's graph."""

import math

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.row_evidence import Prior, regressors_of
from causalfocus.kernels.exact.certificate import (
    NO_DISTANCE,
    SAFETY,
    W_EDGE,
    Moments,
    Setting,
    edge_against,
    edge_count,
    edge_row,
    parents_of,
)


@kernel
def same_graph_evidence(
    moments: Moments,
    weights: Floats,
    epsilon: float,
    effects: tuple[float, float],
    prior: Prior,
    setting: Setting,
    enough: float,
) -> Floats:
    """Evidence that each edge's weight is within epsilon of its estimate: branch A, per edge.

    Returns (p, p): infinity where the estimate has no edge. The least entry is the branch's. With
    a finite `enough` it says only whether that is reached, and stops at the first edge below it,
    whose entry is then minus infinity.
    """
    grams, lows, counts = moments
    p, q = len(counts), grams.shape[1]
    result = np.full((p, p), math.inf)
    own_weight = math.log(W_EDGE / edge_count(weights))
    needed = enough + SAFETY - own_weight
    of_use = (needed, needed if enough > -math.inf else math.inf)
    for j in range(p):
        parents = parents_of(weights, j)
        if parents == 0:
            continue
        regressors = regressors_of(parents, p, q)
        found = edge_row((grams[j], lows[j], j), regressors, counts[j], prior, p)
        for i in range(len(regressors)):
            k = regressors[i]
            if k == p:
                continue
            d = _to_other_weights(found[1][i], weights[j, k], epsilon, effects)
            result[j, k] = edge_against(found, regressors, i, d, own_weight, setting, of_use, p)
            if result[j, k] < enough:
                result[j, k] = -math.inf
                return result
    return result


@kernel
def _to_other_weights(
    b: float, weight: float, epsilon: float, effects: tuple[float, float]
) -> float:
    """From a fitted coefficient to the nearest weight of the class that is epsilon or more away
    from the estimated one; negative if the coefficient is beyond it.
    """
    at, size = (b, weight) if weight > 0.0 else (-b, -weight)
    below = size - epsilon if size - epsilon >= effects[0] else -effects[0]
    found = at - below
    if size + epsilon <= effects[1]:
        found = min(found, size + epsilon - at)
    return found


@kernel
def beyond(b: float, effects: tuple[float, float]) -> float:
    """Distance of a fitted coefficient from the weights of the class; negative if it is one."""
    return max(effects[0] - abs(b), abs(b) - effects[1])


@kernel
def out_of_class_evidence(
    moments: Moments,
    weights: Floats,
    effects: tuple[float, float],
    prior: Prior,
    setting: Setting,
) -> Floats:
    """Evidence that an edge has a weight outside the class, (effect, cause): it rejects every model
    of the class with this graph. Minus infinity where the fitted one is inside, or no edge is.
    """
    grams, lows, counts = moments
    p, q = len(counts), grams.shape[1]
    result = np.full((p, p), -math.inf)
    own_weight = math.log(W_EDGE / edge_count(weights))
    for j in range(p):
        parents = parents_of(weights, j)
        if parents == 0:
            continue
        regressors = regressors_of(parents, p, q)
        found = edge_row((grams[j], lows[j], j), regressors, counts[j], prior, p)
        for i in range(len(regressors)):
            k = regressors[i]
            if k == p:
                continue
            d = beyond(found[1][i], effects)
            if d > 0.0:
                result[j, k] = edge_against(
                    found, regressors, i, d, own_weight, setting, (-math.inf, math.inf), p
                )
    return result


@kernel
def interval_reach(
    moments: Moments,
    weights: Floats,
    edge: tuple[int, int],
    prior: Prior,
    setting: Setting,
    level: float,
) -> tuple[float, float]:
    """Centre and half-width of the weights of one edge that EDGE does not reject at a level.

    The evidence rises with the distance from the least-squares fit; bisection, rounded outwards.
    Infinite if no distance up to 1e6 is rejected.
    """
    grams, lows, counts = moments
    p, q = len(counts), grams.shape[1]
    j, k = edge
    regressors = regressors_of(parents_of(weights, j), p, q)
    found = edge_row((grams[j], lows[j], j), regressors, counts[j], prior, p)
    fit, b, _ = found
    if not fit[2] > 0.0:
        return weights[j, k], math.inf
    own_weight = math.log(W_EDGE / edge_count(weights))
    i = 0
    while regressors[i] != k:
        i += 1
    needed = level + SAFETY - own_weight
    of_use = (needed, needed + SAFETY)
    near, far = 0.0, 1e6
    if edge_against(found, regressors, i, far, own_weight, setting, of_use, p) < level:
        return b[i], math.inf
    while far - near > 1e-6 * far and far > NO_DISTANCE:
        middle = 0.5 * (near + far)
        if edge_against(found, regressors, i, middle, own_weight, setting, of_use, p) < level:
            near = middle
        else:
            far = middle
    return b[i], far
