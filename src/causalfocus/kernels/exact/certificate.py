"""The evidence certificate: how strongly the data reject every alternative to an estimate.

For a fixed alternative, a mixture of non-negative martingales with fixed weights that sum to at
most one is again one, with mean one if the alternative is true; by Ville's inequality it ever
reaches exp(h) with probability at most exp(-h). A lower bound on any of its terms, weight
included, is a lower bound on the logarithm of the mixture. The terms and their weights:

- EDGE, weight W_EDGE shared equally by the edges k -> j of the alternative: the row of j around the
  alternative's own (`edge_evidence`), coefficient k by about epsilon, the others narrowly.
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

from causalfocus.arrays import Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.edge_evidence import Departure, Mixing, Noise, edge_evidence
from causalfocus.kernels.evidence.row_evidence import (
    Fit,
    Prior,
    edge_spread,
    least_squares,
    log_marginal,
)
from causalfocus.kernels.records import Bounds, Row, Span

W_EDGE, W_NOISE, W_SWAP = 0.87, 0.04, 0.06
"""The rest is for alarms, see `guarantees.alarms`."""

SAFETY = 1e-4
"""Nats taken off every evidence: above the rounding of what is computed, see `row_evidence`."""

NO_DISTANCE = 1e-12
"""Intervals are not made narrower than this; where every value is rejected they are empty."""


class Setting(NamedTuple):
    """How EDGE and NOISE stand against an alternative of the class.

    Attributes
    ----------
    wide, narrow : standard deviations by which EDGE mixes the coefficient in question, and the
        others
    stiffness : a0 of the noise around the alternative's
    """

    wide: float
    narrow: float
    stiffness: float


class EdgeRow(NamedTuple):
    """A row on some regressors as EDGE sees it.

    Attributes
    ----------
    regressors : of the row
    fit : its residual is not positive where the row gives no evidence
    log_noise : the logarithm of what NOISE gives it, with its weight
    """

    regressors: Ints
    fit: Fit
    log_noise: float


@kernel
def edge_row(row: Row, regressors: Ints, n: float, prior: Prior, p: int) -> EdgeRow:
    """Return a row as EDGE sees it."""
    fit = least_squares(row, regressors, n)
    log_noise = -math.inf
    if fit.residual > 0.0:
        log_noise = log_marginal(row, regressors, n, prior, p) + math.log(W_NOISE / p)
    return EdgeRow(regressors, fit, log_noise)


@kernel
def departure_evidence(
    row: EdgeRow,
    departure: Departure,
    own_weight: float,
    bounds: Bounds,
    setting: Setting,
    useful: Span,
    p: int,
) -> float:
    """Return the evidence against every alternative with one coefficient of a row that far away
    from the fit, weight included.

    own_weight : the logarithm of the weight of EDGE for one edge
    useful : evidence without its weight below the low end counts as none, above the high end as
        enough
    """
    fit = row.fit
    if not fit.residual > 0.0:
        return -math.inf
    spread = edge_spread(row.regressors, departure.coefficient, p, setting.wide, setting.narrow)
    mixing = Mixing(spread, setting.stiffness)
    noise = Noise(row.log_noise - own_weight, fit.residual, fit.n)
    limits = Span(bounds.lowest, bounds.highest)
    value = edge_evidence(fit, mixing, departure, limits, noise, useful)
    return value + own_weight - SAFETY
