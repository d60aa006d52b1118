"""Evidence that a row depends on the value that a node was set to, beyond what it is.

Let d be x_k - c in the samples in which node k was set and zero in all others, c a number that was
known before the sample. A system without hidden common causes has no coefficient on d in the row of
j: its equation is the same whether k is set or free. If something that is not measured drives both,
j goes with a free k otherwise than with one that was set.

The numerator. Let the alternative's row be (b, v) on its parents and, with intercepts, the
constant; its coefficient on d is zero, so let theta = (b, 0) be its row on these and d. Counting
begins at a mark. Lambda is a matrix that was known by then, and against the alternative stands

    v' ~ inverse gamma(a0, a0 v),   row theta + w,   w | v' ~ N(0, v' Lambda^-1).

It is a density against every linear system: in a sample in which k was set, k has no equation and
the system no edge into k, so an edge k -> j closes no cycle, even where j acts on k when both are
free; in all others d is zero, and the row has the alternative's own parents. Which nodes were set,
and what d is when they were, is known before j is drawn: what was achieved is the actuator's own,
and its law is the same in numerator and denominator. So the ratio is a non-negative martingale with
mean one under the alternative. It needs no estimate of weights or noise: they are its own.

The ratio. With G, R and theta^ the moments, residual and fit of the n samples on all regressors and
d, delta = theta^ - theta, K = G - G (G + Lambda)^-1 G, Y = R + delta'G delta, A = R + delta'K delta
and a = a0 + n/2, its logarithm is

    n/2 log v + Y/2v + a0 log(a0 v) - a log(a0 v + A/2) + lgamma(a) - lgamma(a0)
      - 1/2 log det(I + Lambda^-1 G).

Its derivative in v has the sign of v (a A - a0 Y) - Y A / 2. With r = A/Y and a r > a0 it is least
at v = Y r / 2 (a r - a0), where the terms in v are

    a - a log(a r) - a0/r + a0 log a0,

which fall with r as long as a r > a0. So the evidence against all (b, v) is that at the largest r.
All b leave delta free but for its last entry, beta, the coefficient of d in the fit. Where
M = r G - K is positive definite, the least delta'M delta is beta^2 / (M^-1)_dd, and A <= r Y for
all b if and only if that is (1 - r) R or more; which holds for all larger r, too. The least such r
is found by halving, from above, and a rounding added. No row on these regressors and d is more
likely than their fit, so the evidence is at most n/2 log(R_0 / R), R_0 the residual without d.

Lambda. With u the direction in which the other coefficients go with that of d, and D and d_0 the
mean squares of the regressors and of d less its projection on them, all from the samples before the
mark, w'Lambda w = STIFF (w_P - u w_d)'D (w_P - u w_d) + LOOSE d_0 w_d^2: loose along the direction
of d, stiff across it. STIFF and LOOSE are numbers of samples, so units do not matter.

All marks from the second on that hold no more than half of the samples may begin the count, the
i-th of them with a share of 1 / i (i + 1).
With constants, c is the mean of k while it was free, of the samples before the mark that a sample
comes after; without it is zero.
"""

import math

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic import double_double as dd
from causalfocus.kernels.arithmetic.cholesky import invert
from causalfocus.kernels.arithmetic.sets import regressors_of
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.row_evidence import Fit, least_squares
from causalfocus.kernels.records import Row
from causalfocus.kernels.search.tableau import CAREFUL
from causalfocus.kernels.sums.extra_columns import dose_column
from causalfocus.kernels.sums.moment_sums import FAR

STIFF, LOOSE = 128.0, 16.0
"""Samples that the alternative's own row counts for, across the direction of d and along it."""

STIFFNESS = 60.0
"""a0: how closely the numerator's noise follows the alternative's."""

HALVINGS = 40
ROUNDING = 1e-9
"""Added to r, above what halving and the digits of M leave open: 1e-5 nats at ten thousand
samples, below SAFETY."""

PlainTimes = tuple[Floats, Floats]
"""The moments of (x, 1, d) in a row, (m, p + 2, p + 2), high and low parts, at the marks and, last,
at present."""


@kernel
def dose_times(sums: Floats, groups: Floats, k: int, has_constant: bool) -> PlainTimes:
    """Return the moments of a row with the dose of node k at the marks and at present.

    sums, groups : (m, 2, q, q) and (m, 2, 2p + 1, p + 1, p + 1), of the row at these times; see
        `assumption_sums`
    """
    m, p = len(sums), groups.shape[3] - 1
    grams, lows = np.zeros((m, p + 2, p + 2)), np.zeros((m, p + 2, p + 2))
    column = np.zeros((2, p + 2))
    for t in range(m):
        before = max(t - 1, 0)
        centre = _free_mean(sums[before], groups[before], k) if has_constant else 0.0
        _add(column, dose_column(groups[t], k, centre), 1.0)
        if t > 0:
            _add(column, dose_column(groups[before], k, centre), -1.0)
        high, low = grams[t], lows[t]
        for i in range(p + 1):
            for r in range(i + 1):
                high[i, r], low[i, r] = sums[t, 0, i, r], sums[t, 1, i, r]
                high[r, i], low[r, i] = high[i, r], low[i, r]
        for i in range(p + 2):
            high[p + 1, i], low[p + 1, i] = column[0, i], column[1, i]
            high[i, p + 1], low[i, p + 1] = column[0, i], column[1, i]
    return grams, lows


@kernel
def _add(total: Floats, part: Floats, sign: float) -> None:
    """Add a column to another, or take it off."""
    for i in range(total.shape[1]):
        total[0, i], total[1, i] = dd.add(
            total[0, i], total[1, i], sign * part[0, i], sign * part[1, i]
        )


@kernel
def _free_mean(sums: Floats, groups: Floats, k: int) -> float:
    """Return the mean of k over those samples of a row in which k was not set."""
    p = groups.shape[2] - 1
    n = sums[0, p, p] - groups[0, 2 * k, p, p] - groups[0, 2 * k + 1, p, p]
    total = sums[0, p, k] - groups[0, 2 * k, p, k] - groups[0, 2 * k + 1, p, k]
    return total / n if n > 0.0 else 0.0


@kernel
def _row_since(times: PlainTimes, mark: int, j: int) -> Row:
    """Return the moments of the samples since a mark. A variable of which too few digits are left
    is nan: it gives no evidence.
    """
    grams, lows = times
    q = grams.shape[1]
    high, low = np.empty((q, q)), np.empty((q, q))
    for i in range(q):
        for r in range(q):
            high[i, r], low[i, r] = dd.add(
                grams[-1, i, r], lows[-1, i, r], -grams[mark, i, r], -lows[mark, i, r]
            )
    for i in range(q):
        if not grams[-1, i, i] <= FAR * high[i, i]:
            high[i, :], high[:, i] = math.nan, math.nan
    return Row(high, low, j)


@kernel
def prior_precision(known: Floats, regressors: Ints) -> Floats:
    """Return Lambda; its last entry is nan where the samples before the mark do not determine it.

    known : moments of (x, 1, d) of the samples before the mark
    regressors : d is the last
    """
    d = len(regressors) - 1
    n = known[-2, -2]
    block, inverse, u = np.empty((d, d)), np.zeros((d, d)), np.zeros(d)
    found = np.full((d + 1, d + 1), math.nan)
    for i in range(d):
        for r in range(d):
            block[i, r] = known[regressors[i], regressors[r]] / n
    if math.isnan(invert(block, inverse, np.empty((d, d)))):
        return found
    rest = known[-1, -1] / n
    for i in range(d):
        if not inverse[i, i] * block[i, i] < CAREFUL:
            return found
        for r in range(d):
            u[i] -= inverse[i, r] * known[regressors[r], -1] / n
        rest += u[i] * known[regressors[i], -1] / n
    if not rest > known[-1, -1] / (CAREFUL * n):
        return found
    found[:] = 0.0
    found[d, d] = LOOSE * rest
    for i in range(d):
        for r in range(d):
            found[i, r] = STIFF * block[i, r]
            found[i, d] -= STIFF * block[i, r] * u[r]
            found[d, d] += STIFF * u[i] * block[i, r] * u[r]
        found[d, i] = found[i, d]
    return found


@kernel
def _part_kept(fit: Fit, prior: Floats) -> tuple[Floats, float]:
    """Return K and log det(I + Lambda^-1 G); nan where they are not known."""
    s = len(prior)
    inverse, lower = np.zeros((s, s)), np.empty((s, s))
    log_prior = invert(prior, inverse, lower)
    log_both = invert(prior + fit.gram, inverse, lower)
    return fit.gram - fit.gram @ inverse @ fit.gram, log_both - log_prior


@kernel
def _holds(ratio: float, fit: Fit, kept: Floats) -> bool:
    """Return whether A <= r Y for all b."""
    s = len(kept)
    inverse, lower = np.zeros((s, s)), np.empty((s, s))
    if math.isnan(invert(ratio * fit.gram - kept, inverse, lower)):
        return False
    beta = fit.coefficients[s - 1]
    return bool(beta * beta >= (1.0 - ratio) * fit.residual * inverse[s - 1, s - 1])


@kernel
def _evidence_since(times: PlainTimes, mark: int, j: int, regressors: Ints, useful: float) -> float:
    """Return the evidence of the samples since a mark; what it is at most, if that is less than
    what is useful.
    """
    grams, _ = times
    row = _row_since(times, mark, j)
    n = row.high[-2, -2]
    fit = least_squares(row, regressors, n)
    plain = least_squares(row, regressors[:-1], n).residual
    if not (fit.residual > 0.0 and plain > 0.0):
        return -math.inf
    highest = 0.5 * n * math.log(plain / fit.residual)
    if highest < useful:
        return highest
    prior = prior_precision(grams[mark], regressors)
    if not prior[-1, -1] > 0.0:
        return -math.inf
    kept, log_determinant = _part_kept(fit, prior)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if _holds(middle, fit, kept):
            high = middle
        else:
            low = middle
    ratio, a0 = min(high + ROUNDING, 1.0), STIFFNESS
    a = a0 + 0.5 * n
    if not a * ratio > a0:
        return -math.inf
    value = (
        a
        - a * math.log(a * ratio)
        - a0 / ratio
        + a0 * math.log(a0)
        + math.lgamma(a)
        - math.lgamma(a0)
        - 0.5 * log_determinant
    )
    return value if value == value else -math.inf


@kernel
def dose_evidence(
    times: PlainTimes, j: int, parents: int, has_constant: bool, useful: float
) -> float:
    """Return the evidence against every row of j on some parents, whatever its noise, with the
    share of the mark that counting begins at; what it is at most, if that is less than what is
    useful.

    times : of `dose_times`
    """
    grams, _ = times
    p = grams.shape[1] - 2
    own = regressors_of(parents, p, p + 1 if has_constant else p)
    regressors = np.append(own, np.int64(p + 1))
    best = -math.inf
    for mark in range(1, len(grams) - 1):
        if 2.0 * grams[mark, p, p] > grams[-1, p, p]:
            continue
        cost = math.log(mark * (mark + 1.0))
        found = _evidence_since(times, mark, j, regressors, useful + cost)
        best = max(best, found - cost)
    return best
