"""What the randomized rule costs: the ideal it is measured by, and the systems."""

import math

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.benchmark.coins import (
    LARGE_EPSILON,
    CoinRun,
    HiddenCauseSystem,
    coin_summary,
    coin_table,
    ideal_of,
    large_run,
    large_system,
    large_table,
)


def test_the_ideal_of_two_variables_by_hand() -> None:
    """Without effects a coin moves its own variable alone, so each of the two needs 2 h v / (4
    radius^2) tosses, v the variance of the other; h has the logarithm of half of them all.
    """
    system = HiddenCauseSystem(cf.LinearSEM(np.zeros((2, 2)), 1.0), np.array([1.0, 0.0]), 0)
    actions = cf.ActionSet(dict.fromkeys(system.model.names, (-2.0, 2.0)), at_once=1)
    found = ideal_of(system, actions)
    level = math.log(1 / 0.05) + math.log(2 / 0.8) + 0.5 * math.log1p(found / 2 / 64)
    radius = 0.75 * 2 * LARGE_EPSILON
    assert found == pytest.approx(2.0 * level * (2.0 + 1.0) / (4.0 * radius**2), rel=0.01)


def test_a_hidden_cause_is_in_the_samples_and_in_nothing_else() -> None:
    system = large_system(12, 3)
    assert system.loads.any() and not system.loads.all()
    samples = np.array([system(cf.OBSERVE) for _ in range(4000)])
    residuals = samples - samples @ system.model.weights.T
    expected = np.diag(system.model.noise_variances) + np.outer(system.loads, system.loads)
    assert np.cov(residuals.T) == pytest.approx(expected, abs=0.2)
    again = system.again()
    assert again(cf.OBSERVE).tolist() == samples[0].tolist()


def test_a_small_large_run() -> None:
    found = large_run(3, 1, None)
    assert found.is_right and found.rounds < 5000 and 0.3 < found.rounds / found.ideal < 5
    assert f"| 3 | 1 | 2 | {found.rounds:,} |" in large_table([found])


def test_a_summary_has_medians() -> None:
    names = ("gaussian", "one", "any_number", "one_acyclic", "any_acyclic", "n_wrong")
    rounds = ((100, 300, 120, 90, 80, 0), (200, 300, 180, 240, 100, 1), (300, 900, 150, 280, 99, 0))
    rows = [CoinRun(**dict(zip(names, row, strict=True))) for row in rounds]
    found = coin_summary(6, rows)
    assert (found.gaussian, found.one, found.any_number, found.n_wrong) == (200, 300, 150, 1)
    assert (found.one_acyclic, found.any_acyclic) == (240, 99)
    wanted = "| 300 (1.50) | 240 (1.20) | 150 (0.75) | 99 (0.49) | 1 |"
    assert found.one_ratio == 1.5 and wanted in coin_table([found])
