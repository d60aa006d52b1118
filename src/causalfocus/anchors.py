"""Origins: with intercepts, evidence is computed from samples shifted by one of the first."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Anchors:
    """The first sample in which each node was not set: one sample, or two, serve all nodes.

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

    def origin(self, p: int) -> Floats:
        """(p,): of every node its first value that was not set, or else its first; zeros without
        samples. The sums are taken about it.
        """
        if not self.samples:
            return np.zeros(p)
        origin = self.samples[0][2].copy()
        if len(self.samples) == 2:
            target = self.samples[0][1]
            origin[target] = self.samples[1][2][target]
        return origin

    def per_node(self, p: int) -> Floats:
        """(2, p, p): row j is the anchor of node j less the origin, high and low parts; zeros if it
        has none.
        """
        origin = self.origin(p)
        anchors = np.tile(origin, (p, 1))
        for j in range(p):
            for _, target, row in self.samples:
                if target != j:
                    anchors[j] = row
                    break
        return exact_difference(anchors, origin)

    def skipped(self, p: int) -> tuple[Floats, NDArray[np.bool_]]:
        """The second anchor less the origin, (2, p), and the rows in which it would count though it
        anchors another.
        """
        if len(self.samples) < 2:
            return np.zeros((2, p)), np.zeros(p, dtype=np.bool_)
        (_, first, _), (_, target, row) = self.samples
        skips = np.array([j not in (first, target) for j in range(p)])
        return exact_difference(row, self.origin(p)), skips


def exact_difference(a: Floats, b: Floats) -> Floats:
    """a - b, its high and its low part."""
    high = a - b
    added = high - a
    low = (a - (high - added)) + (-b - added)
    return np.stack([high, low])
