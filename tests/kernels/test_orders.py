"""The programs over sets of nodes against a plain enumeration of DAGs."""

import itertools
import math

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.exact import oracles
from causalfocus.kernels.records import Bounds, Families, Parents, Row, Rows
from causalfocus.kernels.search import orders
from causalfocus.kernels.search.families import best_family, residual_table
from causalfocus.kernels.search.row_fit import fit_row, two_intervals
from causalfocus.kernels.search.tableau import workspace
from causalfocus.oracles import gaussian_estimate
from literal import enumerate_dags


def random_costs(
    p: int, rng: np.random.Generator, *, decreasing: bool
) -> tuple[dict[tuple[int, frozenset[int]], float], Floats, Ints, Ints]:
    """A cost per family (j, S); and the engine's tables, the minima over subsets."""
    families = {}
    candidates, starts = oracles.all_others(p)
    offsets = np.arange(p + 1) * 2 ** (p - 1)
    tables = np.empty(p * 2 ** (p - 1))
    for j in range(p):
        mine = candidates[starts[j] : starts[j + 1]]
        for mask in range(2 ** (p - 1)):
            members = frozenset(int(c) for i, c in enumerate(mine) if mask >> i & 1)
            families[j, members] = float(rng.normal() - (len(members) if decreasing else 0.0))
        for mask in range(2 ** (p - 1)):
            members = frozenset(int(c) for i, c in enumerate(mine) if mask >> i & 1)
            tables[offsets[j] + mask] = min(
                cost for (k, s), cost in families.items() if k == j and s <= members
            )
    return families, tables, offsets, orders.local_masks(p, candidates, starts)


@pytest.mark.parametrize("p", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("decreasing", [False, True])
def test_best_order_is_the_best_dag(p: int, seed: int, decreasing: bool) -> None:
    rng = np.random.default_rng(seed)
    families, tables, offsets, masks = random_costs(p, rng, decreasing=decreasing)
    value, predecessors = orders.best_order(p, tables, offsets, masks)
    assert value == pytest.approx(
        min(sum(families[j, s] for j, s in enumerate(dag)) for dag in enumerate_dags(p))
    )
    sizes = sorted(int(before).bit_count() for before in predecessors)
    assert sizes == list(range(p))


@pytest.mark.parametrize("p", [2, 3, 4])
@pytest.mark.parametrize("seed", range(6))
def test_best_other_order_is_the_best_dag_but_one(p: int, seed: int) -> None:
    """Costs of both signs; the reference is at times the best DAG, at times not."""
    rng = np.random.default_rng(seed)
    families, _, offsets, masks = random_costs(p, rng, decreasing=seed % 2 == 0)
    dags = enumerate_dags(p)
    total = {dag: sum(families[j, s] for j, s in enumerate(dag)) for dag in dags}
    reference = min(total, key=total.__getitem__) if seed < 3 else dags[rng.integers(len(dags))]
    candidates, starts = oracles.all_others(p)
    tables = np.full(p * 2 ** (p - 1), math.inf)
    for j, mask in itertools.product(range(p), range(2 ** (p - 1))):
        mine = candidates[starts[j] : starts[j + 1]]
        inside = frozenset(int(c) for i, c in enumerate(mine) if mask >> i & 1)
        costs = [c for (k, s), c in families.items() if k == j and s <= inside]
        others = [
            c for (k, s), c in families.items() if k == j and s <= inside and s != reference[j]
        ]
        assert len(costs) - len(others) <= 1
        tables[offsets[j] + mask] = min(others, default=math.inf)
    sets = np.array([sum(1 << k for k in s) for s in reference])
    own = np.array([families[j, s] for j, s in enumerate(reference)])
    value, predecessors, keeps = orders.best_other_order(p, tables, offsets, masks, sets, own)
    assert value == pytest.approx(min(v for dag, v in total.items() if dag != reference))
    assert not keeps.all()
    recovered = 0.0
    for j in range(p):
        local = orders.local_mask(masks, j, int(predecessors[j]))
        recovered += own[j] if keeps[j] else tables[offsets[j] + local]
    assert recovered == pytest.approx(value)


def test_one_node_has_no_other_graph() -> None:
    candidates, starts = oracles.all_others(1)
    masks = orders.local_masks(1, candidates, starts)
    value, _, _ = orders.best_other_order(
        1, np.array([math.inf]), np.array([0, 1]), masks, np.array([0]), np.zeros(1)
    )
    assert value == math.inf


def test_possible_parents_restrict_the_graph() -> None:
    """Sets of possible parents: the MLE is the best DAG whose edges are all possible."""
    rng = np.random.default_rng(4)
    p = 4
    lists = [[1, 2], [], [0, 1, 3], [2]]
    x = rng.standard_normal((60, p)) @ rng.standard_normal((p, p))
    grams = np.stack([x.T @ x] * p)
    counts = np.full(p, 60.0)
    bounds = Bounds(0.1, 2.0, 0.0, math.inf)
    possible = np.array([sum(1 << k for k in mine) for mine in lists])
    score, weights, variances, _ = oracles.joint_mle(
        Rows(grams, 0.0 * grams, counts),
        np.tile(bounds, (p, 1)),
        Parents(np.zeros(p, dtype=np.int64), possible),
    )

    def cost(j: int, parents: frozenset[int]) -> float:
        members = np.array(sorted(parents), dtype=np.int64)
        s = len(members)
        allowed = two_intervals(s, bounds.smallest, bounds.largest)
        row = Row(grams[j], np.zeros((p, p)), j)
        r = fit_row(row, members, allowed, math.inf, workspace(s), np.empty(s))
        return 0.5 * (60 * math.log(r / 60) + 60)

    allowed_dags = [
        dag for dag in enumerate_dags(p) if all(s <= set(lists[j]) for j, s in enumerate(dag))
    ]
    best = min(allowed_dags, key=lambda dag: sum(cost(j, s) for j, s in enumerate(dag)))
    assert score == pytest.approx(sum(cost(j, s) for j, s in enumerate(best)))
    assert [set(np.flatnonzero(row)) for row in weights] == [set(s) for s in best]
    assert np.all(variances > 0)


@pytest.mark.parametrize("needed", [0, 2, 9])
@pytest.mark.parametrize("possible", [-1, 15, 11])
@pytest.mark.parametrize("excluded", [-1, 0, 3, 6])
@pytest.mark.parametrize("seed", range(5))
def test_table_holds_the_minimum_over_subsets(
    seed: int, excluded: int, possible: int, needed: int
) -> None:
    """Against a fit of every family on its own; `excluded` neither counts nor prunes, and only
    families between `needed` and `possible` count.
    """
    rng = np.random.default_rng(seed)
    m = 4
    n = [2, 5, 30, 200, 200][seed]
    x = rng.standard_normal((n, m + 1)) @ rng.standard_normal((m + 1, m + 1))
    moments = cf.Moments([f"x{i}" for i in range(m + 1)])
    moments.add_many([cf.OBSERVE] * n, x)
    rows = moments.rows(intercept=False)
    gram, row = rows.grams[m], Row(rows.grams[m], rows.lows[m], m)
    table = np.empty(2**m)
    effects = (0.4, 1.2)
    families = Families(needed, possible, excluded)
    residual_table(row, np.arange(m), Bounds(*effects, 0.0, math.inf), families, math.inf, table)
    single = np.empty(2**m)
    for mask in range(2**m):
        members = np.array([i for i in range(m) if mask >> i & 1], dtype=np.int64)
        s = len(members)
        allowed = two_intervals(s, *effects)
        single[mask] = fit_row(row, members, allowed, math.inf, workspace(s), np.empty(s))
    for mask in range(2**m):
        subsets = [
            s
            for s in range(2**m)
            if s & ~(mask & possible) == 0 and needed & ~s == 0 and s != excluded
        ]
        expected = min((single[s] for s in subsets), default=math.inf)
        assert table[mask] == pytest.approx(expected, rel=1e-9, abs=1e-9 * gram[m, m])
        if table[mask] < math.inf:
            chosen = best_family(table, mask, 0.0)
            assert chosen in subsets
            assert single[chosen] == pytest.approx(table[mask], rel=1e-9, abs=1e-9 * gram[m, m])


@pytest.mark.parametrize("price", [1.0, 1.05, 1.5])
@pytest.mark.parametrize("seed", range(4))
def test_table_with_a_price_for_small_coefficients(seed: int, price: float) -> None:
    """Against numpy's least squares for every family: each coefficient that is not allowed is paid
    for, or all are moved to where they are allowed.
    """
    rng = np.random.default_rng(seed)
    m, n = 4, 60
    x = rng.standard_normal((n, m + 1)) @ rng.standard_normal((m + 1, m + 1))
    gram = x.T @ x
    row = Row(gram, np.zeros_like(gram), m)
    effects = (0.4, 1.2)
    table = np.empty(2**m)
    everything = Families(0, -1, -1)
    residual_table(row, np.arange(m), Bounds(*effects, 0.0, math.inf), everything, price, table)
    single = np.empty(2**m)
    for mask in range(2**m):
        members = np.array([i for i in range(m) if mask >> i & 1], dtype=np.int64)
        s = len(members)
        free = np.linalg.lstsq(x[:, members], x[:, m], rcond=None)[0]
        n_paid = int(((np.abs(free) < effects[0]) | (np.abs(free) > effects[1])).sum())
        paid = float(((x[:, m] - x[:, members] @ free) ** 2).sum()) * price**n_paid
        allowed = two_intervals(s, *effects)
        bounded = fit_row(row, members, allowed, math.inf, workspace(s), np.empty(s))
        single[mask] = min(paid, bounded)
    for mask in range(2**m):
        expected = min(single[s] for s in range(2**m) if s & ~mask == 0)
        assert table[mask] == pytest.approx(expected, rel=1e-9)


def test_a_slight_effect_is_reported_once_it_is_plain() -> None:
    """An effect of a fifth of min_effect: it costs 12 nats, and the price of any edge on top, half
    of log(1 + n) and log 2 for a choice of two parents (expected moments, so the gain of the edge
    is n/2 log(1 + b^2 var / v), here about n b^2 / 2).
    """
    truth = cf.LinearSEM([[0.0, 0.0, 0.0], [0.9, 0.0, 0.0], [0.04, 0.0, 0.0]], [1.0, 1.0, 1.0])
    for gain, is_there in ((16.5, False), (19.0, True)):
        n = 2 * gain / math.log1p(0.04**2)
        assert (gain > 12.0 + 0.5 * math.log1p(n) + math.log(2.0)) is is_there
        moments = cf.Moments.expected(truth, {cf.OBSERVE: n})
        found = gaussian_estimate(moments, cf.ModelClass(0.2, intercept=False))
        assert bool(found.weights[2, 0] != 0.0) is is_there
        assert found.weights[1, 0] == pytest.approx(0.9)


def test_slight_effects_do_not_turn_directions_around() -> None:
    """A noisy cause with an effect below min_effect on a node with little noise: if no such effect
    may be, the reverse one fits best.
    """
    truth = cf.LinearSEM([[0.0, 0.3], [0.0, 0.0]], [0.07, 14.0])
    space = cf.ModelClass(0.7, intercept=False)
    actions = [cf.OBSERVE] + [cf.do(name, v) for name in truth.names for v in (-2.0, 2.0)]
    moments = cf.Moments.expected(truth, dict.fromkeys(actions, 200))
    assert cf.joint_mle(moments, space).edges[0][:2] == ("X1", "X2")
    assert gaussian_estimate(moments, space).weights == pytest.approx(truth.weights, abs=1e-9)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 30])
def test_reports_of_degenerate_data_are_graphs(n: int) -> None:
    """Constant, repeated and vanishing columns, with hardly any samples."""
    rng = np.random.default_rng(n)
    x = rng.standard_normal((n, 4))
    x[:, 1] = 3.0
    x[:, 2] = 1e-9 * x[:, 0]
    for intercept in (False, True):
        moments = cf.Moments(["a", "b", "c", "d"])
        moments.add_many([cf.OBSERVE] * n, x)
        found = gaussian_estimate(moments, cf.ModelClass(0.2, intercept=intercept))
        assert np.isfinite(found.weights).all()
        assert (found.noise_variances > 0).all()
        assert len(found.order) == 4
