"""When to do what is dear: to look at all rivals, to test the assumptions, and to make columns.

The evidence holds on any schedule; a schedule moves the number of rounds alone.
"""

import math
from dataclasses import dataclass, replace
from typing import Final

from causalfocus.allocation.set_plan import Shares
from causalfocus.guarantees.lags import Lags

SURVEY_SHARE: Final = 100
"""After all rivals were looked at in vain, one more round per so many passes until the next."""

FIRST_CHECK: Final = 64
CHECK_GROWTH: Final = 1.2
"""The assumptions are put to the test at 64 rounds, at a fifth more, and so on; and at the stop."""

FIRST_COLUMNS: Final = 16
COLUMN_GROWTH: Final = 1.25
"""Where there are too many sets of variables to list, more of them are made at 16 rounds, at a
quarter more, and so on, when all rivals are due to be looked at."""


FIRST_PLAN: Final = 8
PLAN_GROWTH: Final = 1.1
FEW: Final = 10
LONG_BEFORE: Final = 60
EARLY_GROWTH: Final = 1.3
"""A rule that plans which variables to set does so before the first round, at 8 rounds for every
variable, at a tenth more, and so on. With more than `FEW` variables, whose plans take long, the
next one comes at three tenths more while there are fewer than 60 rounds for every variable: little
is settled by then."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """What was planned after some rounds.

    Attributes
    ----------
    lags : what the last look at all rivals found, until the next; None if there was none
    next_survey, next_check : rounds from which on all rivals are looked at, and the assumptions put
        to the test
    next_columns : rounds from which on columns are made, where sets of variables are not listed
    shares : of the choices, as they were planned last, by a rule that plans
    next_plan : rounds from which on there is another plan
    """

    lags: Lags | None = None
    next_survey: int = 0
    next_check: int = FIRST_CHECK
    next_columns: int = FIRST_COLUMNS
    shares: Shares | None = None
    next_plan: int = 0

    def with_lags(self, lags: Lags | None) -> "Schedule":
        return self if lags is self.lags else replace(self, lags=lags)

    def after_survey(self, rounds: int) -> "Schedule":
        return replace(self, next_survey=rounds + max(1, rounds // SURVEY_SHARE))

    def after_check(self, rounds: int) -> "Schedule":
        return replace(self, next_check=max(FIRST_CHECK, math.ceil(rounds * CHECK_GROWTH)))

    def after_columns(self, rounds: int) -> "Schedule":
        return replace(self, next_columns=max(FIRST_COLUMNS, math.ceil(rounds * COLUMN_GROWTH)))

    def after_plan(self, shares: Shares, rounds: int, p: int) -> "Schedule":
        is_early = p > FEW and rounds < LONG_BEFORE * p
        growth = EARLY_GROWTH if is_early else PLAN_GROWTH
        next_plan = max(FIRST_PLAN * p, math.ceil(rounds * growth))
        return replace(self, shares=shares, next_plan=next_plan)
