"""Intervals of all direct effects by the coins alone, simultaneous and at all times.

Every row has two tests of all coins and one direction for every unknown coefficient. At delta, a
tenth of it is shared by the tests of all coins, a twentieth goes to the `guardrails`, and the rest
is shared by the directions, in equal parts. By the union of their errors the true rows pass all
tests at all times, except with probability delta: then every interval, and the intersection of
those of all times, holds its effect. The proofs are in `kernels.randomized`: `row_tests`, `ball`
and `box`. If an intersection is empty, no linear system passes: that is a refutation, false with a
probability that is part of the same delta.

A coefficient has no bound while its row has fewer coins that were tossed than unknown coefficients:
`unidentified_rows` names such rows. A variable that cannot be set and is no outcome leaves the rows
that it may act on so for good, unless other effects on them are known not to exist.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.errors import InvalidInputError
from causalfocus.kernels.randomized.box import Box, Nats, bound_row
from causalfocus.moments.effect_intervals import Intervals, no_intervals
from causalfocus.moments.randomized_sums import RandomizedSums, Reading

SHARE_OF_ALL_COINS: Final = 0.1
"""Of delta, for the tests of all coins."""

SHARE_OF_GUARDS: Final = 0.05
"""Of delta, for all alarms of the `guardrails` together."""

MOST_NATS: Final = 1e4
"""Levels are not sought beyond this."""


def unidentified_rows(sums: RandomizedSums) -> Bools:
    """Return which rows (p,) have more unknown coefficients than coins that were tossed for them.

    These have no intervals, however many rounds there are, until more coins are tossed.
    """
    tossed = (sums.read().sums.pool.counts > 0.0).sum(axis=1)
    found: Bools = sums.unknown.sum(axis=1) > tossed
    return found


def own_nats(unknown: Bools) -> Nats:
    """Return what a test needs on top of log(1 / delta), in nats: one of all coins, a direction."""
    n_rows = max(int(unknown.any(axis=1).sum()), 1)
    n_pairs = max(int(unknown.sum()), 1)
    of_directions = 1.0 - SHARE_OF_ALL_COINS - SHARE_OF_GUARDS
    return Nats(math.log(2 * n_rows / SHARE_OF_ALL_COINS), math.log(n_pairs / of_directions))


def intervals_at(sums: RandomizedSums, level: float, within: Intervals | None = None) -> Intervals:
    """Return the intervals at a level in nats, log(1 / delta), by the rounds that are complete.

    Parameters
    ----------
    sums : of all rounds
    level : positive; larger ones make wider intervals
    within : the intersection of intervals of earlier rounds of the same run, at this level or a
        higher one. What is returned is then narrower, and lies in it. All tests of all times pass
        at the true rows on one event of probability 1 - delta; on it these are within, and so
        among the rows over which the noise is bounded: the same event serves for all
        (`kernels.randomized.box`)
    """
    if not level > 0.0:
        raise InvalidInputError(f"A level is log(1 / delta), above 0; got {level!r}.")
    known = no_intervals(sums.unknown) if within is None else within
    if known.low.shape != sums.unknown.shape:
        raise InvalidInputError(
            f"Intervals of earlier rounds are of the same {sums.p} variables; got shape "
            f"{known.low.shape}. Give those of this run, or none."
        )
    return _intervals(sums.read(), sums, level, known)


def _intervals(reading: Reading, sums: RandomizedSums, level: float, known: Intervals) -> Intervals:
    low, high = known.low.copy(), known.high.copy()
    for j in range(sums.p):
        low[j], high[j] = _row(reading, sums, level, known, j)
    return Intervals(low, high, sums.n)


def _row(
    reading: Reading, sums: RandomizedSums, level: float, known: Intervals, j: int
) -> tuple[Floats, Floats]:
    """The ends (p,) of the intervals of row j."""
    low, high = known.low[j].copy(), known.high[j].copy()
    causes = np.flatnonzero(sums.unknown[j])
    coins = np.flatnonzero(reading.sums.pool.counts[j] > 0.0)
    if len(causes) and len(causes) <= len(coins):
        before, own = Box(low[causes], high[causes]), own_nats(sums.unknown)
        box = bound_row(reading.sums, reading.stakes, j, causes, coins, level, own, before)
        low[causes] = np.maximum(before.low, box.low)
        high[causes] = np.minimum(before.high, box.high)
    return low, high


@dataclass(frozen=True)
class Demands:
    """What a claim has to say of every pair.

    Attributes
    ----------
    epsilon : (p, p), how far a reported weight may be off
    min_effect : (p, p), the size from which on an effect must be reported
    """

    epsilon: Floats
    min_effect: Floats

    def __post_init__(self) -> None:
        for name in ("epsilon", "min_effect"):
            given = np.asarray(getattr(self, name))
            if given.ndim != 2 or not (given > 0.0).all():
                raise InvalidInputError(
                    f"{name} is a table of positive numbers, row the effect and column the cause; "
                    f"got {given.tolist()}."
                )

    def holds(self, intervals: Intervals, weights: Floats) -> Bools:
        """Return for which pairs (p, p) intervals prove what weights claim: a weight that is not
        zero is reported, so its sign must be certain, however coarse epsilon is; all others are
        below min_effect.
        """
        is_shown = weights != 0.0
        off = np.maximum(intervals.high - weights, weights - intervals.low)
        is_certain = np.where(weights > 0.0, intervals.low > 0.0, intervals.high < 0.0)
        found: Bools = (off <= np.where(is_shown, self.epsilon, self._below)) & (
            is_certain | ~is_shown
        )
        return found

    @cached_property
    def _below(self) -> Floats:
        found: Floats = np.nextafter(self.min_effect, 0.0)
        return found

    def claim(self, intervals: Intervals) -> Floats:
        """Return the weights (p, p) that are easiest to prove: the middles of intervals without
        zero, and of those with zero the middles that cannot be told from an effect that matters.
        """
        is_there = (intervals.low > 0.0) | (intervals.high < 0.0)
        matters = np.abs(intervals.middle) >= self.min_effect
        is_small = np.maximum(-intervals.low, intervals.high) < self.min_effect
        return np.where((is_there & ~is_small) | matters, intervals.middle, 0.0)


def level_of(sums: RandomizedSums, weights: Floats, demands: Demands) -> float:
    """Return the largest level, in nats, that was found at which a claim stands; 0 if at none.

    At the level that is returned the intervals prove the claim, to a thousandth. A rule stops when
    they do at log(1 / delta).

    Parameters
    ----------
    sums : of all rounds
    weights : (p, p), what is claimed; zero where no effect is reported
    demands : how good the claim has to be
    """
    reading, nothing = sums.read(), no_intervals(sums.unknown)

    def stands(j: int, level: float) -> bool:
        low, high = _row(reading, sums, level, nothing, j)
        found, at = Intervals(low[None], high[None], sums.n), slice(j, j + 1)
        own = Demands(demands.epsilon[at], demands.min_effect[at])
        return not found.is_refuted.any() and bool(own.holds(found, weights[at]).all())

    least = math.inf
    for j in range(sums.p):  # most rows stand where an earlier one does, and that is one look
        if math.isinf(least) or not stands(j, least):
            least = _level_of_row(partial(stands, j), least)
        if least == 0.0:
            break
    return least


def _level_of_row(stands: Callable[[float], bool], most: float) -> float:
    """The same of one row, of which it is known that it does not stand at `most`."""
    low, high = 1e-3, 1.0
    if most <= low or not stands(low):
        return 0.0
    while high < most and stands(high):
        low, high = high, 2.0 * high
        if high > MOST_NATS:
            return low
    high = min(high, most)
    while high > 1.001 * low:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if stands(middle) else (low, middle)
    return low
