"""Other graphs, in the evidence certificate, against lists of all DAGs."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.guarantees.class_ import ClassRule
from causalfocus.kernels.exact import certificate, other_graphs
from causalfocus.kernels.records import Parents, Span
from causalfocus.oracles.for_kernels import limits_of
from causalfocus.system.sizes import Accuracy
from instances import draw_each
from kernels.densities import log_marginal
from literal import Bounds, Rows, enumerate_dags, local_fitter
from literal.all_dags import Dag
from literal.scores import likelihood_score
from worlds import ACTIONS, draw_samples, targets_of


def judge(
    rule: ClassRule, moments: cf.Moments, estimate: cf.LinearSEM, levels: tuple[float, float]
) -> tuple[Floats, Floats]:
    """The costs of families, and the evidence against them."""
    return other_graphs.family_tables(
        rule.times(moments),
        estimate.weights,
        limits_of(rule.space, estimate.names),
        rule._prior,
        rule._setting,
        Span(*levels),
        Parents(*rule.known_of(estimate)),
    )


class BruteForce:
    """Branch B by looking at every DAG."""

    def __init__(
        self,
        costs: Floats,
        evidence: Floats,
        own: Dag,
        counts: Callable[[Dag], bool] = lambda _: True,
    ) -> None:
        p = len(own)
        self.own_edges = max(sum(map(len, own)), 1)
        self.most = p * (p - 1) // 2
        self.graphs = []
        for dag in enumerate_dags(p):
            if dag != own and counts(dag):
                swap, edge = math.log(certificate.W_SWAP) + p * math.log(1 - 1 / p), -math.inf
                for j, parents in enumerate(dag):
                    if parents != own[j]:
                        others = [k for k in range(p) if k != j]
                        mask = sum(1 << i for i, k in enumerate(others) if k in parents)
                        swap += costs[j, mask]
                        edge = max(edge, evidence[j, mask])
                self.graphs.append((sum(map(len, dag)), swap, edge))

    def loss(self, n_edges: int) -> float:
        return math.log(max(n_edges, self.own_edges) / self.own_edges)

    def true_least(self) -> float:
        """Every graph with the weight that its own number of edges gives."""
        return min(
            (max(swap, edge - self.loss(n)) for n, swap, edge in self.graphs), default=math.inf
        )

    def rejects(self, h: float) -> bool:
        """The rule's own closing of families, graph by graph."""
        most = self.most
        while True:
            left = [g for g in self.graphs if g[2] - self.loss(most) < h]
            fewer = max([g[0] for g in left] + [self.own_edges])
            if fewer == most:
                return all(swap >= h for _, swap, _ in left)
            most = fewer


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [20, 120, 400])
@pytest.mark.parametrize("epsilon", [0.07, "graph"])
def test_branch_b_equals_brute_force_over_all_dags(seed: int, n: int, epsilon: Accuracy) -> None:
    _, space, moments = draw_each(4, n, seed)
    estimate = cf.joint_mle(moments, space)
    rule = ClassRule(ACTIONS, space, epsilon, 0.05)
    levels = (-64.0, 60.0)
    costs, evidence = judge(rule, moments, estimate, levels)
    own = tuple(frozenset(int(k) for k in np.flatnonzero(row)) for row in estimate.weights)
    brute = BruteForce(costs, evidence, own)
    found = other_graphs.different_graph_evidence(costs, evidence, estimate.weights, Span(*levels))
    assert found <= max(brute.true_least(), -64.0)
    if found == -math.inf:
        assert not brute.rejects(-64.0)
        return
    assert brute.rejects(found - 1e-9)
    assert found == 60.0 or not brute.rejects(found + 2e-3)
    for h in (found - 1.0, found - 0.01, found + 0.01):
        costs, evidence = judge(rule, moments, estimate, (h, h))
        value, _ = other_graphs.least_rejected_graph(costs, evidence, estimate.weights, h)
        assert (value >= h) == (h < found)


def test_the_rival_is_the_graph_that_blocks() -> None:
    """Its parents form another acyclic graph whose evidence is what was reported."""
    _, space, moments = draw_each(4, 60, 1)
    estimate = cf.joint_mle(moments, space)
    rule = ClassRule(ACTIONS, space, "graph", 0.05)
    costs, evidence = judge(rule, moments, estimate, (-64.0, 60.0))
    value, parents = other_graphs.least_rejected_graph(costs, evidence, estimate.weights, 3.0)
    assert value < 3.0
    rival = tuple(frozenset(k for k in range(4) if int(s) >> k & 1) for s in parents)
    assert rival in set(enumerate_dags(4))
    swap = math.log(certificate.W_SWAP) + 4 * math.log(3 / 4)
    for j, chosen in enumerate(rival):
        if chosen != frozenset(int(k) for k in np.flatnonzero(estimate.weights[j])):
            others = [k for k in range(4) if k != j]
            swap += costs[j, sum(1 << i for i, k in enumerate(others) if k in chosen)]
    assert value == pytest.approx(swap, abs=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_costs_of_families_come_from_the_likelihood_in_the_class(seed: int) -> None:
    """Against the literal LocalFit and a Student-t marginal likelihood, from the samples."""
    truth, space, _ = draw_each(3, 1, seed)
    rng = np.random.default_rng(seed)
    taken, samples = draw_samples(truth, 40, rng)
    moments = cf.Moments(truth.names)
    moments.add_many(taken, samples)
    estimate = cf.joint_mle(moments, space)
    rule = ClassRule(ACTIONS, space, 0.07, 0.05)
    costs, _ = judge(rule, moments, estimate, (-64.0, 60.0))
    targets = np.array(targets_of(truth.names, taken))
    literal_rows = Rows.from_data(targets, samples, False)
    bounds = Bounds(0.15, 1.5, 0.8, 1.2)
    fit = local_fitter(literal_rows, bounds, likelihood_score(literal_rows, bounds), True)
    for j in range(3):
        own = [int(k) for k in np.flatnonzero(estimate.weights[j])]
        mine = samples[targets != j]
        swapped = log_marginal(mine[:, own], mine[:, j], rule._prior)
        swapped += math.log(1 / 2) + math.log(1 / (3 * math.comb(2, len(own))))
        others = [k for k in range(3) if k != j]
        for mask in range(4):
            parents = frozenset(k for i, k in enumerate(others) if mask >> i & 1)
            if parents == frozenset(own):
                continue
            local = fit(j, parents, ())
            assert local is not None
            likelihood = -local.score - 0.5 * len(mine) * math.log(2 * math.pi)
            assert costs[j, mask] == pytest.approx(swapped - likelihood, abs=1e-5)
