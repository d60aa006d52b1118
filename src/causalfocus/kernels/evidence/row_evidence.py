"""One row as the certificate reads it: its least-squares fit, marginal likelihood and mixing.

Each keeps its digits or says that it cannot: a row whose numbers cannot be trusted gives no
evidence. Symbols: G, G^-1, R, n and b^ of a row are `gram`, `inverse`, `residual`, `n` and
`coefficients` of a `Fit`.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic import double_double as dd
from causalfocus.kernels.arithmetic.cholesky import invert
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.records import Row
from causalfocus.kernels.search.tableau import CAREFUL

CONSTANT_SPREAD = 1e-3
"""Variance of the mixed intercept, in units of the alternative's noise variance."""

TRUST = 1e20
"""A row gives evidence only while n (sum of squares / residual) inflation^2 is below this, and the
inflation below CAREFUL.

Coefficients are found with 53 bits and are off by about inflation * 1e-16 of themselves; the
residual at these coefficients is evaluated with 106 bits, so it is off by the square of that. With
TRUST both move the evidence by less than 1e-5 nats, below SAFETY.
"""


class Prior(NamedTuple):
    """The prior of a row (b, v): coefficients are N(0, v spread) given v, and v is inverse
    gamma(shape, scale).
    """

    spread: float
    shape: float
    scale: float


class Fit(NamedTuple):
    """The least-squares fit of a row: G, G^-1, R, n and b^."""

    gram: Floats
    inverse: Floats
    residual: float
    n: float
    coefficients: Floats


@kernel
def residual_at(row: Row, regressors: Ints, b: Floats) -> float:
    """Return the sum of squared residuals at given coefficients, with 106 bits: nothing is lost to
    the difference of large sums.
    """
    high, low, target = row.high, row.low, row.target
    total, total_low = high[target, target], low[target, target]
    for i in range(len(regressors)):
        k = regressors[i]
        part, part_low = dd.multiply(high[k, target], low[k, target], -2.0 * b[i], 0.0)
        total, total_low = dd.add(total, total_low, part, part_low)
        for m in range(len(regressors)):
            product, product_low = dd.multiply(b[i], 0.0, b[m], 0.0)
            part, part_low = dd.multiply(
                high[k, regressors[m]], low[k, regressors[m]], product, product_low
            )
            total, total_low = dd.add(total, total_low, part, part_low)
    return total


@kernel
def least_squares(row: Row, regressors: Ints, n: float) -> Fit:
    """Return the fit of a row; R is nan, and the row gives no evidence, where its digits do not
    suffice (TRUST).
    """
    gram, target = row.high, row.target
    s = len(regressors)
    block, inverse, b = np.empty((s, s)), np.zeros((s, s)), np.zeros(s)
    for i in range(s):
        for k in range(s):
            block[i, k] = gram[regressors[i], regressors[k]]
    if math.isnan(invert(block, inverse, np.empty((s, s)))):
        return Fit(block, inverse, math.nan, n, b)
    inflation = 1.0
    for i in range(s):
        for k in range(s):
            b[i] += inverse[i, k] * gram[regressors[k], target]
        inflation = max(inflation, inverse[i, i] * block[i, i])
    residual = residual_at(row, regressors, b)
    enough = n * inflation**2 * gram[target, target] < TRUST * residual
    return Fit(block, inverse, residual if enough and inflation < CAREFUL else math.nan, n, b)


@kernel
def log_marginal(row: Row, regressors: Ints, n: float, prior: Prior, p: int) -> float:
    """Return the log marginal likelihood of a row under the conjugate prior; the constant has a
    spread of 1.

    The penalised residual is evaluated with 106 bits at coefficients that are nearly the best, so
    it is never too small and the likelihood never too large. Minus infinity, no evidence, where
    the inflation is above CAREFUL or even 106 bits run out (TRUST).
    """
    if n <= 0.0:
        return 0.0
    gram, target = row.high, row.target
    a0, b0 = prior.shape, prior.scale
    s = len(regressors)
    precision, inverse, b = np.empty((s, s)), np.zeros((s, s)), np.zeros(s)
    log_determinant = 0.0
    for i in range(s):
        for k in range(s):
            precision[i, k] = gram[regressors[i], regressors[k]]
        variance = 1.0 if regressors[i] == p else prior.spread
        precision[i, i] += 1.0 / variance
        log_determinant += math.log(variance)
    log_determinant += invert(precision, inverse, np.empty((s, s)))
    inflation, penalty = 1.0, 0.0
    for i in range(s):
        for k in range(s):
            b[i] += inverse[i, k] * gram[regressors[k], target]
        inflation = max(inflation, inverse[i, i] * precision[i, i])
        penalty += b[i] ** 2 / (1.0 if regressors[i] == p else prior.spread)
    rest = residual_at(row, regressors, b) + penalty
    if not (inflation < CAREFUL and n * inflation * gram[target, target] < TRUST * rest):
        return -math.inf
    a = a0 + 0.5 * n
    value = (
        -0.5 * n * math.log(2.0 * math.pi)
        - 0.5 * log_determinant
        + a0 * math.log(b0)
        - a * math.log(b0 + 0.5 * rest)
        + math.lgamma(a)
        - math.lgamma(a0)
    )
    return value if value == value else -math.inf


@kernel
def even_spread(regressors: Ints, p: int, narrow: float) -> Floats:
    """Return the mixing of all coefficients alike, the constant in noise units: (2, s), see
    `direction_evidence.Mixing`.
    """
    spread = np.zeros((2, len(regressors)))
    for m in range(len(regressors)):
        if regressors[m] == p:
            spread[1, m] = CONSTANT_SPREAD
        else:
            spread[0, m] = narrow**2
    return spread
