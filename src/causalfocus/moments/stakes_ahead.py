"""New stakes, from all rounds that are complete, for the asks from now on."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from causalfocus.arrays import Bools, Floats
from causalfocus.kernels.randomized.records import Stakes
from causalfocus.kernels.randomized.stakes import next_stakes, no_stakes
from causalfocus.moments.reading import aim_at_the_rest

if TYPE_CHECKING:
    from causalfocus.moments.randomized_sums import RandomizedSums

LEAST_EPOCH: Final = 16
"""Rounds of an epoch, at least: after it there are new stakes."""

GROWTH: Final = 0.1
"""Or this share of all rounds so far."""


def lay_stakes(state: "RandomizedSums", ruled_out: Bools | None = None) -> "RandomizedSums":
    """Return a state with new stakes, from what is complete, for the asks from now on."""
    last, length = max(state.stakes), max(LEAST_EPOCH, int(GROWTH * state.n))
    if state.epoch_number == 0:
        stakes = no_stakes(state.p)
        stakes.centres[:] = [_first_centre(state, j) for j in range(state.p)]
    else:
        # Pending asks of an earlier epoch may still come; what is complete is taken.
        present = state.stakes[state.epoch_number]
        reading, growth = state.read(), length / state.n
        has_bids = bool(state.bids.where_small.any())
        stakes = next_stakes(reading.sums, present, state.unknown, growth, has_bids)
        if ruled_out is not None and ruled_out.any():
            aim_at_the_rest(stakes, reading, state.unknown, ruled_out, growth)
        stakes = _keep_beginnings(stakes, state.stakes[last])
    return replace(state, stakes={**state.stakes, last + 1: stakes}, until=state.n + length)


def _first_centre(state: "RandomizedSums", j: int) -> Floats:
    """(p,), the medians of the first rounds in which j was not set; of all if there is none."""
    rows = [row for intent, row in state.tail if not intent.asked[j]]
    found: Floats = np.median(rows or [row for _, row in state.tail], axis=0)
    return found


def _keep_beginnings(stakes: Stakes, last: Stakes) -> Stakes:
    """Return stakes that do not begin again what the last ones began."""
    missing = last.is_begun & ~stakes.is_begun
    pairs: Iterable[tuple[NDArray[Any], NDArray[Any]]] = zip(stakes, last, strict=True)
    for mine, theirs in pairs:
        mine[missing] = theirs[missing]
    if np.array_equal(stakes.is_begun, last.is_begun):
        return stakes._replace(first=last.first, spreads=last.spreads, anchors=last.anchors)
    stakes.first[last.is_begun] = last.first[last.is_begun]
    stakes.spreads[last.is_begun] = last.spreads[last.is_begun]
    stakes.anchors[last.is_begun] = last.anchors[last.is_begun]
    return stakes
