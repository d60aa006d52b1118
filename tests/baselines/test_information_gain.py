"""CBED's and ABCD's scores against plain numpy, integrals and bounds."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import causalfocus as cf
from causalfocus.arrays import Floats, Ints
from causalfocus.baselines import ABCD, CBED, DagPosterior
from causalfocus.baselines.kernels import graph_gain, information_gain, quick_exp
from causalfocus.baselines.kernels.records import Models
from causalfocus.baselines.posterior import Ensemble
from worlds import action_set, draw_samples

SPACE = cf.PAPER_CLASS


def posterior_of(
    p: int, n: int, seed: int, *, intercept: bool = False
) -> tuple[cf.LinearSEM, DagPosterior]:
    rng = np.random.default_rng(seed)
    truth = cf.random_sem(
        p, density=0.4, seed=seed, intercept_range=(-2.0, 2.0) if intercept else (0.0, 0.0)
    )
    moments = cf.Moments(truth.names)
    moments.add_many(*draw_samples(truth, n, rng))
    return truth, DagPosterior(moments, intercept=intercept)


def gains(models: Ensemble, targets: list[int], values: list[float], noise: Floats) -> list[float]:
    parts = Models(models.weights, models.variances, models.constants)
    found = information_gain.information_gains(parts, np.array(targets), np.array(values), noise)
    return [float(gain) for gain in found]


def plain_outcome(models: Ensemble, m: int, target: int, value: float, noise: Floats) -> Floats:
    p = len(noise)
    weights = models.weights[m].copy()
    shocks = models.constants[m] + np.sqrt(models.variances[m]) * noise
    if target >= 0:
        weights[target], shocks[target] = 0.0, value
    return np.linalg.solve(np.eye(p) - weights, shocks)


def plain_log_density(models: Ensemble, m: int, target: int, y: Floats) -> float:
    means = models.constants[m] + models.weights[m] @ y
    logs = stats.norm.logpdf(y, means, np.sqrt(models.variances[m]))
    return float(sum(logs[j] for j in range(len(y)) if j != target))


def test_the_quick_exponential_is_one() -> None:
    for x in np.concatenate([np.linspace(-700, 700, 4001), [0.0, 1e-17, -1e-9]]):
        assert quick_exp.quick_exp(x) == pytest.approx(math.exp(x), rel=1e-13)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("target", "value"), [(-1, 0.0), (1, 2.0), (2, -1.5)])
def test_it_is_the_formula(target: int, value: float, intercept: bool) -> None:
    _, posterior = posterior_of(3, 12, seed=1, intercept=intercept)
    rng = np.random.default_rng(0)
    n_models, n_outcomes = 7, 5
    models = posterior.draw_models(n_models, rng)
    noise = rng.standard_normal((n_models, n_outcomes, 3))
    total = 0.0
    for m in range(n_models):
        for s in range(n_outcomes):
            y = plain_outcome(models, m, target, value, noise[m, s])
            logs = np.array([plain_log_density(models, k, target, y) for k in range(n_models)])
            total += logs[m] - math.log(np.exp(logs).mean())
    expected = total / (n_models * n_outcomes)
    assert gains(models, [target], [value], noise)[0] == pytest.approx(expected, rel=1e-9)


def two_models(shift: float) -> Ensemble:
    """X1 -> X2 with weight +shift/2 or -shift/2: under do(X1 = 1) two normals `shift` apart."""
    weights = np.zeros((2, 2, 2))
    weights[:, 1, 0] = [shift / 2, -shift / 2]
    parents = np.array([[0, 1], [0, 1]])
    return Ensemble(parents, weights, np.ones((2, 2)), np.zeros((2, 2)), np.zeros(2))


@pytest.mark.parametrize("shift", [0.3, 1.0, 3.0])
def test_two_models_and_an_integral(shift: float) -> None:
    def integrand(y: float) -> float:
        density = stats.norm.pdf(y, shift / 2)
        mean = (density + stats.norm.pdf(y, -shift / 2)) / 2
        return float(density * math.log(density / mean))

    exact = integrate.quad(integrand, -12, 12)[0]
    noise = np.random.default_rng(1).standard_normal((2, 40_000, 2))
    found = gains(two_models(shift), [0], [1.0], noise)[0]
    assert found == pytest.approx(exact, abs=0.01)


def test_it_lies_between_nothing_and_log_m() -> None:
    for seed in range(6):
        _, posterior = posterior_of(4, 3 * seed, seed=seed)
        rng = np.random.default_rng(seed)
        models = posterior.draw_models(20, rng)
        noise = rng.standard_normal((20, 400, 4))
        for found in gains(models, [-1, 0, 1, 2, 3], [0.0, 2.0, 2.0, 2.0, 2.0], noise):
            assert -0.02 <= found <= math.log(20) + 1e-9


def test_models_that_agree_have_nothing_to_tell_and_strangers_everything() -> None:
    noise = np.random.default_rng(0).standard_normal((2, 50, 2))
    assert gains(two_models(0.0), [0], [1.0], noise)[0] == pytest.approx(0.0, abs=1e-12)
    assert gains(two_models(500.0), [0], [1.0], noise)[0] == pytest.approx(math.log(2), rel=1e-12)
    assert gains(two_models(5.0), [1], [1.0], noise)[0] == pytest.approx(0.0, abs=1e-12)


def test_both_signs_tell_the_same_without_constants() -> None:
    _, posterior = posterior_of(4, 15, seed=2)
    rng = np.random.default_rng(3)
    models = posterior.draw_models(30, rng)
    noise = rng.standard_normal((30, 600, 4))
    for target in range(4):
        up, down = gains(models, [target] * 2, [2.0, -2.0], noise)
        assert up == pytest.approx(down, abs=0.05)
        mirrored = gains(models, [target], [-2.0], -noise)[0]
        assert up == pytest.approx(mirrored, rel=1e-10)


def test_with_constants_the_signs_differ() -> None:
    _, posterior = posterior_of(2, 40, seed=5, intercept=True)
    rng = np.random.default_rng(0)
    models = posterior.draw_models(40, rng)
    noise = rng.standard_normal((40, 300, 2))
    near, far = gains(models, [0, 0], [0.0, 9.0], noise)
    assert far > near + 0.05


@pytest.mark.parametrize("reach", [1.0, 1e4, 1e8])
def test_far_values_lose_no_digits(reach: float) -> None:
    """The value that is set and the weights in proportion: the same outcomes at any reach."""
    noise = np.random.default_rng(2).standard_normal((2, 200, 2))
    near = gains(two_models(1.0), [0], [1.0], noise)[0]
    far = gains(two_models(1.0 / reach), [0], [reach], noise)[0]
    assert far == pytest.approx(near, rel=1e-6)
    models = two_models(1.0 / reach)
    models.constants[:, 1] = reach
    assert gains(models, [0], [reach], noise)[0] == pytest.approx(near, rel=1e-6)


def learner_of(kind: type[CBED], n: int, **options: Any) -> CBED:
    truth = cf.random_sem(3, density=0.6, seed=4)
    learner = kind(action_set(truth.names), SPACE, seed=1, **options)
    rng = np.random.default_rng(2)
    for _ in range(n):
        action = learner.actions[int(rng.integers(len(learner.actions)))]
        learner.tell(action, truth.sample(action, 1, rng)[0])
    return learner


def test_scores_of_mirrored_actions_are_the_same_number() -> None:
    scores = learner_of(CBED, 10).scores(np.random.default_rng(0))
    np.testing.assert_array_equal(scores[1::2], scores[2::2])
    assert len(set(scores.tolist())) == 4


def test_an_asymmetric_range_has_two_scores() -> None:
    learner = CBED(cf.ActionSet({"a": (-1, 2), "b": 3}), SPACE, seed=0)
    assert len(set(learner.scores(np.random.default_rng(0)).tolist())) == 4


def test_graph_information_is_the_formula_with_student_densities() -> None:
    learner = learner_of(ABCD, 9, n_models=6, n_outcomes=4)
    rng = np.random.default_rng(1)
    models = learner.posterior.draw_models(6, rng)
    noise = rng.standard_normal((6, 4, 3))
    posterior, prior = learner.posterior, learner.prior

    def log_density(parents: Ints, target: int, y: Floats) -> float:
        total = 0.0
        for j in range(3):
            if j == target:
                continue
            S = [k for k in range(3) if (int(parents[j]) >> k) & 1]
            gram = posterior.grams[j]
            precision = np.eye(len(S)) / prior.effect_variance + gram[np.ix_(S, S)]
            mean = np.linalg.solve(precision, gram[S, j])
            a = prior.noise_shape + posterior.counts[j] / 2
            b = prior.noise_scale + 0.5 * (gram[j, j] - mean @ precision @ mean)
            z = y[S]
            scale = b / a * (1 + z @ np.linalg.solve(precision, z))
            total += float(stats.t.logpdf(y[j], 2 * a, z @ mean, math.sqrt(scale)))
        return total

    scored, _ = learner._distinct()
    found = learner._gains(models, scored, noise)
    for action, value in zip(scored, found, strict=True):
        target, level = int(learner._targets[action]), float(learner._values[action])
        total = 0.0
        for m in range(6):
            for s in range(4):
                y = plain_outcome(models, m, target, level, noise[m, s])
                logs = np.array([log_density(G, target, y) for G in models.parents])
                total += logs[m] - math.log(np.exp(logs).mean())
        assert value == pytest.approx(total / 24, rel=1e-8, abs=1e-12)


def test_families_are_told_apart() -> None:
    parents = np.array([[0, 1, 3], [0, 1, 0], [6, 0, 0]])
    families, used = graph_gain.distinct_families(parents)
    assert families.tolist() == [[0, 0], [1, 1], [2, 3], [2, 0], [0, 6], [1, 0]]
    for i in range(3):
        assert [families[f, 1] for f in used[i]] == parents[i].tolist()


def test_when_the_graph_is_known_only_parameters_are_left_to_learn() -> None:
    truth = cf.LinearSEM([[0.0, 0.0], [1.0, 0.0]], 1.0)
    actions = cf.ActionSet({"X1": (-2, 2), "X2": (-2, 2)})
    both = [kind(actions, SPACE, seed=0, n_models=60, n_outcomes=200) for kind in (CBED, ABCD)]
    rng = np.random.default_rng(0)
    for _ in range(40):
        for action in actions:
            sample = truth.sample(action, 1, rng)[0]
            for learner in both:
                learner.tell(action, sample)
    about_all, about_graph = (learner.scores(np.random.default_rng(1)) for learner in both)
    assert about_graph.max() < 1e-6
    assert about_all.max() > 1e-3
