"""When to do what is dear: to look at all rivals, and to test the assumptions.

The evidence holds on any schedule; a schedule moves the number of rounds alone.
"""

import math
from dataclasses import dataclass
from typing import Final

from causalfocus.guarantees.lags import Lags

SURVEY_SHARE: Final = 100
"""After all rivals were looked at in vain, one more round per so many passes until the next."""

FIRST_CHECK: Final = 64
CHECK_GROWTH: Final = 1.2
"""The assumptions are put to the test at 64 rounds, at a fifth more, and so on; and at the stop."""


@dataclass(frozen=True)
class Schedule:
    """What was planned after some rounds.

    Attributes
    ----------
    lags : what the last look at all rivals found, until the next; None if there was none
    next_survey, next_check : rounds from which on all rivals are looked at, and the assumptions put
        to the test
    """

    lags: Lags | None = None
    next_survey: int = 0
    next_check: int = FIRST_CHECK

    def with_lags(self, lags: Lags | None) -> "Schedule":
        return Schedule(lags, self.next_survey, self.next_check)

    def after_survey(self, rounds: int) -> "Schedule":
        next_survey = rounds + max(1, rounds // SURVEY_SHARE)
        return Schedule(self.lags, next_survey, self.next_check)

    def after_check(self, rounds: int) -> "Schedule":
        next_check = max(FIRST_CHECK, math.ceil(rounds * CHECK_GROWTH))
        return Schedule(self.lags, self.next_survey, next_check)
