"""Pursuit: the cheapest rounds that give every rival what it lacks, and the first of them."""

import numpy as np
import pytest

from causalfocus.allocation import Latitude, Stage, pursued_action

ONE = np.ones(3)
NOTHING = np.zeros(3)


def stage(*rivals: tuple[float, list[float]]) -> Stage:
    return Stage(np.array([lack for lack, _ in rivals]), np.array([gains for _, gains in rivals]))


def chosen(*stages: Stage, **given: object) -> int | None:
    options = {"pending": NOTHING, "costs": ONE, "spent": NOTHING, "is_endless": False} | given
    return pursued_action(stages, **options)  # type: ignore[arg-type]


def test_what_most_rounds_are_planned_for_comes_first() -> None:
    """Two nats at 0.1 a round take 20 rounds, three at 0.5 take six; of 0.5 nats and three the
    second takes longer.
    """
    both = stage((2.0, [0.1, 0.05, 0.0]), (3.0, [0.0, 0.2, 0.5]))
    assert chosen(both) == 0
    assert chosen(stage((0.5, [0.1, 0.05, 0.0]), (3.0, [0.0, 0.2, 0.5]))) == 2


def test_rounds_under_way_count() -> None:
    both = stage((2.0, [0.1, 0.05, 0.0]), (3.0, [0.0, 0.2, 0.5]))
    assert chosen(both, pending=np.array([16.0, 0.0, 0.0])) == 2
    assert chosen(both, pending=np.array([20.0, 0.0, 6.0])) is None


def test_later_stages_wait() -> None:
    first, second = stage((1.0, [0.0, 0.3, 0.1])), stage((50.0, [0.2, 0.0, 0.0]))
    assert chosen(first, second) == 1
    assert chosen(stage((-1.0, [0.0, 0.3, 0.1])), second) == 0


def test_all_done_is_said_unless_it_is_to_go_on() -> None:
    done = stage((-5.0, [0.0, 0.3, 0.1]), (-0.1, [0.0, 0.0, 0.1]))
    assert chosen(done) is None
    assert chosen(done, is_endless=True) == 2


def test_what_no_action_tells_apart_holds_nobody_up() -> None:
    blind = stage((9.0, [0.0, 0.0, 0.0]))
    assert chosen(blind) is None and chosen(blind, is_endless=True) is None
    assert chosen(blind, stage((1.0, [0.1, 0.0, 0.0]))) == 0


@pytest.mark.parametrize(("cost", "expected"), [(1.0, 0), (3.0, 1)])
def test_gains_are_per_cost(cost: float, expected: int) -> None:
    costs = np.array([cost, 1.0, 1.0])
    assert chosen(stage((1.0, [0.2, 0.1, 0.0])), costs=costs) == expected


def test_ties_go_to_the_action_on_which_least_was_spent() -> None:
    even = stage((1.0, [0.2, 0.2, 0.1]))
    assert chosen(even, spent=np.array([3.0, 1.0, 0.0])) == 1


def test_the_plan_serves_all_and_its_first_action_the_first_stage() -> None:
    """Against the first stage alone the first action is best; the third serves both stages."""
    first, second = stage((10.0, [1.0, 0.0, 0.8])), stage((10.0, [0.0, 1.0, 0.8]))
    assert chosen(first) == 0
    assert chosen(first, second) == 2


def test_of_the_planned_actions_the_first_stage_decides() -> None:
    """The plan needs many rounds of the second action; the first is for what comes first."""
    first, second = stage((1.0, [0.5, 0.0, 0.0])), stage((50.0, [0.0, 0.2, 0.0]))
    assert chosen(first, second) == 0


def test_a_gain_below_zero_is_rounding() -> None:
    blind = stage((1.0, [0.3, -1e-17, 0.0]), (2.0, [-1e-17, -1e-18, -1e-17]))
    assert chosen(blind) == 0
    assert chosen(stage((1.0, [-1e-17, -1e-17, -1e-17])), is_endless=True) is None


def test_nobody_to_pursue() -> None:
    assert chosen() is None
    assert chosen(Stage(np.empty(0), np.empty((0, 3))), is_endless=True) is None


def latitude(allowed: list[int], present: list[int]) -> Latitude:
    masks = [np.isin(np.arange(3), which) for which in (allowed, present)]
    return Latitude(masks[0], masks[1])


def test_what_is_planned_with_the_present_settings_comes_before_a_change() -> None:
    """Twenty rounds of the first action are planned, six of the third and none of the second."""
    both = stage((2.0, [0.1, 0.05, 0.0]), (3.0, [0.0, 0.2, 0.5]))
    assert chosen(both, latitude=latitude([0, 1, 2], [0, 1, 2])) == chosen(both) == 0
    assert chosen(both, latitude=latitude([0, 1, 2], [2])) == 2
    assert chosen(both, latitude=latitude([0, 1, 2], [1])) == 0


def test_only_what_is_allowed_is_taken() -> None:
    """Planned or not, as long as it tells anything; of twins those that are allowed."""
    both = stage((2.0, [0.1, 0.05, 0.0]), (3.0, [0.0, 0.2, 0.5]))
    assert chosen(both, latitude=latitude([1], [1])) == 1
    assert chosen(stage((2.0, [0.1, 0.0, 0.3])), latitude=latitude([1], [1])) is None
    twins = stage((2.0, [0.1, 0.1, 0.1]))
    spent = np.array([0.0, 2.0, 1.0])
    assert chosen(twins, spent=spent) == 0
    assert chosen(twins, spent=spent, latitude=latitude([1, 2], [1, 2])) == 2
    assert chosen(twins, spent=spent, latitude=latitude([1, 2], [1])) == 1
