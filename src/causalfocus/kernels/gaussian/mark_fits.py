"""The rows as they are fitted at a mark, to foretell the residuals of the samples after it."""

import math

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic.sets import count, parents_of
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.gaussian.response import fit_row_on, gaussian_estimate
from causalfocus.kernels.records import PlainFits, any_parents
from causalfocus.kernels.sums.moment_sums import row_moments

LEAST_DEGREES = 2.0
"""Fewer degrees of freedom do not tell the noise of a row."""


@kernel
def fit_rows(sums: Floats, intercept: bool) -> PlainFits:
    """Return the fits of all rows on the parents that the samples so far point to, about the
    origins of the sums. An effect of any size may be a parent: neither which sizes matter nor what
    is known of the graph is known here.

    sums : (2, p, p + 1, p + 1), see `moment_sums`
    """
    rows = row_moments(sums, intercept)
    p = len(rows.counts)
    anyone = any_parents(p)
    graph, _ = gaussian_estimate(
        (rows.grams, rows.lows, rows.counts), 0.0, (anyone.needed, anyone.possible)
    )
    parents = np.zeros(p, dtype=np.int64)
    coefficients, scales = np.zeros((p, p + 1)), np.zeros(p)
    for j in range(p):
        parents[j] = parents_of(graph, j)
        weights, residual = fit_row_on(rows.grams[j], j, parents[j])
        coefficients[j, :p] = weights
        coefficients[j, p] = rows.means[j, j]
        for k in range(p):
            coefficients[j, p] -= weights[k] * rows.means[j, k]
        degrees = rows.counts[j] - count(parents[j]) - 1.0
        if degrees >= LEAST_DEGREES and residual > 1e-12 * rows.grams[j, j, j]:
            scales[j] = math.sqrt(residual / degrees)
    return parents, coefficients, scales
