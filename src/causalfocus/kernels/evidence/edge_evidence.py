"""Evidence that one coefficient of one row is not where an alternative puts it.

The alternative fixes a row (b, v) on the regressors S: its parents and, with intercepts, the
constant. Against it stands a numerator that depends on the alternative and on nothing else:

    v' ~ inverse gamma(a0, a0 v),   b' | v' ~ N(b, (v'/v) D),   D = diag(fixed + relative v),

a normal-inverse-gamma distribution around the alternative's own row. The ratio of the row's
marginal likelihood under it to its likelihood under the alternative is a non-negative martingale
with mean one if the alternative is true. With n samples, G and R the Gram matrix and residual of
the unconstrained fit b^, delta = b^ - b and a = a0 + n/2, its logarithm is

    n/2 log v + (R + delta'G delta)/2v + a0 log(a0 v) + lgamma(a) - lgamma(a0)
      - a log(a0 v + R/2 + delta'K delta/2) - 1/2 log det(I + DG/v),   K = (G^-1 + D/v)^-1.

Lower bound over all alternatives with |delta_k| >= d. Since log(1 + x) <= x, the terms in delta are
at least delta'Q delta/2 with Q = G/v - (w G^-1 + (w/v) D)^-1, w = (a0 v + R/2)/a. If Q is positive
definite the minimum over the other coefficients is d^2 / (2 (Q^-1)_kk); if not, this bound is minus
infinity. What remains is a function of v alone. On a piece [v1, v2] of its range, G/v is at least
G/v2, w is at least w(v1), w/v at least its value at v2, D/v at most that at v1, and the terms
without delta fall up to v = R/n and rise after it. Together these bound the piece from below; the
least piece bounds the range.

Far from R/n another term of the same mixture takes over: a marginal likelihood m of the row, on all
n samples or on some, whose evidence against (b, v) is at least log m + n/2 log(2 pi v) + R/2v for
all b, with n and R those of the samples it counts, and rises with the distance of v from R/n. A
piece counts with the larger of the two, each with its weight.
"""

import math

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.compile import kernel

PIECES = np.array([0.0, 0.005, 0.01, 0.02, 0.03, 0.045, 0.065, 0.09, 0.12, 0.16, 0.22, 0.3, 0.45])
COARSE_PIECES = np.array([0.0, 0.02, 0.06, 0.16, 0.45])
"""Logarithmic distances from R/n at which the range of v is cut."""

Fit = tuple[Floats, Floats, float, float]
"""G, G^-1, R and n of a row."""

Noise = tuple[float, float, float]
"""The marginal likelihood: log m plus the logarithm of its weight over that of the mixture around
the row, and R and n of the samples that it counts."""


@kernel
def cholesky(matrix: Floats, lower: Floats) -> float:
    """Lower factor of a symmetric matrix; its log determinant, nan if it is not positive definite
    to rounding. Only the lower triangles are read and written.
    """
    s = matrix.shape[0]
    log_determinant = 0.0
    for i in range(s):
        for k in range(i + 1):
            total = matrix[i, k]
            for m in range(k):
                total -= lower[i, m] * lower[k, m]
            if i == k:
                if not total > 1e-13 * matrix[i, i]:
                    return math.nan
                lower[i, i] = math.sqrt(total)
                log_determinant += math.log(total)
            else:
                lower[i, k] = total / lower[k, k]
    return log_determinant


@kernel
def invert(matrix: Floats, result: Floats, lower: Floats) -> float:
    """Inverse of a symmetric matrix into `result`; its log determinant, nan if it is not positive
    definite to rounding. `lower` is room for the factor.
    """
    s = matrix.shape[0]
    log_determinant = cholesky(matrix, lower)
    if math.isnan(log_determinant):
        return math.nan
    for column in range(s):
        for i in range(s):
            total = 1.0 if i == column else 0.0
            for m in range(column, i):
                total -= lower[i, m] * result[m, column]
            result[i, column] = total / lower[i, i] if i >= column else 0.0
        for i in range(s - 1, -1, -1):
            total = result[i, column]
            for m in range(i + 1, s):
                total -= lower[m, i] * result[m, column]
            result[i, column] = total / lower[i, i]
    return log_determinant


@kernel
def variance_evidence(v: float, residual: float, n: float, a0: float) -> float:
    """The terms without delta and determinant: evidence against v, negative near R/n."""
    a = a0 + 0.5 * n
    return (
        0.5 * n * math.log(v)
        + 0.5 * residual / v
        + a0 * math.log(a0 * v)
        - a * math.log(a0 * v + 0.5 * residual)
        + math.lgamma(a)
        - math.lgamma(a0)
    )


@kernel
def _piece(
    fit: Fit,
    spread: Floats,
    k: int,
    d: float,
    ends: tuple[float, float],
    a0: float,
    work: Floats,
) -> float:
    """Lower bound of the evidence over v in [v1, v2]; minus infinity where it has none.

    fit : G, G^-1, R, n.   spread : rows `fixed` and `relative` of the diagonal of D.
    work : room for three matrices of the size of G
    """
    gram, inverse, residual, n = fit
    v1, v2 = ends
    s = gram.shape[0]
    if not (v1 > 0.0 and v2 < math.inf):
        return -math.inf
    a = a0 + 0.5 * n
    w1 = (a0 * v1 + 0.5 * residual) / a
    ratio = (a0 + 0.5 * residual / v2) / a
    matrix, inner, lower = work[0], work[1], work[2]
    for i in range(s):
        for j in range(s):
            matrix[i, j] = w1 * inverse[i, j]
        matrix[i, i] += ratio * spread[0, i] + w1 * spread[1, i]
    if math.isnan(invert(matrix, inner, lower)):
        return -math.inf
    # Q with k as its last row and column: the last pivot of its factor is then 1 / (Q^-1)_kk.
    for i in range(s):
        from_i = k if i == s - 1 else (s - 1 if i == k else i)
        for j in range(i + 1):
            from_j = k if j == s - 1 else (s - 1 if j == k else j)
            matrix[i, j] = gram[from_i, from_j] / v2 - inner[from_i, from_j]
    if math.isnan(cholesky(matrix, lower)):
        return -math.inf
    gained = 0.5 * d * d * lower[s - 1, s - 1] ** 2
    for i in range(s):
        d_i = spread[0, i] / v1 + spread[1, i]
        for j in range(i + 1):
            d_j = spread[0, j] / v1 + spread[1, j]
            matrix[i, j] = math.sqrt(d_i * d_j) * gram[i, j] + (1.0 if i == j else 0.0)
    penalty = 0.5 * cholesky(matrix, lower)
    centre = min(max(residual / n, v1), v2)
    value = variance_evidence(centre, residual, n, a0) + gained - penalty
    return value if value == value else -math.inf


@kernel
def evidence_at_the_fit(fit: Fit, spread: Floats, k: int, d: float, a0: float) -> float:
    """The evidence with the noise at its fitted value: more than that against all v, mostly."""
    _, _, residual, n = fit
    s = fit[0].shape[0]
    if not (d > 0.0 and residual > 0.0):
        return -math.inf
    centre = residual / n
    return _piece(fit, spread, k, d, (centre, centre), a0, np.empty((3, s, s)))


@kernel
def edge_evidence(
    fit: Fit,
    spread: Floats,
    k: int,
    d: float,
    limits: tuple[float, float],
    a0: float,
    noise: Noise,
    of_use: tuple[float, float],
) -> float:
    """Lower bound of the evidence against every (b, v) with |b_k - b^_k| >= d and v in the limits.

    Parameters
    ----------
    fit : G, G^-1, R, n
    spread : (2, s), rows `fixed` and `relative` of the diagonal of D
    of_use : range in which the result matters: minus infinity is returned at once if it must be
        below, and coarse pieces are enough if they put it above
    """
    _, _, residual, n = fit
    centre = residual / n
    s = fit[0].shape[0]
    if not (d > 0.0 and centre > 0.0):
        return -math.inf
    work = np.empty((3, s, s))
    at = min(max(centre, limits[0]), limits[1])
    highest = _piece(fit, spread, k, d, (at, at), a0, work)
    highest = max(highest, noise_evidence(at, at, noise))
    if highest < of_use[0]:
        return -math.inf
    least = highest
    if of_use[1] < math.inf:
        least = _least_piece(
            fit, spread, k, d, limits, a0, noise, COARSE_PIECES, of_use[1], highest, work
        )
        if least >= of_use[1]:
            return least
    return _least_piece(fit, spread, k, d, limits, a0, noise, PIECES, of_use[0], highest, work)


@kernel
def _least_piece(
    fit: Fit,
    spread: Floats,
    k: int,
    d: float,
    limits: tuple[float, float],
    a0: float,
    noise: Noise,
    cuts: Floats,
    of_use: float,
    highest: float,
    work: Floats,
) -> float:
    """The least bound over all pieces, and at most `highest`; minus infinity if below `of_use`."""
    _, _, residual, n = fit
    centre = residual / n
    low, high = limits
    least = highest
    for side in (-1.0, 1.0):
        for i in range(len(cuts)):
            inner_end = centre * math.exp(side * cuts[i])
            outer_end = low if side < 0.0 else high
            if i + 1 < len(cuts):
                outer_end = centre * math.exp(side * cuts[i + 1])
            v1 = max(min(inner_end, outer_end), low)
            v2 = min(max(inner_end, outer_end), high)
            if v1 < v2:
                value = noise_evidence(v1, v2, noise)
                if value < least:
                    value = max(value, _piece(fit, spread, k, d, (v1, v2), a0, work))
                least = min(least, value)
                if least < of_use:
                    return -math.inf
    return least


@kernel
def noise_evidence(v1: float, v2: float, noise: Noise) -> float:
    """Least evidence of the marginal likelihood against v in [v1, v2], for all b."""
    log_m, residual, n = noise
    if not (log_m > -math.inf and residual > 0.0):
        return -math.inf
    v = min(max(residual / n, v1), v2)
    return log_m + 0.5 * n * math.log(2.0 * math.pi * v) + 0.5 * residual / v
