"""Marginal likelihoods of rows: exact values, and martingales with mean one."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, stats

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.kernels.evidence import row_evidence
from causalfocus.kernels.exact import certificate
from causalfocus.kernels.records import Row
from kernels.densities import log_marginal

PRIOR = row_evidence.Prior(0.75, 25.0, 25.0)


def test_marginal_likelihood_of_a_row() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((12, 3)), rng.standard_normal(12)
    data = np.column_stack([x, y])
    gram = data.T @ data
    for k in range(4):
        regressors = np.arange(k)
        ours = row_evidence.log_marginal(Row(gram, 0.0 * gram, 3), regressors, 12.0, PRIOR, 9)
        assert ours == pytest.approx(log_marginal(x[:, :k], y, PRIOR), rel=1e-10)


def test_marginal_likelihood_by_quadrature() -> None:
    """One coefficient: integrate the likelihood over b and v against the prior."""
    tau2, a0, b0 = PRIOR
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal(6), rng.standard_normal(6)

    def density(b: float, v: float) -> float:
        prior = stats.norm.pdf(b, scale=math.sqrt(v * tau2)) * stats.invgamma.pdf(v, a0, scale=b0)
        return float(prior * np.prod(stats.norm.pdf(y, b * x, math.sqrt(v))))

    value, _ = integrate.dblquad(density, 0.2, 4.0, -6.0, 6.0, epsabs=1e-14)
    data = np.column_stack([x, y])
    gram = data.T @ data
    ours = row_evidence.log_marginal(Row(gram, 0.0 * gram, 1), np.array([0]), 6.0, PRIOR, 9)
    assert ours == pytest.approx(math.log(value), abs=1e-6)


def adaptive_history(
    model: cf.LinearSEM, n: int, rng: np.random.Generator
) -> tuple[list[cf.Action], Floats]:
    """Actions that look at the past: after a large last value, set that node; else observe."""
    taken, samples = [], []
    last = np.zeros(model.p)
    for _ in range(n):
        k = int(np.argmax(np.abs(last)))
        big = abs(last[k]) > 1.0
        action = cf.do(model.names[k], -2.0 if last[k] > 0 else 2.0) if big else cf.OBSERVE
        last = model.sample(action, 1, rng)[0]
        taken.append(action)
        samples.append(last)
        if big:
            last = np.zeros(model.p)
    return taken, np.array(samples)


@pytest.mark.parametrize("term", ["noise", "swap one", "swap two"])
def test_every_numerator_is_a_martingale_with_mean_one(term: str) -> None:
    """Over many histories of an adaptive policy, under the alternative itself."""
    truth = cf.LinearSEM([[0.0, 0.0, 0.0], [0.4, 0.0, 0.0], [0.0, -0.5, 0.0]], [1.0, 0.9, 1.1])
    rng = np.random.default_rng(3)
    ratios = []
    for _ in range(4000):
        taken, samples = adaptive_history(truth, 8, rng)

        def row(
            j: int,
            parents: list[int],
            taken: list[cf.Action] = taken,
            samples: Floats = samples,
        ) -> tuple[Floats, Floats]:
            own = samples[[action.target != truth.names[j] for action in taken]]
            return own[:, parents], own[:, j]

        def likelihood(j: int, row: Callable[..., tuple[Floats, Floats]] = row) -> float:
            parents = [int(k) for k in np.flatnonzero(truth.weights[j])]
            x, y = row(j, parents)
            scale = math.sqrt(truth.noise_variances[j])
            return float(stats.norm.logpdf(y, x @ truth.weights[j, parents], scale).sum())

        if term == "noise":
            ratio = log_marginal(*row(1, [0]), prior=PRIOR) - likelihood(1)
        elif term == "swap one":
            ratio = log_marginal(*row(2, [0]), prior=PRIOR) - likelihood(2)
        else:
            swapped: dict[int, list[int]] = {0: [1], 1: [2], 2: []}
            ratio = math.fsum(
                log_marginal(*row(j, parents), prior=PRIOR) - likelihood(j)
                for j, parents in swapped.items()
            )
        ratios.append(math.exp(ratio))
    error = np.std(ratios) / math.sqrt(len(ratios))
    assert abs(np.mean(ratios) - 1) < 4 * error
    assert error < 0.2


def test_weights_of_the_terms_sum_to_at_most_one() -> None:
    assert certificate.W_EDGE + certificate.W_NOISE + certificate.W_SWAP <= 1.0 + 1e-12
    p = 3
    swap = 0.0
    families = [
        [set(s) for r in range(p) for s in itertools.combinations(range(p - 1), r)]
        for _ in range(p)
    ]
    for n_rows in range(p + 1):
        for rows in itertools.combinations(range(p), n_rows):
            for chosen in itertools.product(*(families[j] for j in rows)):
                share = (1 - 1 / p) ** p
                for parents in chosen:
                    share *= 1 / (p - 1) / (p * math.comb(p - 1, len(parents)))
                swap += share
    assert swap == pytest.approx(1.0)


@pytest.mark.parametrize("reach", [1.0, 1e2, 1e3, 1e4, 1e5, 1e7, 1e11, 1e15, 1e17])
@pytest.mark.parametrize("n_regressors", [1, 2])
def test_marginal_likelihood_is_never_too_large_at_any_scale(
    reach: float, n_regressors: int
) -> None:
    """Collinear regressors far above the noise, against 150 digits. An excess here once let a
    wrong graph be certified.
    """
    mp = pytest.importorskip("mpmath")
    tau2, a0, b0 = PRIOR
    worst, best = -math.inf, math.inf
    for seed in range(8):
        rng = np.random.default_rng([seed, n_regressors])
        names = ["a", "b", "y"]
        moments = cf.Moments(names)
        a = rng.choice([-reach, reach], 300)
        b = a + rng.standard_normal(300)
        y = 0.5 * a + 0.3 * b + rng.standard_normal(300)
        moments.add_many([cf.OBSERVE] * 300, np.column_stack([a, b, y]))
        rows = moments.evidence_rows(intercept=False)
        row = Row(rows.grams[2], rows.lows[2], 2)
        ours = row_evidence.log_marginal(row, np.arange(n_regressors), 300.0, PRIOR, 9)
        with mp.workdps(150):
            x = mp.matrix(np.column_stack([a, b])[:, :n_regressors].tolist())
            target = mp.matrix(y.tolist())
            precision = x.T * x + mp.eye(n_regressors) / tau2
            rest = (target.T * target)[0] - (
                (target.T * x) * mp.inverse(precision) * (x.T * target)
            )[0]
            exact = (
                -150 * mp.log(2 * mp.pi)
                - mp.log(mp.det(precision) * mp.mpf(tau2) ** n_regressors) / 2
                + a0 * mp.log(b0)
                - (a0 + 150) * mp.log(b0 + rest / 2)
                + mp.loggamma(a0 + 150)
                - mp.loggamma(a0)
            )
            worst = max(worst, float(ours - exact))
            best = min(best, float(ours - exact))
    assert worst < 1e-5
    # no evidence is allowed where digits run out
    assert best > -1e-3 or (reach >= 1e3 and n_regressors == 2) or reach >= 1e8
