"""Bounds of every coefficient of a row over all rows that no test rejects: with proof.

All rows that are left are in the ball (`ball`). Over it, and over any box that is known to hold
them, V and rho are bounded, and with them every direction: |S_k(b)| <= G_k, where G_k^2 is the
largest value of (V + rho)(2 h + log(1 + V / rho)). That rises in V and is convex in rho, its second
derivative being V^2 / (rho^2 (V + rho)): it is attained at the largest V and an end of the range of
rho. S_k(b) = S_k(b0) - L_k . y bounds a coefficient in two ways more than the ball does, and all of
them hold: y = L^-1 (S(b0) - e) with |e_k| <= G_k; and direction k alone, with what it moves beside
its own regressor bounded over ball and box. Each step makes the box smaller, none lets go of a row
that is left; if the box is empty, none is left.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.ball import (
    largest_eigenvalue,
    largest_ratios,
    lengths,
    peaks,
    radius_of_ball,
)
from causalfocus.kernels.randomized.records import Stakes, Sums
from causalfocus.kernels.randomized.row_tests import (
    SCALE,
    Family,
    Row,
    inverse_of,
    row_of_tests,
    scale_of_coins,
    turn,
)

SAFETY = 1e-4
"""Nats that every level is raised by, above the rounding of what is computed."""

MOST_CONDITION = 1e5
"""Directions that are closer to dependent are not inverted: the error of the inverse stays below
the room that is left for rounding."""

STEPS = 4
"""How often the box is made smaller."""


class Nats(NamedTuple):
    """What a test needs on top of log(1 / delta): one of all coins of a row, and a direction."""

    all_coins: float
    direction: float


class Box(NamedTuple):
    """Bounds of the unknown coefficients of a row."""

    low: Floats
    high: Floats


@kernel
def _over_box(slope: Floats, box: Box) -> float:
    """Return the largest value of slope . y over a box."""
    total = 0.0
    for r in range(len(slope)):
        if slope[r] != 0.0:
            total += max(slope[r] * box.low[r], slope[r] * box.high[r])
    return total


@kernel
def _sup(slope: Floats, turned: Floats, radius: float, box: Box) -> float:
    """Return a bound of slope . y over ball and box."""
    return min(math.sqrt(turned @ turned) * radius, _over_box(slope, box))


@kernel
def largest_distance(v: float, low: float, high: float, h: float) -> float:
    """Return the largest S that a test leaves where V <= v and low <= rho <= high."""
    at_low = (v + low) * (2.0 * h + math.log1p(v / low))
    at_high = (v + high) * (2.0 * h + math.log1p(v / high))
    return math.sqrt(max(at_low, at_high))


@kernel
def _distances(row: Row, plain: Family, radius: float, box: Box, h: float) -> Floats:
    """Return the largest |S| of every direction over ball and box."""
    u = len(row.centre)
    scale, aimed = row.scale, row.directions
    slope = inverse_of(row.back).T @ scale.slope
    bent = largest_eigenvalue(scale.form) * radius**2
    high = scale.value + 2.0 * _sup(-slope, scale.slope, radius, box) + bent
    low = max(
        largest_ratios(row).least_scale, scale.value - 2.0 * _sup(slope, scale.slope, radius, box)
    )
    share = SCALE / scale_of_coins(u)
    by_ball = peaks(row.curves, aimed.slopes, radius)
    found = np.empty(u)
    for k in range(u):
        by_box = 2.0 * _over_box(-plain.slopes[k], box) + row.curves.max() * radius**2
        most = aimed.squares[k] + min(by_ball[k], by_box)
        found[k] = largest_distance(most, share * low, share * high, h)
    return found


@kernel
def _shrink(box: Box, r: int, low: float, high: float) -> None:
    """Cut a box, in place; a little room is left for rounding."""
    slack = 1e-9 * (high - low)
    if low - slack > box.low[r]:
        box.low[r] = low - slack
    if high + slack < box.high[r]:
        box.high[r] = high + slack


@kernel
def _by_inverse(plain: Family, distances: Floats, box: Box) -> None:
    """Cut a box by all directions together, where they are far from dependent."""
    u = len(distances)
    sizes = lengths(plain.moves).reshape(u, 1)
    if not (sizes > 0.0).all() or np.linalg.cond(plain.moves / sizes) > MOST_CONDITION:
        return
    inverse = inverse_of(plain.moves)
    middle, half = inverse @ plain.distances, np.abs(inverse) @ distances
    for r in range(u):
        _shrink(box, r, middle[r] - half[r], middle[r] + half[r])


@kernel
def _by_one(row: Row, plain: Family, distances: Floats, radius: float, box: Box) -> None:
    """Cut a box by each direction alone."""
    for k in range(len(distances)):
        own = plain.moves[k, k]
        if own == 0.0:
            continue
        rest = plain.moves[k].copy()
        rest[k] = 0.0
        turned = row.back.T @ rest
        highest = distances[k] + plain.distances[k] + _sup(-rest, -turned, radius, box)
        lowest = plain.distances[k] - distances[k] - _sup(rest, turned, radius, box)
        one, other = lowest / own, highest / own
        _shrink(box, k, min(one, other), max(one, other))


@kernel
def bound_row(
    sums: Sums, stakes: Stakes, j: int, causes: Ints, coins: Ints, level: float, own: Nats
) -> Box:
    """Return bounds of the unknown coefficients of row j over all rows that no test rejects at a
    level in nats; infinite where there are none. If some low is above its high, no row is left.

    own : nats on top of the level, for the test of all coins and for each direction: their shares
        of the error probability
    """
    u = len(causes)
    nothing = Box(np.full(u, -math.inf), np.full(u, math.inf))
    row = row_of_tests(sums, stakes, j, causes, coins)
    if not row.is_bounded:
        return nothing
    radius = radius_of_ball(row, level + own.all_coins + SAFETY)
    if math.isinf(radius):
        return nothing
    if radius < 0.0:
        return Box(nothing.high, nothing.low)
    plain = turn(row.directions, inverse_of(row.back))
    half = radius * lengths(row.back)
    box = Box(-half, half.copy())
    for _ in range(STEPS):
        distances = _distances(row, plain, radius, box, level + own.direction + SAFETY)
        _by_inverse(plain, distances, box)
        _by_one(row, plain, distances, radius, box)
        if (box.low > box.high).any():
            break
    reference = np.empty(u)
    for r in range(u):
        reference[r] = stakes.references[j, causes[r]]
    return Box(
        reference + row.units * (row.centre + box.low),
        reference + row.units * (row.centre + box.high),
    )
