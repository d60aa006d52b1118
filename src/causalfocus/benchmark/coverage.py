"""Whether intervals by coins hold all effects at all looks, in worlds in which much goes wrong.

What is watched is the record that a learner keeps (`randomized_record`): shares by size, intervals
of earlier looks, total effects and guardrails, and in every other run of a world without a loop
the closure of `acyclic=True`. Looks are those of the rule, one for 64 rounds. What is kept is the
intersection of all looks so far, so an interval that missed its effect at any look is seen at every
later one: stopping at the worst moment is allowed for.

An error is a run in which ANY interval of ANY pair, of a direct or of a total effect, misses its
effect at ANY look, or in which a guardrail refutes what holds.

Who chooses the sets is no friend: variables that were large in the last round are set more often,
one or two at once; every other run asks in batches and tells them in an order that depends on what
came of them. What comes of a round is told before anything is asked that depends on it.
"""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.benchmark.row_files import read_rows, write_rows
from causalfocus.benchmark.worlds import BITS, NODES, SPACE, WORLDS, Lab, total_effects, world_of
from causalfocus.experiments.analysis import ErrorRate
from causalfocus.guarantees.guardrails import guard_alarms
from causalfocus.guarantees.randomized import JUST_BELOW
from causalfocus.guarantees.randomized_intervals import Demands
from causalfocus.guarantees.randomized_record import new_record, with_answer, with_ask
from causalfocus.moments.coin_record import CoinRecord
from causalfocus.moments.effect_intervals import Intervals
from causalfocus.moments.randomized_sums import Intent
from causalfocus.system.coins import CHANCE_OF_MIDDLE, ONE_IN

DELTA: Final = 0.1
LEVEL: Final = -math.log(DELTA)
CHUNK: Final = 50
"""Runs that are made at once; what is finished of a measurement is whole chunks."""

SEEDS: Final = 1_000_000
"""Seeds that every world has for itself."""

BATCH: Final = 4

LAST_BIT: Final = 1e-12
"""Total effects are sums; what they are is known to this."""


@dataclass(frozen=True, kw_only=True)
class CoverageChunk:
    """Some runs in a world.

    Attributes
    ----------
    first : seed of the first run
    runs : how many
    rounds : of each
    missed, missed_totals : runs in which an interval missed a direct effect, or a total one, at a
        look
    refuted : runs in which a guardrail refuted what holds
    errors : runs with any of these
    looks : of all runs together; a run with an error is not looked at again
    half : median over runs and pairs of half the width at the end
    """

    world: str
    first: int
    runs: int
    rounds: int
    missed: int
    missed_totals: int
    refuted: int
    errors: int
    looks: int
    half: float


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """All runs in a world, or in all of them; numbers as in `CoverageChunk`.

    Attributes
    ----------
    limit : one-sided 95 percent limit of the probability of an error, exact
    half : median of the medians of the chunks
    """

    world: str
    runs: int
    rounds: int
    missed: int
    missed_totals: int
    refuted: int
    errors: int
    limit: float
    looks: int
    half: float


def n_chunks(runs: int, worlds: Sequence[str]) -> int:
    """Return how many chunks there are of every world, so that there are as many runs in all."""
    return math.ceil(runs / (CHUNK * len(worlds or WORLDS)))


def coverage_runs(
    runs: int, rounds: int, worlds: Sequence[str], workers: int, file: Path | None = None
) -> Iterator[CoverageChunk]:
    """Yield chunks as they are finished.

    runs : in all worlds together, at least
    rounds : of each run
    worlds : which; all if there are none
    file : what is in it is not run again, and what is run is added to it
    """
    for world in worlds:
        world_of(world)
    known = {} if file is None else {_key(row): row for row in read_rows(file, CoverageChunk)}
    tasks = [
        (world, first_seed(world, at), CHUNK, rounds)
        for at in range(n_chunks(runs, worlds))
        for world in worlds or WORLDS
    ]
    missing = [task for task in tasks if task not in known]
    yield from (known[task] for task in tasks if task in known)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for row in pool.map(cover, missing):
            known[_key(row)] = row
            if file is not None:
                write_rows(file, CoverageChunk, known.values())
            yield row


def first_seed(world: str, at: int) -> int:
    """Return the seed of the first run of a chunk. No two worlds share a seed: with the same coins
    and effects their runs would miss together, and the limit for all of them would not hold.
    """
    return SEEDS * list(WORLDS).index(world) + CHUNK * at


def _key(row: CoverageChunk) -> tuple[str, int, int, int]:
    return row.world, row.first, row.runs, row.rounds


def count_misses(chunks: Sequence[CoverageChunk]) -> list[Coverage]:
    """Return one row for every world, and one for all of them."""
    names = [name for name in WORLDS if any(one.world == name for one in chunks)]
    groups = [(name, [one for one in chunks if one.world == name]) for name in names]
    return [_join(name, group) for name, group in [*groups, ("all", chunks)]]


def _join(name: str, chunks: Sequence[CoverageChunk]) -> Coverage:
    runs, errors = sum(one.runs for one in chunks), sum(one.errors for one in chunks)
    return Coverage(
        world=name,
        runs=runs,
        rounds=max(one.rounds for one in chunks),
        missed=sum(one.missed for one in chunks),
        missed_totals=sum(one.missed_totals for one in chunks),
        refuted=sum(one.refuted for one in chunks),
        errors=errors,
        limit=ErrorRate(errors, runs).limit,
        looks=sum(one.looks for one in chunks),
        half=float(np.median([one.half for one in chunks])),
    )


def coverage_table(rows: Sequence[Coverage]) -> str:
    """Return the counts as Markdown."""
    head = f"""### Intervals by coins, at all looks

Three variables, delta = {DELTA}. Runs in which any interval `missed` a direct effect at any look,
or a total one (`totals`), or in which a guardrail `refuted` what holds; `errors`: any of these;
`limit`: one-sided 95 percent limit of the probability of that, exact. `half`: median half width of
direct effects at the end.

| world | runs | rounds | looks | missed | totals | refuted | errors | limit | half |
|---|---|---|---|---|---|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.world} | {r.runs:,} | {r.rounds:,} | {r.looks:,} | {r.missed} | {r.missed_totals} | "
        f"{r.refuted} | {r.errors} | {r.limit:.4f} | {r.half:.3f} |"
        for r in rows
    )


class Watched(NamedTuple):
    """What came of a run: the last record, the looks, and what went wrong at the last of them."""

    record: CoinRecord
    looks: int
    has_missed: bool
    has_missed_totals: bool
    is_refuted: bool

    @property
    def is_error(self) -> bool:
        return self.has_missed or self.has_missed_totals or self.is_refuted


def cover(task: tuple[str, int, int, int]) -> CoverageChunk:
    """Return what came of a chunk.

    task : world, first seed, runs and rounds
    """
    world, first, runs, rounds = task
    found = [_watch(world, seed, rounds) for seed in range(first, first + runs)]
    halves = [one.record.kept.half[~np.eye(NODES, dtype=np.bool_)] for one in found]
    return CoverageChunk(
        world=world,
        first=first,
        runs=runs,
        rounds=rounds,
        missed=sum(one.has_missed for one in found),
        missed_totals=sum(one.has_missed_totals for one in found),
        refuted=sum(one.is_refuted for one in found),
        errors=sum(one.is_error for one in found),
        looks=sum(one.looks for one in found),
        half=float(np.median(halves)),
    )


def new_run(world: str, seed: int) -> CoinRecord:
    """Return the record before the first ask, as a rule with the worlds' min_effect and half of it
    for epsilon begins it. Where there is no loop, every other pair of seeds rules them out.
    """
    acyclic = seed % 4 >= 2 and not world_of(world).has_loop
    unknown = ~np.eye(NODES, dtype=np.bool_)
    size = np.ones((NODES, NODES))
    bids = Demands(0.5 * SPACE.least_effect * size, SPACE.least_effect * size).bids(
        np.full(NODES, world_of(world).reach)
    )
    return new_record(unknown, JUST_BELOW * SPACE.least_effect, bids=bids, acyclic=acyclic)


def _watch(world: str, seed: int, rounds: int) -> Watched:
    lab, record = Lab(world, seed, rounds), new_run(world, seed)
    draws, batch = Draws.of(seed, rounds), BATCH if seed % 2 else 1
    last, looks, following = np.ones(NODES), 0, record.next_look
    for first in range(0, rounds, batch):
        part = draws.part(slice(first, min(first + batch, rounds)))
        asked, signs = part.sets(last)
        probes = part.second_coins(asked)
        at_ends = np.where(probes < 0.0, 0.0, signs)
        rows, _ = lab.respond(asked, lab.world.reach * at_ends)
        last, record = rows[-1], _tell(record, asked, at_ends, probes, rows)
        if record.next_look > following:
            looks, following = looks + 1, record.next_look
            found = _look_at(record, lab, looks)
            if found.is_error:
                return found
    return Watched(record, looks, False, False, False)


def _look_at(record: CoinRecord, lab: Lab, looks: int) -> Watched:
    """What is wrong by now; an interval that is empty has missed."""
    alone = total_effects(lab.weights)[BITS]
    totals = np.stack([alone[k][:, k] for k in range(NODES)], axis=1) - np.eye(NODES)
    alarms = guard_alarms(record.guards, record.kept, lab.names)
    return Watched(
        record,
        looks,
        _misses(record.kept, lab.weights, 0.0),
        _misses(record.kept_totals, totals, LAST_BIT),
        bool(alarms) and alarms[0].evidence >= LEVEL,
    )


def _misses(kept: Intervals, truth: Floats, slack: float) -> bool:
    return bool(((truth < kept.low - slack) | (kept.high + slack < truth)).any())


class Draws(NamedTuple):
    """All that is drawn for the sets of some rounds and their coins: an order by chance (n, 3),
    whether two are set at once (n,), the coins (n, 3), whether the round is a probe (n,), and where
    a second coin would go to the middle (n, 3).
    """

    chance: Floats
    is_double: Bools
    coins: Floats
    is_probe: Bools
    is_middle: Bools

    @classmethod
    def of(cls, seed: int, n: int) -> "Draws":
        rng = np.random.default_rng([seed, 47])
        coins = rng.choice([-1.0, 1.0], (n, NODES))
        chance, is_double = rng.random((n, NODES)), rng.random(n) < 0.5
        is_probe = rng.random(n) < 1.0 / ONE_IN
        return cls(chance, is_double, coins, is_probe, rng.random((n, NODES)) < CHANCE_OF_MIDDLE)

    def part(self, here: slice) -> "Draws":
        """Return some of the rounds."""
        return Draws(
            self.chance[here],
            self.is_double[here],
            self.coins[here],
            self.is_probe[here],
            self.is_middle[here],
        )

    def sets(self, last: Floats) -> tuple[Bools, Floats]:
        """Return which variables are set, (n, 3), and their coins.

        last : (3,), values of the last round before these
        """
        scores = (np.abs(last) + 1.0) * self.chance
        ranks = (scores[:, :, None] < scores[:, None, :]).sum(axis=2)
        asked: Bools = ranks <= self.is_double[:, None]
        return asked, np.where(asked, self.coins, 0.0)

    def second_coins(self, asked: Bools) -> Floats:
        """Return the second coins of what is set, (n, 3): 1 an end, -1 the middle, 0 for none."""
        has_one = asked & self.is_probe[:, None]
        return np.where(has_one, np.where(self.is_middle, -1.0, 1.0), 0.0)


def _tell(
    record: CoinRecord, asked: Bools, signs: Floats, probes: Floats, rows: Floats
) -> CoinRecord:
    """Ask for a batch and tell it, the smallest value of the first variable first."""
    number = record.sums.issued
    for i in range(len(rows)):
        record = with_ask(record, Intent(number + 1 + i, asked[i], signs[i], probes[i]))
    for i in np.argsort(rows[:, 0]).tolist():
        record = with_answer(record, number + 1 + i, rows[i], LEVEL)
    return record
