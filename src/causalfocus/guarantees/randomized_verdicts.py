"""Verdicts by coins: what is certain of every pair, and what the open ones wait for.

With intervals that hold all effects at all times every verdict is right at the same time, except
with probability delta. With intersections of the intervals of all times a verdict that is not open
never changes back: what an interval excludes stays excluded.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from causalfocus.errors import InvalidInputError
from causalfocus.guarantees.randomized_intervals import Demands
from causalfocus.moments.effect_intervals import Intervals

Finding = Literal["present", "present, small", "absent", "open"]


@dataclass(frozen=True, kw_only=True)
class EffectVerdict:
    """What is certain of one direct effect.

    Attributes
    ----------
    cause, effect : the pair
    finding : "present" if zero is excluded, so that the sign is certain; "present, small" if it is
        below min_effect as well; "absent" if zero is not excluded and every value is below
        min_effect; "open" otherwise
    low, high : the interval
    radius : the half width at which the claim on this pair would stand, if the middle of the
        interval stays where it is: epsilon for an effect that is reported, and for others what
        their middle leaves to min_effect
    rounds : on which the interval rests
    """

    cause: str
    effect: str
    finding: Finding
    low: float
    high: float
    radius: float
    rounds: int

    @property
    def half(self) -> float:
        """Half of the width."""
        return 0.5 * (self.high - self.low)

    def half_after(self, rounds: int) -> float:
        """Return the half width foretold for a number of rounds, shared as those so far were: it
        falls as their root, but for a slowly growing logarithm.
        """
        return self.half * math.sqrt(self.rounds / rounds) if rounds > 0 else math.inf

    @property
    def waits_for(self) -> float:
        """Rounds at which the half width foretold is the radius; infinite without an interval."""
        if math.isinf(self.half):
            return math.inf
        return max(float(self.rounds), self.rounds * (self.half / self.radius) ** 2)


def verdicts_by_coins(
    intervals: Intervals, demands: Demands, names: tuple[str, ...]
) -> tuple[EffectVerdict, ...]:
    """Return the verdicts on all pairs, row by row.

    Parameters
    ----------
    intervals : of all pairs; none of them empty
    demands : what matters, and how accurately
    names : of the variables in order
    """
    if intervals.is_refuted.any():
        rows = [names[j] for j in np.flatnonzero(intervals.is_refuted)]
        raise InvalidInputError(
            f"No linear row is left for {', '.join(rows)}: the data refute that effects are linear "
            f"and additive. There are no verdicts; look at the responses of these variables."
        )
    return tuple(_verdicts(intervals, demands, names))


def _verdicts(
    intervals: Intervals, demands: Demands, names: tuple[str, ...]
) -> Iterator[EffectVerdict]:
    weights = demands.claim(intervals)
    left = np.maximum(demands.min_effect - np.abs(intervals.middle), 1e-3 * demands.min_effect)
    radii = np.where(weights != 0.0, demands.epsilon, left)
    for j, effect in enumerate(names):
        for k, cause in enumerate(names):
            if j != k:
                low, high = float(intervals.low[j, k]), float(intervals.high[j, k])
                yield EffectVerdict(
                    cause=cause,
                    effect=effect,
                    finding=_find(low, high, float(demands.min_effect[j, k])),
                    low=low,
                    high=high,
                    radius=float(radii[j, k]),
                    rounds=intervals.rounds,
                )


def _find(low: float, high: float, min_effect: float) -> Finding:
    is_small = max(-low, high) < min_effect
    if low > 0.0 or high < 0.0:
        return "present, small" if is_small else "present"
    return "absent" if is_small else "open"
