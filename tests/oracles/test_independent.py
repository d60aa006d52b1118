"""The same laws and likelihoods as implementations that others wrote."""

import numpy as np
import pytest
import sempler
from scipy import stats

import causalfocus as cf
from instances import draw_data, draw_member, model_class
from literal import negative_log_likelihood
from worlds import action_set, draw_samples, targets_of


@pytest.mark.parametrize("seed", range(6))
def test_means_and_covariances_equal_semplers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = draw_member(5, model_class("paper", intercept=True), rng)
    theirs = sempler.LGANM(model.to_adjacency(), model.intercepts, model.noise_variances)
    for action in action_set(model.names):
        target = {} if action.target is None else {model.names.index(action.target): action.value}
        law = theirs.sample(population=True, do_interventions=target)
        ours = model.moments(action)
        assert np.allclose(ours.mean, law.mean, atol=1e-10)
        assert np.allclose(ours.covariance, law.covariance, atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_samples_follow_semplers_law(seed: int) -> None:
    """Kolmogorov-Smirnov between our samples and theirs, every node under every action."""
    rng = np.random.default_rng(seed)
    model = draw_member(3, model_class("paper", intercept=True), rng, density=1.0)
    theirs = sempler.LGANM(model.to_adjacency(), model.intercepts, model.noise_variances)
    for action in action_set(model.names):
        target = {} if action.target is None else {model.names.index(action.target): action.value}
        ours = model.sample(action, 2000, rng)
        other = theirs.sample(2000, do_interventions=target, random_state=seed)
        for j, name in enumerate(model.names):
            if name == action.target:
                assert np.all(ours[:, j] == action.value)
            else:
                assert stats.ks_2samp(ours[:, j], other[:, j]).pvalue > 1e-4


@pytest.mark.parametrize("intercept", [False, True])
def test_the_score_is_the_likelihood_that_scipy_computes(intercept: bool) -> None:
    """Densities of the nodes that were not set, sample by sample, from the joint normal law."""
    rng = np.random.default_rng(5)
    space = model_class("paper", intercept=intercept)
    model = draw_member(4, space, rng, density=0.7)
    taken, samples = draw_samples(model, 60, rng)
    moments = cf.Moments(model.names)
    moments.add_many(taken, samples)
    estimate = cf.joint_mle(moments, space)

    def by_scipy(candidate: cf.LinearSEM) -> float:
        total = 0.0
        for action, sample in zip(taken, samples, strict=True):
            law = candidate.moments(action)
            rest = [i for i, name in enumerate(model.names) if name != action.target]
            total += stats.multivariate_normal.logpdf(
                sample[rest], law.mean[rest], law.covariance[np.ix_(rest, rest)]
            )
        return total

    data = draw_data(model, 0, rng, intercept=intercept)
    targets = np.array(targets_of(model.names, taken))
    rows = type(data.rows).from_data(targets, samples, intercept)
    n_terms = int(rows.counts.sum())
    for candidate in (estimate, model):
        score = negative_log_likelihood(
            rows, candidate.weights, candidate.noise_variances, candidate.intercepts
        )
        expected = -score - 0.5 * n_terms * np.log(2 * np.pi)
        assert by_scipy(candidate) == pytest.approx(expected, rel=1e-10)
    assert by_scipy(estimate) >= by_scipy(model)
