"""Intervals of the resolution certificate: weights of a reported edge that are not rejected."""

import math

from causalfocus.arrays import Floats
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.edge_evidence import Noise
from causalfocus.kernels.evidence.row_evidence import regressors_of
from causalfocus.kernels.exact.certificate import NO_DISTANCE, SAFETY, parents_of
from causalfocus.kernels.gaussian.direction_evidence import Fit, Mixing, Times
from causalfocus.kernels.gaussian.resolution import (
    W_EDGE,
    W_WEAK,
    Scale,
    Split,
    against,
    fit_along,
    nondescendants,
    seen_row,
)


@kernel
def _reach(fit: Fit, mixing: Mixing, i: int, noise: Noise, own: float, needed: float) -> float:
    """Distance from the fit from which on coefficient i is rejected; infinity if nowhere to 1e6."""
    near, far = 0.0, 1.0
    of_use = (needed, needed)
    while against(fit, mixing, i, far, noise, own, of_use) < needed:
        near, far = far, 4.0 * far
        if far > 1e6:
            return math.inf
    while far - near > 1e-6 * far and far > NO_DISTANCE:
        middle = 0.5 * (near + far)
        if against(fit, mixing, i, middle, noise, own, of_use) < needed:
            near = middle
        else:
            far = middle
    return far


@kernel
def _with(
    low: float, high: float, at: float, reach: float, least: float, most: float
) -> tuple[float, float]:
    """An interval widened to hold all values of size in [least, most) within reach of `at`."""
    for side in (-1.0, 1.0):
        first, last = max(side * at - reach, least), min(side * at + reach, most)
        if first <= last:
            low, high = min(low, side * first, side * last), max(high, side * first, side * last)
    return low, high


@kernel
def interval(
    data: tuple[Times, Split],
    weights: Floats,
    edge: tuple[int, int],
    scale: Scale,
    level: float,
    n_strong: int,
) -> tuple[float, float]:
    """The values of one reported weight, (effect, cause), that are not rejected at a level, if the
    reported edges are there and all others agree with their order: over all sets of parents.
    """
    times = data[0]
    j, k = edge
    p, q = times[2].shape[1], times[0].shape[2]
    own_parents = parents_of(weights, j)
    extra = nondescendants(weights)[j] & ~own_parents
    own = math.log(W_EDGE / n_strong)
    own_weak = math.log(W_WEAK / (0.5 * p * (p - 1)))
    needed, needed_weak = level + SAFETY - own, level + SAFETY - own_weak
    low, high = math.inf, -math.inf
    rest = extra
    while True:
        regressors = regressors_of(rest | own_parents, p, q)
        seen = seen_row(data, j, regressors, scale)
        if not seen[0][2] > 0.0:
            return -math.inf, math.inf
        i = 0
        while regressors[i] != k:
            i += 1
        fit = fit_along(seen, times, j, regressors, i)
        at, noise, large, small = seen[1][i], seen[2], seen[4], seen[5]
        reach = _reach(fit, large, i, noise, own, needed)
        low, high = _with(low, high, at, reach, scale[3], math.inf)
        reach = _reach(fit, small, i, noise, own, needed)
        low, high = _with(low, high, at, reach, scale[2], scale[3])
        reach = _reach(fit, small, i, noise, own_weak, needed_weak)
        low, high = _with(low, high, at, reach, 0.0, scale[2])
        if rest == 0:
            return low, high
        rest = (rest - 1) & extra
