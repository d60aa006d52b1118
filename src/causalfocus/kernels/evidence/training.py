"""What a row learned from its first samples, as the prior of its later ones.

A numerator may use anything that was known before the samples that it counts. The first samples,
the training, count for nothing in it; what they say of a row (b, v) with a flat prior is a
normal-inverse-gamma distribution, the prior of all later ones. Nobody has to guess the scale of
weights and noise, units and origins do not matter, and a parameter costs half of
log(samples / training samples) instead of half of the logarithm of all of them.
"""

import math

import numpy as np

from causalfocus.arrays import Ints
from causalfocus.kernels.arithmetic.cholesky import invert
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.row_evidence import TRUST, residual_at
from causalfocus.kernels.records import PlainRow, Row
from causalfocus.kernels.search.tableau import CAREFUL


@kernel
def log_density(
    training: PlainRow,
    n_training: float,
    later: PlainRow,
    n_later: float,
    regressors: Ints,
    degrees: float,
) -> float:
    """Return `log_foretold`, from what Python hands over in every test of the assumptions."""
    high, low, target = training
    high_later, low_later, target_later = later
    first, rest = Row(high, low, target), Row(high_later, low_later, target_later)
    return log_foretold(first, n_training, rest, n_later, regressors, degrees)


@kernel
def log_predictive(
    training: Row, n_training: float, later: Row, n_later: float, regressors: Ints
) -> float:
    """Return the log density of the later samples of a row, given what the training says.

    Minus infinity, no evidence, where the training does not determine the row or the digits run
    out.
    """
    return log_foretold(training, n_training, later, n_later, regressors, math.inf)


@kernel
def log_foretold(
    training: Row,
    n_training: float,
    later: Row,
    n_later: float,
    regressors: Ints,
    degrees: float,
) -> float:
    """Return the same with the noise known less well than the training tells: its scale, but with
    no more than so many degrees of freedom.

    The prior is what the computed numbers make it, so rounding of the training does no harm. The
    penalised residual is evaluated with 106 bits at coefficients that are nearly the best: it is
    never too small, and the density never too large.
    """
    if n_later <= 0.0:
        return 0.0
    s, j, known, gram = len(regressors), training.target, training.high, later.high
    if not gram[j, j] > 0.0:
        return -math.inf
    own_degrees = n_training - s
    if not own_degrees >= 1.0:
        return -math.inf
    degrees = min(degrees, own_degrees)
    prior, inverse = np.empty((s, s)), np.zeros((s, s))
    lower, start = np.empty((s, s)), np.zeros(s)
    for i in range(s):
        for k in range(s):
            prior[i, k] = known[regressors[i], regressors[k]]
    log_prior = invert(prior, inverse, lower)
    if math.isnan(log_prior):
        return -math.inf
    for i in range(s):
        for k in range(s):
            start[i] += inverse[i, k] * known[regressors[k], j]
        if not inverse[i, i] * prior[i, i] < CAREFUL:
            return -math.inf
    scale = 0.5 * residual_at(training, regressors, start) * (degrees / own_degrees)
    if not scale > 1e-12 * known[j, j]:
        return -math.inf
    both, pull, b = np.empty((s, s)), np.zeros(s), np.zeros(s)
    for i in range(s):
        pull[i] = gram[regressors[i], j]
        for k in range(s):
            both[i, k] = prior[i, k] + gram[regressors[i], regressors[k]]
            pull[i] += prior[i, k] * start[k]
    log_both = invert(both, inverse, lower)
    inflation, penalty = 1.0, 0.0
    for i in range(s):
        for k in range(s):
            b[i] += inverse[i, k] * pull[k]
        inflation = max(inflation, inverse[i, i] * both[i, i])
    for i in range(s):
        for k in range(s):
            penalty += (b[i] - start[i]) * prior[i, k] * (b[k] - start[k])
    rest = residual_at(later, regressors, b) + max(penalty, 0.0)
    trusted = n_later * inflation * gram[j, j] < TRUST * (rest + scale)
    if not (inflation < CAREFUL and trusted):
        return -math.inf
    a0 = 0.5 * degrees
    a = a0 + 0.5 * n_later
    value = (
        -0.5 * n_later * math.log(2.0 * math.pi)
        + 0.5 * (log_prior - log_both)
        + a0 * math.log(scale)
        - a * math.log(scale + 0.5 * rest)
        + math.lgamma(a)
        - math.lgamma(a0)
    )
    return value if value == value else -math.inf
