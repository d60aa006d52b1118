"""Who is ahead at many places at once."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from causalfocus.experiments.leads import leads, simultaneous_factor, simultaneous_means
from causalfocus.experiments.specification import Setting, Specification
from experiments.test_analysis import runs_of


def test_one_place_needs_the_usual_number_of_standard_errors() -> None:
    values = np.random.default_rng(1).normal(size=(400, 1))
    assert simultaneous_factor([values]) == pytest.approx(1.96, abs=0.04)
    twice = np.hstack([values, -3.0 * values])
    assert simultaneous_factor([twice]) == pytest.approx(simultaneous_factor([values]))


def test_independent_places_need_what_independence_asks() -> None:
    """The largest of m independent normal sizes."""
    rng = np.random.default_rng(2)
    blocks = [rng.normal(size=(300, 10)) for _ in range(5)]
    exact = stats.norm.ppf(0.5 + 0.5 * 0.95 ** (1 / 50))
    assert simultaneous_factor(blocks) == pytest.approx(exact, abs=0.08)


def test_all_true_means_are_inside_nineteen_times_in_twenty() -> None:
    rng = np.random.default_rng(3)
    mixing = rng.normal(size=(6, 6))
    inside = 0
    for _ in range(60):
        (means,) = simultaneous_means([rng.normal(size=(80, 6)) @ mixing + 1.0])
        inside += all(mean.low <= 1.0 <= mean.high for mean in means)
    assert stats.binomtest(inside, 60, 0.95, alternative="less").pvalue > 1e-4


def test_a_column_that_never_differs_has_no_width() -> None:
    block = np.column_stack([np.zeros(20), np.arange(20.0)])
    ((same, other),) = simultaneous_means([block])
    assert (same.low, same.high) == (0.0, 0.0) and other.low < 9.5 < other.high


def test_differences_are_paired_and_signed() -> None:
    """RANDOM has one edge more wrong on every system, FOCUS's numbers come in another order."""
    marks = Specification(method="focus").marks
    rng = np.random.default_rng(4)
    errors = rng.integers(0, 9, size=(30, len(marks))).astype(float)
    stops = np.ones((30, 5))
    specification = {m: Specification(method=m) for m in ("focus", "random")}
    other = runs_of("random", stops, errors + 1.0, list(range(30)))
    order = rng.permutation(30)
    mine = runs_of("focus", stops, errors[order], order.tolist())
    runs = [
        dataclasses.replace(run, setting=Setting(p, 0.3), specification=specification[name])
        for p in (3, 4)
        for name, run in (("focus", mine), ("random", other))
    ]
    found = leads(runs)
    assert {lead.setting for lead in found} == {"p3-d0.3", "p4-d0.3", "all"}
    assert {lead.method for lead in found} == {"random", "random, joint MLE"}
    assert min(lead.n for lead in found) >= 100
    for lead in found:
        assert lead.difference.value == pytest.approx(1.0 if lead.error == "shd" else 0.1)
        assert lead.verdict == "FOCUS"
