"""From the residual of a row to its score, with the optimal noise variance inside its range."""

import math

from causalfocus.kernels.compile import kernel

FLOOR = 1e-20
"""Without a lower bound on the noise variance the likelihood of a row grows without limit as its
residual vanishes. What is below this share of the node's own mean square is lost in rounding, so
it serves as the bound."""

SMALLEST = 1e-300


@kernel
def noise_variance(residual: float, n: float, total: float, limits: tuple[float, float]) -> float:
    """Eqs. local_mle_variance and alternative_optimal_variance: residual / n, kept in its range.

    total : the node's own sum of squares, for the floor where the range has no lower end. Without
    samples it is the lower end of the range (the paper's convention), 1 if there is none.
    """
    low, high = limits
    if n <= 0.0:
        return low if low > 0.0 else min(1.0, high)
    if low <= 0.0:
        low = max(FLOOR * total / n, SMALLEST)
    return min(max(residual / n, low), high)


@kernel
def row_score(residual: float, n: float, total: float, limits: tuple[float, float]) -> float:
    """Eq. local_mle_score: the negative log-likelihood of the row without its 2 pi term."""
    if n <= 0.0:
        return 0.0
    v = noise_variance(residual, n, total, limits)
    return 0.5 * (n * math.log(v) + residual / v)


@kernel
def row_divergence(
    residual: float, n: float, total: float, limits: tuple[float, float], variance: float
) -> float:
    """Eq. alternative_local_kl_score at the optimal variance; `variance` is the reference's."""
    if n <= 0.0:
        return 0.0
    v = noise_variance(residual, n, total, limits)
    return 0.5 * (n * math.log(v / variance) + (residual / v - n))
