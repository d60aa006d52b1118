"""The direction in which a row moves when one coefficient does, as the past knows it.

Symbols as in `direction_evidence`: u, l, q and eta.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic.cholesky import invert
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.records import Row


class Direction(NamedTuple):
    """The sums of a row along the direction of one coefficient: l, q and eta."""

    products: Floats
    square: float
    residual_product: float


class Times(NamedTuple):
    """The moments of all nodes at the marks: Gram matrices (m, p, q, q), high and low parts, and
    counts (m, p). The last mark is the present.
    """

    grams: Floats
    lows: Floats
    counts: Floats


@kernel
def present_row(times: Times, j: int) -> Row:
    """Return the moments of one node at present."""
    return Row(times.grams[-1, j], times.lows[-1, j], j)


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
