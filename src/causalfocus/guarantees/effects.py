"""Every pair of variables in one table: estimate, interval, verdict, and what it waits for."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.guarantees.randomized_intervals import Demands
from causalfocus.guarantees.verdicts import Interval, Verdict
from causalfocus.moments.effect_intervals import Intervals
from causalfocus.system.sem import LinearSEM

Finding = Literal["present", "present, small", "absent", "open"]


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What is known of one direct effect.

    Attributes
    ----------
    cause, effect : the pair
    estimate : the weight that is shown now; zero where none is
    low, high : the interval; infinite where there is no bound yet
    verdict : "present" if zero is excluded, so that the sign is certain; "present, small" if it is
        below min_effect as well; "absent" if zero is not excluded and every value is below
        min_effect; "open" otherwise. One that is required is never absent: it is present once it is
        settled, whether its sign is certain or not
    is_settled : whether the claim on this pair stands
    waits_for : rounds in all at which it is foretold to be settled, shared out as those so far
        were; infinite without an interval
    matters : the size from which on an effect of this pair matters, its min_effect
    accuracy : how far a reported weight may be off; infinite for the graph alone
    is_asked : whether the run waits for it
    is_required : whether it was known to be there before the first round
    """

    cause: str
    effect: str
    estimate: float
    low: float
    high: float
    verdict: Finding
    is_settled: bool
    waits_for: float
    matters: float
    accuracy: float
    is_asked: bool = True
    is_required: bool = False

    @property
    def half(self) -> float:
        """Half of the width."""
        return 0.5 * (self.high - self.low)

    @property
    def is_present(self) -> bool:
        """Whether it is certainly there: by its sign, or because it is required and settled."""
        return self.verdict in ("present", "present, small")

    @property
    def has_sign(self) -> bool:
        """Whether its sign is certain."""
        return self.low > 0.0 or self.high < 0.0

    @property
    def is_bounded(self) -> bool:
        """Whether there is an interval yet."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def is_given(self) -> bool:
        """Whether it was known not to exist before the first round."""
        return self.low == self.high == 0.0


@dataclass(frozen=True, kw_only=True)
class TotalEffect(Effect):
    """What is known of one total effect: what the cause, set alone, does along all ways.

    Attributes are those of a direct effect, but for

    Attributes
    ----------
    waits_for : rounds with the cause alone, in all, at which it is foretold to be settled; without
        an interval by the estimate
    rounds_alone : rounds with the cause alone so far
    """

    rounds_alone: int


def effects_by_coins(
    kept: Intervals, demands: Demands, estimate: LinearSEM, asked: Bools | None = None
) -> tuple[Effect, ...]:
    """All pairs, row by row; of rows that no linear one is left for all are open.

    asked : (p, p), the pairs that are asked for; None for all

    With intervals that hold all effects at all times every verdict is right at the same time,
    except with probability delta; with intersections of those of all looks a verdict that is not
    open never changes back.
    """
    return tuple(_effects(kept, demands, estimate, asked))


def _effects(
    kept: Intervals, demands: Demands, estimate: LinearSEM, asked: Bools | None
) -> Iterator[Effect]:
    names, weights = estimate.names, estimate.weights
    is_settled = demands.holds(kept, weights)
    radii, refuted = radii_of(kept, demands), kept.is_refuted
    for j, effect in enumerate(names):
        for k, cause in enumerate(names):
            if j != k:
                low, high = float(kept.low[j, k]), float(kept.high[j, k])
                settled = bool(is_settled[j, k]) and not refuted[j]
                is_required = demands.needed is not None and bool(demands.needed[j, k])
                verdict = find(low, high, demands.min_effect[j, k])
                if is_required and not (low > 0.0 or high < 0.0):
                    is_small = max(-low, high) < demands.min_effect[j, k]
                    there: Finding = "present, small" if is_small else "present"
                    verdict = there if settled else "open"
                yield Effect(
                    cause=cause,
                    effect=effect,
                    estimate=float(weights[j, k]),
                    low=low,
                    high=high,
                    verdict="open" if refuted[j] else verdict,
                    is_settled=settled,
                    waits_for=float(kept.rounds)
                    if settled
                    else rounds_at(0.5 * (high - low), float(radii[j, k]), kept.rounds),
                    matters=float(demands.min_effect[j, k]),
                    accuracy=float(demands.epsilon[j, k]),
                    is_asked=asked is None or bool(asked[j, k]),
                    is_required=is_required,
                )


def radii_of(kept: Intervals, demands: Demands) -> Floats:
    """The half widths (p, p) at which pairs are foretold to be settled."""
    left = np.maximum(demands.min_effect - np.abs(kept.middle), 1e-3 * demands.min_effect)
    shown = np.minimum(demands.epsilon, np.abs(kept.middle))
    found = np.where(demands.claim(kept) != 0.0, shown, left)
    return found if demands.needed is None else np.where(demands.needed, demands.epsilon, found)


def rounds_at(half: float, radius: float, rounds: float) -> float:
    """Rounds at which a half width that falls as their root is the radius."""
    if math.isinf(half):
        return math.inf
    return rounds * max(1.0, (half / radius) ** 2)


def find(low: float, high: float, min_effect: float) -> Finding:
    """The verdict by an interval."""
    is_small = max(-low, high) < min_effect
    if low > 0.0 or high < 0.0:
        return "present, small" if is_small else "present"
    return "absent" if is_small else "open"


def effects_by_verdicts(
    verdicts: Iterable[Verdict],
    intervals: Iterable[Interval],
    estimate: LinearSEM,
    rounds: int,
    demands: Demands,
    possible: Bools,
) -> tuple[Effect, ...]:
    """On every pair of variables, of a rule whose verdicts come all at once.

    rounds : so far
    possible : (p, p), which effects there may be; the others are known to be absent
    """
    at = {name: j for j, name in enumerate(estimate.names)}
    known = {(one.cause, one.effect): one for one in intervals}
    weights = {(cause, effect): weight for cause, effect, weight in estimate.edges}
    found = []
    for one in verdicts:
        pair = one.cause, one.effect
        interval, is_settled = known.get(pair), one.stand != "open"
        j, k, stand = at[one.effect], at[one.cause], one.stand
        if not possible[j, k] and pair not in weights:
            interval, is_settled, stand = Interval(*pair, 0.0, 0.0, 0.0), True, "absent"
        found.append(
            Effect(
                cause=one.cause,
                effect=one.effect,
                estimate=weights.get(pair, 0.0),
                low=-math.inf if interval is None else interval.low,
                high=math.inf if interval is None else interval.high,
                verdict=stand,
                is_settled=is_settled,
                waits_for=float(rounds) if is_settled else math.inf,
                matters=float(demands.min_effect[j, k]),
                accuracy=float(demands.epsilon[j, k]),
                is_required=demands.needed is not None and bool(demands.needed[j, k]),
            )
        )
    return tuple(found)
