"""Bounds of all direct effects, as they are remembered from look to look."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.kernels.randomized.regions import Regions


@dataclass(frozen=True)
class Intervals:
    """Bounds of all direct effects at one level.

    Attributes
    ----------
    low, high : (p, p), row is the effect and column the cause; zero for what is known to be zero,
        infinite where there is no bound yet
    rounds : how many rounds with coins they rest on
    regions : an ellipsoid for every row, at the same level, that holds all of what is left of it;
        None where these are not kept
    """

    low: Floats
    high: Floats
    rounds: int
    regions: Regions | None = None

    @cached_property
    def is_refuted(self) -> Bools:
        """(p,), the rows of which no linear one is left."""
        found: Bools = np.any(self.low > self.high, axis=1)
        return found

    @cached_property
    def middle(self) -> Floats:
        """(p, p), the middles; zero where there is no bound."""
        is_bounded = np.isfinite(self.low) & np.isfinite(self.high)
        return 0.5 * (np.where(is_bounded, self.low, 0.0) + np.where(is_bounded, self.high, 0.0))

    @cached_property
    def half(self) -> Floats:
        """(p, p), half of the widths."""
        found: Floats = 0.5 * (self.high - self.low)
        return found

    def intersect(self, later: "Intervals") -> "Intervals":
        """What both leave; they must be of the same level and of one run. The regions are the
        later ones, if there are any.
        """
        low, high = np.maximum(self.low, later.low), np.minimum(self.high, later.high)
        return Intervals(low, high, later.rounds, later.regions or self.regions)

    def with_regions(self, regions: Regions | None) -> "Intervals":
        """The same with other regions."""
        return Intervals(self.low, self.high, self.rounds, regions)


def no_intervals(unknown: Bools) -> Intervals:
    """Return the intervals before the first round."""
    return Intervals(np.where(unknown, -math.inf, 0.0), np.where(unknown, math.inf, 0.0), 0)
