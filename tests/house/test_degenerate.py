"""The oracles where data are missing, useless, tied, huge or tiny."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.kernels.records import Row
from causalfocus.kernels.search import row_fit, tableau
from instances import bounds_of, close, data_of, draw_member, parents_of
from literal import finite_joint_mle, negative_log_likelihood
from worlds import action_set, draw_samples

PAPER = cf.PAPER_CLASS
WITH_INTERCEPT = cf.ModelClass(0.15, 1.5, (0.8, 1.2))


@pytest.mark.parametrize("space", [PAPER, WITH_INTERCEPT, cf.ModelClass(0.1)])
def test_no_samples_give_the_empty_graph(space: cf.ModelClass) -> None:
    estimate = cf.joint_mle(cf.Moments(["a", "b", "c"]), space)
    assert estimate.n_edges == 0
    lowest = space.noise_variance[0] if space.noise_variance else 1.0
    assert estimate.noise_variances.tolist() == [lowest] * 3
    assert estimate.intercepts.tolist() == [0.0] * 3


@pytest.mark.parametrize("space", [PAPER, WITH_INTERCEPT])
def test_one_node(space: cf.ModelClass) -> None:
    moments = cf.Moments(["only"])
    moments.add_many([cf.OBSERVE] * 4, [[1.0], [-1.0], [1.0], [-1.0]])
    estimate = cf.joint_mle(moments, space)
    assert estimate.noise_variances.tolist() == [1.0]
    found = cf.best_alternative(estimate, {cf.OBSERVE: 1.0}, space, epsilon=0.05)
    assert found.model is None and found.value == math.inf and found.branch is None


def test_a_node_that_was_always_set_has_no_row_of_its_own() -> None:
    """n_j = 0: its likelihood is constant, so it gets no parents and the smallest variance."""
    model = cf.LinearSEM([[0.0, 0.0], [0.8, 0.0]], 1.0)
    rng = np.random.default_rng(0)
    moments = cf.Moments(model.names)
    for value in (-2.0, 2.0):
        action = cf.do("X1", value)
        moments.add_many([action] * 50, model.sample(action, 50, rng))
    estimate = cf.joint_mle(moments, PAPER)
    assert estimate.parents("X1") == () and estimate.noise_variances[0] == 0.8
    assert estimate.parents("X2") == ("X1",)


def test_rows_without_weight_cost_nothing() -> None:
    """W_j = 0 for X2: its equation may be anything, so an alternative is free."""
    model = cf.LinearSEM([[0.0, 0.0], [0.8, 0.0]], 1.0)
    found = cf.best_alternative(model, {cf.do("X2", 2.0): 3.0}, PAPER, epsilon=0.07)
    assert found.value == 0.0 and found.branch == "same graph"
    assert found.model is not None and PAPER.contains(found.model)
    assert abs(found.model.weights[1, 0] - 0.8) >= 0.07
    assert cf.best_alternative(model, {}, PAPER, epsilon=0.07).value == 0.0


def test_two_nodes_by_hand() -> None:
    """Under do(X1 = 2) alone, moving the weight by epsilon costs log(1 + 4 eps^2) / 2 per round."""
    model = cf.LinearSEM([[0.0, 0.0], [0.5, 0.0]], 1.0)
    space = cf.ModelClass(0.2, None, (0.5, 2.0), intercept=False)
    found = cf.best_alternative(model, {cf.do("X1", 2.0): 10.0}, space, epsilon=0.1)
    assert found.value == pytest.approx(10 * 0.5 * math.log1p(4 * 0.1**2), rel=1e-12)
    assert found.model is not None
    assert found.model.noise_variances[1] == pytest.approx(1 + 4 * 0.1**2)


def test_collinear_columns_keep_the_likelihood_of_the_referee() -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((40, 1))
    samples = np.hstack([x, 0.5 * x, rng.standard_normal((40, 1)), x + 0.3])
    for space in (PAPER, WITH_INTERCEPT, cf.ModelClass(0.15, None, (0.8, 1.2))):
        data = data_of(("a", "b", "c", "d"), [cf.OBSERVE] * 40, samples, intercept=space.intercept)
        estimate = cf.joint_mle(data.moments, space)
        value = negative_log_likelihood(
            data.rows, estimate.weights, estimate.noise_variances, estimate.intercepts
        )
        assert close(value, finite_joint_mle(data.rows, bounds_of(space), memoise=True).value)


def test_a_constant_column_explains_nothing_once_there_is_an_intercept() -> None:
    rng = np.random.default_rng(2)
    samples = np.hstack([np.full((30, 1), 1e6), rng.standard_normal((30, 1))])
    moments = cf.Moments(["constant", "y"])
    moments.add_many([cf.OBSERVE] * 30, samples)
    estimate = cf.joint_mle(moments, WITH_INTERCEPT)
    assert estimate.n_edges == 0
    assert estimate.intercepts[0] == pytest.approx(1e6)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_fewer_samples_than_nodes(n: int) -> None:
    rng = np.random.default_rng(n)
    model = draw_member(5, PAPER, rng, density=0.5)
    taken, samples = draw_samples(model, n, rng)
    data = data_of(model.names, taken, samples, intercept=False)
    estimate = cf.joint_mle(data.moments, PAPER)
    value = negative_log_likelihood(
        data.rows, estimate.weights, estimate.noise_variances, estimate.intercepts
    )
    assert close(value, finite_joint_mle(data.rows, bounds_of(PAPER), memoise=True).value)


@pytest.mark.parametrize("space", [cf.ModelClass(0.1), cf.ModelClass(0.1, intercept=False)])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_without_a_noise_range_a_perfect_fit_stays_finite(n: int, space: cf.ModelClass) -> None:
    model = cf.random_sem(4, density=0.6, seed=n)
    moments = cf.Moments(model.names)
    moments.add_many([cf.OBSERVE] * n, model.sample(n=n, rng=n))
    estimate = cf.joint_mle(moments, space)
    assert np.all(np.isfinite(estimate.weights)) and np.all(estimate.noise_variances > 0)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("intercept", [False, True])
def test_scaling_all_variables_scales_the_noise_and_nothing_else(
    scale: float, intercept: bool
) -> None:
    rng = np.random.default_rng(7)
    space = cf.ModelClass(0.15, 1.5, (0.8, 1.2), intercept=intercept)
    scaled_space = cf.ModelClass(0.15, 1.5, (0.8 * scale**2, 1.2 * scale**2), intercept=intercept)
    model = draw_member(5, space, rng, density=0.5)
    taken, samples = draw_samples(model, 200, rng)
    plain = data_of(model.names, taken, samples, intercept=intercept)
    scaled = data_of(model.names, taken, samples, intercept=intercept, scale=scale)
    estimate = cf.joint_mle(plain.moments, space)
    other = cf.joint_mle(scaled.moments, scaled_space)
    assert parents_of(estimate) == parents_of(other)
    assert np.allclose(estimate.weights, other.weights, rtol=1e-9)
    assert np.allclose(estimate.noise_variances * scale**2, other.noise_variances, rtol=1e-9)


def test_variables_on_scales_from_1e_minus_6_to_1e6_at_once() -> None:
    """Units differ by twelve orders; only the class says which sizes count, and it allows all."""
    unit = np.array([1e-6, 1.0, 1e6, 1e-3])
    model = cf.random_sem(4, density=0.8, seed=5)
    space = cf.ModelClass(1e-14, intercept=False)
    moments, scaled = cf.Moments(model.names), cf.Moments(model.names)
    rng = np.random.default_rng(0)
    for action in action_set(model.names):
        samples = model.sample(action, 60, rng)
        moments.add_many([action] * 60, samples)
        at = -1 if action.target is None else model.names.index(action.target)
        moved = cf.OBSERVE if at < 0 else cf.do(model.names[at], samples[0, at] * unit[at])
        scaled.add_many([moved] * 60, samples * unit)
    estimate, other = cf.joint_mle(moments, space), cf.joint_mle(scaled, space)
    rescaled = other.weights * unit[None, :] / unit[:, None]
    assert np.allclose(estimate.weights, rescaled, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("reach", [1e3, 1e4, 1e5])
def test_strong_interventions_drown_no_edge(reach: float) -> None:
    """Ranges far beyond the noise: conditioning up to 1e10, and the graph is still exact."""
    model = cf.random_sem(5, density=0.5, seed=11)
    moments = cf.Moments(model.names)
    rng = np.random.default_rng(0)
    for action in action_set(model.names, reach):
        moments.add_many([action] * 40, model.sample(action, 40, rng))
    estimate = cf.joint_mle(moments, PAPER)
    assert estimate.shd(model) == 0
    assert np.allclose(estimate.weights, model.weights, atol=0.1)


def test_ties_are_broken_by_rule() -> None:
    """X1 and X2 are copies: one of them explains X3 as well as the other; the first is taken."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal(100)
    samples = np.column_stack([x, x, 0.9 * x + rng.standard_normal(100)])
    moments = cf.Moments(["X1", "X2", "X3"])
    moments.add_many([cf.do("X1", float(v)) for v in x], samples)
    estimate = cf.joint_mle(moments, cf.ModelClass(0.15, 0.95, (0.8, 1.2), intercept=False))
    again = cf.joint_mle(moments, cf.ModelClass(0.15, 0.95, (0.8, 1.2), intercept=False))
    assert estimate == again
    assert len(estimate.parents("X3")) == 1


def test_the_two_signs_of_an_intervention_tie_without_intercept() -> None:
    model = cf.random_sem(4, density=0.6, seed=8)
    plus = {cf.OBSERVE: 1.0} | {cf.do(name, 2.0): 1.0 for name in model.names}
    minus = {cf.OBSERVE: 1.0} | {cf.do(name, -2.0): 1.0 for name in model.names}
    a = cf.best_alternative(model, plus, PAPER, epsilon=0.07)
    b = cf.best_alternative(model, minus, PAPER, epsilon=0.07)
    assert a.value == b.value and a.model == b.model


def test_too_many_nodes_are_refused_before_memory_is_taken() -> None:
    with pytest.raises(cf.InvalidInputError, match="40 nodes are too many"):
        cf.joint_mle(cf.Moments([f"X{i}" for i in range(40)]), PAPER)


def test_an_edge_from_a_cause_that_never_varies_is_free() -> None:
    """In all weighted rows of X3 the node X2 is -2: with an intercept the edge X2 -> X3 is
    invisible, whatever the order in which the candidates are taken.
    """
    model = cf.LinearSEM(
        [[0.0, 0.0, 0.0], [0.67, 0.0, 0.0], [1.48, 0.0, 0.0]], 1.0, [0.5, 0.0, -0.5]
    )
    weights = {cf.do("X2", -2.0): 2.1, cf.do("X3", -2.0): 0.1, cf.do("X3", 2.0): 1.7}
    for names in (["X1", "X2", "X3"], ["X2", "X1", "X3"], ["X3", "X2", "X1"]):
        found = cf.best_alternative(model.relabel(names), weights, WITH_INTERCEPT, epsilon=0.07)
        assert found.branch == "different graph"
        assert found.value == pytest.approx(0.0, abs=1e-12)


def test_an_overflowing_alternative_is_an_error_not_a_certainty() -> None:
    model = cf.LinearSEM([[0.0, 0.0], [0.5, 0.0]], 1.0)
    with pytest.raises(cf.NumericalError, match="overflow"):
        cf.best_alternative(model, {cf.do("X1", 1e160): 1.0}, PAPER, epsilon=0.07)


@pytest.mark.parametrize("reach", [1e4, 1e5, 1e6, 1e7, 1e8, 1e9])
def test_nearly_cancelling_causes_far_from_the_noise(reach: float) -> None:
    """X3 = X1 - X2, equal but for the noise: a plain Gram matrix loses every digit."""
    truth = cf.LinearSEM([[0, 0, 0], [1, 0, 0], [1, -1, 0]], 1.0)
    rng = np.random.default_rng(0)
    moments = cf.Moments(truth.names)
    taken, parts = [], []
    for action in (cf.do("X1", -reach), cf.do("X1", reach), cf.do("X3", 2.0), cf.do("X3", -2.0)):
        taken += [action] * 200
        parts.append(truth.sample(action, 200, rng))
    samples = np.vstack(parts)
    moments.add_many(taken, samples)
    estimate = cf.joint_mle(moments, PAPER)
    assert estimate.shd(truth) == 0
    assert np.allclose(estimate.weights, truth.weights, atol=0.2)
    own = [action.target != "X3" for action in taken]
    left = samples[own, 2] - samples[own] @ estimate.weights[2]
    best = samples[own, 2] - samples[own] @ truth.weights[2]
    assert left @ left <= best @ best * (1 + 1e-6)

    weights = dict.fromkeys([cf.do("X1", reach), cf.do("X1", -reach), cf.OBSERVE], 1.0)
    found = cf.best_alternative(truth, weights, PAPER, epsilon=0.07)
    at_hand = cf.LinearSEM(
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.93, -0.93, 0.0]], [1.0, 1.0, 1.0049]
    )
    assert found.model is not None
    assert 0 < found.value <= sum(truth.kl(at_hand, a) for a in weights) * (1 + 1e-6)


@pytest.mark.parametrize("c", [0.3, 0.1, 0.02, 0.005, 1e-3])
def test_ladders_where_every_pivot_looks_harmless(c: float) -> None:
    """x_i = z_(i-1) + c z_i: conditioning grows as c^(-2 s), every single pivot is about c^2."""
    s = 6
    worst = 0.0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        z = rng.standard_normal((60, s + 1))
        x = z.copy()
        for i in range(1, s):
            x[:, i] = z[:, i - 1] + c * z[:, i]
        x[:, s] = x[:, :s] @ rng.uniform(-1, 1, s) + z[:, s]
        moments = cf.Moments([f"x{i}" for i in range(s + 1)])
        moments.add_many([cf.OBSERVE] * 60, x)
        rows = moments.rows(intercept=False)
        b = np.empty(s)
        value = row_fit.fit_row(
            Row(rows.grams[s], rows.lows[s], s),
            np.arange(s),
            row_fit.two_intervals(s, 0.15, 1.5),
            math.inf,
            tableau.workspace(s),
            b,
        )
        left = x[:, s] - x[:, :s] @ b
        assert value == pytest.approx(left @ left, rel=1e-9)
        worst = max(worst, _excess(x[:, :s], x[:, s], value))
        cf.joint_mle(moments, PAPER)
    assert worst < 1e-8


def _excess(x: Floats, y: Floats, value: float) -> float:
    """How far a residual is above the best over all sign vectors, from the samples themselves."""
    best = math.inf
    for signs in itertools.product((-1, 1), repeat=x.shape[1]):
        low = [0.15 if sign > 0 else -1.5 for sign in signs]
        high = [1.5 if sign > 0 else -0.15 for sign in signs]
        found = lsq_linear(x, y, bounds=(low, high), method="bvls", tol=1e-14)
        best = min(best, 2 * found.cost)
    return value / best - 1


def test_rounding_never_passes_for_a_perfect_fit() -> None:
    """Without any bound, columns that agree to 1e-3 tempt a fit to huge coefficients."""
    rng = np.random.default_rng(0)
    common = rng.standard_normal((30, 1))
    samples = common + 1e-3 * rng.standard_normal((30, 4))
    moments = cf.Moments(["a", "b", "c", "d"])
    moments.add_many([cf.OBSERVE] * 30, samples)
    estimate = cf.joint_mle(moments, cf.ModelClass(0.1, intercept=False))
    for j in range(4):
        left = samples[:, j] - samples @ estimate.weights[j]
        assert estimate.noise_variances[j] == pytest.approx(np.mean(left**2), rel=1e-6)


@pytest.mark.parametrize("unit", [1.0, 3.0, 0.1])
def test_equivalent_graphs_go_to_the_order_of_the_names(unit: float) -> None:
    """Two nodes, observed only: both directions are equally likely if the class does not tell."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal(50)
        samples = unit * np.column_stack([x, 0.8 * x + rng.standard_normal(50)])
        moments = cf.Moments(["X1", "X2"])
        moments.add_many([cf.OBSERVE] * 50, samples)
        estimate = cf.joint_mle(moments, cf.ModelClass(0.01, intercept=False))
        assert estimate.parents("X2") == ("X1",)


def test_equal_models_have_equal_hashes_and_fixed_orders() -> None:
    one = cf.LinearSEM([[0.0, -0.0], [0.5, 0.0]], 1.0, [0.0, -0.0])
    other = cf.LinearSEM([[0.0, 0.0], [0.5, 0.0]], 1.0)
    assert one == other and hash(one) == hash(other)
    with pytest.raises(ValueError, match="read-only"):
        one.order[0] = 1
