"""Bounds of every coefficient of a row over all rows that no test rejects: with proof.

All rows that are left are in an ellipsoid E (`ellipsoid`). Over it, and over any box that is known
to hold them, V is bounded, and with it every direction: |S_k(b)| <= G_k, by its bid or by its
mixture (`row_tests`), both of which rise in V; rho is the same for all rows.

**V.** About the middle of E, V_k = value - 2 c . v + v' grams v. For any parts c = c1 + c2 and any
k with k form - grams positive definite, over E and the box

    V_k - value  <=  k radius^2 + c1' (k form - grams)^-1 c1  +  (largest -2 c2 . v over the box).

**Shares of the directions.** Let w_r(b) be 1 where |b_r| reaches a size that was given before the
first round, and 1 / n elsewhere, n the unknown coefficients of the row. Of what the directions of
the row may err together, the one for cause k has at row b the share w_k(b) / Z(b), Z(b) = sum_r
w_r(b). At the true row these shares add up to one, so one of its directions rejects it with at most
the probability that the row has: a test of one hypothesis may be laid in view of that hypothesis.
So h_k(b) = h - log n + log Z(b) - log w_k(b), with h what equal shares would need: where few
coefficients are large, those that are, and those that are tested for being so, pay for few.
Over the rows that are left Z is at most the number of coefficients whose bounds reach the size,
and 1 / n for each other. Rows with b_k beyond the size at either end, and those between, are
bounded apart, each with its own level and its own bid (`row_tests`).

**Coefficients.** S(b) = S(b0) - L y, one row of L for every direction. So, for any weights w,
y_r = w . S(b0) - w . S(b) + (e_r - L'w) . y: the second part is at most sum_k |w_k| G_k, the third
is bounded over E. With w of L^-1 nothing remains of the third. Small weights are left out where
that is cheaper: their sum counts in the second part, the root of the sum of their squares in the
third. Each step makes the box smaller, none lets go of a row that is left; if the box is empty,
none is left.

**What is known before.** The box may start from one that holds the true row at the same level, by
tests of earlier rounds. All tests of all times pass at the truth on one event of probability 1 -
delta. On it the truth is in that box, so it is among the rows over which V is bounded here, and it
passes: the result holds it on the same event. The same goes for an ellipsoid (`regions`).

**Coefficients that are zero.** A coefficient that is certain to be zero on that event is no
dimension any more: the true row is among those without it, and passes. All of the above is then of
these rows alone, a section of what it was; only rho stays that of the start (`row_tests`).
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.ball import (
    NO_ROW,
    Ball,
    Ratios,
    largest_ratios,
    largest_shares,
)
from causalfocus.kernels.randomized.ellipsoid import (
    Nats,
    highest,
    smallest_ellipsoid,
    squares_over,
)
from causalfocus.kernels.randomized.heading import heading_of
from causalfocus.kernels.randomized.levels import Box, Reaches, Sizes, levels_over, reaches_at
from causalfocus.kernels.randomized.matrices import (
    dual_lengths,
    invert_any,
    largest_share,
    multiply,
)
from causalfocus.kernels.randomized.records import Stakes, Sums
from causalfocus.kernels.randomized.regions import Region, ball_of, region_of
from causalfocus.kernels.randomized.row_tests import (
    SCALE,
    Family,
    Row,
    least_scale,
    move_centre,
    row_of_tests,
    scale_of_coins,
)

SAFETY = 1e-4
"""Nats that every level is raised by, above the rounding of what is computed."""

STEPS = 4
"""How often the box is made smaller."""

LESS = 0.98
"""How much smaller an ellipsoid has to be than the one that is kept, to be kept in its place."""

PASSES = 6
"""Over the parts of a sum, to see which are bounded by themselves."""


class Left(NamedTuple):
    """What is left of a row: bounds of its unknown coefficients, and a region that holds it."""

    box: Box
    region: Region


@kernel
def stand_alone(parts: Floats, together: Floats, alone: Floats) -> Bools:
    """Return which parts of a sum are better bounded by themselves, none if that is not better.

    parts : sizes of the parts; part r costs parts_r alone_r by itself, the others the root of the
        sum of (parts_r together_r)^2
    """
    found = np.zeros(len(parts), dtype=np.bool_)
    whole = 0.0
    for step in range(PASSES):
        rest = split = 0.0
        for r in range(len(parts)):
            if found[r]:
                split += abs(parts[r]) * alone[r]
            else:
                rest += (parts[r] * together[r]) ** 2
        rest, changed = math.sqrt(rest), False
        if step == 0:
            whole = rest
        if split + rest > whole:
            return np.zeros(len(parts), dtype=np.bool_)
        for r in range(len(parts)):
            if not found[r] and abs(parts[r]) * together[r] ** 2 > alone[r] * rest > 0.0:
                changed = step < PASSES - 1
                found[r] = changed
        if not changed:
            break
    return found


@kernel
def largest_squares(ball: Ball, shares: Floats, there: Family, box: Box) -> Floats:
    """Return the largest V of every test over an ellipsoid and a box.

    shares : of the grams of every test in the ellipsoid
    there : the tests about the middle of the ellipsoid
    """
    q, u = there.slopes.shape
    wide = ball.radius * dual_lengths(ball.upper, np.eye(u))
    left, alone = there.slopes.copy(), np.zeros(q)
    reach = np.maximum(box.high - ball.middle, ball.middle - box.low)
    for k in range(q):
        by_itself = stand_alone(left[k], wide, reach)
        for r in range(u):
            if by_itself[r]:
                one = -left[k, r] * (box.low[r] - ball.middle[r])
                other = -left[k, r] * (box.high[r] - ball.middle[r])
                alone[k] += 2.0 * max(one, other)
                left[k, r] = 0.0
    rest = Family(there.distances, there.moves, there.squares, left, there.grams)
    return squares_over(rest, ball, shares) + alone


@kernel
def _shrink(box: Box, r: int, low: float, high: float) -> None:
    """Cut a box, in place; a little room is left for rounding. Where nothing is left, low is above
    high.
    """
    if low > high:
        box.low[r], box.high[r] = math.inf, -math.inf
        return
    slack = 1e-9 * (high - low)
    if low - slack > box.low[r]:
        box.low[r] = low - slack
    if high + slack < box.high[r]:
        box.high[r] = high + slack


@kernel
def _ends(row: Row, reference: Floats, large: Floats) -> Box:
    """Return where coefficients become large, about the centre and in its units."""
    minus, plus = np.empty(len(large)), np.empty(len(large))
    for r in range(len(large)):
        minus[r] = (-large[r] - reference[r]) / row.units[r] - row.centre[r]
        plus[r] = (large[r] - reference[r]) / row.units[r] - row.centre[r]
    return Box(minus, plus)


@kernel
def _cut(row: Row, ball: Ball, weights: Floats, reach: Reaches, ends: Box, box: Box) -> None:
    """Cut a box by weighted sums of the directions, one for every coefficient."""
    aimed, u = row.directions, len(ends.low)
    rest = -multiply(weights, aimed.moves)
    for r in range(u):
        rest[r, r] += 1.0
    above, below = highest(ball, rest), highest(ball, -rest)
    for r in range(u):
        middle = half = 0.0
        for k in range(u):
            middle += weights[r, k] * aimed.distances[k]
            half += abs(weights[r, k]) * reach.anywhere[k]
        anywhere = (middle - half - below[r], middle + half + above[r])
        if not math.isfinite(anywhere[1] - anywhere[0]):
            continue
        low, high = math.inf, -math.inf
        for part in range(3):
            own = reach.where_large[r] if part < 2 else reach.where_small[r]
            less = abs(weights[r, r]) * (reach.anywhere[r] - own)
            start, stop = anywhere[0] + less, anywhere[1] - less
            if part == 0:
                start = max(start, ends.high[r])
            elif part == 1:
                stop = min(stop, ends.low[r])
            else:
                start, stop = max(start, ends.low[r]), min(stop, ends.high[r])
            if max(start, box.low[r]) <= min(stop, box.high[r]):
                low, high = min(low, start), max(high, stop)
        _shrink(box, r, low, high)


@kernel
def _weights(row: Row) -> Floats:
    """Return weights (u, u) of the directions that isolate every coefficient."""
    moves, u = row.directions.moves, len(row.centre)
    found = np.zeros((u, u))
    if not invert_any(moves, found):
        found[:] = 0.0
        for r in range(u):
            found[r, r] = 1.0 / moves[r, r] if moves[r, r] != 0.0 else 0.0
    return found


@kernel
def _fewer(weights: Floats, sizes: Floats, distances: Floats) -> Floats:
    """Return weights without those that are cheaper to bound together; sizes (u,) are the largest
    moves of the directions over the ellipsoid.
    """
    found = weights.copy()
    for r in range(len(found)):
        kept = stand_alone(found[r], sizes, distances)
        for k in range(len(found)):
            if k != r and not kept[k]:
                found[r, k] = 0.0
    return found


@kernel
def _box_of(row: Row, ball: Ball, known: Box) -> Box:
    """Return the box of an ellipsoid, cut by what is known, about the centre and in its units."""
    half = ball.radius * dual_lengths(ball.upper, np.eye(len(row.centre)))
    box = Box(ball.middle - half, ball.middle + half)
    for r in range(len(half)):
        low, high = known.low[r] / row.units[r], known.high[r] / row.units[r]
        box.low[r] = max(box.low[r], low - row.centre[r])
        box.high[r] = min(box.high[r], high - row.centre[r])
    return box


@kernel
def _share_of(ball: Ball, row: Row) -> float:
    """Return the share of the grams in an ellipsoid; infinity if there is none."""
    if math.isinf(ball.radius):
        return math.inf
    return largest_share(ball.form, ball.upper, row.grams)


@kernel
def _spread(ball: Ball, share: float) -> float:
    """Return how far V can grow over an ellipsoid to second order."""
    return share * ball.radius**2


@kernel
def _narrow(row: Row, ball: Ball, box: Box, ends: Box, of: Sizes, scale: float, h: float) -> None:
    """Narrow a box, in place, by the directions of a row at a level of h nats."""
    there, weights = move_centre(row.directions, ball.middle), _weights(row)
    shares = largest_shares(ball.form, ball.upper, there, np.zeros(ball.form.shape))
    sizes = ball.radius * dual_lengths(ball.upper, row.directions.moves)
    for _ in range(STEPS):
        if (box.low > box.high).any():
            return
        squares = largest_squares(ball, shares, there, box)
        reach = reaches_at(levels_over(box, ends, of.n, h), squares, scale, of.bids)
        if not np.isfinite(reach.anywhere).all():
            return
        _cut(row, ball, weights, reach, ends, box)
        _cut(row, ball, _fewer(weights, sizes, reach.anywhere), reach, ends, box)


@kernel
def bound_row(
    sums: Sums,
    stakes: Stakes,
    j: int,
    causes: Ints,
    coins: Ints,
    level: float,
    own: Nats,
    of: Sizes,
    known: Left,
    at_start: Ints,
) -> Left:
    """Return what is left of row j, all rows that no test rejects at a level in nats: bounds of its
    unknown coefficients, infinite where there are none. If some low is above its high, no row is
    left.

    own : nats on top of the level for every test: its share of the error probability; of a
        direction, for equal shares
    of : the sizes that were given before the first round
    known : what earlier rounds left at the same level, infinite where there were no bounds
    at_start : the coefficients that were unknown at the start: `causes`, and those that are certain
        to be zero by now, of which the reference is zero as well
    """
    u = len(causes)
    nothing = Box(np.full(u, -math.inf), np.full(u, math.inf))
    row = row_of_tests(sums, stakes, j, causes, coins, len(at_start))
    if not row.is_bounded:
        return Left(nothing, known.region)
    ratios = largest_ratios(row)
    if len(at_start) > u:
        ratios = Ratios(ratios.largest, min(ratios.least_scale, least_scale(stakes, j, at_start)))
    scale = ratios.least_scale * SCALE / scale_of_coins(len(at_start))
    above = Nats(
        level + own.all_coins + SAFETY, level + own.aim + SAFETY, level + own.direction + SAFETY
    )
    reference = np.empty(u)
    for r in range(u):
        reference[r] = stakes.references[j, causes[r]]
    before = ball_of(known.region, row, reference)
    heading = heading_of(stakes, row, j, causes, coins, at_start)
    ball = smallest_ellipsoid(row, ratios, scale, heading, above, before)
    if math.isinf(ball.radius) or not scale > 0.0:
        return Left(nothing, known.region)
    if ball.radius == NO_ROW:
        return Left(Box(nothing.high, nothing.low), known.region)
    share = largest_share(ball.form, ball.upper, row.grams)
    if not math.isfinite(share):
        return Left(nothing, known.region)
    region = known.region
    if _spread(ball, share) < LESS * _spread(before, _share_of(before, row)):
        smaller = region_of(ball, row, reference)
        region = region if math.isinf(smaller.radius) else smaller
    box = _box_of(row, ball, Box(known.box.low - reference, known.box.high - reference))
    _narrow(row, ball, box, _ends(row, reference, of.large), of, scale, above.direction)
    bounds = Box(
        reference + row.units * (row.centre + box.low),
        reference + row.units * (row.centre + box.high),
    )
    return Left(bounds, region)
