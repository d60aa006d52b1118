"""Both oracles against the paper's algorithms as written and against a list of all DAGs."""

import numpy as np
import pytest

import causalfocus as cf
from instances import (
    CLASSES,
    bounds_of,
    close,
    draw_data,
    draw_member,
    expected_rows,
    model_class,
    parents_of,
    reference_of,
)
from literal import (
    LiteralFit,
    Rows,
    brute_force_alternative,
    brute_force_mle,
    finite_alternative_oracle,
    finite_joint_mle,
    negative_log_likelihood,
    weighted_divergence,
)
from worlds import action_set, draw_samples

CASES = [
    (p, label, intercept) for p in (2, 3, 4, 5) for label in CLASSES for intercept in (False, True)
]


def rng_for(*key: object) -> np.random.Generator:
    return np.random.default_rng(list(repr(key).encode()))


def random_weights(model: cf.LinearSEM, rng: np.random.Generator) -> dict[cf.Action, float]:
    """Weights on all actions, or on a few of them, small or large."""
    actions = action_set(model.names)
    present = rng.random(len(actions)) < rng.choice([1.0, 0.5, 0.2])
    amounts = rng.exponential(size=len(actions)) * present * rng.choice([1.0, 300.0])
    return dict(zip(actions, amounts.tolist(), strict=True))


def assert_same_mle(
    data_rows: Rows, estimate: cf.LinearSEM, referee: LiteralFit, *, is_generic: bool
) -> None:
    value = negative_log_likelihood(
        data_rows, estimate.weights, estimate.noise_variances, estimate.intercepts
    )
    assert close(value, referee.value)
    if is_generic:
        assert parents_of(estimate) == referee.parents
        assert np.allclose(estimate.weights, referee.weights, atol=1e-6)
        assert np.allclose(estimate.noise_variances, referee.variances, atol=1e-6)
        assert np.allclose(estimate.intercepts, referee.intercepts, atol=1e-5)


# Without a noise range the likelihood of a few samples is unbounded: nothing to compare.
MLE_CASES = [
    (p, label, intercept, n)
    for p, label, intercept in CASES
    for n in (0, 1, 2, 4, 7, 30, 300)
    if CLASSES[label][2] is not None or n >= 4 * p
]


@pytest.mark.parametrize(("p", "label", "intercept", "n"), MLE_CASES)
def test_mle_equals_literal_enumeration(p: int, label: str, intercept: bool, n: int) -> None:
    rng = rng_for("mle", p, label, intercept, n)
    space = model_class(label, intercept=intercept)
    data = draw_data(draw_member(p, space, rng), n, rng, intercept=intercept)
    estimate = cf.joint_mle(data.moments, space)
    assert space.contains(estimate)
    referee = finite_joint_mle(data.rows, bounds_of(space), memoise=True)
    assert_same_mle(data.rows, estimate, referee, is_generic=n >= 30)


@pytest.mark.parametrize(("p", "label", "intercept"), CASES)
@pytest.mark.parametrize("replicate", range(3))
def test_alternative_equals_literal_enumeration(
    p: int, label: str, intercept: bool, replicate: int
) -> None:
    rng = rng_for("alternative", p, label, intercept, replicate)
    space = model_class(label, intercept=intercept)
    model = draw_member(p, space, rng)
    weights = random_weights(model, rng)
    epsilon = space.least_effect * rng.choice([0.5, 0.3])
    found = cf.best_alternative(model, weights, space, epsilon=epsilon)
    rows = expected_rows(model, weights, intercept=intercept)
    referee = finite_alternative_oracle(
        rows, bounds_of(space), reference_of(model), epsilon, memoise=True
    )
    assert referee is not None and found.model is not None
    scale = sum(weights.values())
    assert close(found.value, referee.value, scale)
    assert space.contains(found.model)
    in_words = {"same_graph": "same graph", "different_graph": "different graph"}
    if referee.value > 1e-6 * scale:
        assert found.branch == in_words[str(referee.branch)]
        assert parents_of(found.model) == referee.parents
    attained = sum(w * model.kl(found.model, action) for action, w in weights.items())
    assert close(attained, found.value, scale)
    by_rows = weighted_divergence(
        rows,
        model.noise_variances,
        found.model.weights,
        found.model.noise_variances,
        found.model.intercepts,
    )
    assert close(by_rows, found.value, scale)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("label", ["paper", "wide gap", "no upper effect"])
@pytest.mark.parametrize("n", [3, 12, 200])
def test_mle_equals_brute_force_over_543_dags(label: str, intercept: bool, n: int) -> None:
    rng = rng_for("brute", label, intercept, n)
    space = model_class(label, intercept=intercept)
    data = draw_data(draw_member(4, space, rng), n, rng, intercept=intercept)
    referee = brute_force_mle(data.rows, bounds_of(space))
    assert_same_mle(data.rows, cf.joint_mle(data.moments, space), referee, is_generic=n > 100)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("label", ["paper", "wide gap", "no upper effect"])
@pytest.mark.parametrize("replicate", range(3))
def test_alternative_equals_brute_force_over_543_dags(
    label: str, intercept: bool, replicate: int
) -> None:
    rng = rng_for("brute alternative", label, intercept, replicate)
    space = model_class(label, intercept=intercept)
    model = draw_member(4, space, rng)
    weights = random_weights(model, rng)
    epsilon = space.least_effect / 2
    found = cf.best_alternative(model, weights, space, epsilon=epsilon)
    rows = expected_rows(model, weights, intercept=intercept)
    referee = brute_force_alternative(rows, bounds_of(space), reference_of(model), epsilon)
    assert referee is not None
    assert close(found.value, referee.value, sum(weights.values()))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_relabelling_permutes_the_answer_and_nothing_else(seed: int, intercept: bool) -> None:
    rng = np.random.default_rng(seed)
    space = model_class("paper", intercept=intercept)
    model = draw_member(6, space, rng, density=0.4)
    actions = action_set(model.names)
    taken, samples = draw_samples(model, 150, rng)
    shuffled = [model.names[i] for i in rng.permutation(6)]
    at = [model.names.index(name) for name in shuffled]
    moments, permuted = cf.Moments(model.names), cf.Moments(shuffled)
    moments.add_many(taken, samples)
    permuted.add_many(taken, samples[:, at])

    estimate = cf.joint_mle(moments, space)
    expected = estimate.relabel(shuffled)
    other = cf.joint_mle(permuted, space)
    assert np.array_equal(other.weights != 0, expected.weights != 0)
    assert np.allclose(other.weights, expected.weights, atol=1e-9)
    assert np.allclose(other.noise_variances, expected.noise_variances, atol=1e-9)

    weights = dict(zip(actions, rng.exponential(size=len(actions)).tolist(), strict=True))
    found = cf.best_alternative(estimate, weights, space, epsilon=0.07)
    mirrored = cf.best_alternative(expected, weights, space, epsilon=0.07)
    assert found.model is not None and mirrored.model is not None
    assert found.value == pytest.approx(mirrored.value, rel=1e-9)
    assert np.allclose(mirrored.model.weights, found.model.relabel(shuffled).weights, atol=1e-7)


def test_alternative_of_a_data_estimate_gives_the_stopping_statistic() -> None:
    """Counts as weights, as in Eq. stopping_statistic: d_t grows in proportion to the counts."""
    model = cf.random_sem(5, density=0.5, seed=3)
    actions = action_set(model.names)
    once = cf.best_alternative(model, dict.fromkeys(actions, 1.0), cf.PAPER_CLASS, epsilon=0.07)
    often = cf.best_alternative(model, dict.fromkeys(actions, 500.0), cf.PAPER_CLASS, epsilon=0.07)
    assert often.value == pytest.approx(500 * once.value, rel=1e-9)
    assert often.branch == once.branch
