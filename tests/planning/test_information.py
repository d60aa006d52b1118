"""C_epsilon: against independent solutions, certified gaps, invariances, costs, bad input."""

import functools
import math
import re
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.planning.complexity import Complexity
from causalfocus.system.sizes import Accuracy
from worlds import action_set

complexity = functools.partial(cf.complexity, rule="class")
SPACE = cf.ModelClass(0.2, 1.5, (0.5, 2.0), intercept=False)
PAIR = cf.LinearSEM([[0.0, 0.0], [0.6, 0.0]], [1.0, 0.8])
PAIR_ACTIONS = cf.ActionSet({"X1": (-1.5, 1.5), "X2": (-2, 2)})


def value_of(model: cf.LinearSEM, design: dict[cf.Action, float], space: cf.ModelClass) -> float:
    return cf.best_alternative(model, design, space, epsilon=0.1).value


def draw_world(p: int, seed: int, *, density: float = 0.5) -> tuple[cf.LinearSEM, cf.ActionSet]:
    model = cf.random_sem(p, density=density, seed=seed, space=SPACE)
    return model, action_set(model.names)


def test_two_nodes_against_a_dense_grid() -> None:
    """By symmetry three numbers: how much to observe, to set X1, to set X2."""
    found = complexity(PAIR, PAIR_ACTIONS, SPACE, epsilon=0.1)
    observe, first, _, second, _ = PAIR_ACTIONS
    best = 0.0
    steps = 60
    for i in range(steps + 1):
        for k in range(steps + 1 - i):
            shares = (i / steps, k / steps, 1 - (i + k) / steps)
            design = dict(zip((observe, first, second), shares, strict=True))
            best = max(best, value_of(PAIR, design, SPACE))
    assert best <= found.upper * (1 + 1e-9)
    assert best == pytest.approx(found.value, rel=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_three_nodes_against_an_independent_optimiser(seed: int) -> None:
    """Nelder-Mead on the softmax of the shares, from several starts, never gets above the upper
    value, and close to the lower one.
    """
    model, actions = draw_world(3, seed)
    found = complexity(model, actions, SPACE, epsilon=0.1)
    taken = [action for action in actions if action.is_observation or (action.value or 0) > 0]

    def loss(logits: Floats) -> float:
        shares = np.exp(logits - logits.max())
        design = dict(zip(taken, (shares / shares.sum()).tolist(), strict=True))
        return -value_of(model, design, SPACE)

    options = {"maxiter": 700, "xatol": 1e-4, "fatol": 1e-10, "adaptive": True}
    starts = [np.zeros(4), *(3 * np.eye(4))]
    best = -min(minimize(loss, s, method="Nelder-Mead", options=options).fun for s in starts)
    assert best <= found.upper * (1 + 1e-9)
    assert best >= found.value * 0.97


@pytest.mark.parametrize("p", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("epsilon", [0.1, 0.05, "graph"])
def test_the_gap_is_certified(p: int, epsilon: Accuracy) -> None:
    """The lower value is what the design guarantees; the upper one no action beats against the
    mixture of rivals.
    """
    model, actions = draw_world(p, p)
    found = complexity(model, actions, SPACE, epsilon=epsilon)
    assert 0 <= found.gap <= 1e-3 and found.value <= found.upper
    assert sum(found.allocation.values()) == pytest.approx(1.0)
    assert found.n_planes < 40
    if isinstance(epsilon, float):
        at = cf.best_alternative(model, found.allocation, SPACE, epsilon=epsilon).value
        assert at == pytest.approx(found.value, rel=1e-9)
    shares = sum(rival.share for rival in found.rivals)
    assert shares == pytest.approx(1.0, abs=1e-3)
    for rival in found.rivals:
        moved = np.abs(rival.model.weights - model.weights).max()
        least = epsilon if isinstance(epsilon, float) else math.inf
        assert rival.model.shd(model) > 0 or moved >= least * (1 - 1e-9)


def test_a_smaller_gap_is_a_closer_answer() -> None:
    model, actions = draw_world(4, 1)
    fine = complexity(model, actions, SPACE, epsilon=0.1, gap=1e-7)
    assert fine.gap <= 1e-7
    coarse = complexity(model, actions, SPACE, epsilon=0.1, gap=0.05)
    assert coarse.value <= fine.upper and fine.value <= coarse.upper
    assert coarse.n_planes <= fine.n_planes


@pytest.mark.parametrize("seed", range(4))
def test_it_rises_with_epsilon(seed: int) -> None:
    model, actions = draw_world(4, seed)
    found = [complexity(model, actions, SPACE, epsilon=e) for e in (0.02, 0.05, 0.1)]
    graph = complexity(model, actions, SPACE, epsilon="graph")
    for low, high in zip(found, [*found[1:], graph], strict=True):
        assert low.value <= high.upper


@pytest.mark.parametrize("seed", range(4))
def test_relabelling_changes_nothing(seed: int) -> None:
    model, actions = draw_world(4, seed)
    names = ["X3", "X1", "X4", "X2"]
    other = complexity(
        model.relabel(names),
        action_set(names),
        SPACE,
        epsilon=0.1,
        gap=1e-6,
    )
    assert complexity(model, actions, SPACE, epsilon=0.1, gap=1e-6).value == pytest.approx(
        other.value, rel=1e-5
    )


def test_scaling_all_variables_with_ranges_and_noise_changes_nothing() -> None:
    """Weights are ratios: one common factor leaves them, the class and the divergences alone."""
    model, actions = draw_world(4, 2)
    factor = 7.0
    scaled = cf.LinearSEM(model.weights, model.noise_variances * factor**2)
    wide = action_set(model.names, 2 * factor)
    space = cf.ModelClass(0.2, 1.5, (0.5 * factor**2, 2.0 * factor**2), intercept=False)
    one = complexity(model, actions, SPACE, epsilon=0.1, gap=1e-6)
    other = complexity(scaled, wide, space, epsilon=0.1, gap=1e-6)
    assert other.value == pytest.approx(one.value, rel=1e-5)


def test_scaling_one_variable_with_its_bounds_changes_nothing_where_one_edge_binds() -> None:
    """X1 -> X2 with X2 in other units: its weight, the class and epsilon scale with it."""
    space = cf.ModelClass(0.2, 1.5, None, intercept=False)
    one = complexity(PAIR, PAIR_ACTIONS, space, epsilon=0.1, gap=1e-7)
    factor = 4.0
    scaled = cf.LinearSEM([[0.0, 0.0], [0.6 * factor, 0.0]], [1.0, 0.8 * factor**2])
    wide = cf.ActionSet({"X1": (-1.5, 1.5), "X2": (-2 * factor, 2 * factor)})
    larger = cf.ModelClass(0.2 * factor, 1.5 * factor, None, intercept=False)
    other = complexity(scaled, wide, larger, epsilon=0.1 * factor, gap=1e-7)
    assert {r.changes.split(" at")[0] for r in one.rivals} == {"X1 -> X2"}
    assert other.value == pytest.approx(one.value, rel=1e-6)


def test_the_bounds_on_rounds() -> None:
    found = complexity(PAIR, PAIR_ACTIONS, SPACE, epsilon=0.1)
    twice = cf.best_alternative(PAIR, found.allocation, SPACE, epsilon=0.1)
    assert twice.value > 0
    delta = 0.05
    assert found.first_order(delta) == pytest.approx(math.log(20) / found.value)
    needed = 0.95 * math.log(0.95 / 0.05) + 0.05 * math.log(0.05 / 0.95)
    wider = cf.ModelClass(0.4, 1.5, (0.5, 2.0), intercept=False)
    at_twice = complexity(PAIR, PAIR_ACTIONS, wider, epsilon=0.2)
    assert found.lower_bound(delta) <= needed / at_twice.value * (1 + 2e-3)
    assert found.lower_bound(delta) < found.first_order(delta)
    graph = complexity(PAIR, PAIR_ACTIONS, SPACE, epsilon="graph")
    assert graph.lower_bound(delta) == pytest.approx(needed / graph.upper)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_no_interior_value_improves_a_design(seed: int, intercept: bool) -> None:
    """Proposition endpoint_reduction: against any alternative, an interior value tells at most what
    its mixture of the two ends tells, and C with interior actions is no larger.
    """
    rng = np.random.default_rng(seed)
    constants = (-3.0, 3.0) if intercept else (0.0, 0.0)
    models = [
        cf.random_sem(4, density=0.6, seed=10 * seed + i, space=SPACE, intercept_range=constants)
        for i in range(2)
    ]
    low, high = sorted(rng.uniform(-3, 3, 2))
    for name in models[0].names:
        ends = [models[0].kl(models[1], cf.do(name, end)) for end in (low, high)]
        for part in (0.1, 0.5, 0.8):
            inside = models[0].kl(models[1], cf.do(name, (1 - part) * low + part * high))
            assert inside <= ((1 - part) * ends[0] + part * ends[1]) * (1 + 1e-9) + 1e-12
    # a design with interior values guarantees no more than C
    space = cf.ModelClass(0.2, 1.5, (0.5, 2.0), intercept=intercept)
    actions = cf.ActionSet(dict.fromkeys(models[0].names, (low, high)))
    found = complexity(models[0], actions, space, epsilon=0.1)
    for _ in range(10):
        inner = [cf.do(n, v) for n in models[0].names for v in rng.uniform(low, high, 2)]
        design = dict(zip([*actions, *inner], rng.dirichlet(np.full(17, 0.3)), strict=True))
        assert value_of(models[0], design, space) <= found.upper * (1 + 1e-9)


def test_costs_change_the_unit() -> None:
    """Equal costs divide the value; a dear action is used less, and information per cost falls
    less than if the design were kept.
    """
    model, plain = draw_world(3, 4)
    free = complexity(model, plain, SPACE, epsilon=0.1, gap=1e-6)
    dear: dict[cf.Action | str, float] = {"observe": 3.0}
    priced = action_set(model.names, costs=dear | dict.fromkeys(model.names, 3.0))
    same = complexity(model, priced, SPACE, epsilon=0.1, gap=1e-6)
    assert same.value == pytest.approx(free.value / 3, rel=1e-5)
    used = max(plain, key=lambda action: free.allocation[action])
    assert used.target is not None
    uneven = action_set(model.names, costs={used.target: 8.0})
    found = complexity(model, uneven, SPACE, epsilon=0.1, gap=1e-6)
    spend = sum(free.allocation[a] * c for a, c in zip(uneven, uneven.costs, strict=True))
    assert free.value / spend <= found.upper * (1 + 1e-9)
    assert found.value < free.value
    assert sum(found.share_of_rounds.values()) == pytest.approx(1.0)
    assert found.share_of_rounds[used] < free.allocation[used]


def never(actions: cf.ActionSet, space: cf.ModelClass) -> Complexity:
    model = cf.LinearSEM(
        [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]], 1.0, names=["a", "b", "c"]
    )
    return complexity(model, actions, space, epsilon=0.1)


def test_two_nodes_that_nobody_can_set() -> None:
    wide = cf.ModelClass(0.2, intercept=False)
    hopeless = never(cf.ActionSet({"a": None, "b": None, "c": (-2, 2)}), wide)
    assert hopeless.value == hopeless.upper == 0 and not hopeless.is_identifiable
    assert hopeless.rivals[0].changes == "a -> b reversed"
    assert hopeless.first_order(0.05) == hopeless.lower_bound(0.05) == math.inf
    assert never(cf.ActionSet({"a": (-2, 2), "b": None, "c": None}), wide).is_identifiable


def test_focus_says_so_at_construction() -> None:
    actions = cf.ActionSet({"a": None, "b": None, "c": (-2, 2)})
    space = cf.ModelClass(0.2, intercept=False)
    with pytest.warns(cf.UnidentifiableWarning, match=re.escape("(a and b)")):
        cf.Focus(actions, space, epsilon=0.1, rule="gaussian")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": cf.LinearSEM([[0.0, 0.0], [0.1, 0.0]], 1.0)}, "outside the class"),
        ({"model": cf.LinearSEM([[0.0, 0.0], [0.6, 0.0]], 9.0)}, "outside the class"),
        ({"epsilon": 0.2}, "above min_effect / 2"),
        ({"epsilon": 0.0}, "positive"),
        ({"gap": 0.0}, "between 0 and 1"),
        ({"actions": cf.ActionSet({"X2": (0, 1), "X1": (0, 1)})}, "same order"),
    ],
)
def test_bad_input(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"model": PAIR, "actions": PAIR_ACTIONS, "space": SPACE}
    with pytest.raises(cf.InvalidInputError, match=message):
        complexity(**(given | {"epsilon": 0.1} | change))


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"X1": 0.0}, "cost of X1 is 0: costs must be positive"),
        ({"X1": -2}, "positive and finite"),
        ({"X1": math.inf}, "positive and finite"),
        ({"X1": "dear"}, "must be a number"),
        ({"X9": 2}, "no action X9"),
        ({cf.do("X1", 0.3): 2}, "no action do"),
        ([1, 2], "must map actions or names"),
    ],
)
def test_bad_costs(costs: Any, message: str) -> None:
    with pytest.raises(cf.InvalidInputError, match=message):
        cf.ActionSet({"X1": (-1, 1), "X2": (-1, 1)}, costs=costs)


def test_an_action_may_differ_from_its_node() -> None:
    actions = cf.ActionSet(
        {"X1": (-1, 1), "X2": None}, costs={cf.do("X1", 1): 7, "X1": 2, "observe": 0.5}
    )
    assert actions.costs == (0.5, 2.0, 7.0)
    delta = complexity(PAIR, PAIR_ACTIONS, SPACE, epsilon=0.1)
    with pytest.raises(cf.InvalidInputError, match="below 1/2"):
        delta.lower_bound(0.6)
    with pytest.raises(cf.InvalidInputError, match="between 0 and 1"):
        delta.first_order(1.0)
