"""The parts of the referee: quadratic programs, moments, local scores, objectives."""

from itertools import product
from math import inf

import numpy as np
import pytest

from literal import (
    OBSERVE,
    Quadratic,
    Rows,
    Separation,
    action_moments,
    cross_check,
    divergence_score,
    likelihood_score,
    local_fit,
    minimise,
    minimise_bvls,
    negative_log_likelihood,
    optimal_variance,
    weighted_divergence,
)
from literal.local_fit import Minimiser
from literal.problem import Array
from oracles.literal_problems import (
    BOUNDED,
    UNBOUNDED,
    draw,
    fields_of,
    random_actions,
    random_data_rows,
    random_reference,
    weighted_divergence_by_the_book,
)


def random_quadratic(rng: np.random.Generator, k: int, n: int, scales: Array) -> Quadratic:
    """Residual sum of squares of a regression on ``k`` columns; the target's scale is last."""
    columns = rng.normal(size=(n, k + 1))
    columns[:, k] += columns[:, :k] @ rng.normal(size=k)
    columns = columns * scales
    gram = columns.T @ columns
    return Quadratic(float(gram[k, k]), gram[:k, k], gram[:k, :k])


def random_box(rng: np.random.Generator, k: int) -> tuple[Array, Array]:
    """Intervals on one side of zero, some half-infinite, and at times the whole line."""
    signs = rng.choice([-1, 1], k)
    near, far = rng.uniform(0.0, 0.5, k), np.where(rng.random(k) < 0.3, inf, rng.uniform(1, 3, k))
    lower, upper = np.where(signs > 0, near, -far), np.where(signs > 0, far, -near)
    if rng.random() < 0.3:
        lower[-1], upper[-1] = -inf, inf
    return lower, upper


def stationarity(quadratic: Quadratic, b: Array, lower: Array, upper: Array) -> float:
    """Length of the projected gradient step, in units of unit columns and unit target."""
    scale = np.sqrt(np.where(np.diagonal(quadratic.G) > 0, np.diagonal(quadratic.G), 1.0))
    factor = scale / (np.sqrt(quadratic.g) or 1.0)
    gradient = (quadratic.G @ b - quadratic.h) / scale / (np.sqrt(quadratic.g) or 1.0)
    step = np.clip(b * factor - gradient, lower * factor, upper * factor) - b * factor
    return float(np.max(np.abs(step) / (1.0 + np.abs(b * factor)), initial=0.0))


@pytest.mark.parametrize("log_scale", [0.0, 3.0, 6.0])
def test_qp_solvers_agree_and_are_stationary(log_scale: float) -> None:
    rng = np.random.default_rng(1)
    for _ in range(150):
        k = int(rng.integers(1, 6))
        quadratic = random_quadratic(rng, k, 40, 10.0 ** rng.uniform(-log_scale, log_scale, k + 1))
        lower, upper = random_box(rng, k)
        b = minimise(quadratic, lower, upper)
        values = cross_check(quadratic, lower, upper)
        assert b is not None and values is not None
        assert (lower <= b).all() and (b <= upper).all()
        assert stationarity(quadratic, b, lower, upper) < 1e-8
        assert values[0] == pytest.approx(values[1], rel=1e-8, abs=1e-10 * quadratic.g)


def test_qp_with_too_few_samples_or_collinear_columns() -> None:
    rng = np.random.default_rng(2)
    for trial in range(150):
        k = int(rng.integers(2, 6))
        scales = 10.0 ** rng.uniform(-6, 6, k + 1)
        quadratic = random_quadratic(rng, k, int(rng.integers(1, 4)), scales)
        if trial % 2:
            duplicate = np.eye(k)
            duplicate[:, 1] = 3.0 * duplicate[:, 0]
            duplicate[1, 1] = 0.0
            quadratic = Quadratic(
                quadratic.g, duplicate.T @ quadratic.h, duplicate.T @ quadratic.G @ duplicate
            )
        lower, upper = random_box(rng, k)
        b = minimise(quadratic, lower, upper)
        values = cross_check(quadratic, lower, upper)
        assert b is not None and values is not None
        assert (lower <= b).all() and (b <= upper).all()
        assert stationarity(quadratic, b, lower, upper) < 1e-7
        size = quadratic.g + float(np.sum(np.diagonal(quadratic.G) * b**2))
        assert values[0] == pytest.approx(values[1], rel=1e-9, abs=1e-11 * size)


@pytest.mark.parametrize("solve", [minimise, minimise_bvls])
def test_qp_is_no_worse_than_a_dense_grid(solve: Minimiser) -> None:
    rng = np.random.default_rng(3)
    for _ in range(6):
        quadratic = random_quadratic(rng, 2, 15, np.ones(3))
        lower, upper = np.array([0.3, -2.0]), np.array([2.0, -0.3])
        b = solve(quadratic, lower, upper)
        assert b is not None
        axes = [np.linspace(low, high, 101) for low, high in zip(lower, upper, strict=True)]
        on_grid = min(quadratic(np.array(point)) for point in product(*axes))
        assert quadratic(b) <= on_grid * (1 + 1e-12)
        assert quadratic(b) == pytest.approx(on_grid, rel=1e-2)


def test_qp_of_an_empty_or_single_point_box() -> None:
    rng = np.random.default_rng(4)
    quadratic = random_quadratic(rng, 2, 15, np.ones(3))
    assert minimise(quadratic, np.array([0.3, 1.0]), np.array([2.0, 0.9])) is None
    point = np.array([0.4, -0.7])
    for solve in (minimise, minimise_bvls):
        b = solve(quadratic, point, np.array([2.0, -0.7]))
        assert b is not None and b[1] == -0.7
        line = [quadratic(np.array([x, -0.7])) for x in np.linspace(0.4, 2.0, 2001)]
        assert quadratic(b) <= min(line) * (1 + 1e-12)


def test_qp_without_data_takes_the_feasible_point_nearest_zero() -> None:
    nothing = Quadratic(0.0, np.zeros(3), np.zeros((3, 3)))
    b = minimise(nothing, np.array([0.3, -inf, -inf]), np.array([inf, -0.2, inf]))
    assert b is not None
    np.testing.assert_array_equal(b, [0.3, -0.2, 0.0])


def test_rows_from_data_are_masked_sums() -> None:
    rng = np.random.default_rng(5)
    targets, X = rng.integers(-1, 3, 20), rng.normal(size=(20, 3))
    for intercept in (False, True):
        rows = Rows.from_data(targets, X, intercept)
        assert rows.intercept is intercept and rows.nodes == 3
        for j in range(3):
            total, count = np.zeros_like(rows.gram[j]), 0
            for target, x in zip(targets, X, strict=True):
                if target != j:
                    full = np.append(x, 1.0) if intercept else x
                    total, count = total + np.outer(full, full), count + 1
            np.testing.assert_allclose(rows.gram[j], total, atol=1e-12)
            assert rows.counts[j] == count


@pytest.mark.parametrize("target", [OBSERVE, 0, 2])
def test_action_moments_solve_the_mutilated_model(target: int) -> None:
    theta = random_reference(np.random.default_rng(6), 4, BOUNDED, shift=1.0)
    weights, noise, drive = (field.copy() for field in fields_of(theta))
    if target != OBSERVE:
        weights[target], noise[target], drive[target] = 0.0, 0.0, 1.7
    response = np.linalg.inv(np.eye(4) - weights)
    mean, covariance = action_moments(*fields_of(theta), target, 1.7)
    np.testing.assert_allclose(mean, response @ drive, atol=1e-12)
    np.testing.assert_allclose(covariance, response @ np.diag(noise) @ response.T, atol=1e-12)


def test_expected_rows_are_the_limit_of_data() -> None:
    rng = np.random.default_rng(7)
    theta = random_reference(rng, 3, BOUNDED, shift=1.0)
    actions = [(OBSERVE, 0.0), (0, 1.5), (2, -1.0)]
    expected = Rows.expected(*fields_of(theta), actions, [1.0, 1.0, 1.0], True)
    n = 40_000
    data = Rows.from_data(*draw(rng, theta, actions, n), True)
    np.testing.assert_allclose(data.counts / n, expected.counts)
    np.testing.assert_allclose(data.gram / n, expected.gram, atol=0.3)


def test_variance_conventions() -> None:
    rows = Rows.from_data(np.array([0, 0, -1]), np.array([[1.0, 2], [3, 2], [4, 2]]), True)
    assert optimal_variance(rows, BOUNDED, 1, 0.1) == BOUNDED.variance_low
    assert optimal_variance(rows, BOUNDED, 1, 99.0) == BOUNDED.variance_high
    assert optimal_variance(rows, UNBOUNDED, 1, 3.0) == 1.0
    # Node 1 is constant, so it has no spread about its mean.
    assert optimal_variance(rows, UNBOUNDED, 1, 0.0) == 1e-300
    raw = Rows.from_data(np.array([0, 0, -1]), np.array([[1.0, 2], [3, 2], [4, 2]]), False)
    assert optimal_variance(raw, UNBOUNDED, 0, 0.0) == pytest.approx(16e-12)
    empty = Rows(np.zeros((2, 2, 2)), np.zeros(2))
    assert optimal_variance(empty, BOUNDED, 0, 0.0) == BOUNDED.variance_low
    assert optimal_variance(empty, UNBOUNDED, 0, 0.0) == 1.0
    assert likelihood_score(empty, BOUNDED)(0, 0.0)[1] == 0.0
    assert divergence_score(empty, BOUNDED, np.ones(2))(0, 0.0)[1] == 0.0


def test_local_fit_is_no_worse_than_a_grid_of_coefficients() -> None:
    rng = np.random.default_rng(8)
    for intercept in (False, True):
        rows = random_data_rows(rng, 3, 60, BOUNDED, intercept)
        score = likelihood_score(rows, BOUNDED)
        fit = local_fit(rows, BOUNDED, score, 0, frozenset({1, 2}))
        assert fit is not None
        side = np.linspace(BOUNDED.min_effect, BOUNDED.max_effect, 60)
        residual = rows.residual(0, [1, 2])
        best = inf
        for b in product(np.concatenate([-side, side]), repeat=2):
            full = np.array([*b, 0.0]) if intercept else np.array(b)
            if intercept:
                full[2] = (residual.h[2] - residual.G[2, :2] @ full[:2]) / residual.G[2, 2]
            best = min(best, score(0, residual(full))[1])
        assert fit.score <= best + 1e-9
        assert fit.score == pytest.approx(best, rel=1e-2)


def test_local_fit_obeys_its_constraint_or_is_infeasible() -> None:
    rows = random_data_rows(np.random.default_rng(9), 3, 60, BOUNDED, True)
    score = likelihood_score(rows, BOUNDED)
    S = frozenset({1, 2})
    up = local_fit(rows, BOUNDED, score, 0, S, (Separation(2, 1, 0.5, 0.4),))
    assert up is not None and up.row[2] >= 0.9
    down = local_fit(rows, BOUNDED, score, 0, S, (Separation(2, -1, 0.5, 0.4),))
    assert down is not None and down.row[2] <= -BOUNDED.min_effect
    assert local_fit(rows, BOUNDED, score, 0, S, (Separation(2, 1, 1.9, 0.2),)) is None


@pytest.mark.parametrize("intercept", [False, True])
def test_local_scores_add_up_to_the_weighted_divergence(intercept: bool) -> None:
    rng = np.random.default_rng(10)
    for _ in range(40):
        p = int(rng.integers(2, 6))
        theta = random_reference(rng, p, BOUNDED, shift=float(intercept))
        other = random_reference(rng, p, BOUNDED, shift=float(intercept))
        actions, action_weights = random_actions(rng, p, 2 * p + 1)
        rows = Rows.expected(*fields_of(theta), actions, action_weights, intercept)
        local = weighted_divergence(rows, theta.variances, *fields_of(other))
        book = weighted_divergence_by_the_book(theta, other, actions, action_weights)
        assert local == pytest.approx(book, rel=1e-9, abs=1e-10)
        own = weighted_divergence(rows, theta.variances, *fields_of(theta))
        assert own == pytest.approx(0.0, abs=1e-10 * (1 + action_weights.sum()))


def test_likelihood_is_that_of_the_interventional_gaussians() -> None:
    rng = np.random.default_rng(11)
    theta = random_reference(rng, 4, BOUNDED, shift=1.0)
    actions, _ = random_actions(rng, 4, 30)
    targets, X = draw(rng, theta, actions)
    total = 0.0
    for (target, value), x in zip(actions, X, strict=True):
        rest = [k for k in range(4) if k != target]
        mean, V = action_moments(*fields_of(theta), target, value)
        gap, block = x[rest] - mean[rest], V[np.ix_(rest, rest)]
        total += 0.5 * float(np.linalg.slogdet(block)[1] + gap @ np.linalg.solve(block, gap))
    rows = Rows.from_data(targets, X, True)
    assert negative_log_likelihood(rows, *fields_of(theta)) == pytest.approx(total, rel=1e-9)
