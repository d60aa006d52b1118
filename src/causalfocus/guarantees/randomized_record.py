"""How the record of a rule by coins grows: by an ask, by an answer, and by a look at all of it.

A look computes the intervals of all pairs at the rule's level and intersects them with those of the
looks before. When to look may be anything, for the intervals hold at all times at once; here it is
decided by the number of rounds that are complete in the order of asking.
"""

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from causalfocus.arrays import Bools, Floats
from causalfocus.guarantees.randomized_intervals import intervals_at
from causalfocus.guarantees.randomized_totals import no_total_intervals, totals_at
from causalfocus.kernels.randomized.guess import guess_rows
from causalfocus.moments.coin_record import CoinGuess, CoinRecord
from causalfocus.moments.effect_intervals import no_intervals
from causalfocus.moments.guard_sums import GuardSums
from causalfocus.moments.randomized_sums import Intent, RandomizedSums
from causalfocus.moments.total_sums import no_totals, with_round

FIRST_LOOK: Final = 16
FEW: Final = 20
LOOK_SHARES: Final = (64, 20)
"""Between two looks there is one round for so many complete ones; with up to `FEW` variables, and
with more: a look at a hundred takes as long as hundreds of rounds."""


def new_record(unknown: Bools, large: ArrayLike = np.inf) -> CoinRecord:
    """Before the first ask.

    unknown : (p, p), which direct effects there may be, row and cause
    large : (p, p), sizes of effects that matter; without them all pairs have equal shares of delta
    """
    sums = RandomizedSums.empty(unknown, large)
    return CoinRecord(
        sums=sums,
        kept=no_intervals(sums.unknown),
        next_look=FIRST_LOOK,
        guess=guess_from(sums),
        guards=GuardSums.empty(sums.p),
        totals=no_totals(sums.p),
        kept_totals=no_total_intervals(sums.unknown),
    )


def guess_from(sums: RandomizedSums) -> CoinGuess:
    """The model that the coins suggest."""
    reading = sums.read()
    weights, noise, constants = guess_rows(reading.sums, reading.stakes, sums.unknown)
    return CoinGuess(weights=weights, noise=noise, constants=constants)


def with_ask(record: CoinRecord, intent: Intent) -> CoinRecord:
    """With one more ask. One whose number is not above all others is no evidence, and passed
    over: its tests would not have been fixed in their turn.
    """
    if intent.number <= record.sums.issued:
        return record
    return replace(record, sums=record.sums.issue(*intent))


def without_ask(record: CoinRecord, number: int, level: float) -> CoinRecord:
    """Without an ask that will not be answered, or whose answer is no evidence."""
    if not record.sums.is_open(number):
        return record
    return look(replace(record, sums=record.sums.withdraw(number, until=0)), level)


def with_answer(record: CoinRecord, number: int, row: Floats, level: float) -> CoinRecord:
    """With what came of an ask; one that is not open is no evidence."""
    if not record.sums.is_open(number):
        return record
    return look(replace(record, sums=record.sums.answer(number, row, until=0)), level)


def look(record: CoinRecord, level: float) -> CoinRecord:
    """The record with all rounds whose turn has come, and with the intervals that they leave if it
    is time for a look.

    When several rounds become complete at once, each look sees those that belong to it and none
    after them: what is kept does not depend on the order of telling.
    """
    record = _catch_up(record)
    while record.sums.n >= record.next_look:
        n, share = record.sums.n, LOOK_SHARES[0 if record.sums.p <= FEW else 1]
        kept, totals = record.kept, record.kept_totals
        if not kept.is_refuted.any():
            kept = intervals_at(record.sums, level, kept)
            totals = totals_at(record.totals, record.sums.unknown, level, kept, totals)
        guess, next_look = guess_from(record.sums), n + max(1, n // share)
        record = replace(record, kept=kept, kept_totals=totals, guess=guess, next_look=next_look)
        record = _catch_up(record)
    return record


def _catch_up(record: CoinRecord) -> CoinRecord:
    """The record with all rounds whose turn has come, up to the next look."""
    before, sums = record.sums, record.sums.catch_up(record.next_look)
    guards, totals = record.guards, record.totals
    for one in before.pending[: len(before.pending) - len(sums.pending)]:
        guards = guards.count(one.intent, one.row, before.stakes[one.epoch])
        totals = with_round(totals, one.intent, one.row)
    return replace(record, sums=sums, guards=guards, totals=totals)
