"""The evidence certificate: how strongly the data reject every alternative to an estimate.

For a fixed alternative, a mixture of non-negative martingales with fixed weights that sum to at
most one is again one, with mean one if the alternative is true; by Ville's inequality it ever
reaches exp(h) with probability at most exp(-h). A lower bound on any of its terms, weight
included, is a lower bound on the logarithm of the mixture. The terms and their weights:

- EDGE, weight W_EDGE shared equally by the edges k -> j of the alternative: the row of j moved from
  the alternative's own along the direction of coefficient k (`direction_evidence`), by epsilon;
  where |b_jk| < `top`, by `stride`: there an edge is more likely to be none at all.
- NOISE, weight W_NOISE / p for every j: the marginal likelihood of the row of j on the
  alternative's own parents under a fixed prior. It rejects noise variances far from R/n, whatever
  the coefficients.
- SWAP, weight W_SWAP pi(Delta, S): rows in Delta get the marginal likelihood of other parents S_j
  such that the graph stays acyclic. pi = (1-1/p)^p prod_Delta 1/(p-1) * 1/(p C(p-1, |S_j|)) sums to
  one over all choices.

The numerators are products of conditional densities along an acyclic graph, so each integrates to
one given the past, whatever rule chose the action.

With intercepts each row is shifted by its first own sample, which then counts for nothing, and the
constant is one more regressor that every row has. A sample that is the origin of one row and comes
after that of the others counts for no row: otherwise the swapped rows could close a cycle in it.

Branch A, other weights with the same graph, is in `same_graph`; branch B, other graphs, in
`other_graphs`.
"""

import math
from typing import NamedTuple

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.direction_evidence import (
    Departure,
    Mixing,
    Noise,
    direction_evidence,
)
from causalfocus.kernels.evidence.directions import (
    Times,
    direction_sums,
    past_inverses,
    present_row,
)
from causalfocus.kernels.evidence.distances import distance
from causalfocus.kernels.evidence.row_evidence import (
    Fit,
    Prior,
    even_spread,
    least_squares,
    log_marginal,
)
from causalfocus.kernels.records import Bounds, Span

W_EDGE, W_NOISE, W_SWAP = 0.87, 0.04, 0.06
"""The rest is for alarms, see `guarantees.alarms`."""

SAFETY = 1e-4
"""Nats taken off every evidence: above the rounding of what is computed, see `row_evidence`."""

NO_DISTANCE = 1e-12
"""Intervals are not made narrower than this; where every value is rejected they are empty."""


class Setting(NamedTuple):
    """How EDGE stands against an alternative of the class.

    Attributes
    ----------
    step : by which a row is moved along the direction of a coefficient of size `top` or more
    stride : the same of a smaller one
    top : where coefficients begin to be moved by `step`
    fine : the standard deviation of every single coefficient, as a share of these
    stiffness : a0 of the noise around the alternative's
    """

    step: float
    stride: float
    top: float
    fine: float
    stiffness: float


class EdgeRow(NamedTuple):
    """A row on some regressors as EDGE sees it.

    Attributes
    ----------
    target : the node
    regressors : of the row
    fit : its residual is not positive where the row gives no evidence
    past : G^-1 at earlier marks
    large, small : mixing of a coefficient of size `top` or more, and of a smaller one
    top : that size
    log_noise : the logarithm of what NOISE gives it, with its weight
    """

    target: int
    regressors: Ints
    fit: Fit
    past: Floats
    large: Mixing
    small: Mixing
    top: float
    log_noise: float


class Apart(NamedTuple):
    """Where the alternatives to a row put one coefficient.

    Attributes
    ----------
    coefficient : which one
    near, far : the distance from the fit to the nearest of them that is smaller than `top`, and to
        the nearest that is not; infinity if there is none
    """

    coefficient: int
    near: float
    far: float


@kernel
def apart_from(
    i: int, b: float, weight: float, epsilon: float, top: float, bounds: Bounds
) -> Apart:
    """Return where the weights of the class are that are epsilon or more away from a given one.

    b : the fitted coefficient, the i-th
    """
    at, centre = (b, weight) if weight > 0.0 else (-b, -weight)
    # The largest weight is one of the class; `distance` leaves its last argument out.
    largest = bounds.largest * (1.0 + 1e-12)
    near = distance(at, centre, epsilon, bounds.smallest, min(top, largest))
    far = distance(at, centre, epsilon, max(top, bounds.smallest), largest)
    return Apart(i, near, far)


@kernel
def apart_from_class(i: int, b: float, top: float, bounds: Bounds) -> Apart:
    """Return how far a fitted coefficient, the i-th, is from the weights of the class; distances
    are not positive if it is one of them.
    """
    size, near, far = abs(b), math.inf, math.inf
    if bounds.smallest < top:
        near = max(bounds.smallest - size, size - min(top, bounds.largest))
    if top <= bounds.largest:
        far = max(max(top, bounds.smallest) - size, size - bounds.largest)
    return Apart(i, near, far)


@kernel
def edge_row(times: Times, j: int, regressors: Ints, prior: Prior, setting: Setting) -> EdgeRow:
    """Return the row of j as EDGE sees it."""
    row, n = present_row(times, j), times.counts[-1, j]
    p = times.counts.shape[1]
    fit = least_squares(row, regressors, n)
    log_noise = -math.inf
    if fit.residual > 0.0:
        log_noise = log_marginal(row, regressors, n, prior, p) + math.log(W_NOISE / p)
    step, stride, fine, a0 = setting.step, setting.stride, setting.fine, setting.stiffness
    large = Mixing(even_spread(regressors, p, fine * step), step, a0)
    small = Mixing(even_spread(regressors, p, fine * stride), stride, a0)
    past = past_inverses(times, j, regressors)
    return EdgeRow(j, regressors, fit, past, large, small, setting.top, log_noise)


@kernel
def departure_evidence(
    times: Times,
    row: EdgeRow,
    apart: Apart,
    own_weight: float,
    bounds: Bounds,
    useful: Span,
) -> float:
    """Return the evidence against every alternative with one coefficient of a row that far away
    from the fit, weight included; infinity if there is none.

    own_weight : the logarithm of the weight of EDGE for one edge
    useful : evidence without its weight below the low end counts as none, above the high end as
        enough
    """
    fit = row.fit
    if not (fit.residual > 0.0 and apart.near > 0.0 and apart.far > 0.0):
        return -math.inf
    i, value = apart.coefficient, math.inf
    direction = direction_sums(times, row.target, row.regressors, row.past, fit.coefficients, i)
    noise = Noise(row.log_noise - own_weight, fit.residual, fit.n)
    limits = Span(bounds.lowest, bounds.highest)
    if apart.near < math.inf:
        departure = Departure(i, apart.near)
        value = direction_evidence(fit, direction, row.small, departure, limits, noise, useful)
    if apart.far < math.inf and value > -math.inf:
        departure = Departure(i, apart.far)
        # Whatever is above what was found is as good as any other.
        above = Span(useful.low, min(useful.high, value))
        found = direction_evidence(fit, direction, row.large, departure, limits, noise, above)
        value = min(value, found)
    return value + own_weight - SAFETY
