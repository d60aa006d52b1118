"""Evidence that one coefficient of a row is not where an alternative puts it, along the direction
in which the alternative would move.

The alternative fixes a row (b, v) on the regressors S: its parents and, with intercepts, the
constant. One that must have coefficient k at a distance d, and else fits as well as it can, moves
the other coefficients along: by u = G^-1 e_k / (G^-1)_kk, with G the Gram matrix of its regressors.
Against it stand two numerators that move its row back along u, by a step to either side, with
half of the weight each. The step may depend on the alternative. G is known from earlier samples:
the time is cut at marks, and between two marks the direction is that of the samples before the
first of them. So, with u_t what is known before sample t and c = step or -step,

    v' ~ inverse gamma(a0, a0 v),   row at time t: b + w + c u_t,   w | v' ~ N(0, (v'/v) D),

with D = diag(fixed + relative v): every single coefficient is mixed too, by very little. Given the
past, u_t is fixed, so each sample's density integrates to one: the ratio to the alternative's
likelihood is a non-negative martingale with mean one if the alternative is true. With G, R, b^ the
moments and fit on x alone, delta = b^ - b, a = a0 + n/2, and

    l = sum u_t.x x,   q = sum (u_t.x)^2,   eta = sum u_t.x (y - b^.x),   B = (G + v D^-1)^-1,
    K = G - G B G,   m = l - G B l,
    X = delta'K delta - 2 c (eta + m'delta) + c^2 (q - l'B l),

R + X is the least value over w of sum (y - (b + w + c u_t).x)^2 + v w'D^-1 w, and the logarithm is

    n/2 log v + (R + delta'G delta)/2v + a0 log(a0 v) + lgamma(a) - lgamma(a0)
      - a log(a0 v + R/2 + X/2) - 1/2 log det(I + D G / v).

If u_t were u throughout and D zero, the terms in delta would be c d / (v (G^-1)_kk) less half of
c^2 / (v (G^-1)_kk) for every alternative: with a step of d, half of d^2 / (v (G^-1)_kk), which is
the divergence itself. Only the half is paid, log 2, however many samples there are.

Lower bound over all alternatives with |delta_k| >= d and v in [v1, v2]. The numerator whose c has
the sign of delta_k serves; let that be c > 0, the other case is its mirror image with -eta. Since
log(1 + x) <= x, the terms in delta are at least delta'G delta / 2v - X / 2w, w = (a0 v + R/2)/a. X
grows with v, since v D^-1 does; w is at least w1 = w(v1). So they are at least the lesser of
delta'G delta / 2 v2, whose least value is d^2 / (2 v2 (G^-1)_kk), and of

    delta'G delta / 2 v2 - X(v2) / 2 w1
      = delta'Q delta / 2 + (c/w1) m'delta + c eta / w1 - c^2 (q - l'B l) / 2 w1,

with Q = G/v2 - K/w1. If Q is positive definite, this is least at delta_0 = -(c/w1) Q^-1 m when
free; with delta_k >= d it is at least its value there plus (d - delta_0k)^2 / (2 (Q^-1)_kk), the
latter only if d is above delta_0k. If Q is not, this bound is minus infinity; likewise where its
pivots are so small beside what it is the difference of that rounding could show (CANCELLED). The
terms without delta fall up to v = R/n and rise after it, and the determinant falls with v. On a
piece of the range of v these together bound the evidence from below; the least piece bounds all. A
marginal likelihood takes over far from R/n: see `Noise`.

Where v is above R/n, w is below it, and Q may fail to be positive definite: an alternative with
more noise and coefficients far from the fit. Its likelihood falls as slowly as that of the
numerators, which that bound overlooks: a log(1 + x) <= a x is crude for the large X of such
alternatives. The tangent may touch elsewhere. For any w > 0 that is fixed for a piece,

    -a log(a0 v + R/2 + X/2) >= a - a log(a w) - (a0 v + R/2 + X/2) / w,

since the logarithm is below its tangent at a w. So the evidence is at least

    T(v) + delta'G delta / 2v - X / 2w - 1/2 log det,
    T(v) = a log v + R/2v - a0 v/w + a0 log a0 + a - a log(a w) - R/2w + lgamma(a) - lgamma(a0),

and the terms in delta are bounded as before, with w for w1 and without the lesser of two. T has one
minimum and then one maximum, so on a piece it is least at an end or at the smaller root of
a0 v^2 - a w v + R w / 2. With w = v2 and little mixing Q is about (G - K)/v2, which is positive
definite. The best of these bounds counts.

Symbols: G, G^-1, R, n and b^ are `gram`, `inverse`, `residual`, `n` and `coefficients` of the
`Fit`; l, q and eta are `products`, `square` and `residual_product` of the `Direction`; the diagonal
of D, the step and a0 are `spread`, `step` and `stiffness` of the `Mixing`; k and d are
`coefficient` and `distance` of the `Departure`.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic.cholesky import cholesky, invert
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.directions import Direction
from causalfocus.kernels.evidence.row_evidence import Fit
from causalfocus.kernels.records import Span

NEAR = [0.005, 0.01, 0.02, 0.03, 0.045, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.19, 0.22, 0.26]
MIDDLE = [0.29, 0.32, 0.35, 0.38, 0.41, 0.45, 0.5, 0.55]
FAR = [0.6, 0.7, 0.8, 1.05, 1.35, 1.7, 2.1, 2.6, 3.2, 4.0]
PIECES = np.array([0.0, *NEAR, *MIDDLE, *FAR])
COARSE_PIECES = np.array([0.0, 0.02, 0.06, 0.12, 0.2, 0.3, 0.45, 0.8, 1.3, 2.0, 3.0, 4.0])
"""Logarithmic distances from R/n at which the range of v is cut."""

ROUNDING = 1e-14
"""Nats taken off per unit of the largest entry of the determinant, for the digits that it loses:
nothing as a rule, and much where the data are a million times finer than the mixing."""

CANCELLED = 1e-9
"""Share of G/v below which a pivot of Q could be rounding: what is left of sixteen digits moves the
evidence by less than SAFETY."""

LOG_HALF = math.log(0.5)
"""Of the weight, for either sign of the step."""


class Mixing(NamedTuple):
    """The numerators around the alternative's row: (2, s), rows `fixed` and `relative` of the
    diagonal of D; the step; and a0.
    """

    spread: Floats
    step: float
    stiffness: float


class Departure(NamedTuple):
    """What alternatives have in common: coefficient k is at a distance d or more from the fit."""

    coefficient: int
    distance: float


class Noise(NamedTuple):
    """Another term of the same mixture: a marginal likelihood m of the row, on all n samples or on
    some. Its evidence against (b, v) is at least log m + n/2 log(2 pi v) + R/2v for all b, with n
    and R those of the samples it counts, and rises with the distance of v from R/n.

    It is log m plus the logarithm of its weight over that of the numerators along the direction,
    and R and n of the samples that it counts.
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
    value = noise.log_marginal + 0.5 * n * math.log(2.0 * math.pi * v) + 0.5 * residual / v
    return value if value == value else -math.inf


@kernel
def _mixing_penalty(gram: Floats, spread: Floats, v: float, matrix: Floats, lower: Floats) -> float:
    """Return half of the log determinant, and what it may have lost to rounding."""
    s = gram.shape[0]
    largest = 1.0
    for i in range(s):
        d_i = math.sqrt(spread[0, i] / v + spread[1, i])
        for j in range(i + 1):
            d_j = math.sqrt(spread[0, j] / v + spread[1, j])
            matrix[i, j] = d_i * d_j * gram[i, j] + (1.0 if i == j else 0.0)
        largest = max(largest, matrix[i, i])
    return 0.5 * cholesky(matrix, lower) + ROUNDING * largest


@kernel
def tangent_evidence(piece: Span, w: float, residual: float, n: float, a0: float) -> float:
    """Return the least value of T over a piece of the range of v."""
    a = a0 + 0.5 * n
    least = min(_bent(piece.low, w, residual, a, a0), _bent(piece.high, w, residual, a, a0))
    under = a * a - 2.0 * residual * a0 / w
    if under > 0.0:
        root = residual / (a + math.sqrt(under))
        if piece.low < root < piece.high:
            least = min(least, _bent(root, w, residual, a, a0))
    constant = a * (1.0 - math.log(a * w)) + a0 * math.log(a0) - 0.5 * residual / w
    return least + constant + math.lgamma(a) - math.lgamma(a0)


@kernel
def _bent(v: float, w: float, residual: float, a: float, a0: float) -> float:
    """Return the terms of T that depend on v."""
    return a * math.log(v) + 0.5 * residual / v - a0 * v / w


@kernel
def _reduce(fit: Fit, direction: Direction, spread: Floats, v: float, work: Floats) -> float:
    """Write K and m into the work, and return q - l'B l; nan where there is no B."""
    gram, ell = fit.gram, direction.products
    s = gram.shape[0]
    matrix, inner, lower, kept = work[0, :s], work[1, :s], work[2, :s], work[3, :s]
    tilt, slope = work[4, s], work[5, s]
    for i in range(s):
        for j in range(s):
            matrix[i, j] = gram[i, j]
        matrix[i, i] += v / (spread[0, i] + spread[1, i] * v)
    if math.isnan(invert(matrix, inner, lower)):
        return math.nan
    square = direction.square
    for i in range(s):
        tilt[i] = 0.0
        for j in range(s):
            tilt[i] += inner[i, j] * ell[j]
        square -= ell[i] * tilt[i]
    # With tilt = B l: m = l - G tilt. With matrix = B G: K = G - G matrix.
    for i in range(s):
        slope[i] = ell[i]
        for j in range(s):
            slope[i] -= gram[i, j] * tilt[j]
            matrix[i, j] = 0.0
            for r in range(s):
                matrix[i, j] += inner[i, r] * gram[r, j]
    for i in range(s):
        for j in range(i + 1):
            total = gram[i, j]
            for r in range(s):
                total -= gram[i, r] * matrix[r, j]
            kept[i, j] = kept[j, i] = total
    return square


@kernel
def _gain(
    fit: Fit,
    direction: Direction,
    c: float,
    departure: Departure,
    v: float,
    w: float,
    square: float,
    work: Floats,
) -> float:
    """Return the least of delta'G delta / 2v - X / 2w; minus infinity where Q is not surely
    positive definite. K and m are in the work.
    """
    gram, s = fit.gram, fit.gram.shape[0]
    matrix, inner, lower, kept = work[0, :s], work[1, :s], work[2, :s], work[3, :s]
    slope, k = work[5, s], departure.coefficient
    for i in range(s):
        for j in range(i + 1):
            matrix[i, j] = matrix[j, i] = gram[i, j] / v - kept[i, j] / w
    if math.isnan(invert(matrix, inner, lower)):
        return -math.inf
    for i in range(s):
        if not lower[i, i] ** 2 > CANCELLED * gram[i, i] / v:
            return -math.inf
    offset, dent = 0.0, 0.0
    for i in range(s):
        offset += inner[k, i] * slope[i]
        for j in range(s):
            dent += slope[i] * inner[i, j] * slope[j]
    away = max(departure.distance + c * offset / w, 0.0)
    gained = 0.5 * away * away / inner[k, k] - 0.5 * (c / w) ** 2 * dent
    return gained - c * (abs(direction.residual_product) + 0.5 * c * square) / w


@kernel
def piece_evidence(
    fit: Fit,
    direction: Direction,
    mixing: Mixing,
    departure: Departure,
    piece: Span,
    enough: float,
    work: Floats,
) -> float:
    """Return a lower bound of the evidence over v in a piece of the range; minus infinity where it
    has none.

    enough : no better bound is sought than one that reaches this
    work : room for four matrices of the size of G and one row more
    """
    residual, n, c, a0 = fit.residual, fit.n, mixing.step, mixing.stiffness
    v1, v2, s = piece.low, piece.high, fit.gram.shape[0]
    if not (v1 > 0.0 and v2 < math.inf):
        return -math.inf
    square = _reduce(fit, direction, mixing.spread, v2, work)
    if math.isnan(square):
        return -math.inf
    matrix, lower = np.empty((s, s)), np.empty((s, s))
    rest = LOG_HALF - _mixing_penalty(fit.gram, mixing.spread, v1, matrix, lower)
    w = (a0 * v1 + 0.5 * residual) / (a0 + 0.5 * n)
    gained = _gain(fit, direction, c, departure, v2, w, square, work)
    d, k = departure.distance, departure.coefficient
    gained = min(gained, 0.5 * d * d / (v2 * fit.inverse[k, k]))
    centre = min(max(residual / n, v1), v2)
    best = variance_evidence(centre, residual, n, a0) + gained + rest
    for touch in (math.sqrt(w * v2), v2):
        if not best >= enough:
            gained = _gain(fit, direction, c, departure, v2, touch, square, work)
            value = tangent_evidence(piece, touch, residual, n, a0) + gained + rest
            best = value if not best >= value else best
    return best if best == best else -math.inf


@kernel
def direction_evidence(
    fit: Fit,
    direction: Direction,
    mixing: Mixing,
    departure: Departure,
    limits: Span,
    noise: Noise,
    useful: Span,
) -> float:
    """Return a lower bound of the evidence against every (b, v) with |b_k - b^_k| >= d and v in the
    limits.

    useful : range in which the result matters: minus infinity is returned at once if it must be
        below, and coarse pieces are enough if they put it above
    """
    s = fit.gram.shape[0]
    centre = fit.residual / fit.n
    if not (departure.distance > 0.0 and centre > 0.0):
        return -math.inf
    work = np.empty((6, s + 1, s))
    at = min(max(centre, limits.low), limits.high)
    highest = piece_evidence(fit, direction, mixing, departure, Span(at, at), math.inf, work)
    highest = max(highest, noise_evidence(at, at, noise))
    if highest < useful.low:
        return -math.inf
    if useful.high < math.inf:
        kept = Span(useful.high, highest)
        least = _least_piece(
            fit, direction, mixing, departure, limits, noise, COARSE_PIECES, kept, work
        )
        if least >= useful.high:
            return least
    kept = Span(useful.low, highest)
    return _least_piece(fit, direction, mixing, departure, limits, noise, PIECES, kept, work)


@kernel
def _least_piece(
    fit: Fit,
    direction: Direction,
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
                if not value >= least:
                    piece = Span(v1, v2)
                    own = piece_evidence(fit, direction, mixing, departure, piece, least, work)
                    value = max(value, own)
                least = min(least, value)
                if least < kept.low:
                    return -math.inf
    return least
