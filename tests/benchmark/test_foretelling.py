"""The count of ranges that hold: what is inside, what it is worth, and that it goes on."""

import json
import math
from pathlib import Path

import pytest
from scipy import stats

from benchmark.test_verbs import run
from causalfocus.benchmark.foretelling import (
    KINDS,
    MARKS,
    ForetoldRow,
    ask_on_the_way,
    foretelling_runs,
    foretelling_summary,
    foretelling_table,
    limits_of_share,
)
from causalfocus.benchmark.row_files import read_rows, write_rows
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees.experience import OF_CLASS, OF_GAUSSIAN, OF_RANDOMIZED
from causalfocus.guarantees.terms import Spreads
from causalfocus.planning.remaining import LEAST_FORETOLD, Remaining, range_of


def row(seed: int, total: int, rest: float, mark: int = 30, rounds: int = 300) -> ForetoldRow:
    return ForetoldRow(
        rule="gaussian", p=3, at_once=1, seed=seed, mark=mark, rounds=rounds, total=total, rest=rest
    )


def test_a_range_is_what_was_foretold_times_the_factors_of_that_share_of_the_way() -> None:
    spreads = Spreads((0.2, 0.8), (0.5, 0.1), (1.0, 1.0), (2.0, 8.0))
    for share, low, high in ((0.1, 0.5, 2.0), (0.2, 0.5, 2.0), (0.9, 0.1, 8.0)):
        found = range_of(spreads, 900.0, round(900 * share / (1 - share)))
        assert found is not None and found.rounds == 900
        assert (found.low, found.high) == pytest.approx((900 * low, 900 * high), abs=0.5)
    half = spreads.at(0.5)
    assert half.low == pytest.approx(math.sqrt(0.05)) and half.high == pytest.approx(4.0)
    assert range_of(spreads, 9.9, 10 * LEAST_FORETOLD) is None
    words = Remaining(900, 450, 1800).words
    assert "four of five" in words and "no part of the guarantee" in words
    assert "450 to 1,800" in words


@pytest.mark.parametrize("spreads", [OF_RANDOMIZED, OF_GAUSSIAN, OF_CLASS])
def test_factors_are_in_order(spreads: Spreads) -> None:
    assert len({len(part) for part in spreads}) == 1
    assert list(spreads.along) == sorted(spreads.along)
    for share in range(101):
        assert spreads.at(share / 100).low < spreads.at(share / 100).middle
        assert spreads.at(share / 100).middle < spreads.at(share / 100).high


def test_what_is_inside_is_counted() -> None:
    factors = OF_GAUSSIAN.at(300 / 1300)
    inside = [300 + round(1000 * part) for part in (factors.low, 1.0, factors.high)]
    outside = [inside[0] - 2, inside[2] + 2, inside[2] + 500]
    rows = [row(seed, total, 1000.0) for seed, total in enumerate(inside + outside)]
    rows += [row(6, 1300, math.nan), row(7, 1300, 1000.0, mark=60)]
    found = {one.mark: one for one in foretelling_summary(rows)}
    one = found[30]
    assert (one.runs, one.silent, one.inside, one.fewer, one.more) == (7, 1, 3, 1, 2)
    assert one.share == 0.5 and one.width == pytest.approx(factors.high / factors.low, rel=0.01)
    assert found[60].inside == 1 and found[10].runs == 0 and found[10].share == 0.0
    assert "| gaussian | 30 percent | 7 | 1 | 50% |" in foretelling_table(list(found.values()))


def test_limits_are_those_at_which_the_count_is_just_possible() -> None:
    """By the binomial law itself: 2.5 percent is left beyond each."""
    for k, n in ((3, 12), (50, 60), (0, 20), (20, 20)):
        low, high = limits_of_share(k, n)
        assert k == 0 or stats.binom.sf(k - 1, n, low) == pytest.approx(0.025)
        assert k == n or stats.binom.cdf(k, n, high) == pytest.approx(0.025)
    assert limits_of_share(0, 20)[0] == 0.0 and limits_of_share(20, 20)[1] == 1.0


def test_a_run_is_asked_at_its_marks() -> None:
    seed = 30_000
    rows = ask_on_the_way(("gaussian", seed))
    assert [one.mark for one in rows] == list(MARKS)
    for one in rows:
        assert (one.p, one.at_once) == KINDS[seed % len(KINDS)]
        assert one.rounds == pytest.approx(0.01 * one.mark * one.total, rel=0.03)
        assert one.truth == one.total - one.rounds > 0 and one.rest > 0.0
    assert rows == ask_on_the_way(("gaussian", seed))


def test_what_was_run_is_not_run_again(tmp_path: Path) -> None:
    file = tmp_path / "foretelling.csv"
    known = [row(seed, 777, 1000.0, mark) for seed in (0, 1) for mark in MARKS]
    write_rows(file, ForetoldRow, known)
    found = list(foretelling_runs(["gaussian"], range(2), 1, file))
    assert [one for each in found for one in each] == known == read_rows(file, ForetoldRow)
    with pytest.raises(InvalidInputError, match="rules are among randomized, gaussian, class"):
        next(foretelling_runs(["paper"], range(1), 1))


def test_the_command_goes_on_from_its_file(tmp_path: Path) -> None:
    known = [row(5, 777, 1000.0, mark) for mark in MARKS]
    write_rows(tmp_path / "foretelling.csv", ForetoldRow, known)
    words = ["foretelling", "--runs", "1", "--first-seed", "5", "--rule", "gaussian", "--json"]
    done = run(*words, "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["foretelling"]
    assert [one["mark"] for one in rows] == list(MARKS) and rows[0]["runs"] == 1
