"""Sums of products of all variables, the constant, all squares, and time, kept apart by action.

What refutation reads beyond the moments: squares for a response that curves, time for drift, and
one group per action for noise that differs between them. Layout as in `moment_sums`, but z is
(x_1, ..., x_p, 1, x_1^2, ..., x_p^2, t) with t the number of the sample, and the groups are: for
node k, 2k for the value that it was first set to and 2k + 1 for all others; 2p for observations.
"""

import math

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic import double_double as dd
from causalfocus.kernels.compile import kernel


@kernel
def watch_samples(
    sums: Floats,
    origin: Floats,
    firsts: Floats,
    targets: Ints,
    samples: Floats,
    n_before: float,
) -> None:
    """Add samples one after the other; the first is number n_before + 1.

    firsts : the value that each node was first set to, nan until then; written
    targets : the node that was set, -1 for none
    """
    p = samples.shape[1]
    q = sums.shape[2]
    z, z_low = np.ones(q), np.zeros(q)
    for s in range(samples.shape[0]):
        g, target = 2 * p, targets[s]
        if target >= 0:
            if math.isnan(firsts[target]):
                firsts[target] = samples[s, target]
            g = 2 * target + (1 if samples[s, target] != firsts[target] else 0)
        for k in range(p):
            z[k], z_low[k] = dd.two_sum(samples[s, k], -origin[k])
            z[p + 1 + k], z_low[p + 1 + k] = dd.multiply(z[k], z_low[k], z[k], z_low[k])
        z[q - 1] = n_before + s + 1.0
        for j in range(q):
            for k in range(j + 1):
                high, low = dd.multiply(z[j], z_low[j], z[k], z_low[k])
                high, low = dd.add(sums[0, g, j, k], sums[1, g, j, k], high, low)
                sums[0, g, j, k] = high
                sums[1, g, j, k] = low


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
    """Return the same sums about an origin that is further away, by (2, p), high and low parts."""
    groups, q = sums.shape[1], sums.shape[2]
    p = (q - 2) // 2
    result = sums.copy()
    for g in range(groups):
        for j in range(q):
            for k in range(j):
                result[:, g, k, j] = result[:, g, j, k]
        # Rows, then columns: x - a, and x^2 - 2a x + a^2 from the x as it was.
        for is_column in (False, True):
            for k in range(p):
                if by[0, k] == 0.0:
                    continue
                for j in range(q):
                    square = (j, p + 1 + k) if is_column else (p + 1 + k, j)
                    plain = (j, k) if is_column else (k, j)
                    one = (j, p) if is_column else (p, j)
                    _add_times(result[:, g], square, plain, -2.0 * by[0, k], -2.0 * by[1, k])
                    high, low = dd.multiply(by[0, k], by[1, k], by[0, k], by[1, k])
                    _add_times(result[:, g], square, one, high, low)
                    _add_times(result[:, g], plain, one, -by[0, k], -by[1, k])
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
def watched_row(sums: Floats, groups: Ints) -> tuple[Floats, Floats, float]:
    """Return the sums of some groups as a full matrix, high and low parts, and their number."""
    q = sums.shape[2]
    p = (q - 2) // 2
    total = np.zeros((2, q, q))
    for g in groups:
        for j in range(q):
            for k in range(j + 1):
                total[0, j, k], total[1, j, k] = dd.add(
                    total[0, j, k], total[1, j, k], sums[0, g, j, k], sums[1, g, j, k]
                )
    for j in range(q):
        for k in range(j):
            total[0, k, j], total[1, k, j] = total[0, j, k], total[1, j, k]
    return total[0], total[1], total[0, p, p]
