"""Sums of products of all variables, the constant, all squares, and time; and by what was done.

What refutation reads beyond the moments: squares for a response that curves, time for drift, and
one group per action for noise that differs between them.

`sums` has the layout of `moment_sums`, one matrix per row over the samples in which its node was
free, but z is (x_1, ..., x_p, 1, x_1^2, ..., x_p^2, t) with t the number of the sample. `groups` is
(2, p, 2p + 1, p + 1, p + 1): per row the sums of (x, 1) over those of its samples in which another
node k was set, whatever else was: group 2k for the value that k was first asked to be set to and
2k + 1 for all others; group 2p for observations. A sample may be in several groups.
"""

import math

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.arithmetic import double_double as dd
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.sums.moment_sums import FAR, serves


@kernel
def watch_samples(
    sums: Floats,
    groups: Floats,
    origins: Floats,
    own: Ints,
    firsts: Floats,
    is_set: Bools,
    values: Floats,
    samples: Floats,
    n_before: float,
) -> None:
    """Add samples one after the other; the first is number n_before + 1.

    origins, own : see `moment_sums.add_samples`
    firsts : the value that each node was first asked to be set to, nan until then; written
    is_set, values : (n, p), which nodes were set in each sample, and what was asked for
    """
    p = samples.shape[1]
    q = sums.shape[2]
    z, z_low = np.ones(q), np.zeros(q)
    highs, lows = np.empty((q, q)), np.empty((q, q))
    is_in = np.zeros(2 * p + 1, dtype=np.bool_)
    for s in range(samples.shape[0]):
        is_in[:] = False
        is_in[2 * p] = True
        for k in range(p):
            if is_set[s, k]:
                if math.isnan(firsts[k]):
                    firsts[k] = values[s, k]
                is_in[2 * k + (1 if values[s, k] != firsts[k] else 0)] = True
                is_in[2 * p] = False
        for m in range(len(origins)):
            if not serves(m, own, is_set[s]):
                continue
            for k in range(p):
                z[k], z_low[k] = dd.two_sum(samples[s, k], -origins[m, k])
                z[p + 1 + k], z_low[p + 1 + k] = dd.multiply(z[k], z_low[k], z[k], z_low[k])
            z[q - 1] = n_before + s + 1.0
            for i in range(q):
                for k in range(i + 1):
                    highs[i, k], lows[i, k] = dd.multiply(z[i], z_low[i], z[k], z_low[k])
            for j in range(p):
                if own[j] != m or is_set[s, j]:
                    continue
                _add_lower(sums[:, j], highs, lows, q)
                for g in range(2 * p + 1):
                    if is_in[g]:
                        _add_lower(groups[:, j, g], highs, lows, p + 1)


@kernel
def _add_lower(total: Floats, highs: Floats, lows: Floats, size: int) -> None:
    """Add the first rows of the lower triangle of a matrix to those of a sum."""
    for i in range(size):
        for k in range(i + 1):
            total[0, i, k], total[1, i, k] = dd.add(
                total[0, i, k], total[1, i, k], highs[i, k], lows[i, k]
            )


@kernel
def move_time(sums: Floats, delay: float) -> Floats:
    """Return the same sums with every time raised by `delay`."""
    result = sums.copy()
    groups, q = sums.shape[1], sums.shape[2]
    one = (q - 2) // 2
    for g in range(groups):
        for k in range(q - 1):
            i, j = (k, one) if k >= one else (one, k)
            part, part_low = dd.multiply(sums[0, g, i, j], sums[1, g, i, j], delay, 0.0)
            result[0, g, q - 1, k], result[1, g, q - 1, k] = dd.add(
                sums[0, g, q - 1, k], sums[1, g, q - 1, k], part, part_low
            )
        high, low = sums[0, g, q - 1, q - 1], sums[1, g, q - 1, q - 1]
        part, part_low = dd.multiply(
            sums[0, g, q - 1, one], sums[1, g, q - 1, one], 2.0 * delay, 0.0
        )
        high, low = dd.add(high, low, part, part_low)
        part, part_low = dd.multiply(sums[0, g, one, one], 0.0, delay * delay, 0.0)
        result[0, g, q - 1, q - 1], result[1, g, q - 1, q - 1] = dd.add(high, low, part, part_low)
    return result


@kernel
def move_origin(sums: Floats, by: Floats) -> Floats:
    """Return the same sums about origins that are further away: by (p, 2, p), for every row its
    own, high and low parts.
    """
    rows, q = sums.shape[1], sums.shape[2]
    p = (q - 2) // 2
    result = sums.copy()
    for g in range(rows):
        for j in range(q):
            for k in range(j):
                result[:, g, k, j] = result[:, g, j, k]
        # Rows, then columns: x - a, and x^2 - 2a x + a^2 from the x as it was.
        for is_column in (False, True):
            for k in range(p):
                if by[g, 0, k] == 0.0:
                    continue
                for j in range(q):
                    square = (j, p + 1 + k) if is_column else (p + 1 + k, j)
                    plain = (j, k) if is_column else (k, j)
                    one = (j, p) if is_column else (p, j)
                    far, far_low = by[g, 0, k], by[g, 1, k]
                    _add_times(result[:, g], square, plain, -2.0 * far, -2.0 * far_low)
                    high, low = dd.multiply(far, far_low, far, far_low)
                    _add_times(result[:, g], square, one, high, low)
                    _add_times(result[:, g], plain, one, -far, -far_low)
    return result


@kernel
def _add_times(
    total: Floats, to: tuple[int, int], what: tuple[int, int], factor: float, factor_low: float
) -> None:
    """Add a multiple of one entry to another."""
    j, k = to
    row, column = what
    part, part_low = dd.multiply(total[0, row, column], total[1, row, column], factor, factor_low)
    total[0, j, k], total[1, j, k] = dd.add(total[0, j, k], total[1, j, k], part, part_low)


@kernel
def full_row(lower: Floats, p: int) -> tuple[Floats, Floats, float]:
    """Return a matrix of sums, (2, q, q), with its upper triangle, high and low parts, and the
    number of samples; p is the index of the constant.
    """
    total = lower.copy()
    q = total.shape[1]
    for j in range(q):
        for k in range(j):
            total[0, k, j], total[1, k, j] = total[0, j, k], total[1, j, k]
    return total[0], total[1], total[0, p, p]


@kernel
def without_group(row: Floats, group: Floats) -> Floats:
    """Return the sums of (x, 1) of a row without those of one of its groups, (2, p + 1, p + 1),
    lower triangle. A variable of which too few digits are left is nan: it gives no evidence.
    """
    q = group.shape[1]
    rest = np.zeros((2, q, q))
    for i in range(q):
        for k in range(i + 1):
            rest[0, i, k], rest[1, i, k] = dd.add(
                row[0, i, k], row[1, i, k], -group[0, i, k], -group[1, i, k]
            )
    if rest[0, q - 1, q - 1] > 0.0:
        for i in range(q):
            if not row[0, i, i] <= FAR * rest[0, i, i]:
                rest[:, i, : i + 1] = math.nan
                rest[:, i:, i] = math.nan
    return rest
