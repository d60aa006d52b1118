"""Evidence along directions of the past: sure bounds, and martingales with mean one."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.kernels.evidence import direction_evidence, training
from causalfocus.kernels.evidence.direction_evidence import Departure, Mixing, Noise
from causalfocus.kernels.evidence.directions import (
    Direction,
    Times,
    direction_sums,
    past_inverses,
)
from causalfocus.kernels.evidence.row_evidence import Fit, least_squares
from causalfocus.kernels.records import Row, Span
from kernels.densities import directions, log_likelihood, log_marginal, moving_ratio

History = list[tuple[int, Floats]]
Grams = dict[tuple[int, str], tuple[Row, float]]

ALL = Span(-math.inf, math.inf)
NO_NOISE = Noise(-math.inf, 1.0, 1.0)


def moments_at(x: Floats, y: Floats, marks: list[int]) -> Times:
    """One row's moments at the marks, as the kernels take them; the node itself comes last."""
    data = np.column_stack([x, y])
    grams = np.array([[data[:end].T @ data[:end]] for end in [*marks, len(y)]])
    counts = np.array([[float(end)] for end in [*marks, len(y)]])
    return Times(grams, np.zeros_like(grams), counts)


def fit_along(x: Floats, y: Floats, marks: list[int], k: int) -> tuple[Fit, Direction, Floats]:
    """The fit as the kernels take it, its sums along the direction, and the directions."""
    s = x.shape[1]
    times = moments_at(x, y, marks)
    gram = times.grams[-1, 0]
    regressors = np.arange(s)
    fit = least_squares(Row(gram, 0.0 * gram, s), regressors, float(len(y)))
    b = fit.coefficients
    # The kernels index the row by its node: here the only row, its node in the last column.
    u = directions(x, marks, k)
    moved = (u * x).sum(axis=1)
    ell, q, eta = x.T @ moved, float(moved @ moved), float(moved @ (y - x @ b))
    return fit, Direction(ell, q, eta), u


def drawn_row(s: int, seed: list[int]) -> tuple[Floats, Floats]:
    """A row whose design changes, so that the direction turns."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((160, s)) @ (np.eye(s) + 0.4 * rng.standard_normal((s, s)))
    x[60:] *= rng.uniform(0.5, 2.0, s)
    return x, x @ rng.uniform(-1, 1, s) + rng.standard_normal(160)


@pytest.mark.parametrize("s", [1, 2, 3])
@pytest.mark.parametrize("stiffness", [30.0, 3000.0])
@pytest.mark.parametrize("d", [0.15, 0.5])
def test_evidence_along_a_direction_is_a_lower_bound(s: int, stiffness: float, d: float) -> None:
    """Against the exact ratio at many alternatives: never above, and close at the worst one."""
    x, y = drawn_row(s, [s, int(10 * d)])
    fit, sums, u = fit_along(x, y, [8, 16, 32, 64, 128], 0)
    b_hat = fit.coefficients
    spread = np.full(s, 0.05**2)
    mixing = Mixing(np.vstack([spread, np.zeros(s)]), 0.3, stiffness)
    centre = fit.residual / fit.n
    work = np.empty((6, s + 1, s))
    direction = fit.inverse[:, 0] / fit.inverse[0, 0]
    at_worst = []
    for v1, v2 in [(centre, centre), (0.95 * centre, centre), (centre, 1.1 * centre)]:
        bound = direction_evidence.piece_evidence(
            fit, sums, mixing, Departure(0, d), Span(v1, v2), math.inf, work
        )
        found = []
        for v in np.linspace(v1, v2, 4):
            for side, stretch in itertools.product((-1, 1), (1.0, 1.1, 2.0)):
                for tilt in (-0.5, 0.0, 0.5, 1.0, 1.5):
                    move = side * d * stretch * np.where(np.arange(s) == 0, 1.0, tilt * direction)
                    args = (x, y, u, b_hat + move, v, spread, 0.3, stiffness)
                    found.append(moving_ratio(*args))
        assert bound <= min(found) + 1e-9
        at_worst.append(min(found) - bound)
    if stiffness == 3000.0:
        assert at_worst[0] < 0.3


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("around", [(0.93, 1.07), (1.15, 1.25), (1.3, 1.4)])
def test_no_alternative_has_less_than_the_bound(seed: int, around: tuple[float, float]) -> None:
    """The other coefficients and the noise are searched for the worst alternative, also where it
    has more noise than the fit and coefficients anywhere.
    """
    s, d = 3, 0.2
    x, y = drawn_row(s, [seed, 99])
    fit, sums, u = fit_along(x, y, [8, 16, 32, 64, 128], 0)
    limits = around[0] * fit.residual / fit.n, around[1] * fit.residual / fit.n
    spread = np.array([0.05, 0.07, 0.06]) ** 2
    mixing = Mixing(np.vstack([spread, np.zeros(s)]), 0.2, 3000.0)
    bound = direction_evidence.direction_evidence(
        fit, sums, mixing, Departure(0, d), Span(*limits), NO_NOISE, ALL
    )
    assert bound > -math.inf

    def ratio(given: Floats, side: int) -> float:
        v = limits[0] + (limits[1] - limits[0]) / (1 + math.exp(-given[0]))
        move = np.array([side * d * (1 + given[1] ** 2), *given[2:]])
        return moving_ratio(x, y, u, fit.coefficients + move, v, spread, 0.2, 3000.0)

    least = math.inf
    for side in (-1, 1):
        along = side * d * fit.inverse[1:, 0] / fit.inverse[0, 0]
        for noise in (-1.0, 0.0, 1.0):
            start = np.array([noise, 0.1, *along])
            found = optimize.minimize(ratio, start, (side,), method="Nelder-Mead")
            least = min(least, float(found.fun))
    assert bound <= least + 1e-9
    assert bound >= least - (1.0 if around[0] < 1.0 else 4.0)  # and it is of use


def test_evidence_needs_a_distance() -> None:
    x, y = drawn_row(1, [0])
    fit, sums, _ = fit_along(x, y, [8], 0)
    mixing = Mixing(np.array([[0.01], [0.0]]), 0.1, 100.0)
    found = direction_evidence.direction_evidence(
        fit, sums, mixing, Departure(0, 0.0), Span(0.5, 2.0), Noise(-100.0, 1.0, 1.0), ALL
    )
    assert found == -math.inf


@pytest.mark.parametrize("limits", [(0.5, 2.0), (0.0, math.inf)])
def test_far_from_the_fitted_noise_the_marginal_likelihood_takes_over(
    limits: tuple[float, float],
) -> None:
    """Both terms with equal weights, against the larger of the exact two at many alternatives."""
    rng = np.random.default_rng(4)
    x = rng.standard_normal((120, 2))
    y = x @ np.array([0.5, -0.4]) + rng.standard_normal(120)
    fit, sums, u = fit_along(x, y, [16, 64], 0)
    spread = np.array([0.03**2, 0.02**2])
    marginal = log_marginal(x, y, (0.75, 25.0, 25.0))
    mixing = Mixing(np.vstack([spread, np.zeros(2)]), 0.2, 3000.0)
    noise = Noise(marginal, fit.residual, fit.n)
    bound = direction_evidence.direction_evidence(
        fit, sums, mixing, Departure(0, 0.3), Span(*limits), noise, ALL
    )
    direction = fit.inverse[:, 0] / fit.inverse[0, 0]
    found = []
    for v in np.geomspace(0.3, 4.0, 40):
        for side, tilt in itertools.product((-1, 1), (0.0, 0.7, 1.0, 1.5)):
            b = fit.coefficients + side * 0.3 * np.array([1.0, tilt * direction[1]])
            own = moving_ratio(x, y, u, b, v, spread, 0.2, 3000.0)
            found.append(max(own, marginal - log_likelihood(x, y, b, v)))
    assert -math.inf < bound <= min(found) + 1e-9


def test_the_kernel_finds_the_directions_of_the_past() -> None:
    """l, q and eta from the moments at the marks, against sums over the samples."""
    rng = np.random.default_rng(3)
    moments = cf.Moments(["a", "b", "c"])
    samples = rng.standard_normal((100, 3)) @ rng.standard_normal((3, 3))
    moments.add_many([cf.OBSERVE] * 100, samples)
    rows = moments.timed_rows(intercept=False)
    times = Times(rows.grams, rows.lows, rows.counts)
    regressors = np.array([0, 1])
    x, y = samples[:, :2], samples[:, 2]
    for k in (0, 1):
        fit, sums, _ = fit_along(x, y, [8, 16, 32, 64], k)
        inverses = past_inverses(times, 2, regressors)
        found = direction_sums(times, 2, regressors, inverses, fit.coefficients, k)
        assert found.products == pytest.approx(sums.products, rel=1e-9)
        assert found.square == pytest.approx(sums.square, rel=1e-9)
        assert found.residual_product == pytest.approx(sums.residual_product, abs=1e-8)


def policy(history: History, rng: np.random.Generator) -> int:
    """Any rule that looks at the past alone."""
    if not history:
        return -1
    return int(rng.integers(-1, 2)) if history[-1][1][0] > 0 else 0


def simulate(b: float, n: int, rng: np.random.Generator) -> History:
    """Two nodes, X1 -> X2 with weight b, unit noise; actions observe, do(X1, 1), do(X2, 1)."""
    history: History = []
    for _ in range(n):
        target = policy(history, rng)
        first = 1.0 if target == 0 else rng.standard_normal()
        second = 1.0 if target == 1 else b * first + rng.standard_normal()
        history.append((target, np.array([first, second])))
    return history


def test_every_numerator_averages_to_one() -> None:
    """Under the alternative itself and an adaptive policy: EDGE with directions of the past, NOISE
    and SWAP of one and of two rows as the training foretells them.
    """
    rng = np.random.default_rng(11)
    b, runs, n, mark = 0.4, 4000, 17, 12
    ratios: dict[str, list[float]] = {"edge": [], "noise": [], "swap one": [], "swap two": []}
    for _ in range(runs):
        history = simulate(b, n, rng)
        targets = np.array([target for target, _ in history])
        samples = np.array([values for _, values in history])
        own = targets != 1
        x, y = samples[own][:, :1], samples[own][:, 1]
        marks = [int(own[:8].sum()), int(own[:16].sum())]
        u = directions(x, marks, 0)
        value = moving_ratio(x, y, u, np.array([b]), 1.0, np.array([0.05**2]), 0.3, 10.0)
        ratios["edge"].append(value)
        early = np.arange(n) < mark
        grams: Grams = {}
        for j in (0, 1):
            for part, chosen in (("training", early), ("later", ~early)):
                rows = samples[(targets != j) & chosen]
                grams[j, part] = Row(rows.T @ rows, np.zeros((2, 2)), j), float(len(rows))

        def swap(j: int, parents: list[int], grams: Grams = grams) -> float:
            data = (*grams[j, "training"], *grams[j, "later"])
            return training.log_predictive(*data, np.array(parents, dtype=np.int64))

        own_rows = {
            0: samples[(targets != 0) & ~early],
            1: samples[(targets != 1) & ~early],
        }
        likelihood = {
            0: float(stats.norm.logpdf(own_rows[0][:, 0]).sum()),
            1: float(stats.norm.logpdf(own_rows[1][:, 1] - b * own_rows[1][:, 0]).sum()),
        }
        if min(len(own_rows[0]), grams[0, "training"][1], grams[1, "training"][1]) < 4:
            for name in ("noise", "swap one", "swap two"):
                ratios[name].append(0.0)  # as if nothing had been tested: the ratio stays one
            continue
        ratios["noise"].append(swap(1, [0]) - likelihood[1])
        ratios["swap one"].append(swap(1, []) - likelihood[1])
        both = swap(0, [1]) + swap(1, []) - likelihood[0] - likelihood[1]
        ratios["swap two"].append(both)
    for name, logs in ratios.items():
        values = np.exp(logs)
        # The mean of min(value, 100) is at most one, and close to it: heavy tails are cut.
        cut = np.minimum(values, 100.0)
        error = cut.std() / math.sqrt(runs)
        assert cut.mean() < 1 + 4 * error, name
        assert cut.mean() > 0.85, name
