"""The numerators of the alarms that the training foretells: rows with something that no system
inside the claim has. Why each is a density against all of them: `alarms`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import Final

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.guarantees.alarm import Kind
from causalfocus.kernels.arithmetic.sets import nondescendants, parents_of, regressors_of
from causalfocus.kernels.evidence.training import log_density
from causalfocus.moments.watched_rows import Rows, WatchedRows

LOOSE: Final = 3.0
"""Degrees of freedom with which the noise under one action is foretold by that under all."""


@dataclass(frozen=True)
class Numerator:
    """The row of a node with something more.

    Attributes
    ----------
    kind : of its alarm
    others : the other nodes that it speaks of, or the group of samples
    log_density : of the later samples
    log_part : its share among those of its kind
    """

    kind: Kind
    others: tuple[int, ...]
    log_density: float
    log_part: float


def numerators(
    rows: WatchedRows, j: int, weights: Floats, more_kinds: Sequence[Kind]
) -> Iterator[Numerator]:
    """All numerators for the row of a node, given the reported weights."""
    row = _ReportedRow(rows, j, weights)
    return chain(row.of_response(), row.of_noise(), row.of_time(), row.of_class(more_kinds))


def row_regressors(parents: int, p: int, intercept: bool) -> Ints:
    """Columns of the parents of a row, and of the constant if the equations have one."""
    return regressors_of(parents, p, p + 1 if intercept else p)


@dataclass(frozen=True)
class _ReportedRow:
    """The row of one node on its reported parents."""

    rows: WatchedRows
    j: int
    weights: Floats

    def of_response(self) -> Iterator[Numerator]:
        """Curves, and products of two causes. The two are regressors themselves: else it would
        matter where zero is.
        """
        rows, j, p = self.rows, self.j, self.rows.p
        for k in self._ancestors:
            yield Numerator("curve", (k,), self._foretold([rows.square(k)]), self._to_causes)
        for k, m in combinations(self._ancestors, 2):
            regressors = self._regressors(self._own | 1 << k | 1 << m)
            log_m = self._foretold_with(*rows.with_product(j, k, m), regressors)
            yield Numerator("product", (k, m), log_m, -math.log(0.5 * (p - 1) * (p - 2)))

    def of_noise(self) -> Iterator[Numerator]:
        """Noise with heavy tails, or of its own under one action."""
        rows, j = self.rows, self.j
        fitted, ancestors = int(rows.fitted[j]), sum(1 << k for k in self._ancestors)
        if fitted >= 0 and not fitted & ~ancestors:
            yield Numerator("shape", (), _log_mean(rows.shapes[j]), 0.0)
        regressors, training = self._regressors(self._own), self._parts[0]
        for g in rows.groups_of(j):
            alone, n_alone = rows.group(j, g)
            if n_alone > 0.0:
                log_m = log_density(*training, alone, n_alone, regressors, LOOSE)
                others = rows.without_group(j, g)
                log_m += log_density(*training, *others, regressors, math.inf)
                yield Numerator("action", (g,), log_m, -math.log(2 * rows.p))

    def of_time(self) -> Iterator[Numerator]:
        """Drift, and what one sample leaves to the next."""
        regressors = self._regressors(self._own)
        log_m = self._foretold_with(*self.rows.with_lag(self.j), regressors)
        yield Numerator("lag", (), log_m, 0.0)
        yield Numerator("drift", (), self._foretold([self.rows.time]), 0.0)

    def of_class(self, more_kinds: Sequence[Kind]) -> Iterator[Numerator]:
        """A constant, noise of any size, and one more parent, where the class has none of them."""
        rows, j = self.rows, self.j
        if not rows.has_constant:
            yield Numerator("constant", (), self._foretold([rows.p]), 0.0)
        if "noise" in more_kinds:
            yield Numerator("noise", (), self._foretold([]), 0.0)
        if "weak" in more_kinds:
            free = int(nondescendants(self.weights)[j]) & ~self._own
            for k in range(rows.p):
                if free >> k & 1:
                    yield Numerator("weak", (k,), self._foretold([k]), self._to_causes)

    @cached_property
    def _own(self) -> int:
        return parents_of(self.weights, self.j)

    @cached_property
    def _ancestors(self) -> list[int]:
        """Nodes with a path to this one."""
        nd = nondescendants(self.weights)
        return [k for k in range(len(nd)) if k != self.j and not nd[k] >> self.j & 1]

    @property
    def _to_causes(self) -> float:
        return -math.log(max(self.rows.p - 1, 1))

    def _regressors(self, parents: int) -> Ints:
        return row_regressors(parents, self.rows.p, self.rows.has_constant)

    @cached_property
    def _parts(self) -> tuple[Rows, Rows]:
        return self.rows.training(self.j), self.rows.later(self.j)

    def _foretold(self, more: list[int]) -> float:
        """With more of the columns that all rows have."""
        training, later = self._parts
        columns = np.array([*self._regressors(self._own), *more], dtype=np.int64)
        return log_density(*training, *later, columns, math.inf)

    def _foretold_with(self, training: Rows, later: Rows, regressors: Ints) -> float:
        """With the column that was added."""
        columns = np.append(regressors, self.rows.extra)
        return log_density(*training, *later, columns, math.inf)


def _log_mean(logs: Floats) -> float:
    """Log of the mean of numbers that are given by their logs."""
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).mean()))
