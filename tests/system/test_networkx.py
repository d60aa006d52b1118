"""Models to networkx and back, and graphs of others."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causalfocus as cf

ROOM = cf.LinearSEM(
    [[0, -0.5, 0], [0.8, 0, 0], [0, 0.3, 0]],
    [0.5, 1.0, 2.0],
    [1.0, 0.0, -3.0],
    names=["heat", "warmth", "bill"],
    loops=True,
)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(0, 10**6))
def test_a_model_comes_back(p: int, seed: int) -> None:
    drawn = cf.random_sem(p, density=0.6, seed=seed, intercept_range=(-2, 2))
    graph = drawn.to_networkx()
    assert cf.LinearSEM.from_networkx(graph) == drawn
    assert np.array_equal(nx.to_numpy_array(graph, nodelist=drawn.names), drawn.to_adjacency())


def test_feedback_comes_back_without_a_word() -> None:
    graph = ROOM.to_networkx()
    again = cf.LinearSEM.from_networkx(graph)
    assert again == ROOM and again.has_loops
    with pytest.raises(cf.InvalidInputError, match="heat"):
        cf.LinearSEM.from_networkx(graph, loops=False)
    plain = nx.DiGraph(graph.edges(data=True))
    with pytest.raises(cf.InvalidInputError, match="heat"):
        cf.LinearSEM.from_networkx(plain, noise_variances=1.0)
    assert cf.LinearSEM.from_networkx(plain, noise_variances=1.0, loops=True).has_loops


def test_weights_alone_are_enough_where_noise_is_given() -> None:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([("heat", "yield", 0.5)])
    alone = cf.LinearSEM.from_networkx(graph, noise_variances=2.0)
    assert alone == cf.LinearSEM([[0, 0], [0.5, 0]], 2.0, names=["heat", "yield"])
    named = cf.LinearSEM.from_networkx(graph, noise_variances={"yield": 3.0, "heat": 1.0})
    assert named.noise_variances.tolist() == [1.0, 3.0]
    graph.nodes["heat"]["noise_variance"] = 7.0
    assert cf.LinearSEM.from_networkx(graph, noise_variances=2.0).noise_variances.tolist() == [7, 2]


def directed(**edge: Any) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_edge("a", "b", **edge)
    return graph


def numbered_alike() -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_edge(1, "1", weight=2.0)
    return graph


WRONG: dict[str, tuple[Any, Any, str]] = {
    "no weight": (directed(), 1.0, "edge a -> b has no attribute 'weight'"),
    "a word": (directed(weight="much"), 1.0, "edge a -> b has weight = 'much'"),
    "no noise": (directed(weight=1.0), None, "node a has no attribute 'noise_variance'.*give"),
    "noise of one": (directed(weight=1.0), {"a": 1.0}, "node b has no attribute 'noise_var"),
    "noise of a stranger": (directed(weight=1.0), {"c": 1.0}, "no node named 'c'"),
    "no directions": (nx.Graph([("a", "b")]), 1.0, "a networkx.DiGraph, .* got Graph"),
    "several edges": (nx.MultiDiGraph([("a", "b")]), 1.0, "got MultiDiGraph"),
    "no graph": ([[0, 1], [0, 0]], 1.0, "got list"),
    "one name twice": (numbered_alike(), 1.0, "'1' appears more than once"),
}


@pytest.mark.parametrize(("graph", "noise", "message"), WRONG.values(), ids=WRONG)
def test_graphs_that_are_no_models(graph: Any, noise: Any, message: str) -> None:
    with pytest.raises(cf.InvalidInputError, match=message):
        cf.LinearSEM.from_networkx(graph, noise_variances=noise)
