"""How many rounds are still to go in a run, and in which range they will be for four runs of five.

A rule that plans foretells on the way itself (`Guarantee.rounds_to_go`); of the others the rounds
from the start are foretold for the system as it is estimated (`forecast`), and what is done is
subtracted. Both leave things out, and the estimate is not the system: how far the truth is from it
was measured, by rule and by how far along a run seems to be (`guarantees.experience`), and is
checked on other systems by `causalfocus benchmark foretelling`.
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
        if left is None:
            (found,) = forecasts(
                learner.estimate,
                learner.actions,
                learner.space,
                epsilon=learner.epsilon,
                deltas=(learner.delta,),
                rule=learner.rule,
                ends=guarantee.ends,
            )
            left = max(found.rounds - rounds, LEAST_SHARE * found.rounds)
    except (CausalFocusError, ValueError, ArithmeticError):  # an early estimate may be absurd
        return None
    return left if math.isfinite(left) else None


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
