"""Densities of samples, by the book: what the kernels compute from moments."""

import math

import numpy as np
from scipy import stats

from causalfocus.arrays import Floats


def log_likelihood(x: Floats, y: Floats, b: Floats, v: float) -> float:
    """Of one row, at coefficients b and noise variance v."""
    return float(stats.norm.logpdf(y - x @ b, scale=math.sqrt(v)).sum())


def log_marginal(x: Floats, y: Floats, prior: tuple[float, float, float]) -> float:
    """The marginal likelihood of a row from samples, a multivariate Student-t."""
    tau2, a0, b0 = prior
    shape = (np.eye(len(y)) + tau2 * x @ x.T) * b0 / a0
    return float(stats.multivariate_t(np.zeros(len(y)), shape, df=2 * a0).logpdf(y))


def moving_ratio(
    x: Floats,
    y: Floats,
    along: Floats,
    b: Floats,
    v: float,
    spread: Floats,
    step: float,
    a0: float,
) -> float:
    """EDGE from samples, both signs of the step with half of the weight; over the likelihood of
    (b, v).

    Given v' the residuals y - x b are normal about c u_t.x, c = step or -step, with covariance
    v' (I + x D x' / v); v' is inverse gamma, so they are jointly Student-t with 2 a0 degrees of
    freedom.
    """
    n = len(y)
    moved = (along * x).sum(axis=1)
    shape = np.eye(n) + (x * spread / v) @ x.T
    up, down = (
        float(stats.multivariate_t(c * moved, shape * v, df=2 * a0).logpdf(y - x @ b))
        for c in (step, -step)
    )
    return float(np.logaddexp(up, down)) - math.log(2.0) - log_likelihood(x, y, b, v)


def directions(x: Floats, marks: list[int], k: int) -> Floats:
    """u_t, from the samples before the mark that came last before t; by plain inversion."""
    s = x.shape[1]
    found = np.zeros_like(x)
    for t in range(len(x)):
        before = max([mark for mark in marks if mark <= t], default=0)
        found[t, k] = 1.0
        if before > s:
            inverse = np.linalg.inv(x[:before].T @ x[:before])
            found[t] = inverse[:, k] / inverse[k, k]
    return found
