"""Probabilities of edges against lists of all DAGs and of all orders."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import logsumexp

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic.sets import as_mask
from causalfocus.kernels.posterior import edges, order_sums
from causalfocus.oracles.for_kernels import limits_of, plain_parents_of, plain_rows_of
from instances import draw_moments
from literal.all_dags import enumerate_dags

SPACE = cf.ModelClass(0.15, 1.5, (0.8, 1.2), intercept=False)


def scores_of(moments: cf.Moments) -> Floats:
    rows = plain_rows_of(moments.rows(intercept=False))
    known = plain_parents_of(SPACE, moments.names)
    return edges.family_scores(rows, limits_of(SPACE, moments.names), known)


def family(scores: Floats, j: int, parents: frozenset[int]) -> float:
    return float(scores[j, as_mask(sum(1 << k for k in parents), j)])


@pytest.mark.parametrize(("p", "n"), [(2, 5), (3, 20), (4, 15), (4, 60)])
def test_over_all_dags(p: int, n: int) -> None:
    _, moments = draw_moments(p, n, 3, intercept=False)
    scores = scores_of(moments)
    dags = enumerate_dags(p)
    logs = np.array([sum(family(scores, j, s) for j, s in enumerate(dag)) for dag in dags])
    shares = np.exp(logs - logsumexp(logs))
    expected = np.zeros((p, p))
    for dag, share in zip(dags, shares, strict=True):
        for j, parents in enumerate(dag):
            for k in parents:
                expected[j, k] += share
    found = cf.edge_probabilities(moments, SPACE)
    assert found == pytest.approx(expected, abs=1e-9)
    assert 0.0 < expected.sum() < p * (p - 1) / 2


@pytest.mark.parametrize(("p", "n"), [(2, 5), (3, 20), (4, 15)])
def test_over_all_orders(p: int, n: int) -> None:
    _, moments = draw_moments(p, n, 4, intercept=False)
    scores = scores_of(moments)
    total, weight = -math.inf, np.full((p, p), -math.inf)
    for order in itertools.permutations(range(p)):
        for sets in itertools.product(
            *(
                [frozenset(s) for r in range(i + 1) for s in itertools.combinations(order[:i], r)]
                for i in range(p)
            )
        ):
            own = sum(family(scores, j, s) for j, s in zip(order, sets, strict=True))
            total = float(np.logaddexp(total, own))
            for j, parents in zip(order, sets, strict=True):
                for k in parents:
                    weight[j, k] = np.logaddexp(weight[j, k], own)
    found = order_sums.edge_probabilities(scores)
    assert found == pytest.approx(np.exp(weight - total), abs=1e-9)


def test_eight_nodes_and_no_samples_at_all() -> None:
    _, moments = draw_moments(8, 400, 1, intercept=False)
    found = cf.edge_probabilities(moments, SPACE)
    assert found.min() >= 0.0 and found.max() <= 1.0 + 1e-9
    certain = cf.probable_model(moments, SPACE).weights != 0.0
    assert found[certain].min() > found[~certain & ~np.eye(8, dtype=bool)].mean()
    nothing = cf.edge_probabilities(cf.Moments(["a", "b", "c"]), SPACE)
    assert nothing == pytest.approx(np.zeros((3, 3)))  # no family is determined
