"""What people do today with the same samples: regression with t-tests, and coins as instruments.

All methods fit row j to the rounds in which j was not asked to be set, with a constant. With as
many instruments as regressors the estimate is (Z'X)^-1 Z'y with covariance
s^2 (Z'X)^-1 Z'Z (X'Z)^-1, s^2 the variance of the residuals. That is two-stage least squares with
the coins for Z, and ordinary least squares with Z = X. The p-values are those of t-tests.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import stats

from causalfocus.arrays import Bools, Floats


class Stream(NamedTuple):
    """Rounds in the order of asking: which variables were to be set (n, p), their coins (n, p), 0
    where there is none, and what was recorded (n, p).
    """

    asked: Bools
    signs: Floats
    rows: Floats

    def first(self, n: int) -> "Stream":
        """Return the first n rounds."""
        return Stream(self.asked[:n], self.signs[:n], self.rows[:n])


@dataclass(frozen=True)
class Fit:
    """Estimates of direct effects.

    Attributes
    ----------
    weights : (p, p), row the effect and column the cause; 0 where there can be none
    errors : (p, p), standard errors; 0 where there can be no effect, infinite where nothing is
        known yet
    freedom : (p,), degrees of freedom of every row
    """

    weights: Floats
    errors: Floats
    freedom: Floats

    def half(self, level: float) -> Floats:
        """Return half the width (p, p) of the intervals that miss with probability `level`."""
        quantiles = stats.t.isf(0.5 * level, np.maximum(self.freedom, 1.0))
        found: Floats = self.errors * quantiles[:, None]
        return found


def regress(stream: Stream, causes: Bools) -> Fit:
    """Return the regression of every variable on its possible causes.

    causes : (p, p), which variables may act on which; row the effect
    """
    return _fit(stream, causes, stream.rows)


def two_stage(stream: Stream, causes: Bools) -> Fit:
    """Return two-stage least squares, the coin of every possible cause its instrument."""
    return _fit(stream, causes, stream.signs)


def _fit(stream: Stream, causes: Bools, instruments: Floats) -> Fit:
    p = len(causes)
    weights, freedom = np.zeros((p, p)), np.ones(p)
    errors = np.where(causes, np.inf, 0.0)
    for j in range(p):
        used, which = ~stream.asked[:, j], np.flatnonzero(causes[j])
        n = int(used.sum())
        if not len(which) or n <= len(which) + 1:
            continue
        centred = stream.rows[used] - stream.rows[used].mean(axis=0)
        x, y, z = centred[:, which], centred[:, j], instruments[used][:, which]
        z = z - z.mean(axis=0)
        moved = z.T @ x
        if np.linalg.matrix_rank(moved) < len(which):
            continue
        inverse = np.linalg.inv(moved)
        found = inverse @ (z.T @ y)
        residuals = y - x @ found
        freedom[j] = n - len(which) - 1
        variances = inverse @ (z.T @ z) @ inverse.T * (residuals @ residuals / freedom[j])
        weights[j, which], errors[j, which] = found, np.sqrt(variances.diagonal())
    return Fit(weights, errors, freedom)
