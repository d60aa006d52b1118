"""What follows for all pairs when there are no loops: the closure of what is certain.

Let E be the event, of probability 1 - delta, on which the true rows pass all tests at all times.

**Certain effects.** On E every interval holds its effect, so an interval without zero proves a
direct effect: an arrow of the true graph.

**Certain descents.** If i does not descend from j, x_i does not depend on the coin of j in any
round in which i is free, whatever else is set, because all that x_i is made of has no path from j.
So the coin of j alone, with the residual x_i - m, is a test of `row_tests`: S = sum z_j (x_i - m),
V = sum (x_i - m)^2 over the rounds with j tossed and i free, and rho in proportion to the variance
of x_i as it was before the first round that is counted. These tests have a share of delta
of their own, and are part of E: a descent that they do not leave in doubt is a path of the true
graph. It shows in far fewer rounds than the direct effects that it is made of.

**Required effects** are arrows of the true graph, if what is known beforehand is so: they are among
the certain descents before the first round, at every level, without a test or a share. What leads
back to them alone is not even among the unknown effects (`Knowledge.possible`): as little as what
is forbidden. Which effects these are was said before the first round, so all that follows holds for
any true rows that agree with it; and if a chain of required and certain ones leads back, then on E
either there is a loop or what is known is not so.

**The closure.** On E a chain of certain effects and descents from j to i is a path of the true
graph. If that has no loops, there is no arrow from i to j: A_ji, the effect of i on j, is zero. So
on the same event

- the interval of A_ji becomes [0, 0], without a test or a share of its own;
- in row j the coefficient of i is no dimension any more: the true row is among those without it,
  and passes (`kernels.randomized.box`). Intervals of the others become narrower. They hold on E,
  and what they prove can close more: round by round until nothing changes, which is after p * p
  rounds at most. By induction all that is said in each of them is true on E;
- tests that are laid from then on need not tell the others from it. They depend on the past alone,
  as all tests do.

The union over the tests still counts every pair that was unknown at the start: E is the event of
all of their tests, those of a pair that is closed included, and which pairs are closed is chosen by
what happened. Nor does rho follow (`row_tests`).

**If there is a loop.** Certain effects and descents of which a chain leads back, an interval that
excludes zero although a chain leads the other way (those without the closure are kept for that: on
E they hold whether there are loops or not), and a closed row that is empty: by each of them no
linear system without loops passes all tests. On E with a truth without loops that cannot be; so it
refutes, falsely with a probability that is part of the same delta. As long as the row is not empty
without the closure, it is the loops that are refuted, and not the line.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.guarantees.portions import SHARE_OF_DESCENTS, portions_of
from causalfocus.guarantees.randomized_intervals import narrow, scope_of
from causalfocus.kernels.randomized.box import SAFETY
from causalfocus.kernels.randomized.records import Stakes, form_of
from causalfocus.moments.coin_record import CoinRecord
from causalfocus.moments.descents import Descents
from causalfocus.moments.effect_intervals import Intervals, no_intervals
from causalfocus.moments.randomized_sums import RandomizedSums
from causalfocus.moments.reading import Reading
from causalfocus.system.graph import reach_of

SCALE_OF_A_DESCENT: Final = 8.0
"""rho of a test of descent is that of so many rounds: they decide early, when few were tossed."""


class Closed(NamedTuple):
    """Intervals with the closure and without it, and who descends from whom."""

    kept: Intervals
    unclosed: Intervals
    descents: Descents


def certain_effects(kept: Intervals) -> Bools:
    """Return which effects (p, p) there certainly are: their intervals exclude zero."""
    found: Bools = (kept.low > 0.0) | (kept.high < 0.0)
    return found


def certain_descents(descents: Descents, stakes: Stakes, level: float) -> Bools:
    """Return which variables (p, p), the row, certainly descend from which at a level in nats, by
    the rounds so far.
    """
    p = len(stakes.is_begun)
    found = np.zeros((p, p), dtype=np.bool_)
    needed = level + SAFETY + math.log(max(p * (p - 1), 1) / SHARE_OF_DESCENTS)
    for i in np.flatnonzero(stakes.is_begun).tolist():
        rho = SCALE_OF_A_DESCENT * float(form_of(stakes, i)[i, i])
        if rho > 0.0:
            s, v = descents.moved[i], descents.squares[i]
            found[i] = s**2 / (2.0 * (v + rho)) - 0.5 * np.log1p(v / rho) >= needed
    return found


def ruled_out(kept: Intervals, descends: Bools) -> Bools:
    """Return which effects (p, p) there cannot be without a loop: what is certain leads from the
    effect to the cause. On the diagonal stand variables that are in a loop.

    descends : (p, p), certain descents
    """
    found: Bools = reach_of(certain_effects(kept) | descends).T
    return found


def against_order(weights: Floats) -> Bools:
    """Return which effects (p, p) will be ruled out if a model, which may have loops, is right. The
    effects of a loop itself are not among them.
    """
    reach = reach_of(weights != 0.0)
    found: Bools = reach.T & ~reach
    return found


def close(reading: Reading, sums: RandomizedSums, level: float, last: Closed) -> Closed:
    """Return what a reading leaves, closed until nothing changes.

    last : what was left by earlier looks, at this level
    """
    own, done = portions_of(scope_of(sums), acyclic=True), np.zeros_like(sums.unknown)
    descends = last.descents.certain | certain_descents(last.descents, reading.stakes, level)
    unclosed = narrow(reading, sums, level, own, last.unclosed, done)
    kept = last.kept.intersect(unclosed)
    while not kept.is_refuted.any():
        found = ruled_out(kept, descends)
        rows: Bools = np.any(found & ~done, axis=1)
        if not rows.any():
            break
        kept = kept.intersect(_without(found, kept.rounds))
        if not kept.is_refuted.any():
            kept = narrow(reading, sums, level, own, kept, found, rows)
        done = found
    kept = kept.with_regions(None)  # those without the closure serve both
    return Closed(kept, unclosed, replace(last.descents, certain=descends))


def _without(found: Bools, rounds: int) -> Intervals:
    """Nothing but that these are zero; where two rule each other out, that nothing is left."""
    high = np.where(found, np.where(found.T, -np.inf, 0.0), np.inf)
    return Intervals(-high, high, rounds)


def closed_at(
    record: CoinRecord, needed: Bools | None = None
) -> Callable[[Reading, float], Intervals] | None:
    """Return what finds the intervals at a level by the rounds so far alone, closed; None if loops
    are not ruled out.

    needed : (p, p), effects that are known to be there: they are certain at every level
    """
    if record.descents is None:
        return None
    sums, nothing = record.sums, no_intervals(record.sums.unknown)
    certain = np.zeros_like(sums.unknown) if needed is None else needed
    none = replace(record.descents, certain=certain)

    def at(reading: Reading, level: float) -> Intervals:
        return close(reading, sums, level, Closed(nothing, nothing, none)).kept

    return at


def without_loops(weights: Floats, sizes: Floats, certain: Bools) -> Floats:
    """Return weights (p, p) without those that would close a loop, the larger ones first; certain
    ones, which have no loop, stay.
    """
    found = np.where(certain, weights, 0.0)
    reach = reach_of(found != 0.0) | np.eye(len(weights), dtype=np.bool_)
    others = np.argwhere((weights != 0.0) & ~certain)
    for j, k in sorted(others.tolist(), key=lambda one: -float(sizes[one[0], one[1]])):
        if not reach[k, j]:
            found[j, k] = weights[j, k]
            reach |= np.outer(reach[:, j], reach[k])
    return found
