"""The count of intervals that miss sees those that do, and goes on where it was interrupted."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from benchmark.test_verbs import run
from causalfocus.arrays import Bools, Floats
from causalfocus.benchmark.coverage import (
    CHUNK,
    DELTA,
    CoverageChunk,
    Draws,
    count_misses,
    cover,
    first_seed,
    n_chunks,
    new_run,
)
from causalfocus.benchmark.row_files import write_rows
from causalfocus.benchmark.worlds import WORLDS, Lab

N_RUNS = 30


def chunk(world: str, errors: int, first: int = 0) -> CoverageChunk:
    return CoverageChunk(
        world=world,
        first=first,
        runs=CHUNK,
        rounds=16,
        missed=errors - 1,
        missed_totals=1,
        refuted=0,
        errors=errors,
        looks=100,
        half=0.5,
    )


def test_effects_are_covered_where_all_that_is_assumed_holds() -> None:
    found = cover(("hidden cause 0.8", 0, N_RUNS, 400))
    assert found.errors <= stats.binom.ppf(1 - 1e-4, N_RUNS, DELTA)
    assert found.looks >= N_RUNS * 100 and found.half < 0.5
    assert found == cover(("hidden cause 0.8", 0, N_RUNS, 400))


def test_what_is_not_assumed_is_seen_to_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that act on others past their variable; were this not seen, no count would mean
    much.
    """
    honest = Lab.respond

    def push(self: Lab, asked: Bools, values: Floats) -> tuple[Floats, Bools]:
        rows, failed = honest(self, asked, values)
        return rows + np.where(asked, 0.0, 0.4 * values.sum(axis=1, keepdims=True)), failed

    monkeypatch.setattr(Lab, "respond", push)
    found = cover(("clean", 0, N_RUNS, 400))
    assert found.errors >= found.missed > stats.binom.ppf(1 - 1e-4, N_RUNS, DELTA)


def test_one_variable_or_two_are_set_by_what_came_last() -> None:
    draws = Draws.of(3, 4_000)
    asked, signs = draws.sets(np.array([0.0, 0.0, 30.0]))
    np.testing.assert_array_equal(asked.sum(axis=1), 1 + draws.is_double)
    np.testing.assert_array_equal(np.abs(signs), asked)
    shares = asked.mean(axis=0)
    assert shares[2] > 0.9 > 0.4 > shares[0] > 0.1
    coins = signs[asked]
    assert stats.binomtest(int((coins > 0).sum()), len(coins)).pvalue > 1e-4
    part, _ = draws.part(slice(10, 20)).sets(np.array([0.0, 0.0, 30.0]))
    np.testing.assert_array_equal(part, asked[10:20])


def test_now_and_then_what_is_set_goes_to_the_middle() -> None:
    draws = Draws.of(5, 6_000)
    asked, _ = draws.sets(np.zeros(3))
    probes = draws.second_coins(asked)
    assert not probes[~asked].any()
    n_probes, n_middle = np.count_nonzero(probes), int((probes < 0.0).sum())
    assert stats.binomtest(n_probes, int(asked.sum()), 1 / 12).pvalue > 1e-4
    assert stats.binomtest(n_middle, n_probes, 1 / 4).pvalue > 1e-4


def test_loops_are_ruled_out_where_there_are_none() -> None:
    ruled_out = [new_run("clean", seed).unclosed is not None for seed in range(8)]
    assert ruled_out == [False, False, True, True] * 2
    assert all(new_run("feedback", seed).unclosed is None for seed in range(4))


def test_chunks_are_joined_by_world_and_in_all() -> None:
    found = count_misses([chunk("drift", 1), chunk("clean", 2), chunk("drift", 4, first=CHUNK)])
    assert [(row.world, row.runs, row.errors) for row in found] == [
        ("clean", CHUNK, 2),
        ("drift", 2 * CHUNK, 5),
        ("all", 3 * CHUNK, 7),
    ]
    assert (found[-1].missed, found[-1].missed_totals) == (4, 3)
    exact = stats.binomtest(7, 3 * CHUNK, alternative="less").proportion_ci(0.95).high
    assert found[-1].limit == pytest.approx(exact) and found[-1].looks == 300
    assert n_chunks(10_000, ()) * len(WORLDS) * CHUNK >= 10_000
    assert (n_chunks(1, ["clean"]), n_chunks(CHUNK + 1, ["clean"])) == (1, 2)


def test_no_two_worlds_share_a_run() -> None:
    """Else misses would come together, and what is counted in all would be no binomial number."""
    chunks = range(n_chunks(10_000, ()))
    seeds = [first_seed(world, at) + i for world in WORLDS for at in chunks for i in range(CHUNK)]
    assert len(set(seeds)) == len(seeds) == len(WORLDS) * len(chunks) * CHUNK


def test_the_command_goes_on_where_it_was(tmp_path: Path) -> None:
    """Of two chunks one is known, with a count that no run would give."""
    write_rows(tmp_path / "coverage.csv", CoverageChunk, [chunk("clean", 49)])
    size = ("--runs", str(2 * CHUNK), "--rounds", "16", "--worlds", "clean")
    done = run("coverage", *size, "--json", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    clean, together = json.loads(done.stdout)["coverage"]
    assert (clean["runs"], clean["errors"]) == (2 * CHUNK, 49)
    assert (
        together["errors"] == 49 and len((tmp_path / "coverage.csv").read_text().split("\n")) == 4
    )
