"""Models with loops: against plain linear algebra, and against a system that is let run."""

import json
import math
import pickle
from itertools import chain, combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.system.graph import loops_of, reach_of

PAIR = cf.LinearSEM([[0, -0.5], [0.8, 0]], [1.0, 0.5], [1.0, 2.0], ["heat", "warmth"], loops=True)


def draw_loopy(p: int, seed: int, radius: float = 0.8) -> cf.LinearSEM:
    """Any weights, shrunk until their sizes have a spectral radius: then every part settles."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(p, p)) * (rng.random((p, p)) < 0.6)
    np.fill_diagonal(weights, 0.0)
    largest = np.abs(np.linalg.eigvals(np.abs(weights))).max()
    weights *= radius / largest if largest > 1e-3 else 1.0
    return cf.LinearSEM(weights, rng.uniform(0.5, 2.0, p), rng.normal(size=p), loops=True)


def some_actions(model: cf.LinearSEM) -> list[cf.Action]:
    """Every set of nodes, each set to a value of its own."""
    sets = chain.from_iterable(combinations(model.names, n) for n in range(model.p + 1))
    return [cf.do({name: 0.5 + len(name) - i for i, name in enumerate(names)}) for names in sets]


def inverse_of(model: cf.LinearSEM, action: cf.Action) -> tuple[Floats, Floats, Floats]:
    """(I - A')^-1 of all nodes in one piece, the constants, and the noise of the free ones."""
    weights, constants = model.weights.copy(), model.intercepts.copy()
    noise = model.noise_variances.copy()
    for name, value in action.settings:
        j = model.names.index(name)
        weights[j], constants[j], noise[j] = 0.0, value, 0.0
    inverse: Floats = np.asarray(np.linalg.inv(np.eye(model.p) - weights), dtype=np.float64)
    return inverse, constants, noise


@given(seed=st.integers(0, 10**6), p=st.integers(2, 5))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_moments_are_those_of_the_solved_equations(seed: int, p: int) -> None:
    model = draw_loopy(p, seed)
    for action in some_actions(model):
        inverse, constants, noise = inverse_of(model, action)
        found = model.moments(action)
        assert np.allclose(found.mean, inverse @ constants, rtol=1e-9, atol=1e-12)
        expected = inverse @ np.diag(noise) @ inverse.T
        assert np.allclose(found.covariance, expected, rtol=1e-9, atol=1e-12)
        prediction = model.predict(dict(action.settings))
        assert list(prediction.values()) == found.mean.tolist()
        assert all(prediction[name] == value for name, value in action.settings)


@given(seed=st.integers(0, 10**6), p=st.integers(2, 5))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_total_effects_are_slopes_of_what_setting_a_node_alone_does(seed: int, p: int) -> None:
    model = draw_loopy(p, seed)
    effects = model.total_effects()
    for k, name in enumerate(model.names):
        slope = model.moments(cf.do(name, 1.0)).mean - model.moments(cf.do(name, 0.0)).mean
        assert np.allclose(effects[:, k], slope, atol=1e-12)
    whole = np.linalg.inv(np.eye(p) - model.weights)
    assert np.allclose(effects, whole / np.diag(whole), atol=1e-9)


def test_total_effects_without_loops_are_sums_over_paths() -> None:
    model = cf.random_sem(6, density=0.5, seed=4)
    powers = [np.linalg.matrix_power(model.weights, n) for n in range(6)]
    assert np.allclose(model.total_effects(), np.sum(powers, axis=0), atol=1e-12)
    chain_of_three = cf.LinearSEM([[0, 0, 0], [2.0, 0, 0], [0.5, 3.0, 0]], 1.0, [1.0, 0, 0])
    assert chain_of_three.total_effects().tolist() == [[1, 0, 0], [2, 1, 0], [6.5, 3, 1]]
    assert chain_of_three.predict({}) == {"X1": 1.0, "X2": 2.0, "X3": 6.5}
    assert chain_of_three.predict({"X2": 0.0}) == {"X1": 1.0, "X2": 0.0, "X3": 0.5}


def test_effects_are_exactly_zero_where_there_is_no_way() -> None:
    """X1 and X2 act on each other and on X3, which acts on nothing."""
    model = cf.LinearSEM([[0, 0.3, 0], [0.7, 0, 0], [0.9, -0.1, 0]], 1.0, loops=True)
    assert (model.total_effects()[:2, 2] == 0.0).all()
    assert model.moments(cf.do("X1", 2.0)).covariance[0].tolist() == [0.0, 0.0, 0.0]


def test_samples_are_where_a_system_that_is_let_run_comes_to_rest() -> None:
    model = draw_loopy(5, 3)
    for action in (cf.OBSERVE, cf.do("X2", 3.0), cf.do({"X1": -1.0, "X4": 2.0})):
        samples = model.sample(action, 50, rng=8)
        noise = np.random.default_rng(8).standard_normal((50, 5)) * np.sqrt(model.noise_variances)
        state = np.zeros((50, 5))
        for _ in range(300):
            state = state @ model.weights.T + model.intercepts + noise
            for name, value in action.settings:
                state[:, model.names.index(name)] = value
        assert np.allclose(samples, state, atol=1e-9)
        for name, value in action.settings:
            assert (samples[:, model.names.index(name)] == value).all()


def test_samples_have_the_moments_they_should() -> None:
    for action in (cf.OBSERVE, cf.do("heat", 2.0)):
        samples, moments = PAIR.sample(action, 200_000, rng=1), PAIR.moments(action)
        assert np.allclose(samples.mean(axis=0), moments.mean, atol=0.02)
        assert np.allclose(np.cov(samples.T), moments.covariance, atol=0.02)
    assert PAIR.sample(n=0).shape == (0, 2)


def test_kl_equals_the_gaussian_formula_with_loops_on_either_side() -> None:
    for seed in range(12):
        one, other = draw_loopy(4, seed), draw_loopy(4, seed + 100)
        straight = cf.random_sem(4, density=0.7, seed=seed)
        for action in some_actions(one)[:-1]:
            rest = [i for i, name in enumerate(one.names) if name not in action.targets]
            for a, b in ((one, other), (one, straight), (straight, one)):
                here, there = a.moments(action), b.moments(action)
                cov, cov_b = (m.covariance[np.ix_(rest, rest)] for m in (here, there))
                shift = (there.mean - here.mean)[rest]
                inverse = np.linalg.inv(cov_b)
                logs = np.linalg.slogdet(cov_b)[1] - np.linalg.slogdet(cov)[1]
                kl = np.trace(inverse @ cov) + shift @ inverse @ shift - len(rest) + logs
                assert a.kl(b, action) == pytest.approx(0.5 * kl, rel=1e-8, abs=1e-9)
        assert one.kl(one) == 0.0
        everything = some_actions(one)[-1]
        assert one.kl(other, everything) == 0.0


def test_whether_it_settles_is_a_question_of_the_action() -> None:
    """The two loops of X2, gains 1.5 and -1.2, hold each other; without X3 the first runs away."""
    weights = [[0.0, 1.5, 0.0], [1.0, 0.0, -1.2], [0.0, 1.0, 0.0]]
    model = cf.LinearSEM(weights, 1.0, loops=True)
    assert model.is_stable()
    assert not model.is_stable(cf.do("X3", 0.0))
    assert model.is_stable(cf.do({"X1": 0.0, "X3": 1.0})) and model.is_stable(cf.do("X2", 1.0))
    words = r"does not settle under do\(X3 = 0\): .* among X1, X2, .* radius 1.22474"
    for ask in (model.sample, model.moments):
        with pytest.raises(cf.InvalidInputError, match=words):
            ask(cf.do("X3", 0.0))
    with pytest.raises(cf.InvalidInputError, match=words):
        model.predict({"X3": 0.0})
    with pytest.raises(cf.InvalidInputError, match="does not settle under do"):
        model.total_effects()
    calm = cf.LinearSEM(np.zeros((3, 3)), 1.0)
    for one, other in ((model, calm), (calm, model)):
        with pytest.raises(cf.InvalidInputError, match="does not settle"):
            one.kl(other, cf.do("X3", 0.0))


@pytest.mark.parametrize(("weight", "settles"), [(0.999, True), (1.0, False), (-1.001, False)])
def test_the_limit_is_a_gain_of_one(weight: float, settles: bool) -> None:
    assert cf.LinearSEM([[0, weight], [1.0, 0]], 1.0, loops=True).is_stable() is settles


def test_nodes_on_no_loop_never_make_a_system_unstable() -> None:
    """Large weights along a long path have eigenvalues of zero, which rounding must not move."""
    p = 30
    weights = 50.0 * np.tril(np.ones((p, p)), -1)
    weights[0, p - 1] = 1.0
    model = cf.LinearSEM(weights, 1.0, loops=True)
    assert not model.is_stable()
    assert model.is_stable(cf.do("X30", 0.0)) and model.is_stable(cf.do("X1", 0.0))
    assert cf.LinearSEM(np.tril(weights), 1.0).is_stable()
    weights[0, p - 1] = 0.0
    weights[0, 1], weights[1, 0] = 0.5, 0.5
    weights[p - 2, p - 1], weights[p - 1, p - 2] = 0.5, 0.5
    between_two_loops = cf.LinearSEM(weights, 1.0, loops=True)
    assert np.abs(np.linalg.eigvals(weights)).max() > 1.0  # what rounding makes of it in one piece
    assert between_two_loops.is_stable()


def test_loops_must_be_asked_for_and_nothing_acts_on_itself() -> None:
    cycle = [[0, 0.5], [0.5, 0]]
    with pytest.raises(cf.InvalidInputError, match="feedback with loops=True"):
        cf.LinearSEM(cycle, 1.0)
    with pytest.raises(cf.InvalidInputError, match="loops must be True or False, got 'yes'"):
        cf.LinearSEM(cycle, 1.0, loops="yes")  # type: ignore[call-overload]
    for loops in (True, False):
        with pytest.raises(cf.InvalidInputError, match=r"X2 -> X2, 0.5. .* by 1 - 0.5"):
            cf.LinearSEM([[0, 0.5], [0.5, 0.5]], 1.0, loops=loops)


def test_a_self_loop_is_the_same_system_without_it() -> None:
    """What the message on self-loops advises, let run."""
    own, weight, constant, noise = 0.4, 0.9, 1.5, 0.3
    x = y = 0.0
    for _ in range(200):
        x, y = own * x + weight * y + constant + noise, 2.0
    solved = cf.LinearSEM(
        [[0, weight / (1 - own)], [0, 0]], 1.0, [(constant + noise) / (1 - own), 0.0]
    )
    assert solved.predict({"X2": 2.0})["X1"] == pytest.approx(x)


def test_a_model_with_loops_has_no_order() -> None:
    with pytest.raises(cf.InvalidInputError, match="loop heat -> warmth -> heat: no order"):
        _ = PAIR.order
    fitted = cf.LinearSEM.from_fit(
        PAIR.weights.copy(), PAIR.noise_variances, PAIR.intercepts, PAIR.names
    )
    assert fitted.has_loops and fitted == PAIR
    with pytest.raises(cf.InvalidInputError, match="no order"):
        _ = fitted.order
    assert not cf.random_sem(5, density=1.0, seed=1).has_loops


def test_permission_is_not_a_property() -> None:
    allowed = cf.LinearSEM([[0, 0], [0.5, 0]], 1.0, loops=True)
    plain = cf.LinearSEM([[0, 0], [0.5, 0]], 1.0)
    assert not allowed.has_loops and allowed == plain and hash(allowed) == hash(plain)
    assert allowed.order.tolist() == [0, 1] and allowed.to_dict() == plain.to_dict()
    assert np.array_equal(allowed.sample(n=4, rng=1), plain.sample(n=4, rng=1))
    assert "loops" not in plain.to_dict()


def test_there_and_back() -> None:
    written = json.loads(json.dumps(PAIR.to_dict()))
    assert written["loops"] is True and cf.LinearSEM.from_dict(written) == PAIR
    with pytest.raises(cf.InvalidInputError, match="loops=True"):
        cf.LinearSEM.from_dict({k: v for k, v in written.items() if k != "loops"})
    graph = PAIR.to_networkx()
    assert set(nx.simple_cycles(graph).__next__()) == {"heat", "warmth"}
    assert cf.LinearSEM.from_networkx(graph) == PAIR
    with pytest.raises(cf.InvalidInputError, match="cycle"):
        cf.LinearSEM.from_networkx(graph, loops=False)
    assert pickle.loads(pickle.dumps(PAIR)) == PAIR  # noqa: S301
    again = cf.LinearSEM.from_adjacency(
        PAIR.to_adjacency(), PAIR.noise_variances, PAIR.intercepts, PAIR.names, loops=True
    )
    assert again == PAIR and PAIR.relabel(["warmth", "heat"]).relabel(PAIR.names) == PAIR
    assert PAIR.to_frame().loc["warmth", "heat"] == 0.8
    assert len(PAIR.to_edge_frame()) == 2
    assert "2 nodes with loops" in repr(PAIR)
    assert PAIR.equations().splitlines() == [
        "heat   = -0.5 warmth + 1 + N(0, 1)",
        "warmth = 0.8 heat + 2 + N(0, 0.5)",
    ]


def test_shd_counts_both_edges_of_a_loop() -> None:
    one_way = cf.LinearSEM([[0, 0], [0.8, 0]], 1.0, names=PAIR.names)
    other_way = cf.LinearSEM([[0, 0.8], [0, 0]], 1.0, names=PAIR.names)
    nothing = cf.LinearSEM(np.zeros((2, 2)), 1.0, names=PAIR.names)
    assert PAIR.shd(nothing) == nothing.shd(PAIR) == 2
    assert PAIR.shd(one_way) == PAIR.shd(other_way) == one_way.shd(PAIR) == 1
    assert one_way.shd(other_way) == one_way.shd(nothing) == 1


@given(seed=st.integers(0, 10**6), p=st.integers(1, 7), density=st.floats(0.05, 0.5))
@settings(max_examples=80, deadline=None, derandomize=True)
def test_loops_are_the_strong_components(seed: int, p: int, density: float) -> None:
    has_edge = np.random.default_rng(seed).random((p, p)) < density
    np.fill_diagonal(has_edge, val=False)
    graph = nx.DiGraph([(int(k), int(j)) for j, k in np.argwhere(has_edge)])
    expected = {frozenset(c) for c in nx.strongly_connected_components(graph) if len(c) > 1}
    assert {frozenset(loop.tolist()) for loop in loops_of(has_edge)} == expected
    model = cf.LinearSEM(0.1 * has_edge, 1.0, loops=True)
    assert model.has_loops is bool(expected)
    graph.add_nodes_from(range(p))
    for j in range(p):
        causes = set(np.flatnonzero(reach_of(has_edge)[j]).tolist())
        assert causes - {j} == nx.ancestors(graph, j)


def test_one_stable_loop_by_hand() -> None:
    """heat = 1 - 0.5 warmth, warmth = 2 + 0.8 heat: both 0 and 2; a unit of heat ends as 1/1.4."""
    assert PAIR.predict({}) == pytest.approx({"heat": 0.0, "warmth": 2.0})
    assert PAIR.total_effects() == pytest.approx(np.array([[1.0, -0.5], [0.8, 1.0]]))
    assert PAIR.moments().covariance[0, 0] == pytest.approx((1.0 + 0.25 * 0.5) / 1.4**2)
    assert math.isclose(PAIR.kl(PAIR, cf.do("heat", 1.0)), 0.0)


@pytest.mark.parametrize("n_loops", [1, 2, 3])
def test_systems_drawn_with_loops_settle_whatever_is_set(n_loops: int) -> None:
    for seed in range(40):
        plain = cf.random_sem(5, density=0.5, seed=seed, intercept_range=(-1, 1))
        if plain.n_edges < n_loops:
            continue
        model = cf.random_sem(5, density=0.5, seed=seed, intercept_range=(-1, 1), n_loops=n_loops)
        assert model.has_loops and model.n_edges == plain.n_edges + n_loops
        is_kept = plain.weights != 0
        assert np.array_equal(model.weights[is_kept], plain.weights[is_kept])
        assert np.array_equal(model.intercepts, plain.intercepts)
        sizes = np.abs(model.weights[model.weights != 0])
        assert sizes.min() >= 0.15 and sizes.max() <= 1.5
        assert all(model.is_stable(action) for action in some_actions(model))
        assert np.abs(np.linalg.eigvals(np.abs(model.weights))).max() < 1.0
        again = cf.random_sem(5, density=0.5, seed=seed, intercept_range=(-1, 1), n_loops=n_loops)
        assert again == model


def test_loops_that_cannot_be_closed_are_refused() -> None:
    with pytest.raises(cf.InvalidInputError, match="Ask for fewer loops, for more edges"):
        cf.random_sem(4, density=0.0, seed=1, n_loops=1)
    with pytest.raises(cf.InvalidInputError, match="number of loops must be 0 or more, got -1"):
        cf.random_sem(4, density=0.5, seed=1, n_loops=-1)
