"""Evidence that one coefficient of a row is not where an alternative puts it, along the direction
in which the alternative would move.

An alternative that must have coefficient k at a distance d, and else fits as well as it can, moves
the other coefficients along: by u = G^-1 e_k / (G^-1)_kk, with G the Gram matrix of its regressors.
`edge_evidence` mixes every coefficient and pays for each. Here the row moves along u alone, and by
very little in every coefficient. G is known from earlier samples: the time is cut at marks, and
between two marks the direction is that of the samples before the first of them. So, with (b, v) the
alternative's row and u_t what is known before sample t,

    v' ~ inverse gamma(a0, a0 v),   row at time t: b + w + c u_t,
    w | v' ~ N(0, (v'/v) D),   c | v' ~ N(0, (v'/v) wide^2),   D = diag(fixed + relative v).

Given the past, u_t is fixed, so each sample's density integrates to one: the ratio to the
alternative's likelihood is a non-negative martingale with mean one if the alternative is true. This
is a regression on (x, u_t.x). With G, R, b^ the moments and fit on x alone, delta = b^ - b, and

    l = sum u_t.x x,   q = sum (u_t.x)^2,   eta = sum u_t.x (y - b^.x),
    H = [G; l'],   A = [[G, l], [l', q]] + v diag(1/D, 1/wide^2),
    h = H delta + eta e,   X = delta'G delta - h'A^-1 h,

its logarithm is

    n/2 log v + (R + delta'G delta)/2v + a0 log(a0 v) + lgamma(a) - lgamma(a0)
      - a log(a0 v + R/2 + X/2) - 1/2 log det(I + diag(D, wide^2) [[G, l], [l', q]] / v).

Lower bound over all alternatives with |delta_k| >= d and v in [v1, v2]. Since log(1 + x) <= x, the
terms in delta are at least delta'G delta / 2v - X / 2w, w = (a0 v + R/2)/a. X grows with v, since A
does; w is at least w1 = w(v1). So they are at least the lesser of delta'G delta / 2 v2, whose least
value is d^2 / (2 v2 (G^-1)_kk), and of delta'G delta / 2 v2 - X(v2) / 2 w1, a quadratic function
delta'Q delta / 2 + eta g'delta + constant with Q = G/v2 - (G - H'A^-1 H)/w1 and g = H'A^-1 e / w1.
If Q is positive definite the latter is least at delta_0 = -eta Q^-1 g when free, and at least

    (d - |delta_0k|)^2 / (2 (Q^-1)_kk) - eta^2 g'Q^-1 g / 2 + eta^2 (A^-1)_ee / 2 w1

otherwise, the first term only if d is above |delta_0k|. The terms without delta fall up to v = R/n
and rise after it, and the determinant falls with v. A marginal likelihood takes over far from R/n,
as in `edge_evidence`.

Symbols: G, G^-1, R, n and b^ are `gram`, `inverse`, `residual`, `n` and `coefficients` of the
`Fit`; l, q and eta are `products`, `square` and `residual_product` of the `Direction`; the diagonal
of D, wide and a0 are `spread`, `wide` and `stiffness` of the `DirectionMixing`; k and d are
`coefficient` and `distance` of the `Departure`.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic.cholesky import cholesky, invert
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.edge_evidence import (
    Departure,
    Noise,
    noise_evidence,
    variance_evidence,
)
from causalfocus.kernels.evidence.row_evidence import Fit
from causalfocus.kernels.records import Span

NEAR = [0.005, 0.01, 0.02, 0.03, 0.045, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.19, 0.22, 0.26, 0.32]
FAR = [0.45, 0.6, 0.8, 1.05, 1.35, 1.7, 2.1, 2.6, 3.2, 4.0]
PIECES = np.array([0.0, *NEAR, *FAR])
COARSE_PIECES = np.array([0.0, 0.02, 0.06, 0.12, 0.2, 0.3, 0.45, 0.8, 1.3, 2.0, 3.0, 4.0])
"""Logarithmic distances from R/n at which the range of v is cut."""

ROUNDING = 1e-14
"""Nats taken off per unit of the largest entry of the determinant, for the digits that it loses:
nothing as a rule, and much where the data are a million times finer than the mixing."""


class Direction(NamedTuple):
    """The sums of a row along the direction of one coefficient: l, q and eta."""

    products: Floats
    square: float
    residual_product: float


class DirectionMixing(NamedTuple):
    """The numerator around the alternative's row: (2, s), rows `fixed` and `relative` of the
    diagonal of D; wide; and a0.
    """

    spread: Floats
    wide: float
    stiffness: float


class Times(NamedTuple):
    """The moments of all nodes at the marks: Gram matrices (m, p, q, q), high and low parts, and
    counts (m, p). The last mark is the present.
    """

    grams: Floats
    lows: Floats
    counts: Floats


@kernel
def past_inverses(times: Times, j: int, regressors: Ints) -> Floats:
    """Return (m, s, s): G^-1 of the row of j as it was at each mark; zeros where G had none."""
    s = len(regressors)
    m = times.grams.shape[0]
    found = np.zeros((m, s, s))
    block, lower = np.empty((s, s)), np.empty((s, s))
    for t in range(m - 1):
        if times.counts[t, j] > s:
            for i in range(s):
                for k in range(s):
                    block[i, k] = times.grams[t, j, regressors[i], regressors[k]]
            if math.isnan(invert(block, found[t], lower)):
                found[t] = 0.0
    return found


@kernel
def direction_sums(
    times: Times, j: int, regressors: Ints, inverses: Floats, b: Floats, k: int
) -> Direction:
    """Return l, q and eta of coefficient k. Before the first mark, and while the past does not
    determine the direction, it is that of the coefficient alone.
    """
    s = len(regressors)
    m = times.grams.shape[0]
    ell, q, eta = np.zeros(s), 0.0, 0.0
    u = np.zeros(s)
    for t in range(m):
        u[:] = 0.0
        u[k] = 1.0
        if t > 0 and inverses[t - 1, k, k] > 0.0:
            for i in range(s):
                u[i] = inverses[t - 1, i, k] / inverses[t - 1, k, k]
        for i in range(s):
            total = 0.0
            for r in range(s):
                total += _sum_between(times, t, j, regressors[i], regressors[r]) * u[r]
            ell[i] += total
            q += u[i] * total
            eta += u[i] * _sum_between(times, t, j, regressors[i], j) - total * b[i]
    return Direction(ell, q, eta)


@kernel
def _sum_between(times: Times, t: int, j: int, i: int, k: int) -> float:
    """Return the sum of products over the samples between mark t - 1 and mark t."""
    if t == 0:
        return times.grams[0, j, i, k]
    high = times.grams[t, j, i, k] - times.grams[t - 1, j, i, k]
    return high + (times.lows[t, j, i, k] - times.lows[t - 1, j, i, k])


@kernel
def piece_evidence(
    fit: Fit,
    direction: Direction,
    mixing: DirectionMixing,
    departure: Departure,
    piece: Span,
    work: Floats,
) -> float:
    """Return a lower bound of the evidence over v in [v1, v2], a piece of the range; minus infinity
    where it has none. `work` is room for five matrices of the size of A.
    """
    gram, residual, n = fit.gram, fit.residual, fit.n
    ell, q, eta = direction.products, direction.square, direction.residual_product
    spread, wide, a0 = mixing.spread, mixing.wide, mixing.stiffness
    k, d = departure.coefficient, departure.distance
    v1, v2 = piece.low, piece.high
    s = gram.shape[0]
    if not (v1 > 0.0 and v2 < math.inf):
        return -math.inf
    w1 = (a0 * v1 + 0.5 * residual) / (a0 + 0.5 * n)
    matrix, inner, lower, product = work[0], work[1], work[2], work[3]
    for i in range(s):
        for j in range(s):
            matrix[i, j] = gram[i, j]
        matrix[i, i] += v2 / (spread[0, i] + spread[1, i] * v2)
        matrix[s, i] = matrix[i, s] = ell[i]
    matrix[s, s] = q + v2 / wide**2
    if math.isnan(invert(matrix, inner, lower)):
        return -math.inf
    for i in range(s + 1):
        for j in range(s):
            product[i, j] = inner[i, s] * ell[j]
            for m in range(s):
                product[i, j] += inner[i, m] * gram[m, j]
    at_last = inner[s, s]
    curve, curve_inverse = work[4, :s, :s], inner[:s, :s]
    for i in range(s):
        for j in range(i + 1):
            total = ell[i] * product[s, j]
            for m in range(s):
                total += gram[i, m] * product[m, j]
            curve[i, j] = curve[j, i] = gram[i, j] / v2 - (gram[i, j] - total) / w1
    if math.isnan(invert(curve, curve_inverse, lower)):
        return -math.inf
    offset, dent = 0.0, 0.0
    for i in range(s):
        offset += curve_inverse[k, i] * product[s, i]
        for j in range(s):
            dent += product[s, i] * curve_inverse[i, j] * product[s, j]
    distance = max(d - abs(eta * offset) / w1, 0.0)
    gained = 0.5 * distance**2 / curve_inverse[k, k]
    gained += 0.5 * eta**2 / w1 * (at_last - dent / w1)
    gained = min(gained, 0.5 * d * d / (v2 * fit.inverse[k, k]))
    for i in range(s):
        d_i = math.sqrt(spread[0, i] / v1 + spread[1, i])
        for j in range(i + 1):
            d_j = math.sqrt(spread[0, j] / v1 + spread[1, j])
            matrix[i, j] = d_i * d_j * gram[i, j] + (1.0 if i == j else 0.0)
        matrix[s, i] = d_i * wide / math.sqrt(v1) * ell[i]
    matrix[s, s] = 1.0 + wide**2 / v1 * q
    largest = 1.0
    for i in range(s + 1):
        largest = max(largest, matrix[i, i])
    penalty = 0.5 * cholesky(matrix, lower) + ROUNDING * largest
    centre = min(max(residual / n, v1), v2)
    value = variance_evidence(centre, residual, n, a0) + gained - penalty
    return value if value == value else -math.inf


@kernel
def direction_evidence(
    fit: Fit,
    direction: Direction,
    mixing: DirectionMixing,
    departure: Departure,
    noise: Noise,
    useful: Span,
) -> float:
    """Return a lower bound of the evidence against every (b, v) with |b_k - b^_k| >= d, for all v.

    useful : range in which the result matters: minus infinity is returned at once if it must be
        below, and coarse pieces are enough if they put it above
    """
    s = fit.gram.shape[0]
    centre = fit.residual / fit.n
    if not (departure.distance > 0.0 and centre > 0.0):
        return -math.inf
    work = np.empty((5, s + 1, s + 1))
    highest = piece_evidence(fit, direction, mixing, departure, Span(centre, centre), work)
    highest = max(highest, noise_evidence(centre, centre, noise))
    if highest < useful.low:
        return -math.inf
    if useful.high < math.inf:
        kept = Span(useful.high, highest)
        least = _least_piece(fit, direction, mixing, departure, noise, COARSE_PIECES, kept, work)
        if least >= useful.high:
            return least
    kept = Span(useful.low, highest)
    return _least_piece(fit, direction, mixing, departure, noise, PIECES, kept, work)


@kernel
def _least_piece(
    fit: Fit,
    direction: Direction,
    mixing: DirectionMixing,
    departure: Departure,
    noise: Noise,
    cuts: Floats,
    kept: Span,
    work: Floats,
) -> float:
    """Return the least bound over all pieces.

    kept : at most its high end is returned, and minus infinity instead of less than its low end
    """
    centre = fit.residual / fit.n
    least = kept.high
    for side in (-1.0, 1.0):
        for i in range(len(cuts)):
            inner_end = centre * math.exp(side * cuts[i])
            outer_end = 0.0 if side < 0.0 else math.inf
            if i + 1 < len(cuts):
                outer_end = centre * math.exp(side * cuts[i + 1])
            v1, v2 = min(inner_end, outer_end), max(inner_end, outer_end)
            value = noise_evidence(v1, v2, noise)
            if value < least:
                piece = Span(v1, v2)
                value = max(value, piece_evidence(fit, direction, mixing, departure, piece, work))
            least = min(least, value)
            if least < kept.low:
                return -math.inf
    return least
