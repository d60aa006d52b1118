"""Sets of variables as columns: the first ones, their costs, and what is refused."""

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.allocation import covering_action
from causalfocus.system.choices import MOST_CHOICES, Choices
from causalfocus.system.columns import (
    Columns,
    columns_of,
    every_column,
    first_columns,
    n_sets,
    rows_of,
)


def actions_on(n: int, at_once: int | None, **more: None) -> cf.ActionSet:
    ranges = {f"v{i}": (-2.0, 2.0) for i in range(n)}
    return cf.ActionSet({**ranges, **more}, at_once=at_once)


@pytest.mark.parametrize("at_once", [2, 3, 5, None])
@pytest.mark.parametrize("n", [2, 3, 8, 9, 14, 30])
def test_few_rounds_of_the_first_columns_hold_every_pair(n: int, at_once: int | None) -> None:
    """Of a variable that is set and one that is free; as exploration takes them."""
    actions = actions_on(n, at_once, free=None)
    columns = first_columns(actions)
    assert columns[: n + 1] == ((), *((name,) for name in actions.names[:n]))
    assert len(set(columns)) == len(columns) and max(map(len, columns)) <= actions.at_once
    choices = Choices(actions, "coin", columns)
    spent, taken = np.zeros(len(columns)), []
    while (at := covering_action(choices.covers, spent, choices.costs, 0.0)) is not None:
        spent[at] += 1
        taken.append(set(columns[at]))
    for i in actions.names[:n]:
        for j in actions.names:
            assert i == j or any(i in one and j not in one for one in taken)
    digits = (n - 1).bit_length()
    assert len(taken) <= digits * (n / actions.at_once + 2)
    if n > 8 and at_once is None:
        assert len(taken) < n


def test_sets_are_counted_listed_and_written_as_rows() -> None:
    for n, at_once in ((4, 1), (5, 2), (6, None)):
        actions = actions_on(n, at_once, free=None)
        columns = every_column(actions)
        assert len(columns) == len(set(columns)) == n_sets(actions)
        rows = rows_of(columns, actions.names)
        assert rows.sum(axis=1).tolist() == [len(column) for column in columns]
        assert columns_of(rows, actions.names) == columns
    assert n_sets(actions_on(30, 3)) == 1 + 30 + 435 + 4060


def test_what_can_be_listed_is_listed_and_what_cannot_starts_small() -> None:
    assert Choices(actions_on(12, None), "coin").is_whole
    for n, at_once in ((13, None), (14, None), (30, 3)):
        actions = actions_on(n, at_once)
        choices = Choices(actions, "coin")
        assert n_sets(actions) > MOST_CHOICES and not choices.is_whole
        assert choices.targets == choices.columns == first_columns(actions)
        assert choices.index(cf.OBSERVE) == 0
        assert choices.index(cf.do({"v0": 2.0, "v1": -2.0, "v6": 2.0})) is None
        assert choices.covers.any(axis=1).sum() == n * (n - 1)


def test_costs_of_columns_are_means_over_all_ends() -> None:
    ranges: dict[str, tuple[float, float] | float | None] = {"a": (0, 1), "b": (0, 1), "c": 2.0}
    ranges["d"] = None
    named, other = cf.do({"a": 1, "b": 1}), cf.do({"b": 0, "c": 2})
    costs = {"a": 5, cf.do("a", 0): 1.5, "observe": 0.5, named: 2.0, other: 9.0}
    for prices in (costs, {"a": 3}, {}):
        actions = cf.ActionSet(ranges, at_once=None, costs=prices)
        some = Choices(actions, "coin", every_column(actions))
        for i in range(len(some)):
            slow = np.mean([actions.cost_of(action) for action in some.actions_of(i)])
            assert some.costs[i] == pytest.approx(slow, rel=1e-12)
        assert some.costs == pytest.approx(Choices(actions, "coin").costs, rel=1e-12)
        for one, all_of_them in zip(some.arrays, Choices(actions, "coin").arrays, strict=True):
            assert np.array_equal(one, all_of_them)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((("v0",), ()), "first column sets nothing"),
        (((), ("v0", "v1"), ("v1", "v0")), "no two set the same"),
        (((), ("v0", "v1", "v2")), "not a set of up to 2"),
        (((), ("v0", "v0")), "not a set of up to 2"),
        (((), ("free",)), "of the variables v0, v1, v2, v3"),
    ],
)
def test_columns_that_are_none_are_refused(columns: Columns, message: str) -> None:
    with pytest.raises(cf.InvalidInputError, match=message):
        Choices(actions_on(4, 2, free=None), "coin", columns)


def test_fixed_ends_are_chosen_from_a_list() -> None:
    with pytest.raises(cf.InvalidInputError, match="every action is a choice by itself"):
        Choices(actions_on(4, 2), "game", ((), ("v0",)))
    with pytest.raises(cf.InvalidInputError, match=r"19,171 ways.*or let a coin pick the ends"):
        Choices(actions_on(9, None), "game")
