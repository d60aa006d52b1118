"""What is kept beyond the moments so that the data can speak against the assumptions.

Sums with squares and time, one group per action, and the same as they stood at earlier marks. A
constant amount of work per sample.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.records import PlainRow
from causalfocus.kernels.sums import assumption_sums as watch_sums
from causalfocus.kernels.sums import moment_sums


@dataclass(frozen=True)
class Watch:
    """Sums for p nodes after n samples. It is never written to: who adds samples gets another.

    Attributes
    ----------
    sums : about zero, about the first anchor and about the second; see `kernels.watch_sums`
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
        return cls(p, 0, np.zeros((3, 2, 2 * p + 1, size, size)), np.full(p, np.nan), {})

    def after(self, targets: Ints, samples: Floats, origins: Floats) -> "Watch":
        """With checked samples taken in.

        origins : (2, p) or (3, p), those of the sums that are kept
        """
        sums, firsts = self.sums.copy(), self.firsts.copy()
        for view, origin in enumerate(origins):
            watch_sums.watch_samples(sums[view], origin, firsts, targets, samples, float(self.n))
        return Watch(self.p, self.n + len(targets), sums, firsts, self.marks)

    def with_mark(self, mark: int) -> "Watch":
        """The present state is remembered."""
        return replace(self, marks={**self.marks, mark: self.sums})

    def merge(self, other: "Watch", steps: Sequence[Floats], *, keeps_marks: bool) -> "Watch":
        """With what another saw later. What a node was first set to here stays its first value.

        steps : from the other's first anchor to those here, (2, p) each, high and low parts
        keeps_marks : False if digits were lost on the way. What is lost before a mark does no harm
            to what comes after it, so the marks to come can be trusted, but not those before
        """
        firsts = np.where(np.isnan(self.firsts), other.firsts, self.firsts)
        sums = self.sums.copy()
        theirs = [other.sums[0], *(watch_sums.move_origin(other.sums[1], by) for by in steps)]
        for view, part in enumerate(theirs):
            later = watch_sums.move_time(part, float(self.n))
            for k in np.flatnonzero(~np.isnan(other.firsts) & (other.firsts != firsts)):
                pair = [2 * k, 2 * k + 1]
                if other.has_only_other_value(int(k), float(firsts[k])):
                    later[:, pair] = later[:, pair[::-1]]
                else:
                    group = later[:, pair[1:]].copy()
                    moment_sums.merge(group, later[:, pair[:1]])
                    later[:, pair[1:]], later[:, pair[:1]] = group, 0.0
            moment_sums.merge(sums[view], later)
        marks = self.marks if keeps_marks else {}
        return Watch(self.p, self.n + other.n, sums, firsts, marks)

    def has_only_other_value(self, k: int, value: float) -> bool:
        """Whether a node that was set to more than its first value was then set to this one."""
        group = self.sums[0, 0, 2 * k + 1]
        n, plain, square = group[self.p, self.p], group[self.p, k], group[k, k]
        return bool(abs(square - 2 * value * plain + n * value**2) <= 1e-12 * square)

    def rows(self, mark: int, views: Sequence[int]) -> "WatchedRows":
        """Training and later samples, split at a mark.

        views : per node which of the sums serve it
        """
        training = self.marks[mark]
        later = {v: moment_sums.difference(self.sums[v], training[v]) for v in set(views)}
        return WatchedRows(self.p, tuple(views), training, later)


@dataclass(frozen=True)
class WatchedRows:
    """Two parts of the samples, by time. Columns: x, the constant, squares, time."""

    p: int
    _views: tuple[int, ...]
    _training: Floats
    _later: Mapping[int, Floats]

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

    def training(self, j: int) -> tuple[PlainRow, float]:
        return self._row(self._training[self._views[j]], j, self.groups_of(j))

    def later(self, j: int, groups: Ints | None = None) -> tuple[PlainRow, float]:
        chosen = self.groups_of(j) if groups is None else groups
        return self._row(self._later[self._views[j]], j, chosen)

    def _row(self, sums: Floats, j: int, groups: Ints) -> tuple[PlainRow, float]:
        high, low, n = watch_sums.watched_row(sums, groups)
        return (high, low, j), n
