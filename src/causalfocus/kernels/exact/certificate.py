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

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.edge_evidence import Fit, edge_evidence
from causalfocus.kernels.evidence.row_evidence import (
    Prior,
    edge_spread,
    least_squares,
    log_marginal,
)
from causalfocus.kernels.search.tableau import Row

W_EDGE, W_NOISE, W_SWAP = 0.87, 0.04, 0.06
"""The rest is for alarms, see `stopping.alarms`."""

SAFETY = 1e-4
"""Nats taken off every evidence: above the rounding of what is computed, see `row_evidence`."""

NO_DISTANCE = 1e-12
"""Intervals are not made narrower than this; where every value is rejected they are empty."""

Moments = tuple[Floats, Floats, Floats]
"""Gram matrices of all nodes, high and low parts, and their counts."""

Setting = tuple[float, float, float, float, float]
"""Lowest and highest noise variance of the class; standard deviations by which EDGE mixes the
coefficient in question and the others; and stiffness a0 of the noise around the alternative's."""

EdgeRow = tuple[Fit, Floats, float]
"""Fit and coefficients of a row on its parents, and the logarithm of what NOISE gives it."""


@kernel
def parents_of(weights: Floats, j: int) -> int:
    """The parents of a node as a set of nodes."""
    parents = 0
    for k in range(weights.shape[0]):
        if weights[j, k] != 0.0:
            parents |= 1 << k
    return parents


@kernel
def edge_count(weights: Floats) -> int:
    """The number of edges, at least one: what the weight of EDGE is shared by."""
    return max(int(np.count_nonzero(weights)), 1)


@kernel
def choose(n: int, k: int) -> float:
    result = 1.0
    for i in range(k):
        result *= (n - i) / (i + 1)
    return result


@kernel
def edge_row(row: Row, regressors: Ints, n: float, prior: Prior, p: int) -> EdgeRow:
    """A row as EDGE sees it; its residual is not positive where it gives no evidence."""
    block, inverse, residual, b = least_squares(row, regressors, n)
    log_noise = -math.inf
    if residual > 0.0:
        log_noise = log_marginal(row, regressors, n, prior, p) + math.log(W_NOISE / p)
    return (block, inverse, residual, n), b, log_noise


@kernel
def edge_against(
    found: EdgeRow,
    regressors: Ints,
    i: int,
    d: float,
    own_weight: float,
    setting: Setting,
    of_use: tuple[float, float],
    p: int,
) -> float:
    """Evidence against every alternative with the coefficient of regressor i at least d away from
    the fit, weight included.

    own_weight : the logarithm of the weight of EDGE for one edge
    of_use : evidence without its weight below the first counts as none, above the second as enough
    """
    fit, _, log_noise = found
    if not fit[2] > 0.0:
        return -math.inf
    spread = edge_spread(regressors, i, p, setting[2], setting[3])
    noise = (log_noise - own_weight, fit[2], fit[3])
    limits = (setting[0], setting[1])
    value = edge_evidence(fit, spread, i, d, limits, setting[4], noise, of_use)
    return value + own_weight - SAFETY
