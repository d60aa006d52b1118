"""Residuals of rows that were fitted earlier: how they follow each other, and how far out they are.

At every mark each row is fitted anew on what was known by then. A later sample has the residual
e = (x_j - b . x - c) / s by the fit that is in force, all of it known before the sample. Two things
are kept of it, a constant amount of work per sample:
  - lags: the sums of products of the residual of the sample before, w, with (x, 1) and with itself,
    see `extra_columns`; w is zero where the row's node was set in that sample, or had no fit;
  - shapes: the sums of the log densities of x_j under heavy-tailed laws of its noise, Student with
    SHAPE_DEGREES degrees of freedom and SHAPE_SCALES times s as their scale.
Residuals are evaluated with 106 bits, so that these laws are the ones that the fits name.
"""

import math

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.arithmetic import double_double as dd
from causalfocus.kernels.compile import kernel

SHAPE_DEGREES = (1.5, 2.0, 3.0, 6.0)
SHAPE_SCALES = (0.3, 0.45, 0.6, 0.8)
"""From a few gross errors, which widen the fitted s far beyond the bulk, to tails a bit heavy."""

N_SHAPES = len(SHAPE_DEGREES)

LOG_PEAKS = tuple(
    math.lgamma(0.5 * (d + 1.0)) - math.lgamma(0.5 * d) - 0.5 * math.log(math.pi * d)
    for d in SHAPE_DEGREES
)
"""Of these laws at scale one."""


@kernel
def watch_residuals(
    lags: Floats,
    shapes: Floats,
    last: Floats,
    fits: tuple[Floats, Floats],
    view: tuple[Floats, Ints],
    is_set: Bools,
    samples: Floats,
) -> None:
    """Add samples one after the other.

    lags, shapes : (2, p, p + 2) and (p, N_SHAPES), written
    last : (p,), residuals of the sample before; written
    fits : coefficients of (x, 1) (p, p + 1), and s (p,), zero where a row has no fit
    view : origins (m, p), and which of them serves each row
    is_set : (n, p), which nodes were set in each sample
    """
    coefficients, scales = fits
    origins, own = view
    p = samples.shape[1]
    z, z_low = np.ones(p + 1), np.zeros(p + 1)
    for s in range(samples.shape[0]):
        for j in range(p):
            if is_set[s, j]:
                last[j] = 0.0
                continue
            for k in range(p):
                z[k], z_low[k] = dd.two_sum(samples[s, k], -origins[own[j], k])
            if last[j] != 0.0:
                for i in range(p + 1):
                    part, part_low = dd.multiply(z[i], z_low[i], last[j], 0.0)
                    lags[0, j, i], lags[1, j, i] = dd.add(
                        lags[0, j, i], lags[1, j, i], part, part_low
                    )
                part, part_low = dd.two_product(last[j], last[j])
                lags[0, j, p + 1], lags[1, j, p + 1] = dd.add(
                    lags[0, j, p + 1], lags[1, j, p + 1], part, part_low
                )
            last[j] = 0.0
            if scales[j] > 0.0:
                e, e_low = z[j], z_low[j]
                for i in range(p + 1):
                    part, part_low = dd.multiply(z[i], z_low[i], -coefficients[j, i], 0.0)
                    e, e_low = dd.add(e, e_low, part, part_low)
                last[j] = e / scales[j]
                for c in range(N_SHAPES):
                    degrees, scale = SHAPE_DEGREES[c], SHAPE_SCALES[c] * scales[j]
                    tail = math.log1p((e / scale) ** 2 / degrees)
                    shapes[j, c] += LOG_PEAKS[c] - math.log(scale) - 0.5 * (degrees + 1.0) * tail


@kernel
def move_lags(lags: Floats, by: Floats) -> Floats:
    """Return the same sums with x about origins that are further away: by (p, 2, p), for every row
    its own, high and low parts.
    """
    result = lags.copy()
    p = lags.shape[1]
    for j in range(p):
        for i in range(p):
            part, part_low = dd.multiply(lags[0, j, p], lags[1, j, p], by[j, 0, i], by[j, 1, i])
            result[0, j, i], result[1, j, i] = dd.add(
                lags[0, j, i], lags[1, j, i], -part, -part_low
            )
    return result
