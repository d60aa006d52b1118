"""The evidence certificate: given for the right answer, for nearly no wrong one, at any scale."""

import math

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from causalfocus.guarantees.class_ import ClassRule
from instances import draw_each
from worlds import ACTIONS, action_set, finish, play, rig


@pytest.mark.parametrize("intercept", [False, True])
def test_relabelling_and_batching_change_nothing(intercept: bool) -> None:
    truth, space, moments = draw_each(4, 150, 5, intercept=intercept)
    estimate = cf.joint_mle(moments, space)
    value = cf.evidence(moments, estimate, space, epsilon=0.07, rule="class")
    names = ["X3", "X1", "X4", "X2"]
    at = [truth.names.index(name) for name in names]
    rng = np.random.default_rng(5)
    other, single = cf.Moments(names), cf.Moments(truth.names)
    for action in action_set(truth.names):
        samples = truth.sample(action, 150, rng)
        other.add_many([action] * 150, samples[:, at])
        for sample in samples:
            single.add(action, sample)
    mirrored = cf.evidence(other, estimate.relabel(names), space, epsilon=0.07, rule="class")
    assert mirrored == pytest.approx(value, abs=3e-3)
    assert cf.evidence(single, estimate, space, epsilon=0.07, rule="class") == value


def test_intercepts_do_not_matter_to_a_rule_that_allows_them() -> None:
    """Shifting all variables shifts the constants of the equations and leaves the evidence."""
    truth, space, moments = draw_each(3, 200, 2, intercept=True)
    shift = np.array([1000.0, -50.0, 3.0])
    rng = np.random.default_rng(2)
    moved = cf.Moments(truth.names)
    for action in action_set(truth.names):
        samples = truth.sample(action, 200, rng) + shift
        at = None if action.target is None else truth.names.index(action.target)
        there = cf.OBSERVE if at is None else cf.do(truth.names[at], samples[0, at])
        moved.add_many([there] * 200, samples)
    a = cf.evidence(moments, cf.joint_mle(moments, space), space, epsilon=0.07, rule="class")
    b = cf.evidence(moved, cf.joint_mle(moved, space), space, epsilon=0.07, rule="class")
    assert a == pytest.approx(b, abs=5e-3)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("noise", [(0.8, 1.2), None])
def test_evidence_grows_and_certifies(intercept: bool, noise: tuple[float, float] | None) -> None:
    """With enough samples the right answer is certified and a wrong one is not."""
    truth, space, moments = draw_each(3, 1200, 1, intercept=intercept)
    space = cf.ModelClass(0.15, 1.5, noise, intercept=intercept)
    estimate = cf.joint_mle(moments, space)
    assert estimate.shd(truth) == 0
    assert cf.evidence(moments, estimate, space, epsilon=0.07, rule="class") > math.log(1 / 0.05)
    weights = np.where(truth.weights != 0, truth.weights + 0.1, 0.0)
    wrong = cf.LinearSEM(weights, truth.noise_variances, truth.intercepts)
    assert cf.evidence(moments, wrong, space, epsilon=0.07, rule="class") < 0
    reversed_graph = cf.LinearSEM(np.zeros((3, 3)), truth.noise_variances, truth.intercepts)
    assert cf.evidence(moments, reversed_graph, space, epsilon=0.07, rule="class") < 0


def test_no_data_is_no_evidence() -> None:
    moments = cf.Moments(["a", "b"])
    estimate = cf.joint_mle(moments, cf.PAPER_CLASS)
    assert cf.evidence(moments, estimate, cf.PAPER_CLASS, epsilon=0.07, rule="class") < 0
    assert cf.evidence(moments, estimate, cf.PAPER_CLASS, epsilon="graph", rule="class") < 0


@pytest.mark.parametrize("p", [2, 3])
def test_wrong_stops_are_rare(p: int) -> None:
    """delta = 0.2, weights at the edge of the class: the exact binomial limit is below delta."""
    wrong, runs = 0, 40
    for seed in range(runs):
        rng = np.random.default_rng([p, seed])
        base = cf.random_sem(p, density=0.8, seed=seed)
        weights = np.where(base.weights != 0, np.sign(base.weights) * 0.15, 0.0)
        truth = cf.LinearSEM(weights, base.noise_variances)
        actions = action_set(truth.names)
        rule = ClassRule(ACTIONS, cf.PAPER_CLASS, 0.07, 0.2)
        moments = cf.Moments(truth.names)
        for t in range(400):
            for action in actions:
                moments.add(action, truth.sample(action, 1, rng)[0])
            if t % 5 == 4:
                estimate = cf.joint_mle(moments, cf.PAPER_CLASS)
                if rule.decide(moments, estimate).stop:
                    off = np.abs(estimate.weights - truth.weights).max()
                    wrong += estimate.shd(truth) > 0 or off >= 0.07
                    break
    assert stats.beta.ppf(0.95, wrong + 1, runs - wrong) < 0.2


def strong_interventions(reach: float) -> tuple[cf.LinearSEM, cf.Moments]:
    truth = cf.LinearSEM([[0.0, 0.0], [0.5, 0.0]], 1.0)
    moments = cf.Moments(truth.names)
    rng = np.random.default_rng(0)
    for action in action_set(truth.names, reach):
        moments.add_many([action] * 50, truth.sample(action, 50, rng))
    return truth, moments


def test_where_digits_run_out_there_is_no_evidence() -> None:
    """Interventions ten million times stronger than the noise are fine; beyond 1e10 there is no
    certificate rather than a doubtful one.
    """
    truth, moments = strong_interventions(1e7)
    estimate = cf.joint_mle(moments, cf.PAPER_CLASS)
    assert estimate.shd(truth) == 0
    assert cf.evidence(moments, estimate, cf.PAPER_CLASS, epsilon=0.07, rule="class") > 3
    truth, moments = strong_interventions(1e11)
    assert cf.evidence(moments, truth, cf.PAPER_CLASS, epsilon=0.07, rule="class") == -math.inf


@pytest.mark.parametrize("reach", [1e3, 1e4, 1e5])
@pytest.mark.parametrize("intercept", [False, True])
def test_strong_interventions_certify_no_wrong_graph(reach: float, intercept: bool) -> None:
    """Two nodes that move together far above the noise, the graph alone."""
    truth = cf.LinearSEM([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0]], 1.0)
    space = cf.ModelClass(0.3, 1.5, (0.5, 2.0), intercept=intercept)
    actions = cf.ActionSet({"X1": (-reach, reach), "X3": (-reach, reach)}, truth.names)
    for seed in range(12):
        learner = cf.Focus(actions, space, epsilon="graph", delta=0.05, rule="class")
        finish(learner, rig(seed, truth), 80)
        assert not learner.has_stopped or learner.result().model.shd(truth) == 0


def test_graph_alone_with_unknown_noise_from_the_first_sample() -> None:
    """A perfect fit has unbounded likelihood: no evidence, and no error either."""
    truth = cf.LinearSEM([[0.0, 0.0], [0.8, 0.0]], 1.0)
    for intercept in (False, True):
        space = cf.ModelClass(0.3, intercept=intercept)
        learner = cf.Focus(
            action_set(truth.names), space, epsilon="graph", delta=0.05, rule="class"
        )
        system = rig(1, truth)
        while not learner.has_stopped and learner.rounds < 5000:
            play(learner, system, 1)
            assert learner.rounds > 5 or learner.decision.evidence < 0
        assert learner.result().certified and learner.result().model.shd(truth) == 0


def test_a_sample_counts_for_all_rows_or_for_none() -> None:
    """With intercepts: if the first sample set X1, the first one that did not is the origin of X1
    and counts for no row at all.
    """
    names = ["X1", "X2", "X3"]
    rng = np.random.default_rng(5)
    samples = rng.standard_normal((6, 3))
    taken = [cf.do("X1", 2.0), cf.do("X1", 2.0), cf.do("X3", 1.0), *[cf.OBSERVE] * 3]
    samples[:2, 0], samples[2, 2] = 2.0, 1.0
    moments = cf.Moments(names)
    moments.add_many(taken, samples)
    rows = moments.evidence_rows(intercept=True)
    kept = {0: [3, 4, 5], 1: [1, 3, 4, 5], 2: [1, 3, 4, 5]}  # the third sample is nobody's
    origin = {0: 2, 1: 0, 2: 0}
    for j, chosen in kept.items():
        x = np.column_stack([samples[chosen] - samples[origin[j]], np.ones(len(chosen))])
        np.testing.assert_allclose(rows.grams[j], x.T @ x, atol=1e-12)
        assert rows.counts[j] == len(chosen)
