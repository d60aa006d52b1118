"""What is kept beyond the moments so that the data can speak against the assumptions.

Sums with squares and time, of products of three nodes, by what was done, and over residuals, as
they are and as they stood at earlier marks. A constant amount of work per sample.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.kernels.sums import assumption_sums as watch_sums
from causalfocus.kernels.sums import extra_columns, moment_sums
from causalfocus.moments.anchors import Origins
from causalfocus.moments.residual_sums import Residuals
from causalfocus.moments.watched_rows import Part, Timeline, WatchedRows


@dataclass(frozen=True)
class Mark:
    """The sums as they stood at some time."""

    sums: Floats
    groups: Floats
    triples: Floats
    lags: Floats
    shapes: Floats


@dataclass(frozen=True, kw_only=True)
class Watch:
    """Sums for p nodes after n samples. It is never written to: who adds samples gets another.

    Attributes
    ----------
    sums, groups, triples : about zero and about the origins of the rows; see
        `kernels.assumption_sums` and `kernels.extra_columns`
    residuals : of rows that were fitted at earlier marks
    firsts : the value that each node was first asked to be set to; nan if never
    marks : the sums as they stood at earlier marks
    """

    p: int
    n: int
    sums: Floats
    groups: Floats
    triples: Floats
    residuals: Residuals
    firsts: Floats
    marks: Mapping[int, Mark]

    @classmethod
    def empty(cls, p: int) -> "Watch":
        size = 2 * p + 2
        sums = np.zeros((2, 2, p, size, size))
        groups = np.zeros((2, 2, p, 2 * p + 1, p + 1, p + 1))
        return cls(
            p=p,
            n=0,
            sums=sums,
            groups=groups,
            triples=np.zeros((2, 2, p, p * (p - 1) * (p - 2) // 6)),
            residuals=Residuals.empty(p),
            firsts=np.full(p, np.nan),
            marks={},
        )

    def after(
        self, is_set: Bools, values: Floats, samples: Floats, views: Sequence[Origins]
    ) -> "Watch":
        """With checked samples taken in.

        is_set, values : (n, p), which nodes were set, and what was asked for
        views : the origins of the sums that are kept
        """
        sums, groups, firsts = self.sums.copy(), self.groups.copy(), self.firsts.copy()
        triples = self.triples.copy()
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
            if self.p > 2:
                extra_columns.add_triples(triples[view], origins, own, is_set, samples)
        return Watch(
            p=self.p,
            n=self.n + len(samples),
            sums=sums,
            groups=groups,
            triples=triples,
            residuals=self.residuals.after(is_set, samples, views),
            firsts=firsts,
            marks=self.marks,
        )

    def with_mark(self, mark: int) -> "Watch":
        """The present state is remembered."""
        found = Mark(
            self.sums, self.groups, self.triples, self.residuals.lags, self.residuals.shapes
        )
        return replace(self, marks={**self.marks, mark: found})

    def with_fits(self, mark: int) -> "Watch":
        """The rows are fitted on what is known at a mark, to foretell what comes after it."""
        plain = self.sums[:, :, :, : self.p + 1, : self.p + 1]
        return replace(self, residuals=self.residuals.with_fits(mark, plain))

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
        triples = self.triples.copy()
        about = extra_columns.move_triples(other.triples[1], other.sums[1], steps)
        for view, part in enumerate([other.triples[0], about]):
            extra_columns.add_columns(triples[view], part)
        return Watch(
            p=self.p,
            n=self.n + other.n,
            sums=sums,
            groups=groups,
            triples=triples,
            residuals=self.residuals.merge(other.residuals, steps),
            firsts=firsts,
            marks=self.marks if keeps_marks else {},
        )

    def rows(self, mark: int, *, about_origins: bool) -> WatchedRows:
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
        before = Part(training.sums[view], training.groups[view], training.triples[view])
        after = Part(
            later, groups, extra_columns.sums_since(self.triples[view], training.triples[view])
        )
        residuals = self.residuals
        return WatchedRows(
            p=self.p,
            before=before,
            after=after,
            timeline=self._timeline(view),
            has_constant=about_origins,
            lags=(training.lags[view], residuals.lags[view]),
            shapes=residuals.shapes[view] - training.shapes[view],
            fitted=residuals.parents_since(mark, about_origins=about_origins),
        )

    def _timeline(self, view: int) -> Timeline:
        marks = [self.marks[mark] for mark in sorted(self.marks)]
        return Timeline(
            _row_by_row([*(mark.sums[view] for mark in marks), self.sums[view]]),
            _row_by_row([*(mark.groups[view] for mark in marks), self.groups[view]]),
        )


def _row_by_row(states: list[Floats]) -> Floats:
    """Sums (2, p, ...) at several times, as (p, m, 2, ...)."""
    return np.ascontiguousarray(np.moveaxis(np.array(states), 2, 0))
