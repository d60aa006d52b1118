"""What follows for all pairs when there are no loops: the closure of certain effects.

Let E be the event, of probability 1 - delta, on which the true rows pass all tests at all times. On
it every interval holds its effect, so an interval without zero proves a direct effect: an arrow of
the true graph. A chain of such arrows from j to i is a path of the true graph. If that has no
loops, there is no arrow from i to j: A_ji, the effect of i on j, is zero. So on the same event

- the interval of A_ji becomes [0, 0], without a test or a share of delta of its own;
- in row j the coefficient of i is no dimension any more: the true row is among those without it,
  and passes (`kernels.randomized.box`). Intervals of the others become narrower. They hold on E,
  and what they prove can close more: round by round until nothing changes, which is after p * p
  rounds at most. By induction all that is said in each of them is true on E;
- tests that are laid from then on need not tell the others from it. They depend on the past alone,
  as all tests do.

The union over the tests still counts every pair that was unknown at the start: E is the event of
all of their tests, those of a pair that is closed included, and which pairs are closed is chosen by
what happened. Nor does rho follow (`row_tests`).

**If there is a loop.** Intervals without the closure are kept as well: they hold on E whether there
are loops or not. Where such an interval, or one of a closed row, excludes zero and certain arrows
lead the other way, or where a closed row is empty, no linear system without loops passes all tests.
On E with a truth without loops that cannot be; so it refutes, falsely with a probability that is
part of the same delta. As long as the row is not empty without the closure, it is the loops that
are refuted, and not the line.
"""

from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.guarantees.randomized_intervals import narrowed
from causalfocus.moments.effect_intervals import Intervals, no_intervals
from causalfocus.moments.randomized_sums import RandomizedSums
from causalfocus.moments.reading import Reading
from causalfocus.system.graph import reach_of


class Closed(NamedTuple):
    """Intervals with the closure, and without it."""

    kept: Intervals
    unclosed: Intervals


def certain_effects(kept: Intervals) -> Bools:
    """Return which effects (p, p) there certainly are: their intervals exclude zero."""
    found: Bools = (kept.low > 0.0) | (kept.high < 0.0)
    return found


def ruled_out(kept: Intervals, unknown: Bools) -> Bools:
    """Return which of the effects (p, p) that were unknown there cannot be without a loop: certain
    ones lead from the effect to the cause.
    """
    found: Bools = reach_of(certain_effects(kept)).T & unknown
    return found


def foreseen(weights: Floats) -> Bools:
    """Return which effects (p, p) will be ruled out if a model, which may have loops, is right. The
    effects of a loop itself are not among them.
    """
    reach = reach_of(weights != 0.0)
    found: Bools = reach.T & ~reach
    return found


def close(
    reading: Reading, sums: RandomizedSums, level: float, kept: Intervals, unclosed: Intervals
) -> Closed:
    """Return what a reading leaves, closed until nothing changes.

    kept, unclosed : the intersections of the intervals at earlier looks, at this level
    """
    done = np.zeros_like(sums.unknown)
    unclosed = narrowed(reading, sums, level, unclosed, done)
    kept = kept.intersect(unclosed)
    while not kept.is_refuted.any():
        found = ruled_out(kept, sums.unknown)
        rows: Bools = np.any(found & ~done, axis=1)
        if not rows.any():
            break
        kept = kept.intersect(_zero(found, kept.rounds))
        if not kept.is_refuted.any():
            kept = narrowed(reading, sums, level, kept, found, rows)
        done = found
    return Closed(kept, unclosed)


def _zero(found: Bools, rounds: int) -> Intervals:
    """Nothing but that these are zero."""
    high = np.where(found, 0.0, np.inf)
    return Intervals(-high, high, rounds)


def closed_at(reading: Reading, sums: RandomizedSums, level: float) -> Intervals:
    """Return the intervals at a level by the rounds so far alone, closed."""
    nothing = no_intervals(sums.unknown)
    return close(reading, sums, level, nothing, nothing).kept


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
