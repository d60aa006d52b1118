"""What moments hold: sums about several origins, as they are and as they stood at earlier times."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.sums import moment_sums
from causalfocus.moments.anchors import Anchors, exact_difference
from causalfocus.moments.assumption_sums import Watch
from causalfocus.moments.marks import is_training, mark_at, marks_before
from causalfocus.moments.views import RowMoments


@cache
def _about_zero(p: int) -> tuple[Floats, Ints]:
    """Zero as the origin of all rows. Never written to."""
    return np.zeros((1, p)), np.zeros(p, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class State:
    """All that was added up to some time. It is never written to: what is added makes another, so
    that any number of copies share one.

    Attributes
    ----------
    n : number of samples, or the total weight
    sums : (2, 2, p, p + 1, p + 1), about zero and about the origins, see `kernels.moment_sums`
    origins : (m, p), near the data, so that nothing is lost where they are far from zero: those of
        the rows
    anchors : the samples that serve as origins of the evidence; none of expected moments
    marks : the sums as they stood at earlier times
    watch : sums for testing the assumptions
    is_expected : whether these are expectations, which have no samples that could be anchors
    is_sure : whether enough digits are left for evidence with intercepts; merging can lose them
    views : what was computed from the sums
    """

    n: float
    sums: Floats
    origins: Floats
    anchors: Anchors
    marks: Mapping[int, Floats]
    watch: Watch
    is_expected: bool = False
    is_sure: bool = True
    views: dict[bool, RowMoments] = field(default_factory=dict, metadata={"follows": True})

    @classmethod
    def empty(cls, p: int) -> "State":
        return cls(
            n=0.0,
            sums=np.zeros((2, 2, p, p + 1, p + 1)),
            origins=np.zeros((1, p)),
            anchors=Anchors(),
            marks={},
            watch=Watch.empty(p),
        )

    @classmethod
    def bare(cls) -> "State":
        """That only counts samples, for a rule that remembers them in another way."""
        return cls.empty(0)

    @property
    def p(self) -> int:
        return int(self.sums.shape[2])

    @property
    def own(self) -> Ints:
        """(p,), which of the origins serves each row."""
        return self.anchors.own if self.anchors.samples else _about_zero(self.p)[1]

    def with_anchor(self, number: int, is_set: Bools, row: Floats) -> "State":
        """The same, knowing one more sample that may be an anchor."""
        if self.is_expected:
            return self
        anchors = self.anchors.after(number, is_set, row)
        if anchors is self.anchors:
            return self
        return replace(self, origins=anchors.values, anchors=anchors, views={})

    def after(self, is_set: Bools, values: Floats, samples: Floats) -> "State":
        """With more samples, up to the next mark at most.

        is_set, values : (n, p), which nodes were set, and what was asked for
        """
        sums, own, origins = self.sums.copy(), self.own, self.origins
        at_zero = _about_zero(self.p)
        moment_sums.add_samples(sums[0], *at_zero, is_set, samples)
        moment_sums.add_samples(sums[1], origins, own, is_set, samples)
        watch = self.watch.after(is_set, values, samples, (at_zero, (origins, own)))
        n, mark, marks = round(self.n) + len(samples), marks_before(self.n + 1), self.marks
        if n == mark_at(mark) and self.anchors.complete_after <= n:
            marks = {**marks, mark: sums}
            watch = watch.with_fits(mark)
            if is_training(mark):
                watch = watch.with_mark(mark)
        return State(
            n=float(n),
            sums=sums,
            origins=origins,
            anchors=self.anchors,
            marks=marks,
            watch=watch,
            is_expected=self.is_expected,
            is_sure=self.is_sure,
        )

    def merge(self, other: "State") -> "State":
        """With what another holds, collected later."""
        if self.n == 0.0 or other.n == 0.0:
            return other if self.n == 0.0 else self
        state = self
        for anchor in other.anchors.samples:
            number = round(self.n) + anchor.number
            state = state.with_anchor(number, anchor.is_set, anchor.values)
        mine, theirs = state.origins[state.own], other.origins[other.own]
        steps = np.array([exact_difference(a, b) for a, b in zip(mine, theirs, strict=True)])
        sums = state.sums.copy()
        moment_sums.merge(sums[0], other.sums[0])
        part, loss = moment_sums.move_origin(other.sums[1], steps)
        moment_sums.merge(sums[1], part)
        is_sure = state.is_sure and other.is_sure and loss <= moment_sums.FAR
        # The squares that are watched lose twice as many digits.
        keeps_marks = loss**2 <= moment_sums.FAR
        watch = state.watch.merge(other.watch, steps, keeps_marks=keeps_marks)
        n = state.n + other.n
        return replace(state, n=n, sums=sums, watch=watch, is_sure=is_sure, views={})
