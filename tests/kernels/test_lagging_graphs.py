"""Graphs that lag behind, against a list of all DAGs."""

import math

import numpy as np
import pytest

from causalfocus.kernels.exact import certificate, other_graphs
from literal import enumerate_dags

P = 4
WEIGHTS = np.array([[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 0, 0]], dtype=float)
OWN = [0, 1, 2, 0]


def as_sets(dag: tuple[frozenset[int], ...]) -> tuple[int, ...]:
    return tuple(sum(1 << k for k in parents) for parents in dag)


def as_mask(parents: int, j: int) -> int:
    """A set of nodes without j as one over all nodes but j."""
    low = parents & ((1 << j) - 1)
    return low | ((parents ^ low) >> 1)


@pytest.mark.parametrize("seed", range(20))
def test_the_least_rejected_of_all_and_of_every_node(seed: int) -> None:
    """EDGE is silent here, so that SWAP alone decides: sums of costs."""
    rng = np.random.default_rng(seed)
    costs = rng.normal(8.0, 6.0, size=(P, 1 << (P - 1)))
    for j, parents in enumerate(OWN):
        costs[j, as_mask(parents, j)] = math.inf  # as the tables have it: not swapped
    evidence = np.full_like(costs, -math.inf)
    weight = math.log(certificate.W_SWAP) + P * math.log1p(-1 / P) - certificate.SAFETY
    level = 6.0

    def swap(graph: tuple[int, ...]) -> float:
        found = weight
        for j, parents in enumerate(graph):
            if parents != OWN[j]:
                found += costs[j, as_mask(parents, j)]
        return found

    graphs = {as_sets(dag): swap(as_sets(dag)) for dag in enumerate_dags(P)}
    del graphs[tuple(OWN)]
    expected = {min(graphs, key=graphs.__getitem__)}
    for j in range(P):
        single = {
            graph: value
            for graph, value in graphs.items()
            if [i for i in range(P) if graph[i] != OWN[i]] == [j]
        }
        expected.add(min(single, key=single.__getitem__))
    found, rows = other_graphs.lagging_graphs(costs, evidence, WEIGHTS, level)
    listed = {tuple(row): value for row, value in zip(rows.tolist(), found, strict=True)}
    assert set(listed) == {graph for graph in expected if graphs[graph] < level}
    for graph, value in listed.items():
        assert value == pytest.approx(graphs[graph])
    assert len(listed) == len(found) and (not len(found) or found[0] == min(found))


def test_what_the_edges_reject_does_not_lag() -> None:
    costs = np.full((P, 1 << (P - 1)), -5.0)
    evidence = np.full_like(costs, 50.0)
    found, parents = other_graphs.lagging_graphs(costs, evidence, WEIGHTS, 3.0)
    assert len(found) == len(parents) == 0
