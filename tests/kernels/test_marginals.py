"""How probable families and graphs are: against integrals, and against lists of all DAGs."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic.sets import as_mask
from causalfocus.kernels.exact.marginals import family_costs, log_inside
from causalfocus.kernels.exact.runner_up import runner_up
from causalfocus.kernels.records import Bounds, Families, Row, bounds_at
from causalfocus.kernels.sums.population import divergences
from causalfocus.moments.row_units import no_units
from causalfocus.oracles.estimate import graph_mle
from causalfocus.oracles.for_kernels import (
    limits_of,
    model_of,
    parameters_of,
    plain_model_of,
    plain_parents_of,
    plain_rows_of,
)
from causalfocus.system.actions import actions_as_arrays
from instances import draw_moments
from literal.all_dags import Dag, enumerate_dags
from worlds import action_set

CLASS = Bounds(0.3, 1.5, 0.8, 1.2)
EVERY = Families(0, -1, -1)


def drawn(n: int, m: int, seed: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, m)) @ (np.eye(m) + 0.3 * rng.standard_normal((m, m)))
    return x, x @ rng.uniform(-1, 1, m) + rng.standard_normal(n)


def costs_of(x: Floats, y: Floats, bounds: Bounds) -> Floats:
    """Of all families of a node among the columns of x."""
    data = np.column_stack([x, y])
    gram = data.T @ data
    m = x.shape[1]
    table = np.empty(1 << m)
    family_costs(Row(gram, 0.0 * gram, m), np.arange(m), float(len(y)), bounds, EVERY, table)
    return table


@pytest.mark.parametrize("seed", range(4))
def test_one_parent_against_an_integral_over_the_class(seed: int) -> None:
    """The likelihood at the best noise variance, averaged over both intervals of the weight."""
    x, y = drawn(40, 1, seed)
    smallest, largest, low, high = CLASS
    without, with_one = costs_of(x, y, CLASS)
    b_hat = float(x[:, 0] @ y / (x[:, 0] @ x[:, 0]))

    def best_noise(residual: float) -> float:
        return min(max(residual / 40, low), high)

    v = best_noise(float(((y - b_hat * x[:, 0]) ** 2).sum()))

    def likelihood(b: float) -> float:
        return math.exp(-float(((y - b * x[:, 0]) ** 2).sum() - y @ y) / (2 * v))

    inside = sum(
        integrate.quad(likelihood, *ends, points=[min(max(b_hat, ends[0]), ends[1])])[0]
        for ends in ((-largest, -smallest), (smallest, largest))
    )
    log_mean = math.log(inside / (2 * (largest - smallest))) - float(y @ y) / (2 * v)
    assert -with_one == pytest.approx(log_mean - 20 * math.log(v), abs=1e-6)
    v0 = best_noise(float(y @ y))
    assert without == pytest.approx(20 * math.log(v0) + float(y @ y) / (2 * v0))


@pytest.mark.parametrize("seed", range(3))
def test_without_a_largest_effect_a_row_has_the_information_of_one_sample(seed: int) -> None:
    """Against the normal law of all samples under Zellner's prior, b ~ N(0, n v G^-1); two parents,
    the class so wide that hardly anything is outside.
    """
    n = 30
    x, y = drawn(n, 2, seed)
    table = costs_of(x, y, Bounds(1e-9, math.inf, 0.0, math.inf))
    hat = x @ np.linalg.inv(x.T @ x) @ x.T
    rest = float(y @ y - y @ hat @ y)
    v = (float(y @ y) + n * rest) / (1 + n) / n
    law = stats.multivariate_normal(np.zeros(n), v * (np.eye(n) + n * hat))
    own = float(law.logpdf(y)) + 0.5 * n * math.log(2 * math.pi)
    assert -table[3] == pytest.approx(own, rel=1e-9)
    assert table[1] - math.log(2) < table[0] + 30  # log 2: one parent out of two


@pytest.mark.parametrize(
    ("b", "deviation"), [(0.0, 0.1), (0.29, 0.02), (0.7, 0.3), (1.6, 0.2), (-0.3, 5.0), (0.9, 0.01)]
)
def test_what_falls_into_the_class(b: float, deviation: float) -> None:
    law = stats.norm(b, deviation)
    exact = law.cdf(1.5) - law.cdf(0.3) + law.cdf(-0.3) - law.cdf(-1.5)
    assert log_inside(b, deviation, 0.3, 1.5) == pytest.approx(math.log(exact), abs=1e-8)


def test_far_outside_the_class_nothing_underflows() -> None:
    nearer, farther = (log_inside(b, 1e-3, 0.3, 1.5) for b in (0.1, 0.05))
    assert -math.inf < farther < nearer < -1e4


def dag_costs(moments: cf.Moments, space: cf.ModelClass) -> dict[Dag, float]:
    """Of every DAG, row by row."""
    p = len(moments.names)
    rows = moments.rows(intercept=space.intercept)
    limits = limits_of(space, moments.names)
    tables = []
    for j in range(p):
        table = np.empty(1 << (p - 1))
        others = np.array([k for k in range(p) if k != j])
        row = Row(rows.grams[j], rows.lows[j], j)
        family_costs(row, others, rows.counts[j], bounds_at(limits, j), EVERY, table)
        tables.append(table)
    return {
        dag: sum(
            float(tables[j][as_mask(sum(1 << k for k in parents), j)])
            for j, parents in enumerate(dag)
        )
        for dag in enumerate_dags(p)
    }


SPACES = (cf.ModelClass(0.15, 1.5, (0.8, 1.2), intercept=False), cf.ModelClass(0.2))


@pytest.mark.parametrize(("p", "space"), list(itertools.product((2, 3, 4), SPACES)))
@pytest.mark.parametrize("n", [12, 80])
def test_the_best_graph_and_the_next_of_all_dags(p: int, space: cf.ModelClass, n: int) -> None:
    _, moments = draw_moments(p, n, 5, intercept=space.intercept)
    costs = dag_costs(moments, space)
    best, second = sorted(costs, key=lambda dag: costs[dag])[:2]
    model = cf.probable_model(moments, space)
    assert [set(np.flatnonzero(row)) for row in model.weights] == [set(s) for s in best]
    fitted = graph_mle(moments, np.array([sum(1 << k for k in s) for s in best]), space)
    assert model == fitted

    rows = moments.rows(intercept=space.intercept)
    actions = actions_as_arrays(action_set(moments.names), moments.names)
    found = runner_up(
        plain_rows_of(rows),
        rows.means,
        limits_of(space, moments.names),
        plain_model_of(model),
        actions,
        space.intercept,
        no_units(p).plain,
        plain_parents_of(space, moments.names),
    )
    assert found.log_odds == pytest.approx(costs[second] - costs[best], abs=1e-9)
    assert found.parents.tolist() == [sum(1 << k for k in s) for s in second]
    rival = graph_mle(moments, found.parents, space)
    gains = divergences(model_of(model), parameters_of(rival), *actions)
    assert found.gains == pytest.approx(gains, rel=1e-9, abs=1e-12)


def test_one_node_has_no_runner_up() -> None:
    moments = cf.Moments(["a"])
    moments.add_many([cf.OBSERVE] * 9, np.arange(9.0)[:, None])
    space = cf.ModelClass(0.2)
    model = cf.probable_model(moments, space)
    rows = moments.rows(intercept=True)
    actions = actions_as_arrays([cf.OBSERVE], ("a",))
    found = runner_up(
        plain_rows_of(rows),
        rows.means,
        limits_of(space, moments.names),
        plain_model_of(model),
        actions,
        True,
        no_units(1).plain,
        plain_parents_of(space, ("a",)),
    )
    assert found.log_odds == math.inf
