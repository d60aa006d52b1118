"""Tests of total effects by the coin of the cause alone, and all effects that they leave: with
proof.

**One pair.** In a round of the pair (j, k) variable k alone was asked to be set, by a coin z = +-1
of this round. Fix a number b and let it be the total effect of k on j: then x_j - b x_k is made of
what the coin does not influence (`moments.total_sums`), and so is, with centres c that were known
before the coin was tossed,

    r_t(b) = (x_tj - c_tj) - b (x_tk - c_tk).

With S = sum z r and V = sum r^2 over the rounds, exp(l S - l^2 V / 2) is a supermartingale for
every number l, as in `row_tests`, and so is its mean over l ~ N(0, 1 / rho). By Ville's inequality

    S^2  <=  (V + rho) (2 h + log(1 + V / rho))                                           (total)

at all times, except with probability exp(-h). rho may be any function of b and of what was known
before the first round that counts.

**The scale.** With a = `anchors` fixed before the first round that counts, e = (x_j - c_j) - a (x_k
- c_k), y = x_k - c_k and b = a + d, all is a form in q = (1, -d): S = moved - d cause_moved, V =
squares - 2 d crossed + d^2 cause_squares, and rho = SCALE (f + d^2 g), f and g the variances of e
and y in the first rounds. So in units in which f = g = 1 rho is SCALE (1 + d^2): with d = tan(u)
both sides of (total), divided by 1 + d^2, depend on the direction q = (cos u, -sin u) alone, and

    s(u)^2  <=  (v(u) + SCALE) (2 h + log(1 + v(u) / SCALE)),       -pi/2 <= u <= pi/2,

s(u) = moved cos u - cause_moved sin u, v(u) = squares cos^2 u - 2 crossed sin u cos u +
cause_squares sin^2 u. The numbers far away are all near the two ends, which are one direction: the
effects that are left are bounded if and only if that one is rejected.

**What is left.** An interval of u is rejected as a whole if the least s^2 in it is above the right
side at the most v in it, for the right side rises in v. Between two of its zeros |s|, a sine, is
concave, and zeros are pi apart: where s has one sign at both ends of an interval that is shorter
than pi, the least |s| is at an end. v is a sine of 2 u: the most is at an end, or at its one peak.
From each end of the circle intervals are taken away as long as they are rejected, in halves that
become smaller. So what remains holds every number that passes, however small the last halves are;
and they are so small that it is the least such interval to ten digits.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.compile import kernel

SCALE = 16.0
"""rho of a pair is that of so many rounds: total effects are asked for with few. Beside the best
one it costs 2 percent of the half width at a hundred rounds and 6 at ten thousand."""

FIRST_ROUNDS = 8
"""Rounds with the cause alone before one counts, at least: they make centre, anchor and scale."""

LEAST_REST = 1e-13
"""Share of the variance of an effect that must remain about the line of the first rounds before a
round counts: less cannot be told from rounding."""

HALVINGS = 46
"""Of half the circle, to find an end of what is left."""

ROUNDING = 1e-13
"""Share of the parts of V that is added to it."""

OUTWARDS = 1e-15
"""Share of its parts by which an end is moved outwards."""


class Totals(NamedTuple):
    """Sums over the rounds in which one variable alone was asked to be set, by a coin of the round.
    All are (p, p), row the effect and column the cause that was set, but `rounds`, (p,), of every
    cause.

    centres : means of the values so far
    spreads, leans : sums of squares about the means, and of products with those of the cause
    anchors : see above; fixed when the first rounds are over, like the following two
    scales, cause_scales : f and g; 0 as long as no round counts
    moved, cause_moved : sums of z e and z y
    squares, crossed, cause_squares : sums of e^2, e y and y^2
    """

    rounds: Floats
    centres: Floats
    spreads: Floats
    leans: Floats
    anchors: Floats
    scales: Floats
    cause_scales: Floats
    moved: Floats
    cause_moved: Floats
    squares: Floats
    crossed: Floats
    cause_squares: Floats


class Bet(NamedTuple):
    """The sums of one pair, in units in which f = g = 1."""

    moved: float
    cause_moved: float
    squares: float
    crossed: float
    cause_squares: float


@kernel
def add_alone(totals: Totals, k: int, sign: float, x: Floats) -> None:
    """Add a round in which variable k alone was asked to be set, in place.

    sign : the coin, 1 or -1
    x : (p,), the values that were achieved
    """
    y = x[k] - totals.centres[k, k]
    for j in range(len(x)):
        if totals.scales[j, k] > 0.0:
            e = (x[j] - totals.centres[j, k]) - totals.anchors[j, k] * y
            totals.moved[j, k] += sign * e
            totals.cause_moved[j, k] += sign * y
            totals.squares[j, k] += e * e
            totals.crossed[j, k] += e * y
            totals.cause_squares[j, k] += y * y
    n = totals.rounds[k] + 1.0
    totals.rounds[k] = n
    for j in range(len(x)):
        step = x[j] - totals.centres[j, k]
        totals.spreads[j, k] += step * step * ((n - 1.0) / n)
        totals.leans[j, k] += step * y * ((n - 1.0) / n)
        totals.centres[j, k] += step / n
    if n >= FIRST_ROUNDS:
        for j in range(len(x)):
            if j != k and totals.scales[j, k] == 0.0:
                _begin(totals, j, k)


@kernel
def _begin(totals: Totals, j: int, k: int) -> None:
    """Fix the anchor and the scale of a pair, if the rounds so far tell the variables apart."""
    spread, cause_spread = totals.spreads[j, k], totals.spreads[k, k]
    if not cause_spread > 0.0:
        return
    anchor = totals.leans[j, k] / cause_spread
    rest = spread - anchor * totals.leans[j, k]
    if rest > LEAST_REST * spread:
        totals.anchors[j, k] = anchor
        totals.scales[j, k] = rest / totals.rounds[k]
        totals.cause_scales[j, k] = cause_spread / totals.rounds[k]


@kernel
def bet_of(totals: Totals, j: int, k: int) -> Bet:
    """Return the sums of a pair in its own units."""
    e, y = math.sqrt(totals.scales[j, k]), math.sqrt(totals.cause_scales[j, k])
    return Bet(
        totals.moved[j, k] / e,
        totals.cause_moved[j, k] / y,
        totals.squares[j, k] / e / e,
        totals.crossed[j, k] / e / y,
        totals.cause_squares[j, k] / y / y,
    )


@kernel
def is_rejected(bet: Bet, h: float, start: float, end: float) -> bool:
    """Return whether no direction between two is left, ends included, at h nats."""
    at_start = bet.moved * math.cos(start) - bet.cause_moved * math.sin(start)
    at_end = bet.moved * math.cos(end) - bet.cause_moved * math.sin(end)
    if not at_start * at_end > 0.0 or not end - start < math.pi:
        return False
    least = min(abs(at_start), abs(at_end))
    peak = 0.5 * math.atan2(-2.0 * bet.crossed, bet.squares - bet.cause_squares)
    most = max(_square(bet, start), _square(bet, end))
    if start <= peak <= end:
        most = max(most, _square(bet, peak))
    most += ROUNDING * (bet.squares + 2.0 * abs(bet.crossed) + bet.cause_squares)
    return least * least > (most + SCALE) * (2.0 * h + math.log1p(most / SCALE))


@kernel
def _square(bet: Bet, u: float) -> float:
    """Return v in a direction."""
    c, s = math.cos(u), math.sin(u)
    found = bet.squares * c * c - 2.0 * bet.crossed * s * c + bet.cause_squares * s * s
    return max(found, 0.0)


@kernel
def _lowest(bet: Bet, h: float) -> float:
    """Return where the directions that are left begin."""
    at, end, step = -0.5 * math.pi, 0.5 * math.pi, math.pi
    for _ in range(HALVINGS):
        step *= 0.5
        while at < end and is_rejected(bet, h, at, min(at + step, end)):
            at = min(at + step, end)
    return at


@kernel
def bound_totals(totals: Totals, h: float) -> tuple[Floats, Floats]:
    """Return bounds (p, p) of all total effects that no test rejects at h nats; infinite where
    there are none. If a low is above its high, none is left.
    """
    p = len(totals.rounds)
    low, high = np.full((p, p), -math.inf), np.full((p, p), math.inf)
    for j in range(p):
        for k in range(p):
            if totals.scales[j, k] > 0.0:
                bet = bet_of(totals, j, k)
                mirrored = Bet(
                    bet.moved, -bet.cause_moved, bet.squares, -bet.crossed, bet.cause_squares
                )
                unit = math.sqrt(totals.scales[j, k]) / math.sqrt(totals.cause_scales[j, k])
                anchor, ends = totals.anchors[j, k], (_lowest(bet, h), -_lowest(mirrored, h))
                if ends[0] > -0.5 * math.pi and ends[1] < 0.5 * math.pi:
                    below, above = math.tan(ends[0]) * unit, math.tan(ends[1]) * unit
                    low[j, k] = anchor + below - OUTWARDS * (abs(anchor) + abs(below))
                    high[j, k] = anchor + above + OUTWARDS * (abs(anchor) + abs(above))
    return low, high
