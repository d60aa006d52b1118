"""Coins: fair, independent, a function of the seed and the number of the ask."""

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from causalfocus.system.choices import Choices
from causalfocus.system.coins import (
    CHANCE_OF_MIDDLE,
    ONE_IN,
    coins_of,
    is_middle,
    is_probe,
)
from worlds import ACTIONS, actions_of, new_focus, play, rig


def test_coins_are_fair_and_independent() -> None:
    """Between nodes, between asks and between seeds: exact limits at one in a million."""
    coins = np.array([coins_of(7, number, 70) for number in range(1, 2001)])
    low, high = stats.binom.ppf([5e-7, 1 - 5e-7], 2000, 0.5)
    assert low <= coins.sum(axis=0).min() and coins.sum(axis=0).max() <= high
    signs = 2.0 * coins - 1.0
    between = signs.T @ signs / 2000
    np.fill_diagonal(between, 0.0)
    assert np.abs(between).max() < 6.5 / np.sqrt(2000)
    assert np.abs((signs[1:] * signs[:-1]).mean(axis=0)).max() < 6.5 / np.sqrt(2000)
    others = 2.0 * np.array([coins_of(8, number, 70) for number in range(1, 2001)]) - 1.0
    assert np.abs((signs * others).mean(axis=0)).max() < 6.5 / np.sqrt(2000)


def test_a_coin_is_a_function_of_seed_and_number_alone() -> None:
    assert coins_of(3, 5, 4).tolist() == coins_of(3, 5, 4).tolist()
    assert coins_of(3, 5, 4).tolist() == coins_of(3, 5, 90)[:4].tolist()
    choices = Choices(ACTIONS, "coin")
    of_x1, of_x2 = (choices.index(cf.do(name, 2.0)) for name in ("X1", "X2"))
    assert of_x1 is not None and of_x2 is not None
    for number in range(1, 40):
        ends = coins_of(11, number, 3)
        assert choices.draw(of_x1, 11, number) == cf.do("X1", 2.0 if ends[0] else -2.0)
        assert choices.draw(of_x2, 11, number) == cf.do("X2", 2.0 if ends[1] else -2.0)


@pytest.mark.parametrize("rule", ["class", "gaussian"])
def test_the_ends_are_those_of_the_coins(rule: str) -> None:
    """Whatever was told in between, asked again, withdrawn or asked for in batches."""
    learner, system = new_focus(rule=rule, seed=21), rig()
    asked: dict[int, cf.Action] = {}
    for n in range(60):
        if n % 7 == 3:
            learner.ask_batch(3)
            learner.withdraw(learner.pending[-1].number)
        if n % 5 == 2:
            learner.tell(cf.do("X2", 0.3), system(cf.do("X2", 0.3)))
        action = learner.ask()
        assert learner.ask() == action
        asked |= {ask.number: ask.action for ask in learner.pending}
        learner.tell(action, system(action))
    assert learner.state.asks.issued >= max(asked) >= 60
    for number, action in asked.items():
        for name, value in action.settings:
            end = coins_of(21, number, 3)[CHAIN_AT[name]]
            assert value == (2.0 if end else -2.0)


CHAIN_AT = {"X1": 0, "X2": 1, "X3": 2}


def test_a_learner_shows_its_seed_and_runs_again_from_it() -> None:
    drawn = cf.Focus(ACTIONS, cf.ModelClass(0.3, intercept=False), epsilon=0.15)
    again = cf.Focus(ACTIONS, cf.ModelClass(0.3, intercept=False), epsilon=0.15, seed=drawn.seed)
    assert actions_of(play(drawn, rig(), 40)) == actions_of(play(again, rig(), 40))
    assert drawn.replay().seed == drawn.with_rule("class").seed == drawn.seed
    with pytest.raises(cf.InvalidInputError, match="A seed is a whole number"):
        new_focus(seed=-1)


def test_a_range_of_one_value_has_no_coin() -> None:
    actions = cf.ActionSet({"a": 3.0, "b": (0, 1)})
    learner = cf.Focus(actions, cf.ModelClass(0.3, outcomes=["a"]), epsilon=0.15, seed=0)
    assert {a for i in range(3) for a in learner.choices.actions_of(i)} == set(actions)
    assert learner.choices.sizes.tolist() == [1.0, 1.0, 2.0]


def test_both_ends_are_taken_equally_often() -> None:
    """The game may settle on one end of an asymmetric range; the coin does not."""
    actions = cf.ActionSet({"a": (0, 4), "b": (0, 4)})
    truth = cf.LinearSEM([[0, 0], [0.6, 0]], 1.0, names=["a", "b"])
    space = cf.ModelClass(0.2, 1.5, (0.8, 1.2), intercept=False)
    learner = cf.Focus(actions, space, epsilon=0.02, rule="class", seed=5)
    play(learner, rig(3, truth), 600)
    for name in ("a", "b"):
        low, high = learner.counts[cf.do(name, 0)], learner.counts[cf.do(name, 4)]
        assert stats.binomtest(low, low + high).pvalue > 1e-6


PROBED = Choices(cf.ActionSet({"a": (0, 4), "b": (-1, 1), "c": None, "d": 7.0}), "coin", (), True)


def test_second_coins_have_their_law_and_go_with_nothing() -> None:
    """Not with the first coins, those of other nodes or asks, nor with which asks are probes: exact
    limits at one in a million.
    """
    n, p = 4000, 20
    first = 2.0 * np.array([coins_of(7, t, p) for t in range(n)]) - 1.0
    middle = np.array([[is_middle(7, t, node) for node in range(p)] for t in range(n)])
    low, high = stats.binom.ppf([5e-7, 1 - 5e-7], n, CHANCE_OF_MIDDLE)
    assert low <= middle.sum(axis=0).min() and middle.sum(axis=0).max() <= high
    second = (middle - CHANCE_OF_MIDDLE) / np.sqrt(CHANCE_OF_MIDDLE * (1 - CHANCE_OF_MIDDLE))
    probes = np.array([is_probe(7, t) for t in range(n)])
    low, high = stats.binom.ppf([5e-7, 1 - 5e-7], n, 1 / ONE_IN)
    assert low <= probes.sum() <= high
    of_probes = (probes - 1 / ONE_IN) / np.sqrt((1 - 1 / ONE_IN) / ONE_IN)
    within, limit = second.T @ second / n, 6.5 / np.sqrt(n)
    np.fill_diagonal(within, 0.0)
    for found in (within, second.T @ first / n, second[1:].T @ second[:-1] / n):
        assert np.abs(found).max() < limit
    assert np.abs(of_probes @ np.hstack([first, second])).max() / n < limit
    assert np.abs((of_probes[1:] * of_probes[:-1]).mean()) < limit


def test_middles_are_asked_for_in_probes_alone() -> None:
    of_a = PROBED.index(cf.do("a", 0.0))
    assert of_a is not None and PROBED.middles == {"a": 2.0, "b": 0.0}
    counts = dict.fromkeys((0.0, 2.0, 4.0), 0)
    for number in range(1, 4000):
        action = PROBED.draw(of_a, 5, number)
        value = dict(action.settings)["a"]
        counts[value] += 1
        with_second = PROBED.with_second(of_a, 5, number)
        assert with_second == (("a",) if is_probe(5, number) else ())
        assert (value == 2.0) == (bool(with_second) and is_middle(5, number, 0))
        assert value == 2.0 or value == (4.0 if coins_of(5, number, 1)[0] else 0.0)
        assert value == PROBED.value_of("a", 5, number, bool(with_second))
        assert PROBED.index(action) == of_a
    assert 45 < counts[2.0] < 130 and min(counts[0.0], counts[4.0]) > 1800
    assert PROBED.index(cf.do("a", 1.0)) is None
    assert PROBED.law("a", True) == ((0.0, 0.375), (2.0, 0.25), (4.0, 0.375))
    assert PROBED.law("a") == ((0.0, 0.5), (4.0, 0.5))


def test_what_has_no_middle_is_never_probed() -> None:
    """A range of one value, one that cannot be set, slow nodes, switches, ends that the game picks,
    a range with nothing between its ends, very many variables, and other rules.
    """
    last = float(np.nextafter(1.0, 2.0))
    slow = cf.ActionSet({"a": (0, 4), "b": (1.0, last), "c": (0, 1)}, change_costs={"c": 5})
    assert Choices(slow, "coin", (), True).middles == {"a": 2.0}
    pump = cf.ActionSet({"a": (0, 4), "b": (0, 1)}, switches=["b"])
    assert Choices(pump, "coin", (), True).middles == {"a": 2.0}
    assert Choices(ACTIONS, "game", (), True).middles == {}
    assert Choices(ACTIONS, "coin").middles == {}
    many = cf.ActionSet({f"v{i}": (0, 1) for i in range(41)})
    assert Choices(many, "coin", (), True).middles == {}
    for rule in ("class", "gaussian", "paper"):
        assert new_focus(rule=rule).choices.middles == {}
    assert len(new_focus(rule="randomized").choices.middles) == 3


def test_middles_read_well() -> None:
    for low, high, middle in (
        (0.1, 0.7, 0.4),
        (300, 400, 350.0),
        (-0.3, 0.1, -0.1),
        (0, 1e-9, 5e-10),
    ):
        assert Choices(cf.ActionSet({"a": (low, high), "b": None}), "coin", (), True).middles == {
            "a": middle
        }
