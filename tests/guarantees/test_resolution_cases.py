"""Both cases of the resolution certificate against lists of all DAGs."""

import itertools
import math

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.guarantees.gaussian import GaussianRule
from causalfocus.kernels.arithmetic.sets import as_mask
from causalfocus.kernels.evidence import direction_evidence, directions
from causalfocus.kernels.evidence.direction_evidence import Departure
from causalfocus.kernels.evidence.row_evidence import even_spread, least_squares
from causalfocus.kernels.gaussian import resolution, swaps
from causalfocus.kernels.records import Parents, Row, Span, any_parents
from causalfocus.oracles import gaussian_estimate
from instances import draw_moments
from literal import enumerate_dags
from literal.all_dags import Dag
from worlds import ACTIONS

ALL = Span(-math.inf, math.inf)


def is_acyclic(parents: list[set[int]]) -> bool:
    left = set(range(len(parents)))
    while left:
        free = {j for j in left if not parents[j] & left}
        if not free:
            return False
        left -= free
    return True


def random_costs(rng: np.random.Generator, p: int) -> Floats:
    """Larger sets of parents explain more: the evidence against them is less."""
    costs = rng.normal(3.0, 2.0, (p, 1 << (p - 1)))
    for j in range(p):
        for mask in sorted(range(1 << (p - 1)), key=int.bit_count):
            for bit in range(p - 1):
                if mask >> bit & 1:
                    costs[j, mask] = min(costs[j, mask], costs[j, mask ^ (1 << bit)])
    return costs


def topological_orders(dag: Dag) -> list[tuple[int, ...]]:
    ways = itertools.permutations(range(len(dag)))
    return [way for way in ways if all(dag[j] <= set(way[:i]) for i, j in enumerate(way))]


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("p", [3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_contrary_orders_against_all_dags(p: int, seed: int, is_known: bool) -> None:
    """Case 2: the least evidence over all DAGs whose union with the report has a cycle.

    For each the best of its topological orders counts; rows are swapped as the proof says. Where
    something is known, over the DAGs that agree with it: what is found is no more, and no more than
    all of them leave is found without.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(p)
    weights = np.zeros((p, p))
    for a, b in itertools.combinations(range(p), 2):
        weights[order[b], order[a]] = rng.random() < 0.6
    costs = random_costs(rng, p)
    reported = [set(np.flatnonzero(weights[j]).tolist()) for j in range(p)]

    def cost(j: int, parents: set[int]) -> float:
        return float(costs[j, as_mask(sum(1 << k for k in parents), j)])

    def is_closed(nodes: set[int]) -> bool:
        return all(reported[j] <= nodes for j in nodes)

    def evidence_along(dag: Dag, way: tuple[int, ...]) -> float:
        total = 0.0
        mixed = [set(parents) for parents in dag]
        for i, j in enumerate(way):
            if not (is_closed(set(way[:i])) and is_closed(set(way[: i + 1]))):
                total += cost(j, set(dag[j]))
                mixed[j] = reported[j]
        assert is_acyclic(mixed)  # what the proof needs
        return total

    known = drawn_knowledge(weights, rng) if is_known else any_parents(p)
    contrary = (
        dag
        for dag in enumerate_dags(p)
        if not is_acyclic([reported[j] | set(dag[j]) for j in range(p)]) and agrees(dag, known)
    )
    least = min(
        (max(evidence_along(dag, way) for way in topological_orders(dag)) for dag in contrary),
        default=math.inf,
    )
    found, before_each, is_swapped = swaps.contrary_order(costs, weights, known)
    if is_known:
        assert found <= least + 1e-9
        assert found >= swaps.contrary_order(costs, weights, any_parents(p)).cost - 1e-9
    else:
        assert found == pytest.approx(least)
    if math.isfinite(found):
        swapped = [j for j in range(p) if is_swapped[j]]
        assert sum(costs[j, as_mask(before_each[j], j)] for j in swapped) == (pytest.approx(found))


def drawn_knowledge(weights: Floats, rng: np.random.Generator) -> Parents:
    """Some reported effects are required, some of the others are forbidden."""
    p = len(weights)
    is_shown, bits = weights != 0.0, 1 << np.arange(p)
    needed = is_shown & (rng.random((p, p)) < 0.4)
    return Parents(needed @ bits, (is_shown | (rng.random((p, p)) < 0.6)) @ bits)


def agrees(dag: Dag, known: Parents) -> bool:
    """Whether a graph has what it must have, and nothing that it must not."""
    sets = [sum(1 << k for k in parents) for parents in dag]
    pairs = zip(sets, known.needed.tolist(), known.possible.tolist(), strict=True)
    return all(needed & ~own == 0 and own & ~possible == 0 for own, needed, possible in pairs)


def single_evidence(
    rule: GaussianRule,
    moments: cf.Moments,
    weights: Floats,
    j: int,
    parents: frozenset[int],
    k: int,
) -> tuple[float, float]:
    """Case 1b for one row on one set of parents, assembled anew from the samples' moments: the
    evidence, before its share, against a strong alternative and against a weak (or counted) one.
    """
    times, split = rule.times(moments), rule.split(moments)
    assert split is not None
    epsilon, smallest, cut, top, large, small, fine, a0 = rule.scale
    p, q = weights.shape[0], times.grams.shape[2]
    regressors = np.array([*sorted(parents), *range(p, q)])
    at = list(regressors).index(k)
    row, n = Row(times.grams[-1, j], times.lows[-1, j], j), times.counts[-1, j]
    fit = least_squares(row, regressors, n)
    b = fit.coefficients
    inverses = directions.past_inverses(times, j, regressors)
    sums = directions.direction_sums(times, j, regressors, inverses, b, at)
    noise = resolution.noise_of(split, j, regressors)
    is_reported = weights[j, k] != 0

    def against(values: Floats, step: float, share: float) -> float:
        if not len(values):
            return math.inf
        mixing = direction_evidence.Mixing(even_spread(regressors, p, fine * step), step, a0)
        departure = Departure(at, float(np.abs(values - b[at]).min()))
        told = noise._replace(log_marginal=noise.log_marginal - math.log(share))
        return direction_evidence.direction_evidence(
            fit, sums, mixing, departure, Span(0.0, math.inf), told, ALL
        )

    grid = np.linspace(-6, 6, 240001)
    size = np.abs(grid)
    breaks = np.abs(grid - weights[j, k]) >= (epsilon if is_reported else smallest)
    edge = resolution.W_EDGE / max(int(np.count_nonzero(weights)), 1)
    weak = resolution.W_WEAK / (p * (p - 1) / 2)
    beyond = against(grid[breaks & (size >= top)], large, edge)
    strong = min(beyond, against(grid[breaks & (size >= cut) & (size < top)], small, edge))
    if is_reported:
        return strong, against(grid[breaks & (size < cut)], small, weak)
    return strong, min(beyond, against(grid[(size >= cut) & (size < top)], small, edge))


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize(
    ("p", "n", "intercept"), [(3, 800, False), (3, 500, True), (4, 900, False)]
)
@pytest.mark.parametrize("seed", range(2))
def test_rows_against_all_dags(p: int, n: int, intercept: bool, seed: int, is_known: bool) -> None:
    """Case 1: over all DAGs whose union with the report is acyclic, and which agree with what is
    known, row by row.
    """
    _, moments = draw_moments(p, n, seed, intercept=intercept)
    space = cf.ModelClass(0.3, intercept=intercept)
    rule = GaussianRule(ACTIONS, space, 0.15, 0.05)
    weights = gaussian_estimate(moments, space).weights
    reported = [set(np.flatnonzero(weights[j]).tolist()) for j in range(p)]
    strong, other = np.full((p, p), math.inf), np.full((p, p), math.inf)
    seen: dict[tuple[int, frozenset[int], int], tuple[float, float]] = {}
    missing = np.full((p, p), math.inf)
    split = rule.split(moments)
    assert split is not None
    costs = swaps.swap_costs(split, weights)
    known = any_parents(p)
    if is_known:
        known = drawn_knowledge(weights, np.random.default_rng(seed))
    for dag in enumerate_dags(p):
        if not is_acyclic([reported[j] | set(dag[j]) for j in range(p)]) or not agrees(dag, known):
            continue
        for j in range(p):
            for k in reported[j] - dag[j]:
                value = costs[j, as_mask(sum(1 << m for m in dag[j]), j)]
                missing[j, k] = min(missing[j, k], value)
            for k in dag[j] if reported[j] <= dag[j] else ():
                if (j, dag[j], k) not in seen:
                    seen[j, dag[j], k] = single_evidence(rule, moments, weights, j, dag[j], k)
                strong[j, k] = min(strong[j, k], seen[j, dag[j], k][0])
                other[j, k] = min(other[j, k], seen[j, dag[j], k][1])
    data = resolution.Data(rule.times(moments), split)
    reachable, tables, _ = resolution.row_tables(
        data, weights, rule.scale, -math.inf, math.inf, False, known
    )
    assert reachable
    assert tables[0] == pytest.approx(strong, abs=2e-2)
    assert tables[1] == pytest.approx(other, abs=2e-2)
    found = swaps.missing_evidence(costs, weights, split.log_share, known)
    assert found == pytest.approx(missing + swaps.log_swap_weight(p, split.log_share))
