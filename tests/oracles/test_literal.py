"""Tests of the referee itself."""

from itertools import product
from math import factorial, inf, log

import numpy as np
import pytest
from numpy.typing import NDArray

from literal import (
    OBSERVE,
    Bounds,
    LiteralFit,
    Quadratic,
    Reference,
    Rows,
    Separation,
    action_moments,
    brute_force_alternative,
    brute_force_mle,
    cross_check,
    different_graph_alternative,
    divergence_score,
    enumerate_dags,
    finite_alternative_oracle,
    finite_joint_mle,
    likelihood_score,
    local_fit,
    minimise,
    minimise_bvls,
    negative_log_likelihood,
    optimal_variance,
    same_graph_alternative,
    weighted_divergence,
)
from literal.local_fit import Minimiser
from literal.problem import Array

BOUNDED = Bounds(min_effect=0.3, max_effect=2.0, variance_low=0.25, variance_high=4.0)
UNBOUNDED = Bounds(min_effect=0.3, max_effect=inf, variance_low=0.0, variance_high=inf)
TIGHT = Bounds(min_effect=0.6, max_effect=0.9, variance_low=0.8, variance_high=1.2)

each_class = pytest.mark.parametrize(
    "bounds", [BOUNDED, UNBOUNDED, TIGHT], ids=["bounded", "unbounded", "tight"]
)


# ---------------------------------------------------------------------------- random instances


def random_reference(rng: np.random.Generator, p: int, bounds: Bounds, shift: float) -> Reference:
    """A parameter of the class, with intercepts of the given size."""
    order = rng.permutation(p)
    weights = np.zeros((p, p))
    high = min(bounds.max_effect, 2.0)
    for m, j in enumerate(order):
        for k in order[:m]:
            if rng.random() < 0.6:
                weights[j, k] = rng.choice([-1.0, 1.0]) * rng.uniform(bounds.min_effect, high)
    low = max(bounds.variance_low, 0.3)
    variances = rng.uniform(low, min(bounds.variance_high, 2.0), p)
    return Reference(weights, variances, shift * rng.normal(size=p))


def random_actions(
    rng: np.random.Generator, p: int, size: int
) -> tuple[list[tuple[int, float]], Array]:
    """Actions with random targets and values, some of weight zero."""
    targets, values = rng.integers(-1, p, size), rng.normal(0, 2, size)
    weights = rng.uniform(0.0, 3.0, size) * (rng.random(size) < 0.8)
    return [(int(t), float(v)) for t, v in zip(targets, values, strict=True)], weights


def draw(
    rng: np.random.Generator,
    theta: Reference,
    actions: list[tuple[int, float]],
    repeats: int = 1,
) -> tuple[NDArray[np.int_], Array]:
    """Full sample vectors, the same number for each action."""
    samples = [
        rng.multivariate_normal(*action_moments(*_fields(theta), target, value), size=repeats)
        for target, value in actions
    ]
    return np.repeat([target for target, _ in actions], repeats), np.concatenate(samples)


def random_data_rows(
    rng: np.random.Generator, p: int, n: int, bounds: Bounds, intercept: bool
) -> Rows:
    theta = random_reference(rng, p, bounds, shift=float(intercept))
    actions, _ = random_actions(rng, p, n)
    return Rows.from_data(*draw(rng, theta, actions), intercept)


def random_alternative(
    rng: np.random.Generator, p: int, bounds: Bounds, intercept: bool
) -> tuple[Rows, Reference]:
    theta = random_reference(rng, p, bounds, shift=float(intercept))
    rows = Rows.expected(*_fields(theta), *random_actions(rng, p, 2 * p + 1), intercept)
    return rows, theta


def _fields(theta: Reference | LiteralFit) -> tuple[Array, Array, Array]:
    return theta.weights, theta.variances, theta.intercepts


def in_class(fit: LiteralFit, bounds: Bounds) -> bool:
    """Whether a fit satisfies Assumption ``parameter_class``, its graph being its support."""
    support = Reference(fit.weights, fit.variances, fit.intercepts).parents
    sizes = np.abs(fit.weights[fit.weights != 0.0])
    return bool(
        fit.parents == support
        and fit.parents in enumerate_dags(len(fit.parents))
        and (sizes >= bounds.min_effect).all()
        and (sizes <= bounds.max_effect).all()
        and (fit.variances >= bounds.variance_low).all()
        and (fit.variances <= bounds.variance_high).all()
    )


# ----------------------------------------------------------------------- the quadratic program


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


# ------------------------------------------------------------------------------- the moments


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
    weights, noise, drive = (field.copy() for field in _fields(theta))
    if target != OBSERVE:
        weights[target], noise[target], drive[target] = 0.0, 0.0, 1.7
    response = np.linalg.inv(np.eye(4) - weights)
    mean, covariance = action_moments(*_fields(theta), target, 1.7)
    np.testing.assert_allclose(mean, response @ drive, atol=1e-12)
    np.testing.assert_allclose(covariance, response @ np.diag(noise) @ response.T, atol=1e-12)


def test_expected_rows_are_the_limit_of_data() -> None:
    rng = np.random.default_rng(7)
    theta = random_reference(rng, 3, BOUNDED, shift=1.0)
    actions = [(OBSERVE, 0.0), (0, 1.5), (2, -1.0)]
    expected = Rows.expected(*_fields(theta), actions, [1.0, 1.0, 1.0], True)
    n = 40_000
    data = Rows.from_data(*draw(rng, theta, actions, n), True)
    np.testing.assert_allclose(data.counts / n, expected.counts)
    np.testing.assert_allclose(data.gram / n, expected.gram, atol=0.3)


# --------------------------------------------------------------------------- the local scores


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


# ------------------------------------------------------------------------------- the objectives


def gaussian_divergence(mean: Array, V: Array, other_mean: Array, other_V: Array) -> float:
    """The Kullback-Leibler divergence between two multivariate Gaussians, by the book."""
    inverse = np.linalg.inv(other_V)
    gap = other_mean - mean
    determinants = np.linalg.slogdet(other_V)[1] - np.linalg.slogdet(V)[1]
    return float(np.trace(inverse @ V) + gap @ inverse @ gap - len(mean) + determinants) / 2.0


def weighted_divergence_by_the_book(
    theta: Reference,
    other: Reference | LiteralFit,
    actions: list[tuple[int, float]],
    action_weights: Array,
) -> float:
    """The left-hand side of Eq. ``alternative_objective_decomposition``."""
    total = 0.0
    for (target, value), weight in zip(actions, action_weights, strict=True):
        rest = [k for k in range(len(theta.variances)) if k != target]
        block = np.ix_(rest, rest)
        mean, V = action_moments(*_fields(theta), target, value)
        other_mean, other_V = action_moments(*_fields(other), target, value)
        total += weight * gaussian_divergence(
            mean[rest], V[block], other_mean[rest], other_V[block]
        )
    return total


@pytest.mark.parametrize("intercept", [False, True])
def test_local_scores_add_up_to_the_weighted_divergence(intercept: bool) -> None:
    rng = np.random.default_rng(10)
    for _ in range(40):
        p = int(rng.integers(2, 6))
        theta = random_reference(rng, p, BOUNDED, shift=float(intercept))
        other = random_reference(rng, p, BOUNDED, shift=float(intercept))
        actions, action_weights = random_actions(rng, p, 2 * p + 1)
        rows = Rows.expected(*_fields(theta), actions, action_weights, intercept)
        local = weighted_divergence(rows, theta.variances, *_fields(other))
        book = weighted_divergence_by_the_book(theta, other, actions, action_weights)
        assert local == pytest.approx(book, rel=1e-9, abs=1e-10)
        own = weighted_divergence(rows, theta.variances, *_fields(theta))
        assert own == pytest.approx(0.0, abs=1e-10 * (1 + action_weights.sum()))


def test_likelihood_is_that_of_the_interventional_gaussians() -> None:
    rng = np.random.default_rng(11)
    theta = random_reference(rng, 4, BOUNDED, shift=1.0)
    actions, _ = random_actions(rng, 4, 30)
    targets, X = draw(rng, theta, actions)
    total = 0.0
    for (target, value), x in zip(actions, X, strict=True):
        rest = [k for k in range(4) if k != target]
        mean, V = action_moments(*_fields(theta), target, value)
        gap, block = x[rest] - mean[rest], V[np.ix_(rest, rest)]
        total += 0.5 * float(np.linalg.slogdet(block)[1] + gap @ np.linalg.solve(block, gap))
    rows = Rows.from_data(targets, X, True)
    assert negative_log_likelihood(rows, *_fields(theta)) == pytest.approx(total, rel=1e-9)


# ----------------------------------------------------------------------------- the joint MLE


def test_number_of_dags() -> None:
    assert [len(enumerate_dags(p)) for p in (1, 2, 3, 4)] == [1, 3, 25, 543]
    assert len(set(enumerate_dags(4))) == 543


@pytest.mark.parametrize("p", [2, 3, 4])
@each_class
@pytest.mark.parametrize("intercept", [False, True])
def test_joint_mle_is_the_best_of_all_dags(p: int, bounds: Bounds, intercept: bool) -> None:
    rng = np.random.default_rng(12)
    # Without a lower bound on the variance, samples that can be interpolated are another matter.
    small = () if bounds.variance_low == 0.0 else (1, p)
    for n in (*small, 4 * p, 60, 60, 60):
        rows = random_data_rows(rng, p, n, bounds, intercept)
        fit = finite_joint_mle(rows, bounds, memoise=True)
        best = brute_force_mle(rows, bounds)
        assert fit.branch is None
        assert fit.value == pytest.approx(best.value, rel=1e-9, abs=1e-8)
        assert in_class(fit, bounds)
        at_fit = negative_log_likelihood(rows, *_fields(fit))
        assert at_fit == pytest.approx(fit.value, rel=1e-9, abs=1e-8)
        if n == 60:
            assert fit.parents == best.parents
            np.testing.assert_allclose(fit.weights, best.weights, atol=1e-6)
            np.testing.assert_allclose(fit.variances, best.variances, rtol=1e-6)
            np.testing.assert_allclose(fit.intercepts, best.intercepts, atol=1e-6)


def test_joint_mle_without_any_sample() -> None:
    for bounds, variance in ((BOUNDED, 0.25), (UNBOUNDED, 1.0)):
        fit = finite_joint_mle(Rows(np.zeros((3, 4, 4)), np.zeros(3)), bounds)
        assert fit.value == 0.0
        assert fit.parents == (frozenset(),) * 3
        np.testing.assert_array_equal(fit.variances, variance)


def test_joint_mle_of_samples_it_can_interpolate_stays_finite() -> None:
    """The value is rounding divided by the variance floor, so that few of its digits are real."""
    rng = np.random.default_rng(22)
    for n in (1, 2, 3):
        rows = random_data_rows(rng, 3, n, UNBOUNDED, True)
        fit, best = finite_joint_mle(rows, UNBOUNDED), brute_force_mle(rows, UNBOUNDED)
        assert np.isfinite(fit.value)
        assert fit.value == pytest.approx(best.value, rel=0.05)
        assert in_class(fit, UNBOUNDED)


def test_joint_mle_recovers_the_graph_from_many_interventions() -> None:
    rng = np.random.default_rng(13)
    theta = random_reference(rng, 4, BOUNDED, shift=1.0)
    actions = [(OBSERVE, 0.0), *product(range(4), (-2.0, 2.0))]
    rows = Rows.from_data(*draw(rng, theta, actions, 300), True)
    fit = finite_joint_mle(rows, BOUNDED, memoise=True)
    assert fit.parents == theta.parents
    np.testing.assert_allclose(fit.weights, theta.weights, atol=0.15)
    np.testing.assert_allclose(fit.variances, theta.variances, rtol=0.2)
    np.testing.assert_allclose(fit.intercepts, theta.intercepts, atol=0.2)


def test_joint_mle_follows_a_change_of_units() -> None:
    rng = np.random.default_rng(14)
    rows = random_data_rows(rng, 3, 60, UNBOUNDED, True)
    free = Bounds(0.0, inf, 0.0, inf)
    for unit in (1e-6, 1e6):
        units = np.array([unit, unit, unit, 1.0])
        scaled = Rows(rows.gram * np.outer(units, units), rows.counts)
        fit, other = finite_joint_mle(rows, free), finite_joint_mle(scaled, free)
        assert other.value == pytest.approx(fit.value + rows.counts.sum() * log(unit), rel=1e-9)


# --------------------------------------------------------------------------- the alternative


@pytest.mark.parametrize("p", [2, 3, 4])
@each_class
@pytest.mark.parametrize("intercept", [False, True])
def test_alternative_is_the_best_of_all_dags(p: int, bounds: Bounds, intercept: bool) -> None:
    rng = np.random.default_rng(15)
    for radius in (0.02, 0.15, 0.15, 0.6, 2.5, 5.0):
        rows, theta = random_alternative(rng, p, bounds, intercept)
        fit = finite_alternative_oracle(rows, bounds, theta, radius, memoise=True)
        best = brute_force_alternative(rows, bounds, theta, radius)
        assert fit is not None and best is not None
        assert fit.value == pytest.approx(best.value, rel=1e-7, abs=1e-9)
        assert in_class(fit, bounds)
        moved = float(np.abs(fit.weights - theta.weights).max())
        assert fit.parents != theta.parents or moved >= radius * (1 - 1e-12)
        at_fit = weighted_divergence(rows, theta.variances, *_fields(fit))
        assert at_fit == pytest.approx(fit.value, rel=1e-7, abs=1e-9)


def test_alternative_value_is_the_weighted_divergence_of_the_returned_parameter() -> None:
    rng = np.random.default_rng(16)
    for _ in range(10):
        theta = random_reference(rng, 3, BOUNDED, shift=1.0)
        actions, action_weights = random_actions(rng, 3, 7)
        rows = Rows.expected(*_fields(theta), actions, action_weights, True)
        fit = finite_alternative_oracle(rows, BOUNDED, theta, 0.15, memoise=True)
        assert fit is not None
        book = weighted_divergence_by_the_book(theta, fit, actions, action_weights)
        assert fit.value == pytest.approx(book, rel=1e-8, abs=1e-9)


def test_both_branches_are_reached_and_the_better_is_returned() -> None:
    rng = np.random.default_rng(17)
    reached = set()
    for radius in (0.05, 0.05, 0.1, 1.0, 1.0, 1.0):
        rows, theta = random_alternative(rng, 3, BOUNDED, False)
        same = same_graph_alternative(rows, BOUNDED, theta, radius, memoise=True)
        different = different_graph_alternative(rows, BOUNDED, theta, memoise=True)
        fit = finite_alternative_oracle(rows, BOUNDED, theta, radius, memoise=True)
        assert fit is not None and different is not None
        assert fit.value == min(different.value, inf if same is None else same.value)
        assert different.branch == "different_graph" and different.parents != theta.parents
        if same is not None:
            assert same.branch == "same_graph" and same.parents == theta.parents
            assert (np.any(same.weights != theta.weights, axis=1)).sum() == 1
        reached.add(fit.branch)
    assert reached == {"same_graph", "different_graph"}


def test_no_alternative_at_all() -> None:
    single = Reference(np.zeros((1, 1)), np.ones(1), np.zeros(1))
    rows = Rows.expected(*_fields(single), [(OBSERVE, 0.0)], [1.0], True)
    assert finite_alternative_oracle(rows, BOUNDED, single, 0.1) is None
    assert brute_force_alternative(rows, BOUNDED, single, 0.1) is None


def test_same_graph_branch_is_empty_when_no_coefficient_can_move_that_far() -> None:
    rows, theta = random_alternative(np.random.default_rng(18), 3, BOUNDED, False)
    assert same_graph_alternative(rows, BOUNDED, theta, 5.0) is None


def test_actions_without_weight_leave_nothing_to_distinguish() -> None:
    theta = random_reference(np.random.default_rng(19), 3, BOUNDED, shift=1.0)
    rows = Rows.expected(*_fields(theta), [(OBSERVE, 0.0), (1, 2.0)], [0.0, 0.0], True)
    fit = finite_alternative_oracle(rows, BOUNDED, theta, 0.1)
    assert fit is not None
    assert fit.value == 0.0
    assert in_class(fit, BOUNDED)


# ----------------------------------------------------------------------------- memoisation


@pytest.mark.parametrize("intercept", [False, True])
def test_memoising_changes_nothing(intercept: bool) -> None:
    rng = np.random.default_rng(20)
    for p in (2, 3, 4):
        data = random_data_rows(rng, p, 40, BOUNDED, intercept)
        rows, theta = random_alternative(rng, p, BOUNDED, intercept)
        mle = [finite_joint_mle(data, BOUNDED, memoise=m) for m in (False, True)]
        alternative = [
            finite_alternative_oracle(rows, BOUNDED, theta, 0.15, memoise=m) for m in (False, True)
        ]
        for plain, remembered in (mle, alternative):
            assert plain is not None and remembered is not None
            assert (plain.value, plain.branch) == (remembered.value, remembered.branch)
            assert plain.parents == remembered.parents
            for a, b in zip(_fields(plain), _fields(remembered), strict=True):
                np.testing.assert_array_equal(a, b)


def test_without_memoising_every_permutation_solves_its_own_programs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import literal.quadratic as module

    solved = 0
    genuine = module._solve_scaled

    def counted(*arguments: object) -> Array:
        nonlocal solved
        solved += 1
        return genuine(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_solve_scaled", counted)
    p = 4
    rows = random_data_rows(np.random.default_rng(21), p, 40, BOUNDED, False)
    finite_joint_mle(rows, BOUNDED)
    assert solved == factorial(p) * ((3**p - 1) // 2 - p)
    solved = 0
    finite_joint_mle(rows, BOUNDED, memoise=True)
    assert solved == p * (3 ** (p - 1) - 1)
