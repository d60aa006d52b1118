"""The posterior over DAGs against lists of all DAGs, textbook densities and counts."""

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import causalfocus as cf
from causalfocus.arrays import Floats, Ints
from causalfocus.baselines import DagPosterior, Prior
from causalfocus.baselines.kernels import local_scores, ordered_draws
from causalfocus.kernels.arithmetic.sets import as_mask
from causalfocus.kernels.posterior import layers
from literal.all_dags import Dag, enumerate_dags
from worlds import action_set, draw_samples

Samples = tuple[list[cf.Action], Floats]
PRIOR = Prior(effect_variance=0.7, noise_shape=2.0, noise_scale=1.3, edge_odds=0.6)


def draw(p: int, n: int, seed: int, *, offset: float = 0.0) -> tuple[cf.Moments, Samples]:
    rng = np.random.default_rng(seed)
    truth = cf.random_sem(p, density=0.5, seed=seed, intercept_range=(-offset, offset))
    taken, samples = draw_samples(truth, n, rng)
    moments = cf.Moments(truth.names)
    moments.add_many(taken, samples)
    return moments, (taken, samples)


def own_rows(moments: cf.Moments, data: Samples, node: int) -> Floats:
    taken, samples = data
    is_own = [action.target != moments.names[node] for action in taken]
    return samples[is_own]


def textbook_score(x: Floats, Z: Floats, variances: Floats, prior: Prior) -> float:
    """Marginally the samples of a node are multivariate t."""
    if len(x) == 0:
        return 0.0
    shape = np.eye(len(x)) + (Z * variances) @ Z.T
    scale = prior.noise_scale / prior.noise_shape * shape
    t = stats.multivariate_t(np.zeros(len(x)), scale, df=2 * prior.noise_shape)
    return float(t.logpdf(x))


def textbook_scores(
    moments: cf.Moments, data: Samples, prior: Prior, *, intercept: bool
) -> dict[tuple[int, frozenset[int]], float]:
    p = len(moments.names)
    own = [own_rows(moments, data, j) for j in range(p)]
    fullest = max(own, key=len)
    origin = np.zeros(p)
    if intercept and len(fullest):
        origin = np.array([(x if len(x) else fullest)[:, j].mean() for j, x in enumerate(own)])
    found = {}
    for j in range(p):
        others = [k for k in range(p) if k != j]
        for r in range(p):
            for parents in itertools.combinations(others, r):
                rows = own[j] - origin
                Z, variances = rows[:, list(parents)], [prior.effect_variance] * r
                if intercept:
                    Z = np.column_stack([Z, np.ones(len(rows))])
                    variances = [*variances, prior.constant_variance]
                score = textbook_score(rows[:, j], Z, np.array(variances), prior)
                found[j, frozenset(parents)] = score + r * math.log(prior.edge_odds)
    return found


def mask_of(parents: frozenset[int], j: int) -> int:
    return int(as_mask(sum(1 << k for k in parents), j))


@pytest.mark.parametrize(("p", "n_dags"), [(1, 1), (2, 3), (3, 25), (4, 543), (5, 29281)])
def test_unit_weights_count_all_dags(p: int, n_dags: int) -> None:
    if p < 5:
        assert n_dags == len(enumerate_dags(p))
    posterior = DagPosterior(cf.Moments([f"X{i}" for i in range(p)]), intercept=False)
    assert math.exp(posterior.log_evidence) == pytest.approx(n_dags, rel=1e-12)


def test_unit_weights_count_all_dags_of_six_and_seven_nodes() -> None:
    for p, n_dags in ((6, 3781503), (7, 1138779265)):
        posterior = DagPosterior(cf.Moments([f"X{i}" for i in range(p)]), intercept=False)
        assert math.exp(posterior.log_evidence) == pytest.approx(n_dags, rel=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("n", [0, 1, 3, 25])
def test_local_scores_are_multivariate_t(n: int, intercept: bool) -> None:
    moments, data = draw(4, n, seed=n, offset=3.0 if intercept else 0.0)
    posterior = DagPosterior(moments, intercept=intercept, prior=PRIOR)
    expected = textbook_scores(moments, data, PRIOR, intercept=intercept)
    for (j, parents), score in expected.items():
        assert posterior.log_scores[j, mask_of(parents, j)] == pytest.approx(score, rel=1e-9)


def log_weights(scores: dict[tuple[int, frozenset[int]], float], p: int) -> Floats:
    return np.array([sum(scores[j, S] for j, S in enumerate(dag)) for dag in enumerate_dags(p)])


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("n", [2, 40])
def test_the_posterior_is_that_of_brute_force(n: int, intercept: bool) -> None:
    p = 4
    moments, data = draw(p, n, seed=n)
    posterior = DagPosterior(moments, intercept=intercept, prior=PRIOR)
    weights = log_weights(textbook_scores(moments, data, PRIOR, intercept=intercept), p)
    assert posterior.log_evidence == pytest.approx(logsumexp(weights), rel=1e-10)
    shares = np.exp(weights - logsumexp(weights))
    edges = np.zeros((p, p))
    for share, dag in zip(shares, enumerate_dags(p), strict=True):
        for j, parents in enumerate(dag):
            edges[j, list(parents)] += share
    np.testing.assert_allclose(posterior.edge_probabilities, edges, atol=1e-9)
    best = enumerate_dags(p)[int(weights.argmax())]
    assert [int(s) for s in posterior.likeliest] == [sum(1 << k for k in S) for S in best]


def as_dag(parents: Ints, p: int) -> Dag:
    return tuple(frozenset(k for k in range(p) if (int(s) >> k) & 1) for s in parents)


def table_of(scores: Floats, p: int) -> dict[tuple[int, frozenset[int]], float]:
    return {
        (j, S): scores[j, mask_of(S, j)] for dag in enumerate_dags(p) for j, S in enumerate(dag)
    }


@pytest.mark.parametrize("scale", [1.0, 3000.0])
def test_draws_come_as_often_as_they_should(scale: float) -> None:
    """Scores thousands of nats apart too, where the best families of all nodes form cycles."""
    p, n = 3, 20_000
    scores = np.random.default_rng(5).normal(size=(p, 4)) * scale
    sums = layers.family_sums(scores)
    total, ways = layers.ways_on(sums, scores[:, 0].copy())
    weights = log_weights(table_of(scores, p), p)
    assert total == pytest.approx(logsumexp(weights), rel=1e-12)
    drawn = layers.drawn_graphs(scores, sums, ways, np.random.default_rng(1).random((n, 2 * p)))
    counts = dict.fromkeys(enumerate_dags(p), 0)
    for parents in drawn:
        counts[as_dag(parents, p)] += 1
    expected = n * np.exp(weights - logsumexp(weights))
    rare = expected < 5
    observed = np.array(list(counts.values()))
    assert observed[rare].sum() <= expected[rare].sum() + 5 * math.sqrt(expected[rare].sum() + 1)
    if (~rare).sum() > 1:
        chi = ((observed - expected)[~rare] ** 2 / expected[~rare]).sum()
        assert stats.chi2.sf(chi, (~rare).sum() - 1) > 1e-4


def test_family_marginals_of_random_weights() -> None:
    p = 4
    scores = np.random.default_rng(2).normal(size=(p, 8)) * 3
    sums = layers.family_sums(scores)
    _, ways = layers.ways_on(sums, scores[:, 0].copy())
    weights = log_weights(table_of(scores, p), p)
    shares = np.exp(weights - logsumexp(weights))
    expected = np.zeros_like(scores)
    for share, dag in zip(shares, enumerate_dags(p), strict=True):
        for j, parents in enumerate(dag):
            expected[j, mask_of(parents, j)] += share
    np.testing.assert_allclose(layers.family_marginals(scores, sums, ways), expected, atol=1e-12)


def test_linear_extensions_are_the_orders_that_fit() -> None:
    for dag in enumerate_dags(4)[::17]:
        sets = np.array([sum(1 << k for k in S) for S in dag])
        fits = sum(
            all(order.index(k) < order.index(j) for j, S in enumerate(dag) for k in S)
            for order in itertools.permutations(range(4))
        )
        assert ordered_draws.linear_extensions(sets) == fits


def test_draws_by_way_of_orders_agree_with_exact_ones() -> None:
    moments, _ = draw(5, 30, seed=4)
    exact = DagPosterior(moments, intercept=False)
    by_order = DagPosterior(moments, intercept=False, exact=False)
    assert exact.is_exact and not by_order.is_exact
    np.testing.assert_allclose(by_order.edge_probabilities, exact.edge_probabilities, atol=0.04)
    graphs = by_order.draw_graphs(3000, np.random.default_rng(0))
    has_edge = (graphs[:, :, None] >> np.arange(5)) & 1
    np.testing.assert_allclose(has_edge.mean(axis=0), exact.edge_probabilities, atol=0.05)


def test_without_the_correction_draws_by_way_of_orders_would_be_off() -> None:
    """The test above can fail: uncorrected draws favour graphs that fit many orders."""
    posterior = DagPosterior(cf.Moments(["a", "b", "c"]), intercept=False, exact=False)
    within, found = posterior._orders
    drawn = ordered_draws.drawn_by_order(
        posterior.log_scores, within, found, np.random.default_rng(0).random((4000, 6))
    )
    share_of_empty = (drawn == 0).all(axis=1).mean()
    assert share_of_empty == pytest.approx(6 / 48, abs=0.02)  # 6 orders, 8 graphs each
    graphs = posterior.draw_graphs(4000, np.random.default_rng(1))
    assert (graphs == 0).all(axis=1).mean() == pytest.approx(1 / 25, abs=0.02)


def test_eight_nodes_and_more_come_by_way_of_orders() -> None:
    truth = cf.random_sem(9, density=0.2, seed=3)
    weights = dict.fromkeys(action_set(truth.names), 60.0)
    posterior = DagPosterior(cf.Moments.expected(truth, weights), intercept=False)
    assert not posterior.is_exact
    expected = truth.weights != 0
    np.testing.assert_allclose(posterior.edge_probabilities[expected], 1.0, atol=0.1)
    assert posterior.edge_probabilities[~expected].max() < 0.5
    models = posterior.draw_models(20, np.random.default_rng(0))
    assert models.weights.shape == (20, 9, 9) and np.isfinite(models.weights).all()


def test_without_samples_all_dags_are_equally_likely() -> None:
    """Of the 25 DAGs on three nodes, 8 have a given edge."""
    posterior = DagPosterior(cf.Moments(["a", "b", "c"]), intercept=True)
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(posterior.edge_probabilities[off], 8 / 25)
    assert (posterior.likeliest == 0).all()


def test_what_a_node_was_set_to_does_not_bear_on_its_own_row() -> None:
    base, other = cf.Moments(["a", "b"]), cf.Moments(["a", "b"])
    for moments, value in ((base, 2.0), (other, -7.0)):
        moments.add(cf.OBSERVE, [0.3, 0.4])
        moments.add(cf.do("a", value), [value, 1.0])
    scores = [DagPosterior(m, intercept=False).log_scores for m in (base, other)]
    np.testing.assert_array_equal(scores[0][0], scores[1][0])
    assert (scores[0][1] != scores[1][1]).any()


def test_parameters_are_drawn_from_the_textbook_posterior() -> None:
    moments, data = draw(3, 30, seed=8)
    posterior = DagPosterior(moments, intercept=False, prior=PRIOR)
    rows = own_rows(moments, data, 2)
    Z, x = rows[:, [0, 1]], rows[:, 2]
    precision = np.eye(2) / PRIOR.effect_variance + Z.T @ Z
    mean = np.linalg.solve(precision, Z.T @ x)
    a = PRIOR.noise_shape + len(x) / 2
    b = PRIOR.noise_scale + 0.5 * (x @ x - mean @ precision @ mean)
    n = 40_000
    rng = np.random.default_rng(0)
    parents = np.tile(np.array([0, 0, 0b011]), (n, 1))
    shapes = PRIOR.noise_shape + posterior.counts / 2
    noise = rng.standard_normal((n, 3, 3)), rng.standard_gamma(shapes, (n, 3))
    weights, variances, constants = local_scores.drawn_parameters(
        posterior.grams, posterior.counts, parents, PRIOR.as_record, noise
    )
    covariance = b / (a - 1) * np.linalg.inv(precision)
    np.testing.assert_allclose(weights[:, 2, :2].mean(axis=0), mean, atol=0.01)
    np.testing.assert_allclose(np.cov(weights[:, 2, :2].T), covariance, rtol=0.1, atol=1e-3)
    assert variances[:, 2].mean() == pytest.approx(b / (a - 1), rel=0.02)
    assert not weights[:, :2].any() and not constants.any()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("intercept", [False, True])
def test_any_scale_gives_numbers(scale: float, intercept: bool) -> None:
    moments = cf.Moments(["a", "b", "c"])
    rng = np.random.default_rng(0)
    for _ in range(30):
        moments.add(cf.OBSERVE, rng.normal(size=3) * scale)
    moments.add(cf.do("a", scale), [scale, 0.0, 0.0])
    posterior = DagPosterior(moments, intercept=intercept)
    models = posterior.draw_models(50, rng)
    for part in (posterior.log_scores, posterior.edge_probabilities, models.weights):
        assert np.isfinite(part).all()
    assert (models.variances > 0).all()
    assert (posterior.edge_probabilities <= 1 + 1e-12).all()


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e9])
def test_collinear_variables_get_no_reward(scale: float) -> None:
    """b is twice a, c is on its own; against the formula in a hundred digits."""
    rng = np.random.default_rng(1)
    a, c = rng.normal(size=30) * scale, rng.normal(size=30) * scale
    moments = cf.Moments(["a", "b", "c"])
    for x, z in zip(a, c, strict=True):
        moments.add(cf.OBSERVE, [x, 2 * x, z])
    posterior = DagPosterior(moments, intercept=False)
    with mpmath.workdps(100):
        exact = [mpmath.mpf(0)] * 4
        x, y = [mpmath.mpf(v) for v in a], [mpmath.mpf(v) for v in c]
        g, h, total = (
            sum(u * v for u, v in zip(p, q, strict=True)) for p, q in ((x, x), (x, y), (y, y))
        )
        for mask, ratio in ((0, 0), (1, 1), (2, 4), (3, 5)):
            # Regressors that are multiples of one act as it, with a prior of the summed variance.
            precision = 1 + ratio * g
            b = mpmath.mpf("1.5") + (total - ratio * h**2 / precision) / 2
            exact[mask] = -mpmath.log(precision) / 2 - (mpmath.mpf("1.5") + 15) * mpmath.log(b)
    found = posterior.log_scores[2] - posterior.log_scores[2, 0]
    for mask in range(4):
        expected = float(exact[mask] - exact[0])
        # Where the pivot is lost in rounding it can only come out too large, never too small.
        assert found[mask] == pytest.approx(expected, abs=1e-6 if scale == 1.0 else 5.0)
        assert found[mask] < expected + 1.0
    assert np.isfinite(posterior.draw_models(50, rng).weights).all()


@pytest.mark.parametrize("offset", [0.0, 100.0, 1e5])
def test_a_node_that_was_always_set_is_seen_about_its_mean(offset: float) -> None:
    rng = np.random.default_rng(0)
    moments = cf.Moments(["a", "b"])
    for i in range(60):
        value = offset + (1 if i % 2 else -1)
        moments.add(cf.do("a", value), [value, 0.8 * (value - offset) + 0.5 * rng.normal()])
    posterior = DagPosterior(moments, intercept=True)
    assert posterior.edge_probabilities[1, 0] > 0.99
    models = posterior.draw_models(200, rng)
    assert models.weights[:, 1, 0].mean() == pytest.approx(0.8, abs=0.25)


def test_the_sum_over_all_dags_is_for_few_nodes() -> None:
    many = DagPosterior(cf.Moments([f"X{i}" for i in range(9)]), intercept=False)
    with pytest.raises(cf.InvalidInputError, match="7 nodes or less; there are 9"):
        _ = many.log_evidence


@pytest.mark.parametrize("field", ["effect_variance", "noise_shape", "edge_odds"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, "x"])
def test_bad_priors(field: str, value: Any) -> None:
    with pytest.raises(cf.InvalidInputError, match=f"{field} of a prior must be a positive"):
        Prior(**{field: value})


def test_priors_whose_draws_would_overflow_are_refused() -> None:
    with pytest.raises(cf.InvalidInputError, match=r"0\.1 or more, got 0\.01"):
        Prior(noise_shape=0.01)
