"""Origins: with intercepts, evidence is computed from samples shifted by one of the first."""

import math
from dataclasses import dataclass

import numpy as np

from causalfocus.arrays import Bools, Floats


@dataclass(frozen=True)
class Anchors:
    """The first sample in which each node was not set: one sample serves all nodes, or all but the
    one that it set, which the first sample that did not set that one serves.

    samples : number of the sample, target and values of each
    """

    samples: tuple[tuple[int, int, Floats], ...] = ()

    def after(self, number: int, target: int, row: Floats) -> "Anchors":
        """With one more sample, if it is the first of some node."""
        if not self.samples or (len(self.samples) == 1 and self.samples[0][1] not in (-1, target)):
            return Anchors((*self.samples, (number, target, row.copy())))
        return self

    @property
    def complete_after(self) -> float:
        """Samples after which every node had one; infinity if some has none yet."""
        if self.samples and (len(self.samples) == 2 or self.samples[0][1] == -1):
            return self.samples[-1][0]
        return math.inf

    @property
    def apart(self) -> int:
        """The node that has an anchor of its own; -1 if none has."""
        return self.samples[0][1] if len(self.samples) == 2 else -1

    def skips(self, p: int) -> tuple[Floats, Bools]:
        """The second anchor less the first, (2, p), and the rows in which it would count though it
        anchors another.
        """
        if len(self.samples) < 2:
            return np.zeros((2, p)), np.zeros(p, dtype=np.bool_)
        (_, apart, first), (_, target, second) = self.samples
        skips = np.array([j not in (apart, target) for j in range(p)])
        return exact_difference(second, first), skips


def exact_difference(a: Floats, b: Floats) -> Floats:
    """a - b, its high and its low part."""
    high = a - b
    added = high - a
    low = (a - (high - added)) + (-b - added)
    return np.stack([high, low])
