"""What is kept beyond the moments so that the data can speak against the assumptions.

Sums with squares and time, one group per action, and the same as they stood at earlier marks. A
constant amount of work per sample.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from causalfocus.kernels import moment_sums, watch_sums
from causalfocus.kernels.tableau import Row

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass
class Watch:
    """Running sums for p nodes."""

    p: int
    n: int = 0
    sums: Floats = field(init=False)
    firsts: Floats = field(init=False)
    marks: dict[int, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        size = 2 * self.p + 2
        self.sums = np.zeros((2, 2 * self.p + 1, size, size))
        self.firsts = np.full(self.p, np.nan)

    def add(self, targets: Ints, samples: Floats) -> None:
        """Take in checked samples."""
        groups = np.full(len(targets), 2 * self.p)
        for s, k in enumerate(targets):
            if k >= 0:
                if np.isnan(self.firsts[k]):
                    self.firsts[k] = samples[s, k]
                groups[s] = 2 * k + (samples[s, k] != self.firsts[k])
        watch_sums.watch_samples(self.sums, groups, samples, float(self.n))
        self.n += len(targets)

    def keep(self, mark: int) -> None:
        """Remember the present state."""
        self.marks[mark] = self.sums.copy()

    def merge(self, other: "Watch") -> None:
        """Add what another saw later. Values count as the first here, whatever they were there."""
        moved = watch_sums.later_by(other.sums, float(self.n))
        for k in range(self.p):
            if np.isnan(self.firsts[k]):
                self.firsts[k] = other.firsts[k]
            elif self.firsts[k] != other.firsts[k]:
                moved[:, [2 * k, 2 * k + 1]] = moved[:, [2 * k + 1, 2 * k]]
        moment_sums.merge(self.sums, moved)
        self.n += other.n

    def copy(self) -> "Watch":
        twin = Watch(self.p, self.n)
        twin.sums, twin.firsts = self.sums.copy(), self.firsts.copy()
        twin.marks = dict(self.marks)
        return twin

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
