"""Intervals of the resolution certificate: weights of a reported edge that are not rejected."""

import math

from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic.sets import (
    may_act,
    parents_of,
    position,
    regressors_of,
)
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.direction_evidence import Departure, Mixing, Noise
from causalfocus.kernels.evidence.directions import Direction, direction_sums
from causalfocus.kernels.evidence.row_evidence import Fit
from causalfocus.kernels.exact.certificate import NO_DISTANCE, SAFETY
from causalfocus.kernels.gaussian.resolution import (
    W_EDGE,
    W_WEAK,
    Data,
    Scale,
    coefficient_evidence,
    seen_row,
)
from causalfocus.kernels.records import Parents, Span


@kernel
def _reach(
    fit: Fit,
    direction: Direction,
    mixing: Mixing,
    i: int,
    noise: Noise,
    own: float,
    needed: float,
) -> float:
    """Return the distance from the fit from which on coefficient i is rejected; infinity if it is
    nowhere up to 1e6.
    """
    near, far = 0.0, 1.0
    useful = Span(needed, needed)
    while (
        coefficient_evidence(fit, direction, mixing, Departure(i, far), noise, own, useful) < needed
    ):
        near, far = far, 4.0 * far
        if far > 1e6:
            return math.inf
    while far - near > 1e-6 * far and far > NO_DISTANCE:
        middle = 0.5 * (near + far)
        departure = Departure(i, middle)
        if coefficient_evidence(fit, direction, mixing, departure, noise, own, useful) < needed:
            near = middle
        else:
            far = middle
    return far


@kernel
def _widen(interval: Span, at: float, reach: float, least: float, most: float) -> Span:
    """Return an interval widened to all values of size in [least, most) within reach of `at`."""
    low, high = interval.low, interval.high
    for side in (-1.0, 1.0):
        first, last = max(side * at - reach, least), min(side * at + reach, most)
        if first <= last:
            low, high = min(low, side * first, side * last), max(high, side * first, side * last)
    return Span(low, high)


@kernel
def weight_interval(
    data: Data,
    weights: Floats,
    edge: tuple[int, int],
    scale: Scale,
    level: float,
    n_strong: int,
    parents: Parents,
) -> Span:
    """Return the values of one reported weight, (effect, cause), that are not rejected at a level,
    if the reported edges are there and all others agree with their order: over all sets of parents
    that the effect may have.
    """
    times = data.times
    j, k = edge
    p, q = times.counts.shape[1], times.grams.shape[2]
    widest = may_act(weights, parents)[j]
    own_parents = parents_of(weights, j) | (parents.needed[j] & widest)
    extra = widest & ~own_parents
    own = math.log(W_EDGE / n_strong)
    own_weak = math.log(W_WEAK / (0.5 * p * (p - 1)))
    needed, needed_weak = level + SAFETY - own, level + SAFETY - own_weak
    found = Span(math.inf, -math.inf)
    rest = extra
    while True:
        regressors = regressors_of(rest | own_parents, p, q)
        seen = seen_row(data, j, regressors, scale)
        fit, noise, small = seen.fit, seen.noise, seen.small
        if not fit.residual > 0.0:
            return Span(-math.inf, math.inf)
        i = position(k, regressors)
        at = fit.coefficients[i]
        u = direction_sums(times, j, regressors, seen.past, fit.coefficients, i)
        reach = _reach(fit, u, seen.large, i, noise, own, needed)
        found = _widen(found, at, reach, scale.top, math.inf)
        reach = _reach(fit, u, small, i, noise, own, needed)
        found = _widen(found, at, reach, scale.cut, scale.top)
        reach = _reach(fit, u, small, i, noise, own_weak, needed_weak)
        found = _widen(found, at, reach, 0.0, scale.cut)
        if rest == 0:
            return found
        rest = (rest - 1) & extra
