"""What is kept beyond the moments so that the data can speak against the assumptions.

Sums with squares and time, one group per action, and the same as they stood at earlier marks. A
constant amount of work per sample.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from causalfocus.kernels import moment_sums, watch_sums
from causalfocus.kernels.tableau import Row

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Watch:
    """Sums for p nodes after n samples. It is never written to: who adds samples gets another.

    Attributes
    ----------
    sums : see `kernels.watch_sums`
    firsts : the value that each node was first set to; nan if never
    marks : the sums as they stood at earlier marks
    """

    p: int
    n: int
    sums: Floats
    firsts: Floats
    marks: Mapping[int, Floats]

    @classmethod
    def empty(cls, p: int) -> "Watch":
        size = 2 * p + 2
        return cls(p, 0, np.zeros((2, 2 * p + 1, size, size)), np.full(p, np.nan), {})

    def after(self, targets: Ints, samples: Floats) -> "Watch":
        """With checked samples taken in."""
        sums, firsts = self.sums.copy(), self.firsts.copy()
        watch_sums.watch_samples(sums, firsts, targets, samples, float(self.n))
        return Watch(self.p, self.n + len(targets), sums, firsts, self.marks)

    def with_mark(self, mark: int) -> "Watch":
        """The present state is remembered."""
        return replace(self, marks={**self.marks, mark: self.sums})

    def merged(self, other: "Watch") -> "Watch":
        """With what another saw later. Values count as the first here, whatever they were there."""
        moved = watch_sums.later_by(other.sums, float(self.n))
        sums, firsts = self.sums.copy(), self.firsts.copy()
        for k in range(self.p):
            if np.isnan(firsts[k]):
                firsts[k] = other.firsts[k]
            elif firsts[k] != other.firsts[k]:
                moved[:, [2 * k, 2 * k + 1]] = moved[:, [2 * k + 1, 2 * k]]
        moment_sums.merge(sums, moved)
        return Watch(self.p, self.n + other.n, sums, firsts, self.marks)

    def rows(self, mark: int, anchors: Floats) -> "WatchedRows":
        """Training and later samples, split at a mark, rows shifted by their anchors."""
        later = moment_sums.difference(self.sums, self.marks[mark])
        return WatchedRows(self.p, self.marks[mark], later, anchors)


@dataclass(frozen=True)
class WatchedRows:
    """Two parts of the samples, by time. Columns: x, the constant, squares, time."""

    p: int
    _training: Floats
    _later: Floats
    _anchors: Floats

    @property
    def time(self) -> int:
        """Column of the time."""
        return 2 * self.p + 1

    def square(self, k: int) -> int:
        """Column of the square of node k."""
        return self.p + 1 + k

    def groups_of(self, j: int) -> Ints:
        """Groups of samples in which node j was not set."""
        return np.array([g for g in range(2 * self.p + 1) if g // 2 != j])

    def training(self, j: int) -> tuple[Row, float]:
        return self._row(self._training, j, self.groups_of(j))

    def later(self, j: int, groups: Ints | None = None) -> tuple[Row, float]:
        return self._row(self._later, j, self.groups_of(j) if groups is None else groups)

    def _row(self, sums: Floats, j: int, groups: Ints) -> tuple[Row, float]:
        high, low, n = watch_sums.watched_row(sums, groups, self._anchors[j])
        return (high, low, j), n
