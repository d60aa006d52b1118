"""Origins: with intercepts, evidence is computed from samples shifted by one of the first."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints

Origins = tuple[Floats, Ints]
"""Origins (m, p), and which of them serves each row (p,)."""


@dataclass(frozen=True)
class Anchor:
    """A sample that is the origin of the rows whose nodes it is the first to leave free.

    Attributes
    ----------
    number : of the sample, from 1
    is_set : (p,), which nodes it set
    values : (p,), the sample
    """

    number: int
    is_set: Bools
    values: Floats


@dataclass(frozen=True)
class Anchors:
    """The first sample in which each node was free: one serves all nodes if nothing was set in it,
    else those that it left free, and others serve the rest.
    """

    samples: tuple[Anchor, ...] = ()

    def after(self, number: int, is_set: Bools, row: Floats) -> "Anchors":
        """With one more sample, if it is the first of some node."""
        if self.samples and not (self._lacks & ~is_set).any():
            return self
        if is_set.all():
            return self
        return Anchors((*self.samples, Anchor(number, is_set.copy(), row.copy())))

    @cached_property
    def _lacks(self) -> Bools:
        """(p,), which nodes have none yet."""
        return np.asarray(np.all([anchor.is_set for anchor in self.samples], axis=0))

    @property
    def complete_after(self) -> float:
        """Samples after which every node had one; infinity if some has none yet."""
        if self.samples and not self._lacks.any():
            return self.samples[-1].number
        return math.inf

    @cached_property
    def own(self) -> Ints:
        """(p,), which of them is the origin of each row; the first where there is none yet."""
        free = np.array([~anchor.is_set for anchor in self.samples])
        found: Ints = free.argmax(axis=0)
        return found

    @cached_property
    def values(self) -> Floats:
        """(m, p), the samples."""
        return np.array([anchor.values for anchor in self.samples])

    @cached_property
    def skips(self) -> Bools:
        """(p, m), which of them would count in a row though they anchor another: after its own."""
        free = np.array([~anchor.is_set for anchor in self.samples]).T
        later = np.arange(len(self.samples))[None, :] > self.own[:, None]
        found: Bools = free & later
        return found


def exact_difference(a: Floats, b: Floats) -> Floats:
    """a - b, its high and its low part."""
    high = a - b
    added = high - a
    low = (a - (high - added)) + (-b - added)
    return np.stack([high, low])
