"""DCDI: the constraint, the objectives and their gradients, and what graphs it finds."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.arrays import Floats, Ints
from causalfocus.baselines import Schedule, constraint, fit_dcdi, fit_dcdi_gumbel
from causalfocus.baselines.dcdi import DcdiFit, acyclic_parents, edge_penalty
from causalfocus.baselines.kernels import gumbel
from causalfocus.baselines.kernels.masked_loss import (
    Data,
    Gradients,
    Penalty,
    loss_and_gradient,
    probabilities_of,
)
from causalfocus.baselines.random import parent_sets
from causalfocus.learner.protocol import Told
from literal.all_dags import enumerate_dags
from worlds import draw_samples, move, targets_of

QUICK = Schedule(rate=1e-2, first_mu=1e-3, window=25)


def draw(truth: cf.LinearSEM, n: int, seed: int) -> tuple[cf.Moments, list[Told]]:
    rng = np.random.default_rng(seed)
    taken, samples = draw_samples(truth, n, rng)
    moments = cf.Moments(truth.names)
    moments.add_many(taken, samples)
    return moments, [Told(*line) for line in zip(taken, samples, strict=True)]


@pytest.mark.parametrize("p", range(2, 9))
def test_the_constraint_is_one_on_the_complete_graph(p: int) -> None:
    assert constraint(np.ones((p, p)) - np.eye(p)) == pytest.approx(1.0, rel=1e-12)


def test_the_constraint_is_nought_on_dags_and_on_nothing_else() -> None:
    is_dag = set()
    for dag in enumerate_dags(3):
        graph = np.array([[float(k in S) for k in range(3)] for S in dag])
        assert constraint(graph) == 0.0
        assert constraint(0.3 * graph) == 0.0
        is_dag.add(graph.tobytes())
    for bits in itertools.product([0.0, 1.0], repeat=6):
        graph = np.zeros((3, 3))
        graph[~np.eye(3, dtype=bool)] = bits
        assert (constraint(graph) == 0.0) == (graph.tobytes() in is_dag)
    for seed in range(20):
        truth = cf.random_sem(7, density=0.8, seed=seed)
        assert constraint((truth.weights != 0).astype(float)) == 0.0


def test_a_small_cycle_keeps_its_digits() -> None:
    """tr exp S - p of two nodes is 2 (cosh sqrt(ab) - 1): ab to first order."""
    faint = np.array([[0.0, 1e-9], [1e-9, 0.0]])
    complete = 2 * (math.cosh(1.0) - 1)
    assert constraint(faint) == pytest.approx(1e-18 / complete, rel=1e-9)


def test_the_exponential_is_the_librarys() -> None:
    from scipy.linalg import expm

    from causalfocus.baselines.kernels.acyclicity import acyclicity, exponential

    for p in (1, 3, 6):
        matrix = np.random.default_rng(p).random((p, p)) * 2
        power, trace = exponential(matrix)
        np.testing.assert_allclose(power, expm(matrix), rtol=1e-12)
        assert trace == pytest.approx(np.trace(expm(matrix)) - p, rel=1e-12)
    h, gradient = acyclicity(np.zeros((1, 1)))
    assert h == 0.0 and gradient.tolist() == [[0.0]]


def small_problem(seed: int) -> tuple[cf.Moments, list[Told], Floats, Floats]:
    rng = np.random.default_rng(seed)
    truth = cf.random_sem(4, density=0.6, seed=seed)
    moments, log = draw(truth, 30, seed)
    weights, logits = rng.normal(size=(4, 4)) * 0.5, rng.normal(size=(4, 4))
    np.fill_diagonal(weights, 0.0)
    return moments, log, weights, logits


def loss(moments: cf.Moments, weights: Floats, logits: Floats, penalty: Penalty) -> float:
    rows = moments.rows(intercept=False)
    spare = Gradients(np.zeros((4, 4)), np.zeros((4, 4)))
    data = Data(rows.grams, rows.counts, moments.n)
    return float(loss_and_gradient(data, weights, logits, penalty, spare)[0])


def test_the_expected_loss_is_the_mean_over_all_masks() -> None:
    moments, log, weights, logits = small_problem(0)
    chance = probabilities_of(logits)
    likelihood = 0.0
    for t in range(4):
        own = np.array([s.sample for s in log if s.action.target != moments.names[t]])
        square = 0.0
        for mask in itertools.product([0, 1], repeat=4):
            if mask[t]:
                continue
            m = np.array(mask)
            share = np.prod(
                [chance[t, j] if m[j] else 1 - chance[t, j] for j in range(4) if j != t]
            )
            square += share * ((own[:, t] - own @ (weights[t] * m)) ** 2).sum()
        likelihood += len(own) / (2 * len(log) * 4) * math.log(square / len(own))
    h = constraint(chance)
    edges, gamma, mu = 0.3, 0.7, 5.0
    expected = likelihood + edges * chance.sum() / 16 + gamma * h + mu / 2 * h * h
    penalty = Penalty(edges, gamma, mu)
    assert loss(moments, weights, logits, penalty) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_those_of_finite_differences(seed: int) -> None:
    moments, _, weights, logits = small_problem(seed)
    penalty = Penalty(0.2, 0.5, 3.0)
    rows = moments.rows(intercept=False)
    found = Gradients(np.zeros((4, 4)), np.zeros((4, 4)))
    loss_and_gradient(Data(rows.grams, rows.counts, moments.n), weights, logits, penalty, found)
    for parameters, gradient in zip((weights, logits), found, strict=True):
        for t, j in itertools.permutations(range(4), 2):
            at, sides = parameters[t, j], []
            for step in (1e-6, -1e-6):
                parameters[t, j] = at + step
                sides.append(loss(moments, weights, logits, penalty))
            parameters[t, j] = at
            assert gradient[t, j] == pytest.approx((sides[0] - sides[1]) / 2e-6, abs=1e-8)


def sampled_problem() -> tuple[gumbel.Samples, Ints, gumbel.Parameters, Floats]:
    moments, log, weights, logits = small_problem(1)
    values = np.array([told.sample for told in log])
    targets = np.array(targets_of(moments.names, [told.action for told in log]))
    rng = np.random.default_rng(0)
    others = rng.normal(size=(2, 4)) * 0.3
    noise = gumbel.logistic_noise(rng, len(log), 4)
    samples, parameters = (
        gumbel.Samples(values, targets),
        gumbel.Parameters(weights, logits, others),
    )
    return samples, np.arange(len(log)), parameters, noise


def plain_sampled_loss(
    samples: gumbel.Samples, parameters: gumbel.Parameters, masks: Floats
) -> float:
    values, targets = samples
    weights, _, others = parameters
    total = 0.0
    for x, target, mask in zip(values, targets, masks, strict=True):
        for t in range(4):
            if t != target:
                off = x[t] - others[0, t] - (weights[t] * mask[t]) @ x
                total += 0.5 * (off * math.exp(-others[1, t])) ** 2 + others[1, t]
                total += 0.5 * math.log(2 * math.pi)
    return total / (len(values) * 4)


def test_the_sampled_objective_and_its_gradients() -> None:
    """Straight through: the mask counts as 0 or 1, and moves with the logit as its soft value."""
    samples, rows, parameters, noise = sampled_problem()
    weights, logits, others = parameters
    gradients = gumbel.Parameters(np.zeros((4, 4)), np.zeros((4, 4)), np.zeros((2, 4)))
    found = gumbel.sampled_loss(samples, rows, parameters, noise, gradients)
    soft = 1 / (1 + np.exp(-(logits + noise)))
    masks = (soft > 0.5).astype(float)
    masks[:, range(4), range(4)] = 0.0
    assert found == pytest.approx(plain_sampled_loss(samples, parameters, masks), rel=1e-12)
    for part, gradient in ((weights, gradients[0]), (others, gradients[2])):
        for at in np.ndindex(part.shape):
            if part is weights and at[0] == at[1]:
                continue
            here, sides = part[at], []
            for step in (1e-6, -1e-6):
                part[at] = here + step
                sides.append(plain_sampled_loss(samples, parameters, masks))
            part[at] = here
            assert gradient[at] == pytest.approx((sides[0] - sides[1]) / 2e-6, abs=1e-7)
    for t, j in itertools.permutations(range(4), 2):
        slope = soft[:, t, j] * (1 - soft[:, t, j])
        sides = []
        for step in (1e-6, -1e-6):
            moved = masks.copy()
            moved[:, t, j] += step * slope
            sides.append(plain_sampled_loss(samples, parameters, moved))
        assert gradients[1][t, j] == pytest.approx((sides[0] - sides[1]) / 2e-6, abs=1e-7)


def test_masks_come_with_the_probability_of_their_logit() -> None:
    noise = gumbel.logistic_noise(np.random.default_rng(0), 20_000, 2)
    for logit in (-1.0, 0.0, 2.0):
        share = (1 / (1 + np.exp(-(logit + noise[:, 0, 1]))) > 0.5).mean()
        assert share == pytest.approx(1 / (1 + math.exp(-logit)), abs=0.015)


def test_the_penalties_and_their_gradient() -> None:
    logits = np.random.default_rng(3).normal(size=(4, 4))
    penalty = Penalty(0.2, 0.4, 2.0)
    gradient = np.zeros((4, 4))
    total, h = gumbel.add_penalty(logits, penalty, gradient)
    chance = probabilities_of(logits)
    assert h == pytest.approx(constraint(chance))
    assert total == pytest.approx(0.2 * chance.sum() / 16 + 0.4 * h + h * h)
    for t, j in itertools.permutations(range(4), 2):
        at, sides = logits[t, j], []
        for step in (1e-6, -1e-6):
            logits[t, j] = at + step
            sides.append(gumbel.add_penalty(logits, penalty, np.zeros((4, 4)))[0])
        logits[t, j] = at
        assert gradient[t, j] == pytest.approx((sides[0] - sides[1]) / 2e-6, abs=1e-8)


def test_the_graph_of_most_systems_is_found() -> None:
    found = 0
    for seed in range(50):
        truth = cf.random_sem(5, density=0.3, seed=seed)
        moments, _ = draw(truth, 2000, seed)
        fit = fit_dcdi(moments, intercept=False)
        found += fit.parents.tolist() == parent_sets(truth.weights).tolist()
        assert fit.constraint <= 1e-8
    assert found >= 40


CHAIN = cf.LinearSEM(
    [[0.0, 0.0, 0.0], [0.9, 0.0, 0.0], [0.0, -0.8, 0.0]], [1.0, 0.9, 1.1], [5.0, -3.0, 40.0]
)


def parents(fit: DcdiFit) -> list[int]:
    return [int(nodes) for nodes in fit.parents]


def test_units_and_offsets_do_not_matter() -> None:
    moments, log = draw(CHAIN, 400, 1)
    plain = fit_dcdi(moments, intercept=True, schedule=QUICK)
    assert parents(plain) == [0, 1, 2]
    moved = cf.Moments(CHAIN.names)
    for told in log:
        action = move(told.action, lambda value: 1000 * value + 7000)
        moved.add(action, 1000 * told.sample + 7000)
    other = fit_dcdi(moved, intercept=True, schedule=QUICK)
    np.testing.assert_allclose(other.probabilities, plain.probabilities, atol=1e-4)
    np.testing.assert_allclose(other.weights, plain.weights, atol=1e-3)


@pytest.mark.parametrize(("p", "n"), [(2, 20), (2, 200), (6, 200)])
def test_an_edge_without_a_direction_is_not_lost(p: int, n: int) -> None:
    """Observations favour neither direction of a strong edge; one of them must stay."""
    weights = np.zeros((p, p))
    weights[1, 0] = 1.2
    truth = cf.LinearSEM(weights, 1.0)
    found = 0
    for seed in range(10):
        moments = cf.Moments(truth.names)
        moments.add_many([cf.OBSERVE] * n, truth.sample(cf.OBSERVE, n, seed))
        fit = fit_dcdi(moments, intercept=False, rng=np.random.default_rng(seed))
        found += bool(fit.parents[1] & 1) or bool(fit.parents[0] & 2)
        assert fit.constraint <= 1e-8
    assert found >= 9


@pytest.mark.parametrize("unit", [1.0, 1e4])
def test_a_node_that_was_always_set_has_a_scale(unit: float) -> None:
    rng = np.random.default_rng(0)
    moments = cf.Moments(["a", "b"])
    for i in range(400):
        value = unit if i % 2 else -unit
        moments.add(cf.do("a", value), [value, 0.8 / unit * value + 0.5 * rng.normal()])
    fit = fit_dcdi(moments, intercept=False, schedule=QUICK)
    assert parents(fit) == [0, 1] and fit.weights[1, 0] * unit == pytest.approx(0.8, abs=0.1)


def test_the_belief_is_taken_on_the_way() -> None:
    truth = cf.random_sem(4, density=0.6, seed=3)
    moments, _ = draw(truth, 60, 3)
    for share in (0.9, 0.3):
        fit = fit_dcdi(moments, intercept=False, schedule=Schedule(belief_share=share))
        wide = fit_dcdi(moments, intercept=False, schedule=Schedule(belief_share=1.0))
        ratio = constraint(fit.belief) / constraint(wide.belief)
        assert 0.75 * share < ratio <= share * 1.02


@pytest.mark.parametrize(
    "options", [{"window": 0}, {"rate": math.nan}, {"rate": -1.0}, {"most": 0}]
)
def test_bad_schedules(options: dict[str, Any]) -> None:
    with pytest.raises(cf.InvalidInputError, match="must be a"):
        Schedule(**options)


def test_other_names_give_the_same_fit() -> None:
    truth = cf.random_sem(4, density=0.5, seed=2)
    moments, log = draw(truth, 300, 2)
    at = [2, 0, 3, 1]
    turned = cf.Moments([truth.names[i] for i in at])
    turned.add_many([told.action for told in log], np.array([t.sample[at] for t in log]))
    fits = [fit_dcdi(m, intercept=False, schedule=QUICK) for m in (moments, turned)]
    there = fits[0].probabilities[np.ix_(at, at)]
    np.testing.assert_allclose(fits[1].probabilities, there, atol=0.02)


def test_a_warm_start_reconsiders() -> None:
    """From a fit that is sure of the wrong direction, enough data lead to the right one."""
    truth = cf.LinearSEM([[0.0, 0.0], [0.8, 0.0]], 1.0)
    wrong = cf.LinearSEM([[0.0, 0.8], [0.0, 0.0]], 1.0)
    misled = fit_dcdi(draw(wrong, 500, 0)[0], intercept=False, schedule=QUICK)
    assert parents(misled) == [2, 0]
    again = fit_dcdi(draw(truth, 500, 1)[0], intercept=False, schedule=QUICK, start=misled)
    assert parents(again) == [0, 1]


def test_the_sampled_objective_finds_a_chain() -> None:
    moments, log = draw(CHAIN, 500, 3)
    fit = fit_dcdi_gumbel(
        log,
        moments,
        intercept=True,
        rng=np.random.default_rng(0),
        schedule=Schedule(rate=1e-2, first_mu=1e-3, window=25, most=30_000),
    )
    assert parents(fit) == [0, 1, 2]
    same = fit_dcdi_gumbel(
        log,
        moments,
        intercept=True,
        rng=np.random.default_rng(0),
        schedule=Schedule(rate=1e-2, first_mu=1e-3, window=25, most=30_000),
    )
    np.testing.assert_array_equal(same.probabilities, fit.probabilities)


def test_cycles_lose_their_weakest_edge() -> None:
    chance = np.array([[0.0, 0.9, 0.0], [0.0, 0.0, 0.8], [0.6, 0.4, 0.0]])
    assert acyclic_parents(chance).tolist() == [2, 4, 0]


def test_edges_on_no_cycle_are_kept_and_ties_go_one_by_one() -> None:
    chance = np.zeros((4, 4))
    chance[0, 1], chance[1, 0], chance[3, 2] = 0.9, 0.8, 0.6
    assert acyclic_parents(chance).tolist() == [2, 0, 0, 4]
    tied = acyclic_parents(np.full((3, 3), 0.7) - 0.7 * np.eye(3))
    assert sum(int(s).bit_count() for s in tied) == 3


def test_the_penalty_is_that_of_bic() -> None:
    """In the scale of the loss, an edge costs lambda / p^2: log(N) / 2N per p nodes."""
    assert edge_penalty(6, 400) / 36 == pytest.approx(math.log(400) / 800 / 6)
    assert edge_penalty(6, 0) > 0


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_samples_are_no_obstacle(n: int) -> None:
    moments, log = draw(CHAIN, n, 0)
    fit = fit_dcdi(moments, intercept=False, schedule=Schedule(most=2000))
    assert np.isfinite(fit.belief).all() and np.isfinite(fit.belief_weights).all()
    assert (fit.belief_variances > 0).all()
    if n == 0:
        with pytest.raises(cf.InvalidInputError, match="at least one sample"):
            fit_dcdi_gumbel(log, moments, intercept=False, rng=np.random.default_rng(0))
