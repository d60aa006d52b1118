"""How many rounds are still to go in a run, and in which range they will be for four runs of five.

The rounds from the start are foretold for the system as it is estimated (`forecast`), and what is
done is subtracted. A rule that plans counts also from what is known already to the stop, along its
plan (`Guarantee.rounds_to_go`): that is better near the end, and far too much at the beginning,
when intervals are wider than they will ever be in proportion. So the two are weighed, as powers, by
how far along the run seems to be. Both leave things out, and the estimate is not the system: how
far the truth is from it was measured, by rule and by how far along a run seems to be
(`guarantees.experience`), and is checked on other systems by `causalfocus benchmark foretelling`.
"""

import math
from dataclasses import dataclass
from typing import Final

from causalfocus.errors import CausalFocusError
from causalfocus.guarantees.terms import Spreads
from causalfocus.learner.focus import Focus
from causalfocus.planning.forecast import forecasts

FIRST_FORETOLD: Final = 4
"""Rounds per variable before anything is foretold: an earlier estimate may be absurd."""

MOST_FROM_START: Final = 14
"""Variables up to which a plan's rounds to go are weighed with those from the start: a design for
more takes long."""

LEAST_SHARE: Final = 0.05
"""Of the rounds that are foretold from the start: so many are to go, however many were done."""

LEAST_FORETOLD: Final = 64
"""At least one round to go is foretold for so many rounds so far, or nothing: if next to none are,
and it is not done, a plan leaves out what it waits for."""


STATED: Final = 0.8
"""The share of runs for which a range is meant."""


@dataclass(frozen=True)
class Remaining:
    """Rounds that are foretold, for runs that look as this one does now.

    Attributes
    ----------
    rounds : the median
    low, high : what four runs of five need
    share : of runs that are said to be within
    """

    rounds: int
    low: int
    high: int
    share: float = STATED

    @property
    def words(self) -> str:
        """What it is, in a sentence."""
        return (
            f"About {self.rounds:,} more are foretold; {_of_five(self.share)} runs that look as "
            f"this one does now need {self.low:,} to {self.high:,}. That is experience with drawn "
            f"systems of three to six variables, and no part of the guarantee."
        )


def _of_five(share: float) -> str:
    return {0.8: "four of five"}.get(share, f"{share:.0%} of")


def rounds_to_go(learner: Focus) -> Remaining | None:
    """Return the rounds to go of a run that has not stopped; None if they cannot be foretold."""
    rest = foretold_rest(learner)
    return None if rest is None else range_of(learner.guarantee.spreads, rest, learner.rounds)


def foretold_rest(learner: Focus) -> float | None:
    """Return the rounds to go by the present estimate alone; None if it cannot tell."""
    guarantee, rounds = learner.guarantee, learner.rounds
    if not guarantee.has_forecast or rounds < FIRST_FORETOLD * len(learner.names):
        return None
    try:
        left = learner.rounds_to_go()
        total = _foretold_total(learner, is_needed=left is None)
    except (CausalFocusError, ValueError, ArithmeticError):  # an early estimate may be absurd
        return None
    by_total = max(total - rounds, LEAST_SHARE * total)
    if left is None:
        return by_total if math.isfinite(total) else None
    if not math.isfinite(total) or left < rounds / LEAST_FORETOLD:
        return left if math.isfinite(left) else None
    if not math.isfinite(left):
        return by_total
    trust = max(1.0 - rounds / total, 0.0)
    return float(by_total**trust * left ** (1.0 - trust))


def _foretold_total(learner: Focus, *, is_needed: bool) -> float:
    """Return the rounds from the start for the system as it is estimated; infinite where that is
    not known, or is dear and can be done without.
    """
    if len(learner.names) > MOST_FROM_START and not is_needed:
        return math.inf
    (found,) = forecasts(
        learner.estimate,
        learner.actions,
        learner.space,
        epsilon=learner.epsilon,
        deltas=(learner.delta,),
        rule=learner.rule,
        ends=learner.guarantee.ends,
    )
    return found.rounds


def range_of(spreads: Spreads, rest: float, rounds: int) -> Remaining | None:
    """Return the range for what an estimate foretells; None if it leaves out what it waits for.

    spreads : of the rule
    rest : see `foretold_rest`
    rounds : so far
    """
    if rest < rounds / LEAST_FORETOLD:
        return None
    low, middle, high = (
        max(round(rest * part), 1) for part in spreads.at(rounds / (rounds + rest))
    )
    return Remaining(middle, low, high)
