"""What is computed from the runs of an experiment."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from causalfocus.arrays import Floats
from causalfocus.experiments.analysis import (
    ErrorRate,
    Sampled,
    collect,
    gaps,
    mean_of,
    stop_fit,
    stop_gaps,
)
from causalfocus.experiments.tables import as_csv, curve_rows, replicate_rows
from experiments.small_units import SMALL, specification, unit


def test_a_mean_and_its_interval() -> None:
    values = np.array([1.0, 2.0, 3.0, math.nan])
    found = mean_of(values)
    half = 1.959964 * 1.0 / math.sqrt(3)
    assert (found.value, found.n) == (2.0, 3)
    assert (found.low, found.high) == pytest.approx((2 - half, 2 + half), rel=1e-6)
    assert mean_of(np.array([4.0])).high == math.inf
    assert mean_of(np.array([])).n == 0


def test_limits_of_error_rates_are_those_of_the_binomial() -> None:
    for wrong, n in ((0, 1000), (3, 200), (7, 7)):
        exact = stats.binomtest(wrong, n, alternative="less").proportion_ci(0.95).high
        assert ErrorRate(wrong, n).limit == pytest.approx(exact)


def runs_of(method: str, stops: Floats, shd: Floats, numbers: list[int]) -> Sampled:
    n = len(numbers)
    return Sampled(
        setting=SMALL,
        specification=specification(method),
        numbers=np.array(numbers),
        shd=shd,
        weight_error=shd / 10,
        mle=np.stack([shd, shd / 10], axis=2),
        bayes=np.stack([shd, shd / 10], axis=2),
        stops=stops,
        wrong=np.zeros((n, stops.shape[1]), dtype=bool),
        refuted=np.zeros(n, dtype=bool),
        complexity=np.full(n, 0.01),
        counts=np.ones((n, 5)),
    )


def test_a_line_is_found_where_there_is_one() -> None:
    levels = np.log(1 / np.array(specification().deltas))
    slopes, starts = np.array([100.0, 140.0, 120.0]), np.array([50.0, 10.0, 30.0])
    stops = starts[:, None] + slopes[:, None] * levels
    n_marks = len(specification().marks)
    fit = stop_fit(runs_of("focus", stops, np.zeros((3, n_marks)), [0, 1, 2]))
    assert fit.slope.value == pytest.approx(120.0) and fit.intercept == pytest.approx(30.0)
    assert fit.linearity == pytest.approx(1.0) and fit.rate.value == pytest.approx(100.0)
    kl = 0.95 * math.log(19) + 0.05 * math.log(1 / 19)
    assert fit.bounds[1] == pytest.approx(kl / 0.01)
    assert fit.n_unstopped == 0 and fit.paper_forecast > 1e7
    stops[1, 4] = math.nan
    assert stop_fit(runs_of("focus", stops, np.zeros((3, n_marks)), [0, 1, 2])).n_unstopped == 1


def test_methods_are_compared_on_the_same_systems() -> None:
    n_marks = len(specification().marks)
    nothing = np.zeros((3, 0))
    focus = runs_of("focus", np.zeros((3, 5)), np.tile([[1.0], [2.0], [3.0]], n_marks), [0, 1, 2])
    other = runs_of("cbed", nothing, np.tile([[9.0], [4.0], [2.0]], n_marks), [5, 2, 1])
    (gap,) = gaps(focus, other, [specification().marks[0]])
    assert gap.shd.n == 2 and gap.shd.value == pytest.approx((4 - 3 + 2 - 2) / 2)
    assert gap.weight_error.value == pytest.approx(gap.shd.value / 10)
    assert gap.shd_by_mle == gap.shd_by_bayes == gap.shd


def test_stopping_times_are_compared_where_both_stopped() -> None:
    shd = np.zeros((3, len(specification().marks)))
    mine = np.array([[100.0], [300.0], [500.0]]) + np.arange(5.0)
    theirs = np.array([[400.0], [200.0], [math.nan]]) + np.arange(5.0)
    focus, other = runs_of("focus", mine, shd, [0, 1, 2]), runs_of("random", theirs, shd, [0, 1, 2])
    first, *_, last = stop_gaps(focus, other)
    assert (first.delta, last.delta) == (0.1, 0.005)
    assert first.rounds.n == 2 and first.rounds.value == pytest.approx((300 - 100) / 2)
    assert first.ratio == pytest.approx(400 / 600) and last.ratio == pytest.approx(408 / 608)
    assert first.sooner == 0.5
    assert stop_gaps(runs_of("focus", mine, shd, [7, 8, 9]), other) == []


def test_every_run_to_a_certificate_has_its_row() -> None:
    shd = np.zeros((2, len(specification().marks)))
    stops = np.array([[10.0, 20, 30, 40, 50], [10, 20, math.nan, math.nan, math.nan]])
    first, second = replicate_rows([runs_of("focus", stops, shd, [4, 6])])
    assert (first["number"], first["rounds_0.005"], first["wrong_0.005"]) == (4, 50, 0)
    assert (second["number"], second["rounds_0.05"], second["rounds_0.02"]) == (6, 20, "")


def test_a_share_counts_graphs_and_weights_together() -> None:
    n_marks = len(specification().marks)
    run = runs_of("focus", np.zeros((3, 5)), np.tile([[0.0], [0.0], [1.0]], n_marks), [0, 1, 2])
    run.weight_error[1, 0] = 0.071
    first, second, *_ = curve_rows([run])
    assert (first["graph_right"], first["all_right"]) == pytest.approx((2 / 3, 1 / 3))
    assert (second["graph_right"], second["all_right"]) == pytest.approx((2 / 3, 2 / 3))


def test_only_the_replicates_that_were_asked_for_count() -> None:
    documents = [json.loads(unit(first=first).run()) for first in (2, 0)]
    found = collect(SMALL, specification(), documents, 3)
    assert found is not None and found.numbers.tolist() == [0, 1, 2]
    assert collect(SMALL, specification(), [], 3) is None


def test_tables_have_a_header_and_six_digits() -> None:
    assert as_csv([{"a": 1, "b": 2 / 3}]) == "a,b\n1,0.666667\n"
    assert as_csv([]) == ""
