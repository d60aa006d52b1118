"""AIT and GIT: scores against sampling and finite differences, DAGs, nothing undefined."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.arrays import Floats, Ints
from causalfocus.baselines import AITDCDI, GIT, Schedule
from causalfocus.baselines.baseline import soft_action
from causalfocus.baselines.belief import BeliefLearner
from causalfocus.baselines.dcdi import DcdiFit
from causalfocus.baselines.kernels.acyclicity import is_acyclic
from causalfocus.baselines.kernels.gradient_norm import Belief, gradient_norms
from causalfocus.baselines.kernels.masked_loss import mean_square
from causalfocus.baselines.kernels.records import Models
from causalfocus.baselines.kernels.two_phase import drawn_dags
from causalfocus.baselines.kernels.variance_ratio import variance_ratios
from causalfocus.kernels.records import PlainSettings
from worlds import action_set

SPACE = cf.PAPER_CLASS
QUICK = Schedule(rate=1e-2, window=25, most=5000)


def some_models(seed: int, *, constants: bool) -> Models:
    rng = np.random.default_rng(seed)
    drawn = [
        cf.random_sem(
            4,
            density=0.6,
            seed=int(rng.integers(2**32)),
            intercept_range=(-1.0, 1.0) if constants else (0.0, 0.0),
        )
        for _ in range(6)
    ]
    return Models(
        np.array([m.weights for m in drawn]),
        np.array([m.noise_variances for m in drawn]),
        np.array([m.intercepts for m in drawn]),
    )


def settings_of(targets: Ints, values: Floats) -> PlainSettings:
    """Actions on four nodes as the kernels take them."""
    is_set = targets[:, None] == np.arange(4)
    return is_set, np.where(is_set, values[:, None], 0.0), np.zeros(is_set.shape)


@pytest.mark.parametrize("constants", [False, True])
def test_the_closed_form_is_what_sampling_gives(constants: bool) -> None:
    models = some_models(0, constants=constants)
    targets, values = np.array([-1, 0, 1, 2, 3]), np.array([0.0, 2.0, -2.0, 2.0, 1.0])
    found = variance_ratios(models, settings_of(targets, values))
    n, rng = 40_000, np.random.default_rng(1)
    for a, (target, value) in enumerate(zip(targets, values, strict=True)):
        means, within = [], 0.0
        for weights, variances, intercepts in zip(*models, strict=True):
            model = cf.LinearSEM(weights, variances, intercepts)
            action = cf.OBSERVE if target < 0 else cf.do(model.names[target], value)
            x = model.sample(action, n, rng)
            means.append(x.mean(axis=0))
            within += ((x - means[-1]) ** 2).sum() / n
        between = ((np.array(means) - np.mean(means, axis=0)) ** 2).sum()
        # Means of n samples are off by their standard errors, which adds 1/n to the ratio.
        assert found[a] == pytest.approx(between / within, rel=0.03, abs=3 / n)


def test_only_the_size_of_the_value_counts_without_constants() -> None:
    models = some_models(1, constants=False)
    targets = np.array([-1, 0, 0, 1, 1])
    values = np.array([0.0, 2.0, -2.0, 1.0, 2.0])
    scores = variance_ratios(models, settings_of(targets, values))
    assert scores[0] == 0.0
    assert scores[1] == pytest.approx(scores[2], rel=1e-12)
    assert scores[4] == pytest.approx(4 * scores[3], rel=1e-12)


def test_graphs_that_are_drawn_are_dags() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        belief = rng.random((5, 5))
        np.fill_diagonal(belief, 0.0)
        for graph in drawn_dags(belief, 0.1, rng.random((50, 6, 5))):
            assert is_acyclic(graph)


@pytest.mark.parametrize("temperature", [0.1, 0.5])
def test_two_nodes_are_drawn_as_the_two_phases_say(temperature: float) -> None:
    """P(X1 first) is a softmax of the chances to have no parent; then X1 -> X2 with its belief."""
    belief = np.array([[0.0, 0.3], [0.6, 0.0]])
    graphs = drawn_dags(belief, temperature, np.random.default_rng(2).random((40_000, 3, 2)))
    first = math.exp(0.7 / temperature)
    first /= first + math.exp(0.4 / temperature)
    assert graphs[:, 1, 0].mean() == pytest.approx(first * 0.6, abs=0.01)
    assert graphs[:, 0, 1].mean() == pytest.approx((1 - first) * 0.3, abs=0.01)


def test_the_gradient_norm_is_that_of_finite_differences() -> None:
    weights, variances, constants = some_models(3, constants=True)
    rng = np.random.default_rng(4)
    own, logits = rng.normal(size=(4, 4)) * 0.5, rng.normal(size=(4, 4))
    np.fill_diagonal(own, 0.0)
    noise, centre = rng.uniform(0.5, 2.0, 4), rng.normal(size=(4, 4))

    def chance(at: Floats) -> Floats:
        found: Floats = 1 / (1 + np.exp(-at))
        np.fill_diagonal(found, 0.0)
        return found

    def expected_loss(at: Floats, model: cf.LinearSEM, action: cf.Action) -> float:
        moments, total = model.moments(action), 0.0
        for t in range(4):
            if model.names[t] == action.target:
                continue
            off = moments.mean - centre[t]
            gram = moments.covariance + np.outer(off, off)
            square, _ = mean_square(gram, t, own[t], chance(at)[t])
            total += (square / noise[t] + math.log(noise[t])) / 2 / 4
        return total

    expected = np.zeros(2)
    actions = [cf.OBSERVE, cf.do("X2", 1.5)]
    for parts in zip(weights, variances, constants, strict=True):
        model = cf.LinearSEM(*parts)
        for a, action in enumerate(actions):
            total = 0.0
            for t, j in np.ndindex(4, 4):
                if t != j:
                    step = np.zeros((4, 4))
                    step[t, j] = 1e-5
                    sides = [expected_loss(logits + s * step, model, action) for s in (1, -1)]
                    total += ((sides[0] - sides[1]) / 2e-5) ** 2
            expected[a] += math.sqrt(total) / len(weights)
    found = gradient_norms(
        Models(weights, variances, constants),
        Belief(own, chance(logits), noise),
        centre,
        settings_of(np.array([-1, 1]), np.array([0.0, 1.5])),
    )
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def believe(learner: BeliefLearner, fit: DcdiFit) -> None:
    """As if the last fit had been this one."""
    learner.restore(replace(learner.state, fit=fit), list(learner.log))


def fit_of(belief: Floats, weights: Floats | None = None) -> DcdiFit:
    p = len(belief)
    own = np.ones((p, p)) - np.eye(p) if weights is None else weights
    return DcdiFit(
        probabilities=belief,
        weights=own,
        belief=belief,
        belief_weights=own,
        belief_variances=np.ones(p),
        parents=np.zeros(p, dtype=np.int64),
        constraint=0.0,
        n_iterations=1,
    )


BELIEFS = {
    "nothing": np.zeros((3, 3)),
    "everything": np.ones((3, 3)) - np.eye(3),
    "one graph": np.tril(np.ones((3, 3)), -1),
    "half": 0.5 * (np.ones((3, 3)) - np.eye(3)),
}


@pytest.mark.parametrize("kind", [AITDCDI, GIT])
@pytest.mark.parametrize("belief", BELIEFS)
def test_scores_and_choices_are_never_undefined(kind: type[AITDCDI], belief: str) -> None:
    actions = action_set("abc")
    learner = kind(actions, SPACE, seed=0, warm_up=1, schedule=QUICK)
    learner.tell(cf.OBSERVE, [0.1, 0.2, 0.3])
    for weights in (None, np.zeros((3, 3))):
        believe(learner, fit_of(BELIEFS[belief], weights))
        scores = learner.scores(fit_of(BELIEFS[belief], weights), np.random.default_rng(0))
        assert np.isfinite(scores).all() and (scores >= 0).all()
        assert learner.ask() in actions


def test_a_collapsed_belief_means_any_intervention() -> None:
    actions = action_set("abc")
    taken = set()
    for seed in range(60):
        learner = AITDCDI(actions, SPACE, seed=seed, warm_up=1, schedule=QUICK)
        learner.tell(cf.OBSERVE, [0.1, 0.2, 0.3])
        believe(learner, fit_of(BELIEFS["one graph"]))
        taken.add(learner.ask())
    assert taken == set(actions) - {cf.OBSERVE}


def test_the_warm_up_observes_and_counts() -> None:
    actions = action_set("ab")
    learner = AITDCDI(actions, SPACE, seed=0, schedule=QUICK)
    rng = np.random.default_rng(0)
    assert learner.warm_up == 20
    for _ in range(20):
        assert learner.fit is None and learner.ask() == cf.OBSERVE
        learner.tell(cf.OBSERVE, rng.normal(size=2))
    assert learner.fit is not None and learner.ask() != cf.OBSERVE
    assert AITDCDI(action_set("abcdefghijkl", 1.0), SPACE).warm_up == 24


def test_refits_come_when_they_should() -> None:
    actions = action_set("ab")
    learner = AITDCDI(actions, SPACE, seed=0, warm_up=4, refit_every=3, schedule=QUICK)
    rng, fits = np.random.default_rng(0), []
    for _ in range(11):
        learner.tell(cf.OBSERVE, rng.normal(size=2))
        fits.append(learner.fit)
    changes = [i + 1 for i in range(1, 11) if fits[i] is not fits[i - 1]]
    assert fits[2] is None and changes == [4, 7, 10]


def test_a_single_node_and_nothing_to_set() -> None:
    for actions in (cf.ActionSet({"a": (-1, 1)}), cf.ActionSet({"a": None, "b": None})):
        for kind in (AITDCDI, GIT):
            learner = kind(actions, SPACE, seed=0, warm_up=2, schedule=QUICK)
            for _ in range(4):
                action = learner.ask()
                sample = np.full(len(actions.names), action.value or 0.3)
                learner.tell(action, sample)
            assert learner.ask() in actions
            assert np.isfinite(learner.estimate.weights).all()


def test_a_direction_in_doubt_is_what_it_asks_about() -> None:
    """Of X1 and X2 nobody knows which is the cause; X3 has nothing to do with them."""
    belief = np.array([[0.0, 0.5, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
    actions = action_set(["X1", "X2", "X3"])
    learner = AITDCDI(actions, SPACE, seed=0, warm_up=1, schedule=QUICK)
    learner.tell(cf.OBSERVE, [0.1, 0.2, 0.3])
    scores = learner.scores(fit_of(belief), np.random.default_rng(1))
    assert scores[0] == 0.0 and scores[5] == scores[6] == 0.0
    assert min(scores[1:5]) > 0.05


@pytest.mark.parametrize("softness", [0.0, 0.1])
def test_both_signs_are_used(softness: float) -> None:
    actions = action_set("abc")
    learner = AITDCDI(
        actions, SPACE, seed=0, warm_up=1, refit_every=1000, softness=softness, schedule=QUICK
    )
    learner.tell(cf.OBSERVE, [0.1, 0.2, 0.3])
    believe(learner, fit_of(BELIEFS["half"]))
    for _ in range(60):
        action = learner.ask()
        learner.tell(action, [(action.value or 0.0) if n == action.target else 0.0 for n in "abc"])
    counts = learner.counts
    assert counts[cf.OBSERVE] == 1
    for node in "abc":
        assert abs(counts[cf.do(node, -2.0)] - counts[cf.do(node, 2.0)]) <= 1


def test_a_soft_choice_has_its_shares() -> None:
    scores, costs = np.array([-math.inf, 0.3, 0.3, 0.1, 0.0]), np.array([1.0, 1.0, 1.0, 2.0, 1.0])
    rng, spent = np.random.default_rng(0), np.zeros(5)
    drawn = [soft_action(scores, costs, 0.1, spent, rng) for _ in range(20_000)]
    taken = np.bincount(drawn, minlength=5)
    weights = np.array([0.0, math.exp(3), math.exp(3), math.exp(1) / 2, 1.0])
    np.testing.assert_allclose(taken / 20_000, weights / weights.sum(), atol=0.012)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"warm_up": -1}, "warm_up must be a whole number, 0 or more, got -1"),
        ({"refit_every": 0}, "refit_every must be a whole number, 1 or more"),
        ({"n_graphs": 1}, "n_graphs must be a whole number, 2 or more"),
        ({"temperature": 0.0}, "temperature must be a number"),
        ({"softness": -1.0}, "softness must be a number, 0 or more"),
        ({"softness": math.inf}, "softness must be a number, 0 or more, got inf"),
        ({"softness": "x"}, "softness must be a number, 0 or more, got 'x'"),
        ({"objective": "exact"}, "must be 'expected' or 'gumbel', got 'exact'"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(cf.InvalidInputError, match=message):
        AITDCDI(cf.ActionSet({"a": (-1, 1)}), SPACE, **options)
