"""Halves of the ranges: how far a coin moves a variable."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from causalfocus.arrays import Floats

if TYPE_CHECKING:
    from causalfocus.guarantees.randomized import RandomizedRule


def half_ranges_of(rule: "RandomizedRule") -> Floats:
    """(p,), of the coins; 0 where there is none."""
    return half_widths_of(rule.actions.ranges)


def half_widths_of(ranges: Iterable[tuple[float, float] | None]) -> Floats:
    """(p,), of ranges; 0 where there is none."""
    return np.array([0.0 if span is None else 0.5 * (span[1] - span[0]) for span in ranges])
