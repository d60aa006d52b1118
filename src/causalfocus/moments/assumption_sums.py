"""What is kept beyond the moments so that the data can speak against the assumptions.

Sums with squares and time, and sums by what was done, as they are and as they stood at earlier
marks. A constant amount of work per sample.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.records import PlainRow
from causalfocus.kernels.sums import assumption_sums as watch_sums
from causalfocus.kernels.sums import moment_sums

Origins = tuple[Floats, Ints]
"""Origins (m, p), and which of them serves each row (p,)."""


@dataclass(frozen=True)
class Mark:
    """The sums as they stood at some time."""

    sums: Floats
    groups: Floats


@dataclass(frozen=True, kw_only=True)
class Watch:
    """Sums for p nodes after n samples. It is never written to: who adds samples gets another.

    Attributes
    ----------
    sums, groups : about zero and about the origins of the rows; see `kernels.watch_sums`
    firsts : the value that each node was first asked to be set to; nan if never
    marks : the sums as they stood at earlier marks
    """

    p: int
    n: int
    sums: Floats
    groups: Floats
    firsts: Floats
    marks: Mapping[int, Mark]

    @classmethod
    def empty(cls, p: int) -> "Watch":
        size = 2 * p + 2
        sums = np.zeros((2, 2, p, size, size))
        groups = np.zeros((2, 2, p, 2 * p + 1, p + 1, p + 1))
        return cls(p=p, n=0, sums=sums, groups=groups, firsts=np.full(p, np.nan), marks={})

    def after(
        self, is_set: Bools, values: Floats, samples: Floats, views: Sequence[Origins]
    ) -> "Watch":
        """With checked samples taken in.

        is_set, values : (n, p), which nodes were set, and what was asked for
        views : the origins of the sums that are kept
        """
        sums, groups, firsts = self.sums.copy(), self.groups.copy(), self.firsts.copy()
        for view, (origins, own) in enumerate(views):  # the first writes what the others read
            watch_sums.watch_samples(
                sums[view],
                groups[view],
                origins,
                own,
                firsts,
                is_set,
                values,
                samples,
                float(self.n),
            )
        n = self.n + len(samples)
        return Watch(p=self.p, n=n, sums=sums, groups=groups, firsts=firsts, marks=self.marks)

    def with_mark(self, mark: int) -> "Watch":
        """The present state is remembered."""
        return replace(self, marks={**self.marks, mark: Mark(self.sums, self.groups)})

    def merge(self, other: "Watch", steps: Floats, *, keeps_marks: bool) -> "Watch":
        """With what another saw later. What a node was first set to here stays its first value;
        where the other began with another one, all that it saw of that node is among the others:
        which samples are in a group must not depend on what came after them.

        steps : (p, 2, p), from the other's origins to those here, high and low parts
        keeps_marks : False if digits were lost on the way. What is lost before a mark does no harm
            to what comes after it, so the marks to come can be trusted, but not those before
        """
        firsts = np.where(np.isnan(self.firsts), other.firsts, self.firsts)
        sums, groups = self.sums.copy(), self.groups.copy()
        moved = [other.sums[0], watch_sums.move_origin(other.sums[1], steps)]
        for view, part in enumerate(moved):
            moment_sums.merge(sums[view], watch_sums.move_time(part, float(self.n)))
        theirs = other.groups.copy()
        for g in range(2 * self.p + 1):
            theirs[1, :, :, g], _ = moment_sums.move_origin(other.groups[1, :, :, g], steps)
        for k in np.flatnonzero(~np.isnan(other.firsts) & (other.firsts != firsts)):
            for view in range(2):
                group = theirs[view, :, :, 2 * k + 1].copy()
                moment_sums.merge(group, theirs[view, :, :, 2 * k])
                theirs[view, :, :, 2 * k + 1], theirs[view, :, :, 2 * k] = group, 0.0
        for view in range(2):
            for g in range(2 * self.p + 1):
                group = groups[view, :, :, g].copy()
                moment_sums.merge(group, theirs[view, :, :, g])
                groups[view, :, :, g] = group
        return Watch(
            p=self.p,
            n=self.n + other.n,
            sums=sums,
            groups=groups,
            firsts=firsts,
            marks=self.marks if keeps_marks else {},
        )

    def rows(self, mark: int, *, about_origins: bool) -> "WatchedRows":
        """Training and later samples, split at a mark.

        about_origins : the sums about the origins of the rows are meant, not those about zero
        """
        training, view = self.marks[mark], int(about_origins)
        later = moment_sums.difference(self.sums[view], training.sums[view])
        groups = np.stack(
            [
                moment_sums.difference(
                    self.groups[view, :, :, g].copy(), training.groups[view, :, :, g].copy()
                )
                for g in range(2 * self.p + 1)
            ],
            axis=2,
        )
        return WatchedRows(self.p, training.sums[view], later, groups)


@dataclass(frozen=True)
class WatchedRows:
    """Two parts of the samples, by time. Columns: x, the constant, squares, time; of groups x and
    the constant alone.
    """

    p: int
    _training: Floats
    _later: Floats
    _groups: Floats

    @property
    def time(self) -> int:
        """Column of the time."""
        return 2 * self.p + 1

    def square(self, k: int) -> int:
        """Column of the square of node k."""
        return self.p + 1 + k

    def groups_of(self, j: int) -> list[int]:
        """Groups that samples in which node j was free may be in."""
        return [g for g in range(2 * self.p + 1) if g // 2 != j]

    def training(self, j: int) -> tuple[PlainRow, float]:
        return self._row(self._training[:, j], j)

    def later(self, j: int) -> tuple[PlainRow, float]:
        return self._row(self._later[:, j], j)

    def group(self, j: int, g: int) -> tuple[PlainRow, float]:
        """The later samples of the row of j that are in a group."""
        return self._row(self._groups[:, j, g], j)

    def without_group(self, j: int, g: int) -> tuple[PlainRow, float]:
        """The later samples of the row of j that are not in a group."""
        rest = watch_sums.without_group(self._later[:, j], self._groups[:, j, g])
        return self._row(rest, j)

    def _row(self, lower: Floats, j: int) -> tuple[PlainRow, float]:
        high, low, n = watch_sums.full_row(lower, self.p)
        return (high, low, j), n
