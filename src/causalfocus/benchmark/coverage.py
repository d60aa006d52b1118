"""Whether the intervals by coins hold all effects at all looks, in worlds in which much goes wrong.

A run is missed if ANY interval of ANY pair misses its effect at ANY look, so stopping at the worst
moment is allowed for, and so is every refutation: where an intersection is empty, one of its
intervals missed. Looks are made at every mark, where the stakes change, and every few rounds.

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
from causalfocus.benchmark.worlds import NODES, WORLDS, Lab, world_of
from causalfocus.experiments.analysis import ErrorRate
from causalfocus.guarantees.randomized_intervals import intervals_at
from causalfocus.moments.effect_intervals import Intervals
from causalfocus.moments.randomized_sums import RandomizedSums

DELTA: Final = 0.1
CHUNK: Final = 50
"""Runs that are made at once; what is finished of a measurement is whole chunks."""

SEEDS: Final = 1_000_000
"""Seeds that every world has for itself."""

LOOK: Final = 8
"""Rounds from one look to the next, besides those at marks."""

BATCH: Final = 4


@dataclass(frozen=True, kw_only=True)
class CoverageChunk:
    """Some runs in a world.

    Attributes
    ----------
    first : seed of the first run
    runs : how many
    rounds : of each
    missed : runs in which an interval missed its effect at a look
    looks : of all runs together; a run that is missed is not looked at again
    half : median over runs and pairs of half the width at the end
    """

    world: str
    first: int
    runs: int
    rounds: int
    missed: int
    looks: int
    half: float


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """All runs in a world, or in all of them.

    Attributes
    ----------
    limit : one-sided 95 percent limit of the probability of a miss, exact
    half : median of the medians of the chunks
    """

    world: str
    runs: int
    rounds: int
    missed: int
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
    runs, missed = sum(one.runs for one in chunks), sum(one.missed for one in chunks)
    return Coverage(
        world=name,
        runs=runs,
        rounds=max(one.rounds for one in chunks),
        missed=missed,
        limit=ErrorRate(missed, runs).limit,
        looks=sum(one.looks for one in chunks),
        half=float(np.median([one.half for one in chunks])),
    )


def coverage_table(rows: Sequence[Coverage]) -> str:
    """Return the counts as Markdown."""
    head = f"""### Intervals by coins, at all looks

Three variables, delta = {DELTA}. `missed`: runs in which any interval missed its effect at any
look, at all marks and every {LOOK} rounds; `limit`: one-sided 95 percent limit of the probability
of that, exact. `half`: median half width at the end.

| world | runs | rounds | looks | missed | limit | half |
|---|---|---|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.world} | {r.runs:,} | {r.rounds:,} | {r.looks:,} | {r.missed} | {r.limit:.4f} | "
        f"{r.half:.3f} |"
        for r in rows
    )


def cover(task: tuple[str, int, int, int]) -> CoverageChunk:
    """Return what came of a chunk.

    task : world, first seed, runs and rounds
    """
    world, first, runs, rounds = task
    found = [_watch(world, seed, rounds) for seed in range(first, first + runs)]
    halves = [last.half[~np.eye(NODES, dtype=np.bool_)] for last, _, _ in found]
    return CoverageChunk(
        world=world,
        first=first,
        runs=runs,
        rounds=rounds,
        missed=sum(is_missed for _, _, is_missed in found),
        looks=sum(looks for _, looks, _ in found),
        half=float(np.median(halves)),
    )


def _watch(world: str, seed: int, rounds: int) -> tuple[Intervals, int, bool]:
    """Return the last intervals of a run, the looks, and whether one missed."""
    lab, level = Lab(world, seed, rounds), -math.log(DELTA)
    state = RandomizedSums.empty(~np.eye(NODES, dtype=np.bool_))
    draws, batch = Draws.of(seed, rounds), BATCH if seed % 2 else 1
    last, looks, following = np.ones(NODES), 0, 0
    intervals = intervals_at(state, level)
    for first in range(0, rounds, batch):
        here = slice(first, min(first + batch, rounds))
        asked, signs = draws.part(here).sets(last)
        rows, _ = lab.respond(asked, lab.world.reach * signs)
        last, until = rows[-1], state.until
        state = _tell(state, asked, signs, rows)
        if state.n >= following or state.n >= until or here.stop == rounds:
            intervals, looks, following = intervals_at(state, level), looks + 1, state.n + LOOK
            if ((lab.weights < intervals.low) | (intervals.high < lab.weights)).any():
                return intervals, looks, True
    return intervals, looks, False


class Draws(NamedTuple):
    """All that is drawn for the sets of some rounds and their coins: an order by chance (n, 3),
    whether two are set at once (n,), and the coins (n, 3).
    """

    chance: Floats
    is_double: Bools
    coins: Floats

    @classmethod
    def of(cls, seed: int, n: int) -> "Draws":
        rng = np.random.default_rng([seed, 47])
        coins = rng.choice([-1.0, 1.0], (n, NODES))
        return cls(rng.random((n, NODES)), rng.random(n) < 0.5, coins)

    def part(self, here: slice) -> "Draws":
        """Return some of the rounds."""
        return Draws(self.chance[here], self.is_double[here], self.coins[here])

    def sets(self, last: Floats) -> tuple[Bools, Floats]:
        """Return which variables are set, (n, 3), and their coins.

        last : (3,), values of the last round before these
        """
        scores = (np.abs(last) + 1.0) * self.chance
        ranks = (scores[:, :, None] < scores[:, None, :]).sum(axis=2)
        asked: Bools = ranks <= self.is_double[:, None]
        return asked, np.where(asked, self.coins, 0.0)


def _tell(state: RandomizedSums, asked: Bools, signs: Floats, rows: Floats) -> RandomizedSums:
    """Ask for a batch and tell it, the smallest value of the first variable first."""
    number = state.issued
    for i in range(len(rows)):
        state = state.issue(number + 1 + i, asked[i], signs[i])
    for i in np.argsort(rows[:, 0]).tolist():
        state = state.answer(number + 1 + i, rows[i])
    return state
