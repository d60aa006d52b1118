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

Symbols: G, G^-1, R, n are `gram`, `inverse`, `residual`, `n` of the `Fit`; the diagonal of D is
`Mixing.spread` and a0 `Mixing.stiffness`; k and d are `coefficient` and `distance` of the
`Departure`.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic.cholesky import cholesky, invert
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.row_evidence import Fit
from causalfocus.kernels.records import Span

PIECES = np.array([0.0, 0.005, 0.01, 0.02, 0.03, 0.045, 0.065, 0.09, 0.12, 0.16, 0.22, 0.3, 0.45])
COARSE_PIECES = np.array([0.0, 0.02, 0.06, 0.16, 0.45])
"""Logarithmic distances from R/n at which the range of v is cut."""


class Mixing(NamedTuple):
    """The numerator around the alternative's row: (2, s), rows `fixed` and `relative` of the
    diagonal of D; and a0.
    """

    spread: Floats
    stiffness: float


class Departure(NamedTuple):
    """What alternatives have in common: coefficient k is at a distance d or more from the fit."""

    coefficient: int
    distance: float


class Noise(NamedTuple):
    """The marginal likelihood: log m plus the logarithm of its weight over that of the mixture
    around the row, and R and n of the samples that it counts.
    """

    log_marginal: float
    residual: float
    n: float


@kernel
def variance_evidence(v: float, residual: float, n: float, a0: float) -> float:
    """Return the terms without delta and determinant: evidence against v, negative near R/n."""
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
def noise_evidence(v1: float, v2: float, noise: Noise) -> float:
    """Return the least evidence of the marginal likelihood against v in [v1, v2], for all b."""
    residual, n = noise.residual, noise.n
    if not (noise.log_marginal > -math.inf and residual > 0.0):
        return -math.inf
    v = min(max(residual / n, v1), v2)
    return noise.log_marginal + 0.5 * n * math.log(2.0 * math.pi * v) + 0.5 * residual / v


@kernel
def _piece_evidence(
    fit: Fit, mixing: Mixing, departure: Departure, piece: Span, work: Floats
) -> float:
    """Return a lower bound of the evidence over v in [v1, v2], a piece of the range; minus infinity
    where it has none.

    work : room for three matrices of the size of G
    """
    gram, inverse, residual, n = fit.gram, fit.inverse, fit.residual, fit.n
    v1, v2 = piece.low, piece.high
    spread, a0 = mixing.spread, mixing.stiffness
    k, d = departure.coefficient, departure.distance
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
def edge_evidence(
    fit: Fit, mixing: Mixing, departure: Departure, limits: Span, noise: Noise, useful: Span
) -> float:
    """Return a lower bound of the evidence against every (b, v) with |b_k - b^_k| >= d and v in the
    limits.

    useful : range in which the result matters: minus infinity is returned at once if it must be
        below, and coarse pieces are enough if they put it above
    """
    centre = fit.residual / fit.n
    s = fit.gram.shape[0]
    if not (departure.distance > 0.0 and centre > 0.0):
        return -math.inf
    work = np.empty((3, s, s))
    at = min(max(centre, limits.low), limits.high)
    highest = _piece_evidence(fit, mixing, departure, Span(at, at), work)
    highest = max(highest, noise_evidence(at, at, noise))
    if highest < useful.low:
        return -math.inf
    if useful.high < math.inf:
        kept = Span(useful.high, highest)
        least = _least_piece(fit, mixing, departure, limits, noise, COARSE_PIECES, kept, work)
        if least >= useful.high:
            return least
    kept = Span(useful.low, highest)
    return _least_piece(fit, mixing, departure, limits, noise, PIECES, kept, work)


@kernel
def _least_piece(
    fit: Fit,
    mixing: Mixing,
    departure: Departure,
    limits: Span,
    noise: Noise,
    cuts: Floats,
    kept: Span,
    work: Floats,
) -> float:
    """Return the least bound over all pieces.

    kept : at most its high end is returned, and minus infinity instead of less than its low end
    """
    centre = fit.residual / fit.n
    low, high = limits.low, limits.high
    least = kept.high
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
                    piece = Span(v1, v2)
                    value = max(value, _piece_evidence(fit, mixing, departure, piece, work))
                least = min(least, value)
                if least < kept.low:
                    return -math.inf
    return least
