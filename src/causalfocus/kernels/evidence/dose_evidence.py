"""Evidence that a row depends on the value that a node was set to, beyond what it is.

Let d be x_k - c in the samples in which node k was set and zero in all others, c a number that was
known before the sample. A system without hidden common causes has no coefficient on d in the row of
j: its equation is the same whether k is set or free. If something that is not measured drives both,
j goes with a free k otherwise than with one that was set.

The alternative's own row is moved along the direction of the coefficient of d, which is zero in
every alternative, as `direction_evidence` moves it along that of a weight: against it stand rows
that differ from it by a step, whatever its coefficients and its noise. Such a numerator is a
density against every linear system. In a sample in which k was set, k has no equation and the
system no edge into k, so an edge k -> j closes no cycle, even where j acts on k when both are free;
in all others d is zero, and the row has the alternative's own parents. Which nodes were set, and
what d is when they were, is known before j is drawn: what was achieved is the actuator's own, and
its law is the same in numerator and denominator. So the ratio is a non-negative martingale with
mean one under the alternative. It needs no training: weights and noise are the alternative's own.

With origins in the data, those of the first mark are known before any sample after it. So counting
begins at the first mark, and c, the mean of k while it was free, is that of the samples before the
mark that the sample comes after. Without constants it is zero.
"""

import math

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic import double_double as dd
from causalfocus.kernels.arithmetic.sets import regressors_of
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.direction_evidence import (
    Departure,
    Mixing,
    Noise,
    direction_evidence,
)
from causalfocus.kernels.evidence.directions import (
    Times,
    direction_sums,
    past_inverses,
    present_row,
)
from causalfocus.kernels.evidence.row_evidence import even_spread, least_squares
from causalfocus.kernels.records import Span
from causalfocus.kernels.sums.extra_columns import dose_column
from causalfocus.kernels.sums.moment_sums import FAR

PlainTimes = tuple[Floats, Floats, Floats]
"""`Times` as a plain tuple, see `records`."""


@kernel
def dose_times(
    sums: Floats, groups: Floats, place: tuple[int, int], has_constant: bool
) -> PlainTimes:
    """Return the moments of (x, 1, d) in the row of j at the marks after the first and at present,
    of the samples since the first; those of other rows are zero. A variable of which too few
    digits are left is nan: it gives no evidence.

    sums, groups : (m, 2, q, q) and (m, 2, 2p + 1, p + 1, p + 1), of the row at the marks and, last,
        at present; see `assumption_sums`
    place : j and k
    """
    j, k = place
    m, p = len(sums), groups.shape[3] - 1
    grams, lows = np.zeros((m - 1, p, p + 2, p + 2)), np.zeros((m - 1, p, p + 2, p + 2))
    counts = np.zeros((m - 1, p))
    column = np.zeros((2, p + 2))
    for t in range(1, m):
        centre = _free_mean(sums[t - 1], groups[t - 1], k) if has_constant else 0.0
        _add(column, dose_column(groups[t], k, centre), 1.0)
        _add(column, dose_column(groups[t - 1], k, centre), -1.0)
        high, low = grams[t - 1, j], lows[t - 1, j]
        for i in range(p + 1):
            for r in range(i + 1):
                high[i, r], low[i, r] = dd.add(
                    sums[t, 0, i, r], sums[t, 1, i, r], -sums[0, 0, i, r], -sums[0, 1, i, r]
                )
                high[r, i], low[r, i] = high[i, r], low[i, r]
        for i in range(p + 2):
            high[p + 1, i], low[p + 1, i] = column[0, i], column[1, i]
            high[i, p + 1], low[i, p + 1] = column[0, i], column[1, i]
        counts[t - 1, j] = high[p, p]
        for i in range(p):
            if not sums[t, 0, i, i] <= FAR * high[i, i]:
                high[i, :], high[:, i] = math.nan, math.nan
        if not groups[t, 0, 2 * k : 2 * k + 2, k, k].sum() <= FAR * high[p + 1, p + 1]:
            high[p + 1, :], high[:, p + 1] = math.nan, math.nan
    return grams, lows, counts


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
def dose_evidence(
    times: PlainTimes,
    j: int,
    parents: int,
    steps: Floats,
    mixing: tuple[float, float],
    noise: tuple[float, float, float],
    has_constant: bool,
) -> float:
    """Return a lower bound of the evidence against every row of j on some parents, with its share
    of the steps.

    times : of `dose_times`
    steps : by which rows are moved, to either side, with equal shares
    mixing : the standard deviation of every coefficient as a share of the step, and a0
    noise : another term of the same mixture, see `Noise`; its weight is relative to that of the
        numerators here
    """
    grams, lows, counts = times
    moments = Times(grams, lows, counts)
    p = counts.shape[1]
    own = regressors_of(parents, p, p + 1 if has_constant else p)
    regressors = np.append(own, np.int64(p + 1))
    fit = least_squares(present_row(moments, j), regressors, counts[-1, j])
    if not fit.residual > 0.0:
        return -math.inf
    i = len(regressors) - 1
    past = past_inverses(moments, j, regressors)
    u = direction_sums(moments, j, regressors, past, fit.coefficients, i)
    departure = Departure(i, abs(fit.coefficients[i]))
    own_share = -math.log(len(steps))
    log_marginal, residual, n = noise
    other = Noise(log_marginal - own_share, residual, n)
    best = -math.inf
    for step in steps:
        spread = Mixing(even_spread(regressors, p, mixing[0] * step), step, mixing[1])
        found = direction_evidence(
            fit, u, spread, departure, Span(0.0, math.inf), other, Span(-math.inf, math.inf)
        )
        best = max(best, found)
    return best + own_share
