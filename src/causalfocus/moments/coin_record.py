"""What a rule by coins remembers of the rounds, beside the moments.

It lives in a learner's state and travels with the moments, so that a rule sees it and every other
rule need not know of it. Never written to.
"""

from dataclasses import dataclass

from causalfocus.arrays import Floats
from causalfocus.kernels.randomized.totals import Totals
from causalfocus.moments.descents import Descents
from causalfocus.moments.effect_intervals import Intervals
from causalfocus.moments.guard_sums import GuardSums
from causalfocus.moments.randomized_sums import RandomizedSums


@dataclass(frozen=True, kw_only=True)
class CoinGuess:
    """A model from the coins alone, as it was at the last look.

    Attributes
    ----------
    weights : (p, p), row is the effect and column the cause
    noise : (p,), variances of what the coins do not explain
    constants : (p,)
    """

    weights: Floats
    noise: Floats
    constants: Floats


@dataclass(frozen=True, kw_only=True)
class CoinRecord:
    """The sums of all rounds by their coins, and what the looks at them have left.

    Attributes
    ----------
    sums : of all rounds, in the order of asking
    kept : the intersection of the intervals at all looks, at one level
    next_look : rounds with a coin, complete in the order of asking, at which to look again
    guess : of the last look
    guards : what watches the assumptions, of the same rounds
    totals : of those of the same rounds in which one variable alone was set
    kept_totals : as kept, of total effects; zero for those that there cannot be
    unclosed, descents : where loops are ruled out, what was kept without the closure, and what says
        who descends from whom; None where they are not
    """

    sums: RandomizedSums
    kept: Intervals
    next_look: int
    guess: CoinGuess
    guards: GuardSums
    totals: Totals
    kept_totals: Intervals
    unclosed: Intervals | None = None
    descents: Descents | None = None
