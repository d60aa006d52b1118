"""What the tests leave of some rows, one row after the other: their bounds and their regions."""

from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.box import Left, bound_row
from causalfocus.kernels.randomized.ellipsoid import Nats
from causalfocus.kernels.randomized.levels import Box, Sizes
from causalfocus.kernels.randomized.records import Bids, Stakes, Sums
from causalfocus.kernels.randomized.regions import (
    Region,
    Regions,
    no_region,
    put_region,
    region_at,
    section,
)


class Asked(NamedTuple):
    """Of every coefficient, row and cause, (p, p): whether it was unknown at the start, whether it
    is certain to be zero by now, from which size on it counts as large, and the bids.
    """

    unknown: Bools
    ruled_out: Bools
    large: Floats
    bids: Bids


class Known(NamedTuple):
    """Bounds of all coefficients (p, p), and a region of every row; regions of no rows where these
    are not kept.
    """

    low: Floats
    high: Floats
    regions: Regions


@kernel
def _region_before(known: Known, j: int, at_start: Ints, is_left: Bools) -> Region:
    """Return what is known of the coefficients of a row that are left."""
    if len(known.regions.radii) == 0:
        return no_region(is_left.sum())
    return section(region_at(known.regions, j, at_start), is_left)


@kernel
def bound_rows(
    sums: Sums, stakes: Stakes, asked: Asked, rows: Ints, level: float, own: Nats, known: Known
) -> None:
    """Narrow what is known of some rows by all tests at a level in nats, in place (`bound_row`).

    A row with fewer coins than coefficients that are left is passed over. Regions are those of all
    coefficients that were unknown at the start, so a row in which some are ruled out has no other.
    """
    for j in rows:
        at_start = np.flatnonzero(asked.unknown[j])
        is_left = ~asked.ruled_out[j][at_start]
        causes = at_start[is_left]
        coins = np.flatnonzero(sums.pool.counts[j] > 0.0)
        if len(causes) == 0 or len(causes) > len(coins):
            continue
        box = Box(known.low[j][causes], known.high[j][causes])
        before = Left(box, _region_before(known, j, at_start, is_left))
        bids = Bids(asked.bids.where_small[j][causes], asked.bids.where_large[j][causes])
        of = Sizes(asked.large[j][causes], bids, len(at_start))
        after = bound_row(sums, stakes, j, causes, coins, level, own, of, before, at_start)
        for r in range(len(causes)):
            k = causes[r]
            known.low[j, k] = max(known.low[j, k], after.box.low[r])
            known.high[j, k] = min(known.high[j, k], after.box.high[r])
        if len(known.regions.radii) > 0 and len(causes) == len(at_start):
            put_region(known.regions, j, causes, after.region)
