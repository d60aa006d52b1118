"""How the record of a rule by coins grows: by an ask, by an answer, and by a look at all of it.

A look computes the intervals of all pairs at the rule's level and intersects them with those of the
looks before. When to look may be anything, for the intervals hold at all times at once; here it is
decided by the number of rounds that are complete in the order of asking. Where loops are ruled out,
each look closes what is certain (`closure`).
"""

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from causalfocus.arrays import Bools, Floats
from causalfocus.guarantees.closure import Closed, close, ruled_out
from causalfocus.guarantees.randomized_intervals import intervals_at, scope_of
from causalfocus.guarantees.randomized_totals import no_total_intervals, totals_at
from causalfocus.kernels.randomized.guess import guess_rows
from causalfocus.kernels.randomized.records import Bids
from causalfocus.kernels.randomized.regions import no_regions
from causalfocus.moments.coin_record import CoinGuess, CoinRecord
from causalfocus.moments.descents import Descents
from causalfocus.moments.effect_intervals import no_intervals
from causalfocus.moments.guard_sums import GuardSums
from causalfocus.moments.randomized_sums import Intent, RandomizedSums
from causalfocus.moments.total_sums import no_totals, with_round

FIRST_LOOK: Final = 16
FEW: Final = 20
LOOK_SHARES: Final = (64, 20)
"""Between two looks there is one round for so many complete ones; with up to `FEW` variables, and
with more: a look at a hundred takes as long as hundreds of rounds."""


def new_record(
    unknown: Bools,
    large: ArrayLike = np.inf,
    *,
    bids: Bids | None = None,
    asked: Bools | None = None,
    asked_totals: Bools | None = None,
    acyclic: bool = False,
    at_once: int | None = None,
    needed: Bools | None = None,
) -> CoinRecord:
    """Before the first ask.

    unknown : (p, p), which direct effects there may be, row and cause
    large : (p, p), sizes of effects that matter; without them all pairs have equal shares of delta
    bids : of the directions; None for none
    asked, asked_totals : (p, p), the direct effects that are asked for, None for all, and the total
        effects, None for none
    acyclic : whether loops are ruled out
    at_once : how many variables will be set in a round, at most; None for any number
    needed : (p, p), effects that are known to be there; None for none
    """
    sums = RandomizedSums.empty(
        unknown, large, bids=bids, asked=asked, asked_totals=asked_totals, at_once=at_once
    )
    bare = no_intervals(sums.unknown)
    nothing = bare.with_regions(no_regions(sums.p))
    return CoinRecord(
        sums=sums,
        kept=bare if acyclic else nothing,
        next_look=FIRST_LOOK,
        guess=guess_from(sums, sums.unknown),
        guards=GuardSums.empty(sums.p),
        totals=no_totals(sums.p),
        kept_totals=no_total_intervals(sums.unknown),
        unclosed=nothing if acyclic else None,
        descents=Descents.empty(sums.p, needed) if acyclic else None,
    )


def left_unknown(record: CoinRecord) -> Bools:
    """(p, p), the effects that may still be there, row and cause."""
    if record.descents is None:
        return record.sums.unknown
    return record.sums.unknown & ~ruled_out(record.kept, record.descents.certain)


def mean_rows(sums: RandomizedSums) -> Floats:
    """Return the means (p, p) of all variables over the rounds of every row, those in which its
    variable was free; not numbers for a row that has none.
    """
    reading = sums.read()
    pool = reading.sums.pool
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = reading.stakes.centres + pool.totals / pool.rounds[:, None]
    return found


def guess_from(sums: RandomizedSums, unknown: Bools) -> CoinGuess:
    """The model that the coins suggest, of effects that may be there."""
    reading = sums.read()
    weights, noise, constants = guess_rows(reading.sums, reading.stakes, unknown)
    return CoinGuess(weights=weights, noise=noise, constants=constants)


def with_ask(record: CoinRecord, intent: Intent) -> CoinRecord:
    """With one more ask. One whose number is not above all others is no evidence, and passed
    over: its tests would not have been fixed in their turn.
    """
    if intent.number <= record.sums.issued:
        return record
    is_new_epoch = record.sums.n >= record.sums.until
    closed = record.sums.unknown & ~left_unknown(record) if is_new_epoch else None
    return replace(record, sums=record.sums.issue(*intent, ruled_out=closed))


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
        if not record.kept.is_refuted.any():
            record = _with_intervals(record, level)
        guess, next_look = guess_from(record.sums, left_unknown(record)), n + max(1, n // share)
        record = _catch_up(replace(record, guess=guess, next_look=next_look))
    return record


def _with_intervals(record: CoinRecord, level: float) -> CoinRecord:
    """The record with the intervals of a look."""
    sums, unclosed, descents = record.sums, record.unclosed, record.descents
    if unclosed is None or descents is None:
        record = replace(record, kept=intervals_at(sums, level, record.kept))
    else:
        found = close(sums.read(), sums, level, Closed(record.kept, unclosed, descents))
        record = replace(record, kept=found.kept, unclosed=found.unclosed, descents=found.descents)
    totals = totals_at(record.totals, scope_of(sums), level, record.kept, record.kept_totals)
    return replace(record, kept_totals=totals)


def _catch_up(record: CoinRecord) -> CoinRecord:
    """The record with all rounds whose turn has come, up to the next look."""
    before, sums = record.sums, record.sums.catch_up(record.next_look)
    guards, totals, descents = record.guards, record.totals, record.descents
    for one in before.pending[: len(before.pending) - len(sums.pending)]:
        stakes = before.stakes[one.epoch]
        guards = guards.count(one.intent, one.row, stakes)
        totals = with_round(totals, one.intent, one.row)
        if descents is not None and one.row is not None:
            descents = descents.count(one.intent.asked, one.intent.signs, one.row, stakes)
    return replace(record, sums=sums, guards=guards, totals=totals, descents=descents)
