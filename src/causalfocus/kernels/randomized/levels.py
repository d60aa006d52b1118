"""Levels of the directions of a row, and how far these let |S| reach: by shares of what the row may
err, and by bids.

Shares and bids follow the row in question (`box` tells how, `row_tests` what a bid is), and both
differ between rows in which the own coefficient of a direction is small and those in which it is
large. Over a box of rows some coefficients can be either.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.records import Bids
from causalfocus.kernels.randomized.row_tests import BID, SCALE


class Box(NamedTuple):
    """Bounds of the unknown coefficients of a row."""

    low: Floats
    high: Floats


class Sizes(NamedTuple):
    """From which size on the unknown coefficients of a row that are still asked count as large,
    `large` (u,), the bids of their directions (u,) each, and how many there were, n, at least u;
    the others are zero.
    """

    large: Floats
    bids: Bids
    n: int


class Levels(NamedTuple):
    """Levels of the directions in nats, for rows in which their own coefficient is small, and for
    those where it is large; and which coefficients (u,) can be either.
    """

    where_small: float
    where_large: float
    can_be_small: Bools
    can_be_large: Bools


class Reaches(NamedTuple):
    """The largest |S| of every direction among the rows that it leaves: of all, of those where its
    own coefficient is small, and of those where it is large.
    """

    anywhere: Floats
    where_small: Floats
    where_large: Floats


@kernel
def levels_over(box: Box, ends: Box, n: int, h: float) -> Levels:
    """Return the levels of the directions over all rows in a box.

    ends : where coefficients become large
    n : unknown coefficients of the row, those included that are known to be zero by now
    h : the level for equal shares
    """
    u = len(box.low)
    total = (n - u) / n
    can_be_small, can_be_large = np.empty(u, dtype=np.bool_), np.empty(u, dtype=np.bool_)
    for r in range(u):
        can_be_large[r] = box.low[r] <= ends.low[r] or box.high[r] >= ends.high[r]
        can_be_small[r] = box.high[r] > ends.low[r] and box.low[r] < ends.high[r]
        total += 1.0 if can_be_large[r] else 1.0 / n
    return Levels(h + math.log(total), h + math.log(total / n), can_be_small, can_be_large)


@kernel
def largest_by_bids(squares: Floats, scale: float, h: float, bids: Floats) -> Floats:
    """Return the largest |S| that directions with bids leave at a level where V is at most squares:
    by the bid or by the mixture.

    scale : their rho, which stands for the variance of `SCALE` rounds
    """
    found = np.empty(len(squares))
    for k in range(len(squares)):
        v, bid = squares[k], bids[k] * SCALE / scale
        rest = h - math.log(1.0 - BID) if bid > 0.0 else h
        found[k] = math.sqrt((v + scale) * (2.0 * rest + math.log1p(v / scale)))
        if bid > 0.0:
            found[k] = min(found[k], (h + math.log(2.0 / BID)) / bid + 0.5 * bid * v)
    return found


@kernel
def reaches_at(levels: Levels, squares: Floats, scale: float, bids: Bids) -> Reaches:
    """Return the largest |S| of the directions at some levels where V is at most squares."""
    small = largest_by_bids(squares, scale, levels.where_small, bids.where_small)
    large = largest_by_bids(squares, scale, levels.where_large, bids.where_large)
    anywhere = np.maximum(small, large)
    for r in range(len(squares)):
        if not levels.can_be_large[r]:
            anywhere[r] = small[r]
        elif not levels.can_be_small[r]:
            anywhere[r] = large[r]
    return Reaches(anywhere, small, large)
