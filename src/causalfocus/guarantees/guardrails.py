"""Guardrails: what the randomized rule assumes and cannot prove is watched, within the same delta.

Each is a bet on fair coins that nobody can win while an assumption holds. They have a twentieth of
delta, `portions.SHARE_OF_GUARDS`, which the tests of the effects do without: a quarter
for each kind, shared equally by all tests of the kind. So wrong claims and false refutations
together have probability at most delta. Sums and notation: `moments.guard_sums`. Let F_n be all
that is known of the first n asks, outcomes included, and of which variables ask n + 1 sets.

**Selection.** Rounds that were asked for and then lost, withdrawn, rejected or left to lapse. If
that has nothing to do with the coins, the coin of a variable is fair in every such round, given F_n
and that it was lost. So with h of them at the high end and l at the low one, (h + l = m),

    2^m B(h + 1/2, l + 1/2) / B(1/2, 1/2)

is a martingale in the order of asking: the density of the coins, mixed over all probabilities of
the high end with the law Beta(1/2, 1/2), over that of fair coins. What is not seen: rounds that are
lost for their outcome and equally often at both ends, and those that are lost whenever a variable
is set; of that `losses` speaks.

**Interference.** Nothing that is measured in a round may depend on a coin of a later ask. If that
is so, the coins z of ask n + 1 are fair given F_n, and r = r_nj is part of F_n, for any reference
that was fixed before. As cosh(x) <= exp(x^2 / 2), exp(l z_k r - l^2 r^2 / 2) has a mean of at most
one, and with l ~ N(0, 1 / rho)

    exp(S^2 / (2 (V + rho))) / sqrt(1 + V / rho)                                          (bet)

is a supermartingale in n for every pair (j, k). The coin of ask n + 1 counts whether the ask was
answered or not, so that nobody can choose which do. It sees rounds that are performed side by side
and disturb each other; rounds that are performed in another order than they were asked for, where
each has an effect on the next; and coins that somebody knew in advance. Effects of a round on those
that were asked for after it are allowed and are not seen.

**Products.** If effects add up, the residual r_t(b) of the true row b does not depend on the coins
of its round, and the product of two of them is a fair coin of its own, given F_n and r_t(b). So
(bet) with S = sum z_i z_k r_t(b) is a supermartingale at the true row b. It rises with |S| and
falls with V. The least |S| and the most V over all rows that the kept intervals leave give a lower
bound of the bet against every one of them. If the true row is within the intervals, it reaches
1 / share with probability at most that share of delta; that it is not within them is part of what
the other tests may err. With more than fourteen variables only the pairs of the largest effects on
a row are watched, so a product of two causes that have no effect on average may go unseen there.

**Curves.** Second coins set a variable to the middle of its range or to an end. If a response is
straight, the residual of the true row depends on neither. The bet, and its bounds over all rows
that the kept intervals leave: `curvature`. With more than fourteen variables only the four largest
effects on a row are watched, and with more than forty no second coins are tossed.

By Ville's inequality and the union of all these tests, each holds at all times at once.
"""

import math
from typing import Final

import numpy as np
from scipy.special import gammaln

from causalfocus.arrays import Floats, Ints
from causalfocus.guarantees.alarm import Alarm, Kind
from causalfocus.guarantees.curvature import SCALE_OF_CURVES, curve_bounds, curves_at_middle
from causalfocus.guarantees.portions import SHARE_OF_GUARDS
from causalfocus.moments.effect_intervals import Intervals
from causalfocus.moments.guard_sums import MOST_FOR_ALL_PAIRS, N_LARGEST, GuardSums, Products

N_KINDS: Final = 4

ROUNDING: Final = 1e-12
"""Share of the parts of a sum that is taken off it, or added, against rounding."""


def guard_alarms(guards: GuardSums, kept: Intervals, names: tuple[str, ...]) -> tuple[Alarm, ...]:
    """The loudest alarm of each kind that has something to say, the loudest first.

    Its evidence is less what the test pays for its share: it refutes when it reaches the level of
    the intervals, log(1 / delta).

    Parameters
    ----------
    guards : the sums of all rounds
    kept : the intervals that are left, at the level of the rule
    names : of the variables
    """
    found = (
        _selection(guards, names),
        _interference(guards, names),
        _product(guards, kept, names),
        _curve(guards, kept, names),
    )
    heard = [alarm for alarm in found if alarm is not None and alarm.evidence > 0.0]
    return tuple(sorted(heard, key=lambda alarm: -alarm.evidence))


def nats_of(kind: Kind, p: int) -> float:
    """What a test of a kind needs on top of log(1 / delta), with p variables."""
    n_pairs = p * (p - 1) // 2 if p <= MOST_FOR_ALL_PAIRS else N_LARGEST * (N_LARGEST - 1) // 2
    n_causes = p - 1 if p <= MOST_FOR_ALL_PAIRS else N_LARGEST
    n_tests = {
        "selection": p,
        "interference": p * p,
        "product": max(p * n_pairs, 1),
        "middle": max(p * n_causes, 1),
    }
    return math.log(N_KINDS * n_tests[kind] / SHARE_OF_GUARDS)


def coin_evidence(high: Floats, low: Floats) -> Floats:
    """Log evidence that coins of which so many showed each end were not fair."""
    n = high + low
    found: Floats = gammaln(high + 0.5) + gammaln(low + 0.5) - gammaln(n + 1.0)
    return found - math.log(math.pi) + n * math.log(2.0)


def bet_evidence(moved: Floats, squares: Floats, scales: Floats) -> Floats:
    """Log evidence of the bet with S, V and rho; zero where nothing was added up."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = moved**2 / (2.0 * (squares + scales)) - 0.5 * np.log1p(squares / scales)
    return np.where(np.isfinite(found), found, 0.0)


def product_bounds(
    guards: GuardSums, kept: Intervals, rows: Ints, tests: Ints
) -> tuple[Floats, Floats]:
    """Return the least |S| and the most V, over all rows within the intervals, of some products;
    nothing and infinity where there is no bound.

    rows, tests : (n,), of which variables, and which of their pairs of coins
    """
    sums, own = guards.products, (np.arange(len(rows)), rows)
    low, high, middle, half = (ends[rows] for ends in (kept.low, kept.high, kept.middle, kept.half))
    moved, leans, square = (of[rows, tests] for of in (sums.moved, sums.leans, sums.squares))
    with np.errstate(invalid="ignore", over="ignore"):
        parts = np.abs(moved[own]) + np.abs(middle * moved).sum(axis=1)
        least = np.abs(moved[own] - (middle * moved).sum(axis=1)) - ROUNDING * parts
        least -= (half * np.abs(moved)).sum(axis=1)
        stretches = [_stretch(sums, rows, tests, end) for end in (low, high)]
        norms = np.maximum(stretches[0], stretches[1]).sum(axis=1)
        squared = np.fmin(norms**2, largest_spans(guards, kept)[rows])
        tilts = 2.0 * np.maximum(-low * leans, -high * leans)
        spans = np.sqrt(square[:, None] * sums.sizes[rows, tests])  # no lean is larger
        largest = np.maximum(np.abs(low), np.abs(high))
        parts = 2.0 * spans[own] + square + 2.0 * (largest * spans).sum(axis=1)
        most = 2.0 * leans[own] - square + tilts.sum(axis=1) + squared + ROUNDING * parts
    is_bounded = np.isfinite(least) & np.isfinite(most)
    return (
        np.where(is_bounded, np.maximum(least, 0.0), 0.0),
        np.where(is_bounded, np.maximum(most, 0.0), math.inf),
    )


def _stretch(sums: Products, rows: Ints, tests: Ints, b: Floats) -> Floats:
    """Return the norms of (b_r - a_r) x_r over the rounds, rounded upwards, at an end of every
    interval: they are convex in b_r, so the largest is at one.
    """
    bent, cross = sums.sizes[rows, tests] * b**2, 2.0 * sums.crossed[rows, tests] * b
    referred = sums.referred[rows, tests]
    slack = ROUNDING * (bent + np.abs(cross) + referred)
    found: Floats = np.sqrt(np.maximum(bent - cross + referred, 0.0) + slack)
    return found


def largest_spans(guards: GuardSums, kept: Intervals) -> Floats:
    """Return for every row (p,) the most, rounded upwards, that |(b - a) . x|^2 can be over the
    rounds of all products with b within the intervals: at their middle, what the slope there adds
    to it, and what the curve adds.
    """
    grams, crossed, referred = guards.spans.read()
    middle, half, sizes = kept.middle, np.maximum(kept.half, 0.0), np.abs(grams)
    bent = middle @ grams
    value = (middle * (bent - 2.0 * crossed)).sum(axis=1) + referred
    parts = np.abs(middle) * (np.abs(middle) @ sizes + 2.0 * np.abs(crossed))
    slack = ROUNDING * (parts.sum(axis=1) + referred)
    slope = 2.0 * (np.abs(bent - crossed) * half).sum(axis=1)
    curve = (half * (half @ sizes)).sum(axis=1)
    found: Floats = np.maximum(value, 0.0) + slack + slope + curve
    return found


def _selection(guards: GuardSums, names: tuple[str, ...]) -> Alarm | None:
    low, high = guards.lost
    evidence = coin_evidence(high, low)
    k = int(evidence.argmax())
    end = "high" if high[k] > low[k] else "low"
    nats = float(evidence[k]) - nats_of("selection", guards.p)
    return Alarm("selection", names[k], None, end, nats)


def _interference(guards: GuardSums, names: tuple[str, ...]) -> Alarm | None:
    evidence = bet_evidence(guards.moved, guards.squares, guards.scales[:, None])
    j, k = np.unravel_index(int(evidence.argmax()), evidence.shape)
    nats = float(evidence[j, k]) - nats_of("interference", guards.p)
    return Alarm("interference", names[j], names[k], None, nats)


def _product(guards: GuardSums, kept: Intervals, names: tuple[str, ...]) -> Alarm | None:
    sums, cost = guards.products, nats_of("product", guards.p)
    scales = np.broadcast_to(guards.scales[:, None], sums.squares.shape)
    # No bet is above that at one row, with less than the bound of V there: most are passed over.
    row = (np.eye(guards.p) - kept.middle)[:, :, None]
    moved, leans = np.matmul(sums.moved, row)[:, :, 0], np.matmul(sums.leans, row)[:, :, 0]
    hoped = bet_evidence(moved, np.maximum(2.0 * leans - sums.squares, 0.0), scales)
    rows, tests = np.nonzero((hoped > cost) & ~kept.is_refuted[:, None])
    if not len(rows):
        return None
    evidence = bet_evidence(*product_bounds(guards, kept, rows, tests), scales[rows, tests])
    best = int(evidence.argmax())
    j, pair = rows[best], sums.pairs[rows[best], tests[best]]
    causes = " and ".join(names[k] for k in pair)
    return Alarm("product", names[j], causes, None, float(evidence[best]) - cost)


def _curve(guards: GuardSums, kept: Intervals, names: tuple[str, ...]) -> Alarm | None:
    sums, cost = guards.curves, nats_of("middle", guards.p)
    scales = np.broadcast_to(SCALE_OF_CURVES * guards.scales[:, None], sums.rounds.shape)
    hoped = bet_evidence(*curves_at_middle(sums, kept), scales)  # most are passed over
    rows, tests = np.nonzero((hoped > cost) & ~kept.is_refuted[:, None])
    if not len(rows):
        return None
    evidence = bet_evidence(*curve_bounds(sums, kept, rows, tests), scales[rows, tests])
    best = int(evidence.argmax())
    j, cause = rows[best], sums.causes[rows[best], tests[best]]
    return Alarm("middle", names[j], names[cause], None, float(evidence[best]) - cost)
