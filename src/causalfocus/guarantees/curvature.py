"""Whether a response curves between the ends of a range: the bet of second coins, and its bounds.

With ends alone every curve is a straight line. So now and then a second coin of a variable k picks
the middle of its range, with chance c, or an end (`system.coins`). If the true row b of j is linear
and adds up, its residual r depends on no coin of its round, second ones included: the achieved
values are its regressors, wherever they were set. Let g be 1 - c for the middle and -c for an end,
and F_n all that is known of the first n asks. Given F_n, that ask n + 1 has second coins, and
r = r(b) about any centre that belongs to F_n, g has mean 0, and by the inequality of Kearns and
Saul

    E[exp(l g r)]  <=  exp(l^2 r^2 v / 2),      v = (1 - 2c) / (2 log((1 - c) / c)),        (proxy)

for all real l. So with y = g / sqrt(v), S = sum y r and V = sum r^2, mixed over l ~ N(0, 1 / rho),

    exp(S^2 / (2 (V + rho))) / sqrt(1 + V / rho)

is a supermartingale at the true row b, whatever the noise is. What is constant in r is no evidence:
the mean of g is 0. In the order of asking and by intention, like all bets
(`moments.randomized_sums`).

Which row is true is not known. Sums and V are exact quadratics of b (`moments.curve_sums`), so the
least |S| and the most V over all rows within the kept intervals bound the bet at every one of them
from below, the true one included:

    |S(b)| >= |S(a)| - h . |moved|,    V(b) <= V(a) + 2 h . |forms q_a| + h' |forms| h

with a the middles and h the half widths. If the true row is within, the bound reaches 1 / share
with probability at most that share of delta; that it is not within is part of what the other tests
may err. Middle and ends have the same mean, so a slope that is not known well moves S by little.

**Why one in four.** The middle is what costs rounds, for it tells nothing of slopes; ends cost
nothing. Let the response at the middle be D noise standard deviations off the straight line between
the ends. Then S^2 / 2V grows by c (1 - c)^2 D^2 / 2v nats per middle where D is small, .31 D^2 at
c = 1/4 and .25 D^2 for a fair coin, and by at most (1 - c) / 2v per middle however large D is,
1.6 and 1. At c near 0 the bound of (proxy) is far above the variance of g, and both fall again.

**What it can see.** Some ten to thirteen nats are needed. With one toss in forty-eight at the
middle that takes a few thousand rounds where D is two or three, and tens of thousands where it is a
half (docs/randomized.md has what was measured). So it guards long runs against curves of the size
of the noise, and short ones against none. A response whose middle is on the line, as a cubic one
may be, is not seen at all.

**Losses.** A round must not be lost by its second coin. This is assumed (docs/rules.md): if rounds
at the ends are lost more often than at the middle, whatever their outcome, the mean of g in those
that are left is not 0, and S moves by what r has in the mean about its centre. That is little where
nothing drifts; with a strong drift, behind which the centre lags, it can refute in the end.

A curve refutes. A straight line through both ends explains every round in which a variable is set
to them; but where it is free, or its effect is passed on, what it does follows the curve, and no
linear row holds in all rounds.
"""

import math
from typing import Final

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.moments.curve_sums import CurveSums
from causalfocus.moments.effect_intervals import Intervals

SCALE_OF_CURVES: Final = 0.25
"""rho, in that of the other guards: there are few rounds with second coins."""

ROUNDING: Final = 1e-12
"""Share of the parts of a sum that is taken off it, or added, against rounding."""


def curves_at_middle(sums: CurveSums, kept: Intervals) -> tuple[Floats, Floats]:
    """Return |S| and V (p, m) of all tests at the middles of the intervals, |S| rounded upwards and
    V downwards: no bound over all rows makes a larger bet.
    """
    row = np.eye(len(sums.causes)) - kept.middle
    sizes = np.abs(row)
    with np.errstate(invalid="ignore", over="ignore"):
        moved = np.abs(np.einsum("jmr,jr->jm", sums.moved, row))
        moved += ROUNDING * np.einsum("jmr,jr->jm", _sizes_of(sums.rounds, sums.forms), sizes)
        bent = np.matmul(sums.forms, row[:, None, :, None])[..., 0]
        spread = np.matmul(np.abs(sums.forms), sizes[:, None, :, None])[..., 0]
        square = np.einsum("jmr,jr->jm", bent, row)
        square -= ROUNDING * np.einsum("jmr,jr->jm", spread, sizes)
    return moved, np.maximum(square, 0.0)


def curve_bounds(
    sums: CurveSums, kept: Intervals, rows: Ints, tests: Ints
) -> tuple[Floats, Floats]:
    """Return the least |S| and the most V, over all rows within the intervals, of some tests;
    nothing and infinity where there is no bound.

    rows, tests : (n,), of which variables, and which of their tests
    """
    q = np.eye(len(sums.causes))[rows] - kept.middle[rows]
    half, moved, forms = kept.half[rows], sums.moved[rows, tests], sums.forms[rows, tests]
    with np.errstate(invalid="ignore", over="ignore"):
        parts = (np.abs(q) * _sizes_of(sums.rounds[rows, tests], forms)).sum(axis=1)
        least = np.abs((q * moved).sum(axis=1)) - ROUNDING * parts
        least -= (half * np.abs(moved)).sum(axis=1)
        bent = np.matmul(forms, q[:, :, None])[:, :, 0]
        reach = np.matmul(np.abs(forms), half[:, :, None])[:, :, 0]
        spread = np.matmul(np.abs(forms), np.abs(q)[:, :, None])[:, :, 0]
        most = (q * bent).sum(axis=1) + 2.0 * (np.abs(bent) * half).sum(axis=1)
        most += (reach * half).sum(axis=1)
        most += ROUNDING * ((spread * (np.abs(q) + 2.0 * half)).sum(axis=1) + reach.sum(axis=1))
    is_bounded = np.isfinite(least) & np.isfinite(most)
    return (
        np.where(is_bounded, np.maximum(least, 0.0), 0.0),
        np.where(is_bounded, np.maximum(most, 0.0), math.inf),
    )


def _sizes_of(rounds: Floats, forms: Floats) -> Floats:
    """No less than the sum of the sizes that were added up, by value: of S only their rounding is
    left where they cancel.
    """
    squares = np.diagonal(forms, axis1=-2, axis2=-1)
    found: Floats = np.sqrt(rounds[..., None] * squares)
    return found
