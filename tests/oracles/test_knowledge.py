"""Estimates, beliefs and rivals with what is known beforehand, against lists of all DAGs."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError
from causalfocus.kernels.arithmetic.sets import as_mask
from causalfocus.kernels.exact.marginals import family_costs
from causalfocus.kernels.exact.runner_up import runner_up
from causalfocus.kernels.records import Families, Row, bounds_at
from causalfocus.moments.row_units import no_units
from causalfocus.oracles import gaussian_estimate
from causalfocus.oracles.for_kernels import (
    limits_of,
    plain_model_of,
    plain_parents_of,
    plain_rows_of,
)
from causalfocus.system.actions import actions_as_arrays
from instances import bounds_of, data_of, draw_member, expected_rows, model_class, reference_of
from knowledge import agrees, dags_of, drawn_knowledge
from literal import local_fitter
from literal.all_dags import Dag
from literal.alternative import same_graph_alternative
from literal.quadratic import minimise_bvls
from literal.scores import divergence_score, likelihood_score
from worlds import action_set, draw_samples

LABELS = ("paper", "nothing but min_effect", "one size")
EVERY = Families(0, -1, -1)


def graph_of(model: cf.LinearSEM) -> Dag:
    return tuple(frozenset(int(k) for k in np.flatnonzero(row)) for row in model.weights)


def known_problem(
    p: int, label: str, seed: int, *, intercept: bool = False
) -> tuple[cf.LinearSEM, cf.ModelClass, np.random.Generator]:
    """A member of a class, and the class with something that is true of it."""
    rng = np.random.default_rng([p, seed])
    space = model_class(label, intercept=intercept)
    truth = draw_member(p, space, rng, density=0.6)
    return truth, replace(space, **drawn_knowledge(truth, rng)), rng


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize(("p", "n"), [(3, 4), (3, 60), (4, 9), (4, 120)])
@pytest.mark.parametrize("seed", range(3))
def test_the_most_likely_model_of_all_that_agree(p: int, n: int, label: str, seed: int) -> None:
    """The least score over all DAGs that agree with what is known, each fitted literally."""
    truth, space, rng = known_problem(p, label, seed, intercept=seed == 1)
    data = data_of(truth.names, *draw_samples(truth, n, rng), intercept=space.intercept)
    bounds = bounds_of(space)
    score = likelihood_score(data.rows, bounds)
    fit = local_fitter(data.rows, bounds, score, True, solve=minimise_bvls)

    def score_of(dag: Dag) -> float:
        found = [fit(j, parents, ()) for j, parents in enumerate(dag)]
        return sum(math.inf if one is None else one.score for one in found)

    found = cf.joint_mle(data.moments, space)
    least = min(score_of(dag) for dag in dags_of(space, truth.names))
    assert agrees(graph_of(found), space, truth.names)
    assert score_of(graph_of(found)) == pytest.approx(least, rel=1e-7, abs=1e-7)
    assert space.contains(found)


def costs_by_hand(moments: cf.Moments, space: cf.ModelClass) -> dict[Dag, float]:
    """Minus the log weight of every DAG that agrees: those of families without knowledge, but for
    how many sets of as many parents there are.
    """
    names, p = moments.names, len(moments.names)
    rows, limits = moments.rows(intercept=space.intercept), limits_of(space, names)
    left = dags_of(space, names)
    tables = []
    for j in range(p):
        table = np.empty(1 << (p - 1))
        others = np.array([k for k in range(p) if k != j])
        row = Row(rows.grams[j], rows.lows[j], j)
        family_costs(row, others, rows.counts[j], bounds_at(limits, j), EVERY, table)
        tables.append(table)
    n_needed = [sum(effect == name for _, effect in space.required) for name in names]
    possible = space.known.possible(names, acyclic=True).sum(axis=1).tolist()
    found = {}
    for dag in left:
        total = 0.0
        for j, parents in enumerate(dag):
            size = len(parents)
            total += float(tables[j][as_mask(sum(1 << k for k in parents), j)])
            total -= math.log(math.comb(p - 1, size))
            total += math.log(math.comb(possible[j] - n_needed[j], size - n_needed[j]))
        found[dag] = total
    return found


@pytest.mark.parametrize("label", ["paper", "nothing but min_effect"])
@pytest.mark.parametrize("p", [3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_the_most_probable_model_and_the_next_of_all_that_agree(
    p: int, label: str, seed: int
) -> None:
    truth, space, rng = known_problem(p, label, seed)
    moments = cf.Moments(truth.names)
    moments.add_many(*draw_samples(truth, 60, rng))
    costs = costs_by_hand(moments, space)
    ordered = sorted(costs, key=lambda dag: costs[dag])
    model = cf.probable_model(moments, space)
    assert graph_of(model) == ordered[0]
    chances: Floats = np.zeros((p, p))
    whole = 0.0
    for dag, cost in costs.items():
        share = math.exp(costs[ordered[0]] - cost)
        whole += share
        for j, parents in enumerate(dag):
            chances[j, list(parents)] += share
    assert cf.edge_probabilities(moments, space) == pytest.approx(chances / whole, abs=1e-9)
    rows = moments.rows(intercept=False)
    found = runner_up(
        plain_rows_of(rows),
        rows.means,
        limits_of(space, truth.names),
        plain_model_of(model),
        actions_as_arrays(action_set(truth.names), truth.names),
        False,
        no_units(p).plain,
        plain_parents_of(space, truth.names),
    )
    if len(ordered) == 1:
        assert found.log_odds == math.inf
        return
    assert found.log_odds == pytest.approx(costs[ordered[1]] - costs[ordered[0]], abs=1e-9)
    rival = tuple(frozenset(k for k in range(p) if int(s) >> k & 1) for s in found.parents)
    assert costs[rival] == pytest.approx(costs[ordered[1]], abs=1e-9)


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("p", [3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_the_closest_rival_of_all_that_agree(p: int, label: str, seed: int) -> None:
    """Over all other DAGs that agree, and the same one with a weight moved; graphs that are known
    not to be cost nothing to rule out.
    """
    truth, space, rng = known_problem(p, label, seed)
    weights = {a: float(rng.uniform(0.5, 2.0)) for a in action_set(truth.names)}
    bounds, epsilon = bounds_of(space), 0.4 * space.least_effect
    rows, reference = expected_rows(truth, weights, intercept=False), reference_of(truth)
    fit = local_fitter(
        rows, bounds, divergence_score(rows, bounds, reference.variances), True, solve=minimise_bvls
    )
    least = math.inf
    for dag in dags_of(space, truth.names):
        if dag != reference.parents:
            rivals = [fit(j, parents, ()) for j, parents in enumerate(dag)]
            value = sum(math.inf if one is None else one.score for one in rivals)
            least = min(least, value)
    same = same_graph_alternative(rows, bounds, reference, epsilon, memoise=True)
    if same is not None:
        least = min(least, same.value)
    found = cf.best_alternative(truth, weights, space, epsilon=epsilon)
    assert found.value == pytest.approx(least, rel=1e-6)
    plain = replace(space, outcomes=(), forbidden=(), required=(), tiers=())
    assert found.value >= cf.best_alternative(truth, weights, plain, epsilon=epsilon).value - 1e-9
    if found.model is not None:
        assert agrees(graph_of(found.model), space, truth.names)


def test_nothing_known_in_many_words_is_nothing_known() -> None:
    """One tier of all variables says nothing: the same to the last bit."""
    for p, label, intercept in itertools.product((3, 5), LABELS, (False, True)):
        rng = np.random.default_rng(p)
        space = model_class(label, intercept=intercept)
        truth = draw_member(p, space, rng)
        told = replace(space, tiers=(truth.names,))
        moments = cf.Moments(truth.names)
        moments.add_many(*draw_samples(truth, 40, rng))
        for estimate in (cf.joint_mle, cf.probable_model, gaussian_estimate):
            assert estimate(moments, space) == estimate(moments, told)
        one, other = (cf.edge_probabilities(moments, given) for given in (space, told))
        assert np.array_equal(one, other)


@pytest.mark.parametrize("n", [0, 1, 3, 80])
@pytest.mark.parametrize("seed", range(6))
def test_the_gaussian_estimate_has_what_is_required_and_nothing_that_is_forbidden(
    n: int, seed: int
) -> None:
    """Whatever the sizes of the effects, and however few samples there are."""
    rng = np.random.default_rng([n, seed])
    shape = cf.random_sem(4, density=0.6, seed=seed)
    sizes = rng.choice([0.01, 0.2, 1.0], (4, 4))
    truth = cf.LinearSEM(np.sign(shape.weights) * sizes, shape.noise_variances)
    space = cf.ModelClass(0.3, **drawn_knowledge(truth, rng))
    moments = cf.Moments(truth.names)
    moments.add_many(*draw_samples(truth, n, rng))
    for estimate in (cf.joint_mle, cf.probable_model, gaussian_estimate):
        assert agrees(graph_of(estimate(moments, space)), space, truth.names)


def test_a_required_weight_is_that_of_the_regression_however_small() -> None:
    truth = cf.LinearSEM([[0, 0, 0], [0.02, 0, 0], [0.9, 0, 0]], 1.0)
    moments = cf.Moments.expected(truth, dict.fromkeys(action_set(truth.names), 500.0))
    space = cf.ModelClass(0.3, required=[("X1", "X2")])
    assert gaussian_estimate(moments, space).weights[1, 0] == pytest.approx(0.02, abs=1e-9)
    assert gaussian_estimate(moments, cf.ModelClass(0.3)).weights[1, 0] == 0.0


def test_known_loops_are_refused_by_name() -> None:
    moments = cf.Moments(["a", "b", "c"])
    space = cf.ModelClass(0.3, required=[("a", "b"), ("b", "a")])
    with pytest.raises(InvalidInputError, match=r"required has the loop .*a.* Leave one of these"):
        cf.joint_mle(moments, space)
    assert gaussian_estimate(moments, space).n_edges == 0


def test_what_required_effects_lead_to_does_not_act_back() -> None:
    """Without feedback: by hand, over two steps."""
    space = cf.ModelClass(0.3, required=[("a", "b"), ("b", "c")], acyclic=True)
    expected = [[0, 0, 0, 1], [1, 0, 0, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    assert space.unknown_effects(("a", "b", "c", "d")).astype(int).tolist() == expected
    loops = replace(space, acyclic=False)
    assert loops.unknown_effects(("a", "b", "c", "d")).sum() == 12
