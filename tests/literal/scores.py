"""The local scores: of the likelihood (joint MLE) and of the divergence (alternative)."""

from collections.abc import Callable
from math import log

import numpy as np

from .problem import Array, Bounds
from .rows import Rows

VARIANCE_FLOOR = 1e-12
SMALLEST_VARIANCE = 1e-300

Score = Callable[[int, float], tuple[float, float]]
"""From a node and its residual sum of squares to its best variance and its local score."""


def likelihood_score(rows: Rows, bounds: Bounds) -> Score:
    """The score of Eq. ``local_mle_score``."""

    def score(j: int, residual: float) -> tuple[float, float]:
        v = optimal_variance(rows, bounds, j, residual)
        return v, _likelihood(float(rows.counts[j]), residual, v)

    return score


def divergence_score(rows: Rows, bounds: Bounds, reference_variances: Array) -> Score:
    """The score of Eq. ``alternative_local_kl_score``, at its best variance."""

    def score(j: int, residual: float) -> tuple[float, float]:
        v = optimal_variance(rows, bounds, j, residual)
        W, reference = float(rows.counts[j]), float(reference_variances[j])
        return v, _divergence(W, residual, v, reference)

    return score


def optimal_variance(rows: Rows, bounds: Bounds, j: int, residual: float) -> float:
    """Eqs. ``local_mle_variance`` and ``alternative_optimal_variance``.

    Without samples the variance is the lower bound by convention (1 if that is zero).  A lower
    bound of zero is replaced by a small fraction of the node's own variance, lest a perfect fit
    has an infinite likelihood.
    """
    n = float(rows.counts[j])
    if n == 0.0:
        return bounds.variance_low or 1.0
    low = bounds.variance_low
    if low == 0.0:
        low = VARIANCE_FLOOR * rows.own_moment(j) / n or SMALLEST_VARIANCE
    return min(bounds.variance_high, max(low, residual / n))


def negative_log_likelihood(
    rows: Rows, weights: Array, variances: Array, intercepts: Array
) -> float:
    """Eq. ``intervention_masked_likelihood`` at a given parameter."""
    return sum(
        _likelihood(float(rows.counts[j]), _residual_at(rows, j, weights, intercepts), float(v))
        for j, v in enumerate(variances)
    )


def weighted_divergence(
    rows: Rows, reference_variances: Array, weights: Array, variances: Array, intercepts: Array
) -> float:
    """The right-hand side of Eq. ``alternative_objective_decomposition`` at a given parameter."""
    return sum(
        _divergence(
            float(rows.counts[j]),
            _residual_at(rows, j, weights, intercepts),
            float(v),
            float(reference_variances[j]),
        )
        for j, v in enumerate(variances)
    )


def _likelihood(n: float, residual: float, v: float) -> float:
    return 0.0 if n == 0.0 else 0.5 * (n * log(v) + residual / v)


def _divergence(W: float, residual: float, v: float, reference: float) -> float:
    if W == 0.0:
        return 0.0
    return W / 2.0 * log(v / reference) + residual / (2.0 * v) - W / 2.0


def _residual_at(rows: Rows, j: int, weights: Array, intercepts: Array) -> float:
    others = [k for k in range(rows.nodes) if k != j]
    b = np.append(weights[j, others], intercepts[j]) if rows.intercept else weights[j, others]
    return rows.residual(j, others)(b)
