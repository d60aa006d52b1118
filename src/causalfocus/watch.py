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
    sums : about zero, and about the origin; see `kernels.watch_sums`
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
        return cls(p, 0, np.zeros((2, 2, 2 * p + 1, size, size)), np.full(p, np.nan), {})

    def after(self, targets: Ints, samples: Floats, origin: Floats) -> "Watch":
        """With checked samples taken in."""
        sums, firsts = self.sums.copy(), self.firsts.copy()
        for view, about in enumerate((np.zeros(self.p), origin)):
            watch_sums.watch_samples(sums[view], about, firsts, targets, samples, float(self.n))
        return Watch(self.p, self.n + len(targets), sums, firsts, self.marks)

    def about(self, by: Floats) -> "Watch":
        """With an origin that is further away, (2, p); only before the first mark."""
        return replace(self, sums=np.stack([self.sums[0], watch_sums.moved(self.sums[1], by)]))

    def with_mark(self, mark: int) -> "Watch":
        """The present state is remembered."""
        return replace(self, marks={**self.marks, mark: self.sums})

    def merged(self, other: "Watch") -> "Watch":
        """With what another saw later, about the same origin. What a node was first set to here
        stays its first value.
        """
        firsts = np.where(np.isnan(self.firsts), other.firsts, self.firsts)
        sums = self.sums.copy()
        for view in range(2):
            moved = watch_sums.later_by(other.sums[view], float(self.n))
            for k in np.flatnonzero(~np.isnan(other.firsts) & (other.firsts != firsts)):
                pair = [2 * k, 2 * k + 1]
                if other._only_other_value(int(k), float(firsts[k])):
                    moved[:, pair] = moved[:, pair[::-1]]
                else:
                    group = moved[:, pair[1:]].copy()
                    moment_sums.merge(group, moved[:, pair[:1]])
                    moved[:, pair[1:]], moved[:, pair[:1]] = group, 0.0
            moment_sums.merge(sums[view], moved)
        return Watch(self.p, self.n + other.n, sums, firsts, self.marks)

    def _only_other_value(self, k: int, value: float) -> bool:
        """Whether a node that was set to more than its first value was then set to this one."""
        group = self.sums[0, 0, 2 * k + 1]
        n, plain, square = group[self.p, self.p], group[self.p, k], group[k, k]
        return bool(abs(square - 2 * value * plain + n * value**2) <= 1e-12 * square)

    def rows(self, mark: int, *, intercept: bool) -> "WatchedRows":
        """Training and later samples, split at a mark; with intercept about the origin."""
        view = int(intercept)
        training = self.marks[mark][view]
        return WatchedRows(self.p, training, moment_sums.difference(self.sums[view], training))


@dataclass(frozen=True)
class WatchedRows:
    """Two parts of the samples, by time. Columns: x, the constant, squares, time."""

    p: int
    _training: Floats
    _later: Floats

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
        high, low, n = watch_sums.watched_row(sums, groups)
        return (high, low, j), n
