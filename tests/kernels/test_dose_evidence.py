"""The evidence of a dose, against densities that are written out and against minimisation."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize, stats

from causalfocus.arrays import Bools, Floats
from causalfocus.kernels.evidence import dose_evidence as dose
from causalfocus.kernels.sums import assumption_sums

MARKS = (8, 32)


def timed_sums(x: Floats, is_set: Bools, times: tuple[int, ...]) -> tuple[Floats, Floats]:
    """The sums of the row of the last node at some times, about zero."""
    p = x.shape[1]
    found = []
    sums = np.zeros((2, p, 2 * p + 2, 2 * p + 2))
    groups = np.zeros((2, p, 2 * p + 1, p + 1, p + 1))
    firsts, own = np.full(p, np.nan), np.zeros(p, dtype=np.int64)
    start = 0
    for end in times:
        part = slice(start, end)
        values = np.where(is_set, x, 0.0)
        assumption_sums.watch_samples(
            sums, groups, np.zeros((1, p)), own, firsts, is_set[part], values[part], x[part], 0.0
        )
        found.append((sums[:, -1].copy(), groups[:, -1].copy()))
        start = end
    return np.array([one[0] for one in found]), np.array([one[1] for one in found])


def world(n: int, seed: int, hidden: float) -> tuple[Floats, Bools]:
    """Two nodes, 0.8 from the first to the second, whose noises are correlated; the first is set in
    about half of the samples.
    """
    rng = np.random.default_rng(seed)
    noise = rng.multivariate_normal([0, 0], [[1, hidden], [hidden, 1]], size=n)
    is_set = np.zeros((n, 2), dtype=np.bool_)
    is_set[:, 0] = rng.random(n) < 0.5
    first = np.where(is_set[:, 0], rng.choice([-1.5, 1.5], size=n), noise[:, 0])
    return np.column_stack([first, 0.8 * first + noise[:, 1]]), is_set


def dose_columns(x: Floats, is_set: Bools, *, has_constant: bool) -> Floats:
    """The regressors of the second node, sample by sample: x_1, perhaps the constant, the dose."""
    d = np.zeros(len(x))
    edges = [0, *MARKS, len(x)]
    for number, (start, end) in enumerate(pairwise(edges)):
        known = slice(0, edges[max(number, 1)])
        centre = x[known, 0][~is_set[known, 0]].mean() if has_constant else 0.0
        d[start:end] = np.where(is_set[start:end, 0], x[start:end, 0] - centre, 0.0)
    parts = [x[:, 0], np.ones(len(x)), d] if has_constant else [x[:, 0], d]
    return np.column_stack(parts)


@pytest.mark.parametrize("has_constant", [False, True])
def test_the_moments_are_those_of_the_samples(has_constant: bool) -> None:
    x, is_set = world(60, 1, 0.5)
    times = (*MARKS, 60)
    grams, lows = dose.dose_times(*timed_sums(x, is_set, times), 0, has_constant)
    d = dose_columns(x, is_set, has_constant=has_constant)[:, -1]
    for t, n in enumerate(times):
        columns = np.column_stack([x, np.ones(len(x)), d])[:n]
        assert grams[t] + lows[t] == pytest.approx(columns.T @ columns, rel=1e-12, abs=1e-12)


def log_ratio(y: Floats, z: Floats, prior: Floats, b: Floats, v: float) -> float:
    """The numerator, a multivariate Student density, over the alternative's."""
    theta = np.append(b, 0.0)
    spread = np.eye(len(y)) + z @ np.linalg.solve(prior, z.T)
    law = stats.multivariate_t(z @ theta, v * spread, df=2 * dose.STIFFNESS)
    return float(law.logpdf(y) - stats.norm.logpdf(y - z @ theta, scale=math.sqrt(v)).sum())


@pytest.mark.parametrize("has_constant", [False, True])
@pytest.mark.parametrize("hidden", [0.0, 0.6])
def test_the_evidence_is_the_least_over_all_rows(hidden: float, has_constant: bool) -> None:
    """Never above the ratio to any row, and where a minimiser gets to."""
    x, is_set = world(200, 3, hidden)
    times = dose.dose_times(*timed_sums(x, is_set, (*MARKS, 200)), 0, has_constant)
    found = dose.dose_evidence(times, 1, 1, has_constant, -math.inf) + math.log(2.0)
    z = dose_columns(x, is_set, has_constant=has_constant)
    regressors = np.array([0, 2, 3] if has_constant else [0, 3])
    prior = dose.prior_precision(times[0][1], regressors)
    y, z = x[32:, 1], z[32:]

    def at(point: Floats) -> float:
        return log_ratio(y, z, prior, point[:-1], math.exp(point[-1]))

    rng = np.random.default_rng(0)
    size = z.shape[1]
    for scale in (0.01, 0.1, 1.0):
        for _ in range(15):
            point = np.append(np.append(0.8, np.zeros(size - 2)), 0.0)
            assert at(point + scale * rng.standard_normal(size)) >= found - 1e-6
    least = optimize.minimize(
        at,
        np.append(np.append(0.8, np.zeros(size - 2)), 0.0),
        method="Nelder-Mead",
        options={"xatol": 1e-5, "fatol": 1e-7, "maxiter": 4000},
    )
    assert found == pytest.approx(least.fun, abs=1e-3)
    assert (found > 5.0) == (hidden > 0.0)


def test_what_is_not_useful_is_bounded_from_above() -> None:
    x, is_set = world(200, 4, 0.0)
    times = dose.dose_times(*timed_sums(x, is_set, (*MARKS, 200)), 0, True)
    exact = dose.dose_evidence(times, 1, 1, True, -math.inf)
    assert exact <= dose.dose_evidence(times, 1, 1, True, math.inf)


def test_the_numerator_averages_to_one_under_an_adaptive_policy() -> None:
    """Against the true row, when what is set depends on what was seen; also where the second acts
    on the first, so that the dose is that of a descendant.
    """
    rng = np.random.default_rng(5)
    runs, n, b, logs = 1500, 44, 0.5, []
    for _ in range(runs):
        x, is_set = np.empty((n, 2)), np.zeros((n, 2), dtype=np.bool_)
        for t in range(n):
            is_set[t, 0] = t % 2 == 0 if t < 8 else x[t - 1, 1] > 0.2
            x[t, 1] = rng.standard_normal()
            x[t, 0] = rng.choice([-1.5, 1.5]) if is_set[t, 0] else b * x[t, 1] + rng.normal()
        times = dose.dose_times(*timed_sums(x, is_set, (*MARKS, n)), 0, True)
        prior = dose.prior_precision(times[0][1], np.array([2, 3]))
        z = dose_columns(x, is_set, has_constant=True)[32:, 1:]
        logs.append(log_ratio(x[32:, 1], z, prior, np.zeros(1), 1.0))
    cut = np.minimum(np.exp(logs), 100.0)
    assert 0.7 < cut.mean() < 1 + 4 * cut.std() / math.sqrt(runs)
