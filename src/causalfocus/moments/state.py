"""What moments hold: sums about several origins, as they are and as they stood at earlier times."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.sums import moment_sums
from causalfocus.moments.anchors import Anchors, exact_difference
from causalfocus.moments.assumption_sums import Watch
from causalfocus.moments.marks import is_training, mark_at, marks_before
from causalfocus.moments.views import RowMoments


@dataclass(frozen=True, kw_only=True)
class State:
    """All that was added up to some time. It is never written to: what is added makes another, so
    that any number of copies share one.

    Attributes
    ----------
    n : number of samples, or the total weight
    sums : about each of the origins, see `kernels.moment_sums`
    origins : (3, p), zero; the first sample; and the second anchor, for the one row that it serves.
        Near the data, so that nothing is lost where they are far from zero
    anchors : the samples that serve as origins of the evidence; none of expected moments
    marks : the sums as they stood at earlier times
    watch : sums for testing the assumptions
    is_sure : whether enough digits are left for evidence with intercepts; merging can lose them
    views : what was computed from the sums
    """

    n: float
    sums: Floats
    origins: Floats
    anchors: Anchors
    marks: Mapping[int, Floats]
    watch: Watch
    is_sure: bool = True
    views: dict[bool, RowMoments] = field(default_factory=dict, metadata={"follows": True})

    @classmethod
    def empty(cls, p: int) -> "State":
        sums = np.zeros((3, 2, p + 1, p + 1, p + 1))
        return cls(
            n=0.0,
            sums=sums,
            origins=np.zeros((3, p)),
            anchors=Anchors(),
            marks={},
            watch=Watch.empty(p),
        )

    @property
    def is_expected(self) -> bool:
        return self.n > 0.0 and not self.anchors.samples

    def with_anchor(self, number: int, target: int, row: Floats) -> "State":
        """The same, knowing one more sample that may be an anchor."""
        anchors = self.anchors.after(number, target, row)
        if anchors is self.anchors or self.is_expected:
            return self
        origins = self.origins.copy()
        origins[len(anchors.samples)] = row
        return replace(self, origins=origins, anchors=anchors, views={})

    def after(self, targets: Ints, samples: Floats) -> "State":
        """With more samples, up to the next mark at most."""
        sums, apart = self.sums.copy(), self.anchors.apart
        for view in (0, 1):
            moment_sums.add_samples(sums[view], self.origins[view], targets, samples)
        if apart >= 0:
            own = targets != apart
            moment_sums.add_samples(sums[2], self.origins[2], targets[own], samples[own])
        watch = self.watch.after(targets, samples, self.origins[: 2 + (apart >= 0)])
        n, mark, marks = round(self.n) + len(targets), marks_before(self.n + 1), self.marks
        if n == mark_at(mark) and self.anchors.complete_after <= n:
            marks = {**marks, mark: sums}
            if is_training(mark):
                watch = watch.with_mark(mark)
        return State(
            n=float(n),
            sums=sums,
            origins=self.origins,
            anchors=self.anchors,
            marks=marks,
            watch=watch,
            is_sure=self.is_sure,
        )

    def merge(self, other: "State") -> "State":
        """With what another holds, collected later."""
        if self.n == 0.0 or other.n == 0.0:
            return other if self.n == 0.0 else self
        state = self
        for number, target, row in other.anchors.samples:
            state = state.with_anchor(round(self.n) + number, target, row)
        n_steps = 1 + (state.anchors.apart >= 0)
        steps = [exact_difference(state.origins[1 + i], other.origins[1]) for i in range(n_steps)]
        sums, largest_loss = state.sums.copy(), 0.0
        moment_sums.merge(sums[0], other.sums[0])
        for i, by in enumerate(steps):
            part, loss = moment_sums.move_origin(other.sums[1], by)
            moment_sums.merge(sums[1 + i], part)
            largest_loss = max(largest_loss, loss)
        is_sure = state.is_sure and other.is_sure and largest_loss <= moment_sums.FAR
        # The squares that are watched lose twice as many digits.
        keeps_marks = largest_loss**2 <= moment_sums.FAR
        watch = state.watch.merge(other.watch, steps, keeps_marks=keeps_marks)
        n = state.n + other.n
        return replace(state, n=n, sums=sums, watch=watch, is_sure=is_sure, views={})
