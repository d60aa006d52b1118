"""Sums of products of all variables, the constant, all squares, and time, kept apart by action.

What refutation reads beyond the moments: squares for a response that curves, time for drift, and
one group per action for noise that differs between them. Layout as in `moment_sums`, but z is
(x_1, ..., x_p, 1, x_1^2, ..., x_p^2, t) with t the number of the sample, and the groups are: for
node k, 2k for the value that it was first set to and 2k + 1 for all others; 2p for observations.
"""

import math

import numpy as np
from numpy.typing import NDArray

from causalfocus.kernels import double_double as dd
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.moment_sums import FAR

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def watch_samples(
    sums: Floats, firsts: Floats, targets: Ints, samples: Floats, n_before: float
) -> None:
    """Add samples one after the other; the first is number n_before + 1.

    firsts : the value that each node was first set to, nan until then; written
    targets : the node that was set, -1 for none
    """
    p = samples.shape[1]
    q = sums.shape[2]
    z = np.empty(q)
    for s in range(samples.shape[0]):
        g, target = 2 * p, targets[s]
        if target >= 0:
            if math.isnan(firsts[target]):
                firsts[target] = samples[s, target]
            g = 2 * target + (1 if samples[s, target] != firsts[target] else 0)
        for k in range(p):
            z[k] = samples[s, k]
            z[p + 1 + k] = samples[s, k] ** 2
        z[p] = 1.0
        z[q - 1] = n_before + s + 1.0
        for j in range(q):
            for k in range(j + 1):
                high, low = dd.two_product(z[j], z[k])
                high, low = dd.add(sums[0, g, j, k], sums[1, g, j, k], high, low)
                sums[0, g, j, k] = high
                sums[1, g, j, k] = low


@kernel
def later_by(sums: Floats, delay: float) -> Floats:
    """The same sums with every time raised by `delay`."""
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
def watched_row(sums: Floats, groups: Ints, anchor: Floats) -> tuple[Floats, Floats, float]:
    """Sums of some groups as a full matrix, high and low parts, and their number of samples; x is
    shifted by the anchor, and the squares are those of the shifted x. A column that has lost its
    digits to the shift is zero, and gives no evidence: an alarm must not come from rounding.
    """
    q = sums.shape[2]
    p = len(anchor)
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
    raw = np.empty(q)
    for j in range(q):
        raw[j] = total[0, j, j]
    # Shifting rows, then columns: x - a 1, and x^2 - 2a x + a^2 1 from the x as it was.
    for side in range(2):
        for k in range(p):
            a = anchor[k]
            if a == 0.0:
                continue
            for j in range(q):
                square = (p + 1 + k, j) if side == 0 else (j, p + 1 + k)
                plain = (k, j) if side == 0 else (j, k)
                one = (p, j) if side == 0 else (j, p)
                high, low = total[0, square[0], square[1]], total[1, square[0], square[1]]
                part, part_low = dd.multiply(
                    total[0, plain[0], plain[1]], total[1, plain[0], plain[1]], -2.0 * a, 0.0
                )
                high, low = dd.add(high, low, part, part_low)
                part, part_low = dd.multiply(
                    total[0, one[0], one[1]], total[1, one[0], one[1]], a, 0.0
                )
                part, part_low = dd.multiply(part, part_low, a, 0.0)
                total[0, square[0], square[1]], total[1, square[0], square[1]] = dd.add(
                    high, low, part, part_low
                )
                part, part_low = dd.multiply(
                    total[0, one[0], one[1]], total[1, one[0], one[1]], -a, 0.0
                )
                total[0, plain[0], plain[1]], total[1, plain[0], plain[1]] = dd.add(
                    total[0, plain[0], plain[1]], total[1, plain[0], plain[1]], part, part_low
                )
    n = total[0, p, p]
    for j in range(q):
        if not raw[j] < FAR * total[0, j, j]:
            total[:, j, :], total[:, :, j] = 0.0, 0.0
    return total[0], total[1], n
