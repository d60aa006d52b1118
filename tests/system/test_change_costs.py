"""What it costs to change the setting of a slow variable."""

import math
from itertools import product

import pytest

import causalfocus as cf
from causalfocus.system.choices import Choices

RANGES = {"oven": (20.0, 80.0), "flow": (1.0, 2.0), "tank": (0.0, 1.0), "yield": None}
SLOW = cf.ActionSet(RANGES, change_costs={"tank": 10, "oven": 30}, at_once=2)


def test_a_change_is_another_setting() -> None:
    cold, hot = cf.do("oven", 20), cf.do("oven", 80)
    assert SLOW.change_cost(cf.OBSERVE, cold) == SLOW.change_cost(cold, cf.OBSERVE) == 30.0
    assert SLOW.change_cost(cold, hot) == 30.0 and SLOW.change_cost(hot, hot) == 0.0
    assert SLOW.change_cost(cf.do("flow", 1), cf.do("flow", 2)) == 0.0
    assert SLOW.change_cost(cf.do({"oven": 80, "flow": 1}), hot) == 0.0
    assert SLOW.change_cost(hot, cf.do("tank", 1)) == 40.0


def test_changes_are_a_distance() -> None:
    """Nothing is gained by going round about, which the order of a batch relies on."""
    for a, b, c in product(SLOW, repeat=3):
        ab, bc, ac = (SLOW.change_cost(x, y) for x, y in ((a, b), (b, c), (a, c)))
        assert ac <= ab + bc and ab == SLOW.change_cost(b, a)


def test_what_costs_nothing_is_as_if_nothing_was_said() -> None:
    assert cf.ActionSet(RANGES, change_costs={"oven": 0}) == cf.ActionSet(RANGES)
    assert cf.ActionSet(RANGES).change_costs == () and cf.ActionSet(RANGES).least_stays == {}
    assert SLOW.change_costs == (("oven", 30.0), ("tank", 10.0))
    assert cf.ActionSet(RANGES, at_once=2) != SLOW


@pytest.mark.parametrize(
    ("costs", "stays"),
    [
        ({}, {"oven": 30, "tank": 10}),
        ({"observe": 4}, {"oven": 30, "tank": 10}),
        ({"observe": 4, "flow": 4, "oven": 7, "tank": 7}, {"oven": 8, "tank": 3}),
        ({cf.do({"oven": 20, "flow": 1}): 0.5}, {"oven": 60, "tank": 20}),
    ],
)
def test_a_stay_is_worth_a_change(costs: dict[object, float], stays: dict[str, int]) -> None:
    actions = cf.ActionSet(RANGES, costs=costs, change_costs={"oven": 30, "tank": 10}, at_once=2)
    assert actions.least_stays == stays
    assert actions.cheapest_round == min(actions.costs)
    assert all(
        n * actions.cheapest_round >= c
        for n, (_, c) in zip(stays.values(), actions.change_costs, strict=True)
    )


def test_a_dear_change_has_a_stay_all_the_same() -> None:
    dear = cf.ActionSet(RANGES, costs={"observe": 1e-300}, change_costs={"oven": 1e300})
    assert dear.least_stays["oven"] >= 10**9 and math.isfinite(dear.amortised_cost(["oven"]))


@pytest.mark.parametrize("ends", ["coin", "game"])
def test_the_design_pays_for_changes_over_their_stay(ends: str) -> None:
    plain = Choices(cf.ActionSet(RANGES, at_once=2), ends)  # type: ignore[arg-type]
    slow = Choices(SLOW, ends)  # type: ignore[arg-type]
    for targets, before, after in zip(slow.targets, plain.costs, slow.costs, strict=True):
        assert after == before + len({"oven", "tank"} & set(targets))
    half = cf.ActionSet(RANGES, change_costs={"oven": 2.5})
    assert half.amortised_cost(["oven", "flow"]) == 2.5 / 3
