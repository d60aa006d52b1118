"""Sizes that differ by pair together with what is known of the graph: against all DAGs."""

import itertools
import math

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.oracles import gaussian_estimate
from knowledge import agrees, drawn_knowledge
from literal.all_dags import Dag, enumerate_dags
from literal.by_pair import PairBounds, best_row, likeliest, score_of

NAMES = ("X1", "X2", "X3")
NOISE = {"X1": (0.5, 1.0), "X2": (0.8, 3.0), "X3": (0.1, 0.6)}
SLIGHT = 12.0


def problem(seed: int, n: int) -> tuple[cf.Moments, dict[tuple[str, str], float], cf.LinearSEM]:
    """Moments of a system under every action, sizes of all pairs, and the system."""
    rng = np.random.default_rng([seed, n])
    weights = np.tril(rng.normal(size=(3, 3)), -1) * (rng.random((3, 3)) < 0.8)
    order = rng.permutation(3)
    truth = cf.LinearSEM(weights[np.ix_(order, order)], rng.uniform(0.5, 2.0, 3))
    moments, actions = cf.Moments(NAMES), [cf.OBSERVE, *(cf.do(name, 1.5) for name in NAMES)]
    for i in range(n):
        action = actions[i % len(actions)]
        moments.add(action, truth.sample(action, 1, rng)[0])
    sizes = {pair: float(rng.uniform(0.1, 1.2)) for pair in itertools.permutations(NAMES, 2)}
    return moments, sizes, truth


def graph_of(model: cf.LinearSEM) -> Dag:
    return tuple(frozenset(int(k) for k in np.flatnonzero(row)) for row in model.weights)


@pytest.mark.parametrize("factor", [None, 2.5])
@pytest.mark.parametrize("n", [12, 60])
@pytest.mark.parametrize("seed", range(10))
def test_the_most_likely_model_of_those_that_agree(seed: int, n: int, factor: float | None) -> None:
    moments, sizes, truth = problem(seed, n)
    known = drawn_knowledge(truth, np.random.default_rng(seed))
    largest = None if factor is None else {pair: factor * size for pair, size in sizes.items()}
    space = cf.ModelClass(sizes, largest, NOISE, intercept=seed % 2 == 0, **known)
    rows, found = moments.rows(intercept=space.intercept), cf.joint_mle(moments, space)
    bounds = PairBounds(space.smallest(NAMES), space.largest(NAMES), space.variances(NAMES))
    value, dag = likeliest(rows.grams, rows.counts, bounds, lambda one: agrees(one, space, NAMES))
    assert space.contains(found)
    assert graph_of(found) == dag
    score = score_of(rows.grams, rows.counts, found.weights, found.noise_variances)
    assert score == pytest.approx(value, rel=1e-9)


def fit(gram: Floats, j: int, members: list[int]) -> tuple[Floats, float]:
    """Least squares: coefficients and residual."""
    b = np.asarray(np.linalg.solve(gram[np.ix_(members, members)], gram[members, j]), np.float64)
    return b, float(gram[j, j] - b @ gram[members, j])


def reported(moments: cf.Moments, space: cf.ModelClass) -> Dag:
    """The graph of the gaussian estimate, by hand: effects that matter, and others at a price."""
    rows = moments.rows(intercept=space.intercept)
    none = np.full((3, 2), (0.0, math.inf))
    bounds = PairBounds(space.smallest(NAMES), np.full((3, 3), math.inf), none)
    possible = space.known.possible(NAMES, acyclic=True).sum(axis=1)
    needed = space.known.required_in(NAMES).sum(axis=1)

    def cost(j: int, parents: frozenset[int]) -> float:
        members, n, total = sorted(parents), float(rows.counts[j]), float(rows.grams[j, j, j])
        residual = best_row(rows.grams[j], j, members, bounds, None)
        if members and n > 12.0:
            b, free = fit(rows.grams[j], j, members)
            n_slight = int((np.abs(b) < bounds.smallest[j, members]).sum())
            residual = min(residual, free * math.exp(2.0 * SLIGHT / n * n_slight))
        shrunk = (total + n * residual) / (1.0 + n)
        sets = math.comb(int(possible[j] - needed[j]), len(members) - int(needed[j]))
        return 0.5 * (n * math.log(shrunk / n) + len(members) * math.log1p(n)) + math.log(sets)

    left = [dag for dag in enumerate_dags(3) if agrees(dag, space, NAMES)]
    return min(left, key=lambda dag: sum(cost(j, parents) for j, parents in enumerate(dag)))


@pytest.mark.parametrize("seed", range(24))
def test_the_gaussian_estimate_of_those_that_agree(seed: int) -> None:
    moments, sizes, truth = problem(seed, 80)
    known = drawn_knowledge(truth, np.random.default_rng(seed))
    space = cf.ModelClass(sizes, intercept=seed % 2 == 0, **known)
    found, dag = gaussian_estimate(moments, space), reported(moments, space)
    assert graph_of(found) == dag
    rows, possible = moments.rows(intercept=space.intercept), space.known.possible
    may_be = possible(NAMES, acyclic=True)
    for j, parents in enumerate(dag):
        after = {j}
        for _ in NAMES:
            after |= {i for i, own in enumerate(dag) if own & after}
        members = [k for k in range(3) if k not in after and (may_be[j, k] or k in parents)]
        if parents:
            b, _ = fit(rows.grams[j], j, members)
            for k, weight in zip(members, b, strict=True):
                shown = weight if k in parents else 0.0
                assert found.weights[j, k] == pytest.approx(shown, rel=1e-7, abs=1e-9)
