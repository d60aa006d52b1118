"""What people do today is done as they do it."""

import numpy as np
import pytest
from scipy import stats

from causalfocus.benchmark.today import (
    CERTAIN,
    CERTIFIED,
    EPSILON,
    METHODS,
    PAIRS,
    TodayRun,
    answers_by_coins,
    collect,
    compare,
    today_runs,
)
from causalfocus.benchmark.today_table import count_claims, today_table
from causalfocus.benchmark.usual_methods import Stream, regress, two_stage
from causalfocus.benchmark.worlds import NODES, SPACE, Lab


def short_stream(n: int = 80) -> Stream:
    return collect("hidden cause 0.5", 3, "random", n)


def test_regression_is_that_of_the_textbook() -> None:
    stream = short_stream()
    found = regress(stream, PAIRS)
    for j in range(NODES):
        rows = stream.rows[~stream.asked[:, j]]
        others = [k for k in range(NODES) if k != j]
        design = np.column_stack([np.ones(len(rows)), rows[:, others]])
        fit, (rest,), *_ = np.linalg.lstsq(design, rows[:, j], rcond=None)
        freedom = len(rows) - NODES
        covariance = np.linalg.inv(design.T @ design) * rest / freedom
        np.testing.assert_allclose(found.weights[j, others], fit[1:])
        np.testing.assert_allclose(found.errors[j, others], np.sqrt(np.diag(covariance))[1:])
        assert found.freedom[j] == freedom and found.weights[j, j] == found.errors[j, j] == 0.0


def test_one_cause_alone_is_a_line() -> None:
    stream, causes = short_stream(), np.zeros((NODES, NODES), dtype=np.bool_)
    causes[2, 0] = True
    used = ~stream.asked[:, 2]
    line = stats.linregress(stream.rows[used, 0], stream.rows[used, 2])
    found = regress(stream, causes)
    assert found.weights[2, 0] == pytest.approx(line.slope)
    assert found.errors[2, 0] == pytest.approx(line.stderr)
    p_value = 2 * stats.t.sf(abs(line.slope) / line.stderr, used.sum() - 2)
    assert p_value == pytest.approx(line.pvalue)
    assert found.half(p_value)[2, 0] == pytest.approx(abs(line.slope))
    assert not found.errors[~causes].any()


def test_two_stages_are_made_one_after_the_other() -> None:
    """First every cause on the coins, then the effect on what that foretells."""
    stream = short_stream()
    found = two_stage(stream, PAIRS)
    for j in range(NODES):
        used, others = ~stream.asked[:, j], [k for k in range(NODES) if k != j]
        ones = np.ones(used.sum())
        coins = np.column_stack([ones, stream.signs[used][:, others]])
        x = np.column_stack([ones, stream.rows[used][:, others]])
        foretold = coins @ np.linalg.lstsq(coins, x, rcond=None)[0]
        y = stream.rows[used, j]
        fit = np.linalg.lstsq(foretold, y, rcond=None)[0]
        variance = ((y - x @ fit) ** 2).sum() / (len(y) - NODES)
        covariance = np.linalg.inv(foretold.T @ foretold) * variance
        np.testing.assert_allclose(found.weights[j, others], fit[1:])
        np.testing.assert_allclose(found.errors[j, others], np.sqrt(np.diag(covariance))[1:])


def test_nothing_is_known_before_there_are_enough_rounds() -> None:
    found = two_stage(short_stream(4), PAIRS)
    assert np.isinf(found.errors[PAIRS]).any() and not found.errors[~PAIRS].any()


def test_a_design_collects_what_its_lab_gives() -> None:
    """By the design of a rule, which goes on after the stop, as by chance: coins and values."""
    for design, n in (("gaussian", 1_000), ("random", 400)):
        stream, lab = collect("settings fail", 1, design, n), Lab("settings fail", 1, n)
        assert len(stream.rows) == n
        rows, failed = lab.respond(stream.asked, lab.world.reach * stream.signs)
        np.testing.assert_array_equal(rows, stream.rows)
        assert failed.any() and stream.asked.sum(axis=1).max() == 1
        assert (np.abs(stream.signs) == stream.asked).all()


def test_methods_are_compared_on_one_stream() -> None:
    """Coins are right; regression is not, for it does not know which way effects go."""
    rows = {row.method: row for row in compare(("hidden cause 0.5", "random", 0))}
    assert list(rows) == [*METHODS, CERTAIN, CERTIFIED]
    assert rows["regression"].is_wrong and rows["regression"].outside > 0
    assert not rows[CERTIFIED].is_wrong and rows[CERTIFIED].outside == 0
    assert rows[CERTAIN].rounds < rows[CERTIFIED].rounds < 6_000
    assert rows[CERTAIN].undecided == rows[CERTIFIED].undecided == 0
    assert rows["two-stage, looks"].rounds < rows[CERTAIN].rounds


def test_coins_wait_until_everything_is_decided() -> None:
    stream = collect("clean", 2, "random", 3_000)
    answers = answers_by_coins(stream, 2.0)
    truth = Lab("clean", 2, 1).weights
    certain, certified = answers[CERTAIN], answers[CERTIFIED]
    np.testing.assert_array_equal(certified.called, np.sign(truth))
    is_there = certified.called != 0.0
    assert (certified.high - certified.low)[is_there].max() <= 2 * EPSILON
    assert certain.rounds <= certified.rounds
    np.testing.assert_array_equal(certain.called, np.sign(truth))
    assert np.maximum(-certain.low, certain.high)[~is_there].max() < SPACE.least_effect
    short = answers_by_coins(stream.first(100), 2.0)
    assert short[CERTAIN] is short[CERTIFIED] and short[CERTAIN].rounds == 100
    assert not short[CERTAIN].is_decided


def test_claims_are_counted_by_kind() -> None:
    def claim(seed: int, **wrong: int) -> TodayRun:
        given = dict.fromkeys(
            ("undecided", "invented", "reversed_signs", "overlooked", "outside"), 0
        )
        return TodayRun(
            world="clean",
            design="random",
            method="guess",
            seed=seed,
            rounds=100 * seed,
            **(given | wrong),
        )

    runs = [
        claim(1),
        claim(2, invented=2, outside=3),
        claim(3, overlooked=1, invented=1),
        claim(4, undecided=1),
        claim(5, reversed_signs=1),
    ]
    (cell,) = count_claims([runs])
    assert (cell.wrong, cell.invented, cell.overlooked) == (3, 2, 1)
    assert (cell.reversed_signs, cell.undecided, cell.median_rounds) == (1, 1, 300.0)
    assert cell.outside == 3 / 30
    assert cell.limit == pytest.approx(
        stats.binomtest(3, 5, alternative="less").proportion_ci(0.95).high
    )
    assert "| clean | guess | 5 | 3 |" in today_table([cell])


def test_worlds_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="no world 'sunny'"):
        next(today_runs(["sunny"], "random", 1, 1))
    with pytest.raises(ValueError, match="no design 'none'; there are random, "):
        next(today_runs(["clean"], "none", 1, 1))
