"""Whether a node goes with another otherwise when that one is set: the sign of a hidden cause.

The proof that this is evidence is in `kernels.evidence.dose_evidence`. It speaks of rows on given
parents, so all sets of parents are tried that a system inside the claim may have.
"""

import math
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.guarantees.mixture import FINE, STIFFNESS
from causalfocus.guarantees.numerators import foretold_row, row_regressors
from causalfocus.kernels.arithmetic.sets import nondescendants, parents_of
from causalfocus.kernels.evidence.dose_evidence import PlainTimes, dose_evidence
from causalfocus.kernels.evidence.row_evidence import least_squares
from causalfocus.kernels.records import Row
from causalfocus.moments.watched_rows import WatchedRows

STEPS: Final = (0.5, 1.0, 2.0)
"""By which rows are moved along a dose, in units of min_effect: from what would put a weight off by
an accuracy, to hidden causes that are plain."""

RowSets = Callable[[Floats, int], Iterator[int]]
"""All sets of parents that a node may have in a system inside the claim, given the reported
weights; the one with the least evidence, as a rule, first."""

LogShare = Callable[[int], float]
"""The logarithm of the weight of a numerator that foretells a row on given parents."""


def sets_between(weights: Floats, j: int) -> Iterator[int]:
    """The sets between the reported parents of a node and all nodes that it has no reported path
    to, the largest first.
    """
    own = parents_of(weights, j)
    free = int(nondescendants(weights)[j]) & ~own
    rest = free
    while True:
        yield rest | own
        if not rest:
            return
        rest = (rest - 1) & free


def reported_set(weights: Floats, j: int) -> Iterator[int]:
    """The reported parents of a node alone."""
    yield parents_of(weights, j)


class Doses:
    """The evidence of doses in the row of one node."""

    def __init__(
        self, rows: WatchedRows, j: int, min_effect: float, log_own: float, log_share: LogShare
    ) -> None:
        """Take up a row.

        Parameters
        ----------
        rows, j : the data, and the node
        min_effect : the unit of the steps
        log_own : logarithm of the weight of a dose
        log_share : that of a row that the training foretells: it rejects noise variances that are
            far off
        """
        self._rows, self._j = rows, j
        self._steps = min_effect * np.array(STEPS)
        self._log_own, self._log_share = log_own, log_share
        self._noises: dict[int, tuple[float, float, float]] = {}

    def evidence(self, k: int, sets: Iterator[int]) -> float:
        """The least evidence over the sets of parents, weight included. Where it is negative for
        one of them the others are not tried: that is no evidence anyway.
        """
        times = self._rows.with_dose(self._j, k)
        least = math.inf
        for parents in sets:
            least = min(least, self._evidence_on(times, parents) + self._log_own)
            if least < 0.0:
                break
        return least

    def _evidence_on(self, times: PlainTimes, parents: int) -> float:
        if parents not in self._noises:
            self._noises[parents] = self._noise(parents)
        noise = self._noises[parents]
        mixing, has_constant = (FINE, STIFFNESS), self._rows.has_constant
        return dose_evidence(times, self._j, parents, self._steps, mixing, noise, has_constant)

    def _noise(self, parents: int) -> tuple[float, float, float]:
        """The foretold row: its log density and weight, relative to that of a dose; and residual
        and number of the samples that it counts.
        """
        rows, j = self._rows, self._j
        regressors = row_regressors(parents, rows.p, rows.has_constant)
        row, n = rows.later(j)
        residual = least_squares(Row(*row), regressors, n).residual
        if not residual > 0.0:
            return -math.inf, 1.0, 1.0
        log_m = foretold_row(rows, j, regressors)
        return log_m + self._log_share(parents) - self._log_own, residual, n
