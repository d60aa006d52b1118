"""One more regressor for a row, out of sums that are kept: what an alarm adds to an equation.

An extra column w is given by its sums of products with (x, 1), and with itself: (2, p + 2), high
and low parts. Three kinds are made here:
  - dose: x_k - c in the samples in which node k was set and zero in the others, by group;
  - product: x_k x_l. Its products with (x, 1) and its square are sums of three factors or of two
    squares; of these only those of three different nodes are kept for its sake, `triples`, p choose
    3 numbers per row, in the order of `triple_index`;
  - any column of which these sums are kept as they are.
"""

import math

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.arithmetic import double_double as dd
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.records import PlainRow
from causalfocus.kernels.sums.moment_sums import FAR, serves


@kernel
def triple_index(i: int, k: int, m: int) -> int:
    """Return where the sum of the product of three different nodes is kept."""
    low, high = min(i, k, m), max(i, k, m)
    middle = i + k + m - low - high
    return low + middle * (middle - 1) // 2 + high * (high - 1) * (high - 2) // 6


@kernel
def add_triples(
    triples: Floats, origins: Floats, own: Ints, is_set: Bools, samples: Floats
) -> None:
    """Add the products of three different nodes, (2, p, p choose 3), over the samples of each row.

    origins, own : see `moment_sums.add_samples`
    """
    p, m = samples.shape[1], triples.shape[2]
    z, z_low = np.empty(p), np.empty(p)
    highs, lows = np.empty(m), np.empty(m)
    for s in range(samples.shape[0]):
        for g in range(len(origins)):
            if not serves(g, own, is_set[s]):
                continue
            for k in range(p):
                z[k], z_low[k] = dd.two_sum(samples[s, k], -origins[g, k])
            at = 0
            for high in range(2, p):
                for middle in range(1, high):
                    pair, pair_low = dd.multiply(z[high], z_low[high], z[middle], z_low[middle])
                    for low in range(middle):
                        highs[at], lows[at] = dd.multiply(pair, pair_low, z[low], z_low[low])
                        at += 1
            for j in range(p):
                if own[j] == g and not is_set[s, j]:
                    for i in range(m):
                        triples[0, j, i], triples[1, j, i] = dd.add(
                            triples[0, j, i], triples[1, j, i], highs[i], lows[i]
                        )


@kernel
def move_triples(triples: Floats, sums: Floats, by: Floats) -> Floats:
    """Return the same sums about origins that are further away.

    sums : those of the same samples in the layout of `assumption_sums`, about the old origins
    by : (p, 2, p), for every row its own step, high and low parts
    """
    p = by.shape[0]
    result = triples.copy()
    step, step_low = np.empty(3), np.empty(3)
    nodes = np.empty(3, dtype=np.int64)
    for j in range(p):
        at = 0
        for high in range(2, p):
            for middle in range(1, high):
                for low in range(middle):
                    nodes[0], nodes[1], nodes[2] = low, middle, high
                    for i in range(3):
                        step[i], step_low[i] = -by[j, 0, nodes[i]], -by[j, 1, nodes[i]]
                    total, total_low = triples[0, j, at], triples[1, j, at]
                    for i in range(3):
                        k, m = (i + 1) % 3, (i + 2) % 3
                        # a_i S_km, then a_k a_m S_i: each subset of the three is moved once.
                        first, second = nodes[k], nodes[m]
                        row, column = max(first, second), min(first, second)
                        part, part_low = dd.multiply(
                            sums[0, j, row, column], sums[1, j, row, column], step[i], step_low[i]
                        )
                        total, total_low = dd.add(total, total_low, part, part_low)
                        both, both_low = dd.multiply(step[k], step_low[k], step[m], step_low[m])
                        part, part_low = dd.multiply(
                            sums[0, j, p, nodes[i]], sums[1, j, p, nodes[i]], both, both_low
                        )
                        total, total_low = dd.add(total, total_low, part, part_low)
                    both, both_low = dd.multiply(step[0], step_low[0], step[1], step_low[1])
                    both, both_low = dd.multiply(both, both_low, step[2], step_low[2])
                    part, part_low = dd.multiply(sums[0, j, p, p], sums[1, j, p, p], both, both_low)
                    total, total_low = dd.add(total, total_low, part, part_low)
                    result[0, j, at], result[1, j, at] = total, total_low
                    at += 1
    return result


@kernel
def product_column(row: PlainRow, triples: Floats, k: int, m: int) -> Floats:
    """Return the sums of x_k x_m over the samples of a row.

    row : in the layout of `assumption_sums`, both triangles
    triples : (2, p choose 3), of the same samples
    """
    high, low, _ = row
    p = (high.shape[0] - 2) // 2
    column = np.empty((2, p + 2))
    for i in range(p):
        if i in (k, m):
            other = m if i == k else k
            column[0, i], column[1, i] = high[p + 1 + i, other], low[p + 1 + i, other]
        else:
            at = triple_index(i, k, m)
            column[0, i], column[1, i] = triples[0, at], triples[1, at]
    column[0, p], column[1, p] = high[k, m], low[k, m]
    column[0, p + 1] = high[p + 1 + k, p + 1 + m]
    column[1, p + 1] = low[p + 1 + k, p + 1 + m]
    return column


@kernel
def dose_column(groups: Floats, k: int, centre: float) -> Floats:
    """Return the sums of x_k - centre in the samples of a row in which k was set, zero in others.

    groups : (2, 2p + 1, p + 1, p + 1), of the row, see `assumption_sums`
    """
    p = groups.shape[2] - 1
    column = np.zeros((2, p + 2))
    for g in (2 * k, 2 * k + 1):
        for i in range(p + 1):
            row, other = max(i, k), min(i, k)
            column[0, i], column[1, i] = dd.add(
                column[0, i], column[1, i], groups[0, g, row, other], groups[1, g, row, other]
            )
            part, part_low = dd.multiply(groups[0, g, p, i], groups[1, g, p, i], -centre, 0.0)
            column[0, i], column[1, i] = dd.add(column[0, i], column[1, i], part, part_low)
    # sum (x_k - c)^2 = sum x_k (x_k - c) - c sum (x_k - c)
    part, part_low = dd.multiply(column[0, p], column[1, p], -centre, 0.0)
    column[0, p + 1], column[1, p + 1] = dd.add(column[0, k], column[1, k], part, part_low)
    return column


@kernel
def sums_since(sums: Floats, earlier: Floats) -> Floats:
    """Return sums (2, p, m) since an earlier state of them. What is lost of them is lost of the
    squares of their factors, too, where it is noticed.
    """
    result = np.empty_like(sums)
    for j in range(sums.shape[1]):
        for i in range(sums.shape[2]):
            result[0, j, i], result[1, j, i] = dd.add(
                sums[0, j, i], sums[1, j, i], -earlier[0, j, i], -earlier[1, j, i]
            )
    return result


@kernel
def add_columns(sums: Floats, other: Floats) -> None:
    """Add the sums of other samples, (2, p, m)."""
    for j in range(sums.shape[1]):
        for i in range(sums.shape[2]):
            sums[0, j, i], sums[1, j, i] = dd.add(
                sums[0, j, i], sums[1, j, i], other[0, j, i], other[1, j, i]
            )


@kernel
def column_since(column: Floats, earlier: Floats) -> Floats:
    """Return the sums of a column since an earlier state of them; nan, which gives no evidence,
    where too few digits are left.
    """
    q = column.shape[1]
    result = np.empty((2, q))
    for i in range(q):
        result[0, i], result[1, i] = dd.add(
            column[0, i], column[1, i], -earlier[0, i], -earlier[1, i]
        )
    if not column[0, q - 1] <= FAR * result[0, q - 1]:
        result[:] = math.nan
    return result


@kernel
def append_column(row: PlainRow, column: Floats) -> PlainRow:
    """Return the sums of a row over (x, 1, w), both triangles, with an extra column w."""
    high, low, target = row
    q = column.shape[1]
    highs, lows = np.empty((q, q)), np.empty((q, q))
    highs[: q - 1, : q - 1], lows[: q - 1, : q - 1] = high[: q - 1, : q - 1], low[: q - 1, : q - 1]
    for i in range(q):
        highs[i, q - 1], lows[i, q - 1] = column[0, i], column[1, i]
        highs[q - 1, i], lows[q - 1, i] = column[0, i], column[1, i]
    return highs, lows, target
