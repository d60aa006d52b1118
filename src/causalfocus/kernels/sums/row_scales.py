"""Rows in units of their own, see `moments.row_units`: sums of data keep their 106 bits."""

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic import double_double as dd
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.records import Rows, Units


@kernel
def factors_of(units: Units) -> Floats:
    """Return (p, p), for the row of every node by what its own and all other values are multiplied:
    the reciprocals of the units in which they are measured.
    """
    p = len(units.own)
    found = np.empty((p, p))
    for j in range(p):
        for k in range(p):
            found[j, k] = 1.0 / units.own[j] if j == k else units.effects[j, k] / units.own[j]
    return found


@kernel
def scale_sums(highs: Floats, lows: Floats, factors: Floats) -> tuple[Floats, Floats]:
    """Return sums of products (m, p, q, q), high and low parts, with every variable multiplied by a
    number of its own, which may differ from row to row; factors (p, q).

    The factors of the products are exact in 106 bits, and so are the results to a few units of the
    last of these: they are the sums of values that were measured in other units, as good as the
    given ones are of theirs.
    """
    m, p, q = highs.shape[0], highs.shape[1], highs.shape[2]
    high, low = np.empty((m, p, q, q)), np.empty((m, p, q, q))
    for t in range(m):
        for j in range(p):
            for i in range(q):
                for k in range(i + 1):
                    by, by_low = dd.two_product(factors[j, i], factors[j, k])
                    found, rest = dd.multiply(highs[t, j, i, k], lows[t, j, i, k], by, by_low)
                    high[t, j, i, k] = high[t, j, k, i] = found
                    low[t, j, i, k] = low[t, j, k, i] = rest
    return high, low


@kernel
def in_units(rows: Rows, units: Units) -> Rows:
    """Return the moments that a model gives in these units; ones change nothing, to the bit."""
    p, factors = len(rows.counts), factors_of(units)
    grams, lows = rows.grams.copy(), rows.lows.copy()
    for j in range(p):
        for i in range(p):
            for k in range(p):
                by = factors[j, i] * factors[j, k]
                grams[j, i, k] *= by
                lows[j, i, k] *= by
    return Rows(grams, lows, rows.counts)


@kernel
def parameters_in_units(weights: Floats, variances: Floats, units: Units) -> tuple[Floats, Floats]:
    """Return weights and noise variances of a system as the coefficients and variances of its rows
    in these units.
    """
    return weights / units.effects, variances / (units.own * units.own)


@kernel
def out_of_units(weights: Floats, variances: Floats, units: Units) -> tuple[Floats, Floats]:
    """Return weights and noise variances of a system from what they are in these units."""
    return weights * units.effects, variances * (units.own * units.own)
