"""Models: distributions, divergences, words and formats."""

import itertools
import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causalfocus as cf
from causalfocus.arrays import Floats
from instances import draw_member, model_class
from worlds import action_set


def gaussian_kl(mean_a: Floats, cov_a: Floats, mean_b: Floats, cov_b: Floats) -> float:
    """The textbook formula for two multivariate normals."""
    inverse = np.linalg.inv(cov_b)
    shift = mean_b - mean_a
    trace = np.trace(inverse @ cov_a)
    logdet = np.linalg.slogdet(cov_b)[1] - np.linalg.slogdet(cov_a)[1]
    return 0.5 * float(trace + shift @ inverse @ shift - len(shift) + logdet)


def free_part(model: cf.LinearSEM, action: cf.Action) -> tuple[Floats, Floats]:
    """Mean and covariance of the nodes that are not set."""
    moments = model.moments(action)
    rest = [i for i, name in enumerate(model.names) if name != action.target]
    return moments.mean[rest], moments.covariance[np.ix_(rest, rest)]


@given(seed=st.integers(0, 10**6), p=st.integers(1, 6))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_kl_equals_the_gaussian_formula(seed: int, p: int) -> None:
    rng = np.random.default_rng(seed)
    space = model_class("paper", intercept=True)
    one, other = draw_member(p, space, rng), draw_member(p, space, rng)
    for action in action_set(one.names):
        if p == 1 and not action.is_observation:
            assert one.kl(other, action) == 0.0
            continue
        expected = gaussian_kl(*free_part(one, action), *free_part(other, action))
        assert one.kl(other, action) == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_kl_of_a_model_from_itself_is_exactly_zero() -> None:
    model = cf.random_sem(6, density=0.6, seed=1)
    assert all(model.kl(model, action) == 0.0 for action in action_set(model.names))


def test_kl_of_nearly_equal_models_keeps_its_digits() -> None:
    """With b off by d under do(X1 = 2) the divergence is 2 d^2, far below its parts' rounding."""
    model = cf.LinearSEM([[0.0, 0.0], [0.5, 0.0]], 1.0)
    near = cf.LinearSEM([[0.0, 0.0], [0.5 + 2.0**-30.0, 0.0]], 1.0)
    assert model.kl(near, cf.do("X1", 2.0)) == pytest.approx(2 * 2.0**-60, rel=1e-12)


def test_kl_is_a_convex_quadratic_of_the_value_that_is_set() -> None:
    """Proposition endpoint_reduction: an interior value never tells more than both ends."""
    rng = np.random.default_rng(3)
    space = model_class("paper", intercept=True)
    for _ in range(20):
        one, other = draw_member(4, space, rng), draw_member(4, space, rng)
        for name in one.names:
            low, mid, high = (one.kl(other, cf.do(name, v)) for v in (-2.0, 0.5, 2.0))
            share = (0.5 + 2.0) / 4.0
            assert mid <= (1 - share) * low + share * high + 1e-12


def test_sampling_has_the_moments_it_should() -> None:
    model = cf.LinearSEM(
        [[0.0, 0.0, 0.0], [0.8, 0.0, 0.0], [-0.5, 1.2, 0.0]], [1.0, 0.5, 2.0], [1.0, -2.0, 0.3]
    )
    for action in (cf.OBSERVE, cf.do("X2", 3.0)):
        samples = model.sample(action, 200_000, rng=1)
        moments = model.moments(action)
        assert np.allclose(samples.mean(axis=0), moments.mean, atol=0.02)
        assert np.allclose(np.cov(samples.T), moments.covariance, atol=0.06)
    assert np.all(model.sample(cf.do("X2", 3.0), 10, rng=1)[:, 1] == 3.0)


def test_moments_by_hand() -> None:
    """X2 = 2 X1 + 1 + noise; under do(X1 = 3) its mean is 7 and only its own noise is left."""
    model = cf.LinearSEM([[0.0, 0.0], [2.0, 0.0]], [1.0, 0.25], [0.5, 1.0])
    seen = model.moments()
    assert seen.mean.tolist() == [0.5, 2.0]
    assert seen.covariance.tolist() == [[1.0, 2.0], [2.0, 4.25]]
    assert seen.second_moment.tolist() == [[1.25, 3.0], [3.0, 8.25]]
    done = model.moments(cf.do("X1", 3.0))
    assert done.mean.tolist() == [3.0, 7.0]
    assert done.covariance.tolist() == [[0.0, 0.0], [0.0, 0.25]]


def test_sampling_is_a_function_of_the_seed() -> None:
    model = cf.random_sem(4, density=0.5, seed=0)
    assert np.array_equal(model.sample(n=5, rng=3), model.sample(n=5, rng=3))
    assert not np.array_equal(model.sample(n=5, rng=3), model.sample(n=5, rng=4))


def test_equations_read_like_equations() -> None:
    model = cf.LinearSEM(
        [[0.0, 0.0, 0.0], [-0.5, 0.0, 0.0], [1.25, -2.0, 0.0]],
        [1, 0.5, 2],
        [0, -3, 0.1],
        ["a", "bb", "c"],
    )
    assert model.equations().splitlines() == [
        "a  = N(0, 1)",
        "bb = -0.5 a - 3 + N(0, 0.5)",
        "c  = 1.25 a - 2 bb + 0.1 + N(0, 2)",
    ]


def test_orientation_is_effect_then_cause() -> None:
    model = cf.LinearSEM([[0.0, 0.7], [0.0, 0.0]], 1.0, names=["effect", "cause"])
    assert model.edges == (("cause", "effect", 0.7),)
    assert model.parents("effect") == ("cause",)
    assert model.order.tolist() == [1, 0]
    assert "weights[effect, cause]" in repr(model)
    assert model.to_adjacency()[1, 0] == 0.7
    assert cf.LinearSEM.from_adjacency(model.to_adjacency(), 1.0, names=model.names) == model


def test_json_there_and_back() -> None:
    model = cf.random_sem(5, density=0.6, seed=9, intercept_range=(-1, 1))
    again = cf.LinearSEM.from_dict(json.loads(json.dumps(model.to_dict())))
    assert again == model and hash(again) == hash(model)
    assert cf.LinearSEM.from_dict({"weights": [[0.0]], "noise_variances": [1.0]}).names == ("X1",)


def test_networkx_and_pandas() -> None:
    model = cf.random_sem(5, density=0.5, seed=2, intercept_range=(-1, 1))
    graph = model.to_networkx()
    assert nx.is_directed_acyclic_graph(graph)
    assert {(u, v, d["weight"]) for u, v, d in graph.edges(data=True)} == set(model.edges)
    assert cf.LinearSEM.from_networkx(graph) == model
    frame = model.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert (frame.index.name, frame.columns.name) == ("effect", "cause")
    for cause, effect, weight in model.edges:
        assert frame.loc[effect, cause] == weight
    assert model.to_edge_frame().to_numpy().tolist() == [list(edge) for edge in model.edges]


def test_a_bare_graph_lacks_what_a_model_needs() -> None:
    with pytest.raises(cf.InvalidInputError, match="edge a -> b has no attribute 'weight'"):
        cf.LinearSEM.from_networkx(nx.DiGraph([("a", "b")]))


def test_shd_counts_a_reversal_once() -> None:
    def graph(*edges: tuple[int, int]) -> cf.LinearSEM:
        weights = np.zeros((3, 3))
        for effect, cause in edges:
            weights[effect, cause] = 1.0
        return cf.LinearSEM(weights, 1.0)

    truth = graph((1, 0), (2, 1))
    assert truth.shd(graph((1, 0), (2, 1))) == 0
    assert truth.shd(graph((0, 1), (2, 1))) == 1
    assert truth.shd(graph((1, 0))) == 1
    assert truth.shd(graph((1, 0), (2, 1), (2, 0))) == 1
    assert truth.shd(graph((0, 1), (0, 2))) == 3


def test_models_do_not_change() -> None:
    model = cf.random_sem(3, density=0.5, seed=0)
    with pytest.raises(ValueError, match="read-only"):
        model.weights[0, 1] = 1.0
    weights = np.zeros((2, 2))
    own = cf.LinearSEM(weights, 1.0)
    weights[1, 0] = 5.0
    assert own.n_edges == 0


@pytest.mark.parametrize(("p", "density"), [(5, 0.3), (6, 0.5), (7, 0.0), (4, 1.0), (1, 0.5)])
def test_random_systems_follow_the_papers_settings(p: int, density: float) -> None:
    draws = [cf.random_sem(p, density=density, seed=seed) for seed in range(200)]
    assert all(cf.PAPER_CLASS.contains(model) for model in draws)
    n_pairs = p * (p - 1) // 2
    mean = float(np.mean([model.n_edges for model in draws]))
    spread = 4 * (n_pairs * density * (1 - density) / 200) ** 0.5
    assert abs(mean - n_pairs * density) <= spread
    again = cf.random_sem(p, density=density, seed=7)
    assert again == draws[7]


def test_random_systems_use_every_order_and_sign() -> None:
    draws = [cf.random_sem(3, density=1.0, seed=seed) for seed in range(120)]
    orders = {tuple(model.order.tolist()) for model in draws}
    assert orders == set(itertools.permutations(range(3)))
    weights = np.concatenate([model.weights[model.weights != 0] for model in draws])
    assert 0.4 < np.mean(weights > 0) < 0.6


def test_relabelled_is_the_same_system() -> None:
    model = cf.random_sem(4, density=0.8, seed=3)
    other = model.relabel(["X3", "X1", "X4", "X2"])
    assert set(other.edges) == set(model.edges)
    assert other.relabel(model.names) == model
