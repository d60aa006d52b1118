"""From the residual of a row to its score, with the optimal noise variance inside its range."""

import math

from causalfocus.kernels.compile import kernel
from causalfocus.kernels.records import Bounds

FLOOR = 1e-20
"""Without a lower bound on the noise variance the likelihood of a row grows without limit as its
residual vanishes. What is below this share of the node's own mean square is lost in rounding, so
it serves as the bound."""

SMALLEST = 1e-300


@kernel
def noise_variance(residual: float, n: float, total: float, bounds: Bounds) -> float:
    """Return residual / n, kept in its range.

    Eqs. local_mle_variance and alternative_optimal_variance.

    total : the node's own sum of squares, for the floor where the range has no lower end. Without
    samples it is the lower end of the range (the paper's convention), 1 if there is none.
    """
    low, high = bounds.lowest, bounds.highest
    if n <= 0.0:
        return low if low > 0.0 else min(1.0, high)
    if low <= 0.0:
        low = max(FLOOR * total / n, SMALLEST)
    return min(max(residual / n, low), high)


@kernel
def row_score(residual: float, n: float, total: float, bounds: Bounds) -> float:
    """Return the negative log-likelihood of the row without its 2 pi term (Eq. local_mle_score)."""
    if n <= 0.0:
        return 0.0
    v = noise_variance(residual, n, total, bounds)
    return 0.5 * (n * math.log(v) + residual / v)


@kernel
def row_divergence(
    residual: float, n: float, total: float, bounds: Bounds, variance: float
) -> float:
    """Return the row's divergence at the optimal variance (Eq. alternative_local_kl_score);
    `variance` is the reference's.
    """
    if n <= 0.0:
        return 0.0
    v = noise_variance(residual, n, total, bounds)
    return 0.5 * (n * math.log(v / variance) + (residual / v - n))
