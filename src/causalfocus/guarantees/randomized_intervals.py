"""Intervals of all direct effects by the coins alone, simultaneous and at all times.

Every row has two tests of all coins, two aims, and one direction for every unknown coefficient. How
delta is shared out by them, by total effects (`randomized_totals`) and by the `guardrails` is told
in `portions`.
By the union of their errors the true rows pass all tests at all times, except with probability
delta: then every interval, and the intersection of those of all times, holds its effect. The proofs
are in `kernels.randomized`: `row_tests`, `ball`, `ellipsoid` and `box`. If an intersection is
empty, no linear system passes: that is a refutation, false with a probability that is part of the
same delta.

A coefficient has no bound while its row has fewer coins that were tossed than unknown coefficients:
`unidentified_rows` names such rows. A variable that cannot be set and is no outcome leaves the rows
that it may act on so for good, unless other effects on them are known not to exist.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final, NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees.portions import Portion, Scope, portions_of
from causalfocus.kernels.randomized.left import Asked, Known, bound_rows
from causalfocus.kernels.randomized.records import Bids
from causalfocus.kernels.randomized.regions import no_regions
from causalfocus.kernels.randomized.row_tests import NEARLY
from causalfocus.moments.effect_intervals import Intervals, no_intervals
from causalfocus.moments.randomized_sums import RandomizedSums
from causalfocus.moments.reading import Reading

ABSENT: Final = 0.75
"""Of min_effect: the half width at which an effect that is not there is foretold to be settled. Its
middle is noise, and takes the rest."""

BESIDE: Final = 1e-3
"""Of epsilon or min_effect, the lesser: how far from zero an effect is shown that is known to be
there, where zero is the middle of its interval."""

MOST_NATS: Final = 1e4
"""Levels are not sought beyond this."""


def unidentified_rows(sums: RandomizedSums) -> Bools:
    """Return which rows (p,) have more unknown coefficients than coins that were tossed for them.

    These have no intervals, however many rounds there are, until more coins are tossed.
    """
    tossed = (sums.read().sums.pool.counts > 0.0).sum(axis=1)
    found: Bools = sums.unknown.sum(axis=1) > tossed
    return found


def scope_of(sums: RandomizedSums) -> Scope:
    """What is asked of a run, as its sums remember it."""
    return Scope(sums.unknown, sums.asked, sums.asked_totals)


def intervals_at(sums: RandomizedSums, level: float, within: Intervals | None = None) -> Intervals:
    """Return the intervals at a level in nats, log(1 / delta), by the rounds that are complete.

    Parameters
    ----------
    sums : of all rounds
    level : positive; larger ones make wider intervals
    within : the intersection of intervals of earlier rounds of the same run, at this level or a
        higher one, and their regions if they were kept. What is returned is then narrower, and lies
        in it. All tests of all times pass at the true rows on one event of probability 1 - delta;
        on it these are within, and so among the rows over which the noise is bounded: the same
        event serves for all (`kernels.randomized.box`)
    """
    if not level > 0.0:
        raise InvalidInputError(f"A level is log(1 / delta), above 0; got {level!r}.")
    known = no_intervals(sums.unknown) if within is None else within
    if known.low.shape != sums.unknown.shape:
        raise InvalidInputError(
            f"Intervals of earlier rounds are of the same {sums.p} variables; got shape "
            f"{known.low.shape}. Give those of this run, or none."
        )
    nothing = np.zeros_like(sums.unknown)
    return narrow(sums.read(), sums, level, portions_of(scope_of(sums)), known, nothing)


def narrow(
    reading: Reading,
    sums: RandomizedSums,
    level: float,
    portions: Iterable[Portion],
    known: Intervals,
    ruled_out: Bools,
    rows: Bools | None = None,
) -> Intervals:
    """Return the intervals that a reading leaves of those that were known.

    portions : what the tests of which rows need on top of the level
    ruled_out : (p, p), coefficients that are certain to be zero, and are in what is known
    rows : (p,), those to go through; None for all
    """
    reading, regions = reading.without(ruled_out), known.regions
    kept = no_regions(0) if regions is None else regions.copy()
    found = Known(known.low.copy(), known.high.copy(), kept)
    asked = Asked(sums.unknown, ruled_out, sums.large, sums.bids)
    for portion in portions:
        which = np.flatnonzero(portion.rows if rows is None else portion.rows & rows)
        bound_rows(reading.sums, reading.stakes, asked, which, level, portion.own, found)
    return Intervals(found.low, found.high, sums.n, None if regions is None else kept)


@dataclass(frozen=True)
class Demands:
    """What a claim has to say of every pair.

    Attributes
    ----------
    epsilon : (p, p), how far a reported weight may be off
    min_effect : (p, p), the size from which on an effect must be reported
    needed : (p, p), effects that are known to be there: they are always reported, with an accuracy
        of epsilon, and their sign need not be certain; None for none
    """

    epsilon: Floats
    min_effect: Floats
    needed: Bools | None = None

    def __post_init__(self) -> None:
        for name in ("epsilon", "min_effect"):
            given = np.asarray(getattr(self, name))
            if given.ndim != 2 or not (given > 0.0).all():
                raise InvalidInputError(
                    f"{name} is a table of positive numbers, row the effect and column the cause; "
                    f"got {given.tolist()}."
                )

    @cached_property
    def widths_of_none(self) -> Floats:
        """(p, p), the half width at which an effect that is not there is foretold to be settled."""
        found: Floats = ABSENT * self.min_effect
        return found

    def bids(self, half_ranges: Floats) -> Bids:
        """Return the bids of the directions for the half widths that are to be reached.

        half_ranges : (p,), of the coins; 0 where there is none
        """
        small = NEARLY * half_ranges * self.widths_of_none
        return Bids(small, NEARLY * half_ranges * np.minimum(self.epsilon, self.widths_of_none))

    def holds(self, intervals: Intervals, weights: Floats) -> Bools:
        """Return for which pairs (p, p) intervals prove what weights claim: a weight that is not
        zero is reported, so its sign must be certain, however coarse epsilon is; all others are
        below min_effect. One that is known to be there must be reported, and its sign is not asked.
        """
        is_shown = weights != 0.0
        off = np.maximum(intervals.high - weights, weights - intervals.low)
        is_certain = np.where(weights > 0.0, intervals.low > 0.0, intervals.high < 0.0)
        if self.needed is not None:
            is_certain |= self.needed & is_shown
            is_shown = is_shown | self.needed
        found: Bools = (off <= np.where(is_shown, self.epsilon, self._below)) & (
            is_certain | ~is_shown
        )
        return found

    @cached_property
    def _below(self) -> Floats:
        found: Floats = np.nextafter(self.min_effect, 0.0)
        return found

    def settle(self, intervals: Intervals, guess: Floats) -> Floats:
        """Return a guess (p, p) moved to where intervals leave it. What is settled is what can be
        claimed: an effect within epsilon of everything that its interval holds, or none.

        A guess of zero says nothing of how large an effect is that is known to be there, and zero
        would read as none: the middle of its interval stands for it.
        """
        claim = self.claim(intervals)
        is_settled = self.holds(intervals, claim)
        within = np.clip(guess, intervals.low, intervals.high)
        with np.errstate(invalid="ignore"):
            lowest, highest = intervals.high - self.epsilon, intervals.low + self.epsilon
            near = np.clip(within, lowest, highest)
        near = np.where(np.isnan(near), within, near)  # of the graph alone, without an interval
        weights = np.where(is_settled, np.where(claim != 0.0, near, 0.0), within)
        if self.needed is not None:
            weights = np.where(self.needed & (weights == 0.0), claim, weights)
        # At the very edge of what can be claimed a weight may be off by epsilon and its last bit.
        return np.where(is_settled & ~self.holds(intervals, weights), claim, weights)

    def claim(self, intervals: Intervals) -> Floats:
        """Return the weights (p, p) that are easiest to prove: the middles of intervals without
        zero, and of those with zero the middles that cannot be told from an effect that matters.
        Of effects that are known to be there all middles, but never zero: without an interval yet
        the least effect that matters, and a value beside it where zero is the very middle.
        """
        is_there = (intervals.low > 0.0) | (intervals.high < 0.0)
        matters = np.abs(intervals.middle) >= self.min_effect
        is_small = np.maximum(-intervals.low, intervals.high) < self.min_effect
        found = np.where((is_there & ~is_small) | matters, intervals.middle, 0.0)
        if self.needed is None:
            return found
        is_bounded = np.isfinite(intervals.low) & np.isfinite(intervals.high)
        least = np.minimum(self.epsilon, self.min_effect)
        beside = np.where(is_bounded, BESIDE * least, self.min_effect)
        beside = np.where(intervals.high > 0.0, beside, -beside)
        known = np.where(intervals.middle != 0.0, intervals.middle, beside)
        return np.where(self.needed, np.clip(known, intervals.low, intervals.high), found)


def level_of(
    sums: RandomizedSums,
    weights: Floats,
    demands: Demands,
    at: Callable[[Reading, float], Intervals] | None = None,
) -> float:
    """Return the largest level, in nats, that was found at which a claim stands; 0 if at none.

    Of the claim counts what is asked. At the level that is returned the intervals prove it, to a
    thousandth, or no row is left
    of some variable: both are wrong with probability exp(-level) at most. A rule stops when the
    kept intervals prove it at log(1 / delta).

    Parameters
    ----------
    sums : of all rounds
    weights : (p, p), what is claimed; zero where no effect is reported
    demands : how good the claim has to be
    at : what leaves the intervals at a level; `intervals_at` if left out
    """
    reading = sums.read()
    if at is not None:
        find, everything = partial(at, reading), slice(None)
        return largest_level(
            lambda level: _proof(find(level), weights, demands, sums.asked, everything)
        )
    scope = scope_of(sums)
    portions, nothing = portions_of(scope), no_intervals(sums.unknown)
    none = np.zeros_like(sums.unknown)

    def prove(j: int, level: float) -> Proof:
        row = np.arange(sums.p) == j
        found = narrow(reading, sums, level, portions, nothing, none, row)
        return _proof(found, weights, demands, sums.asked, slice(j, j + 1))

    least = math.inf
    # Most rows stand where an earlier one does, and that is one look.
    for j in np.flatnonzero(scope.rows).tolist():
        if math.isinf(least) or not prove(j, least).holds:
            least = largest_level(partial(prove, j), least)
        if least == 0.0:
            break
    return least


class Proof(NamedTuple):
    """Whether no row is left for which a claim does not hold, and whether any is left at all."""

    holds: bool
    is_left: bool


def _proof(found: Intervals, weights: Floats, demands: Demands, asked: Bools, rows: slice) -> Proof:
    """How the claim of some rows stands by intervals of all."""
    is_left = not found.is_refuted[rows].any()
    stands = demands.holds(found, weights) | ~asked
    return Proof(not is_left or bool(stands[rows].all()), is_left)


def largest_level(prove: Callable[[float], Proof], most: float = math.inf) -> float:
    """Return the largest level at which something stands, below one at which it does not."""
    low, high = 1e-3, 1.0
    if most <= low or not prove(low).holds:
        return 0.0
    while high < min(most, MOST_NATS) and prove(high).holds:
        low, high = high, 2.0 * high
    high = min(high, most)
    while high <= MOST_NATS and high > 1.001 * low:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if prove(middle).holds else (low, middle)
    return low if prove(low).is_left else 0.0
