"""Blocks: slow variables keep their setting and their coin, and batches are put in order."""

from collections.abc import Iterator
from itertools import groupby, pairwise, permutations
from typing import Any

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from causalfocus.campaign.checkpoint import pack, unpack
from causalfocus.learner.asking import Ask
from causalfocus.learner.blocks import Blocking, Blocks
from causalfocus.learner.parts import are_same
from causalfocus.system.choices import Choices
from causalfocus.system.coins import coins_of
from worlds import CHAIN, SPACE, actions_of, new_focus, play, rig

RANGES = dict.fromkeys(CHAIN.names, (-2.0, 2.0))
STAYS = {"X1": 6, "X3": 4}
SLOW = cf.ActionSet(RANGES, change_costs=STAYS)
BOTH = cf.ActionSet(RANGES, change_costs=STAYS, at_once=2)
AT = {"X1": 0, "X2": 1, "X3": 2}

any_batch = pytest.mark.parametrize("batch", [1, 3, 10, 25])
any_actions = pytest.mark.parametrize("actions", [SLOW, BOTH], ids=["one at once", "two"])


def slow_focus(actions: cf.ActionSet = SLOW, **options: Any) -> cf.Focus:
    given: dict[str, Any] = {"epsilon": 0.02, "rule": "class", "seed": 0}
    return cf.Focus(actions, SPACE, **(given | options))


def play_batches(learner: cf.Focus, batch: int, n: int, seed: int = 0) -> list[Ask]:
    """Ask for batches and tell them in order; return all asks."""
    system, asked = rig(seed), list[Ask]()
    while learner.rounds < n:
        actions = learner.ask_batch(batch)
        asked += learner.pending
        for action in actions:
            learner.tell(action, system(action))
    return asked


def value_of(action: cf.Action, name: str) -> float | None:
    return dict(action.settings).get(name)


def runs_of(asked: list[Ask], name: str, *, by_value: bool) -> list[int]:
    """Lengths of the runs in which a variable is free, or set (to one value)."""
    values = [value_of(ask.action, name) for ask in asked]
    return [len(list(g)) for _, g in groupby(values, key=lambda v: v if by_value else v is None)]


@any_actions
@any_batch
@pytest.mark.parametrize("ends", ["coin", "game"])
def test_every_setting_lasts_as_long_as_a_change_is_worth(
    actions: cf.ActionSet, batch: int, ends: str
) -> None:
    asked = play_batches(slow_focus(actions, ends=ends), batch, 250)
    for name, stay in STAYS.items():
        first, *inner, _ = runs_of(asked, name, by_value=True)
        assert first >= 1 and inner and min(inner) >= stay
        values = {value_of(ask.action, name) for ask in asked}
        assert None in values and len(values) > 1


@any_batch
def test_changes_cost_no_more_than_rounds_for_every_slow_variable(batch: int) -> None:
    learner = slow_focus(BOTH)
    play_batches(learner, batch, 200)
    assert learner.cost - learner.rounds <= 2 * learner.rounds + sum(STAYS.values())


@any_actions
@any_batch
@pytest.mark.parametrize("rule", ["class", "gaussian"])
def test_a_block_has_one_coin_and_the_next_another(
    actions: cf.ActionSet, batch: int, rule: str
) -> None:
    require_coins_of_blocks(play_batches(slow_focus(actions, rule=rule, seed=21), batch, 200), 21)


def require_coins_of_blocks(asked: list[Ask], seed: int) -> None:
    """Coin by coin, as the blocks go on from ask to ask."""
    assert [ask.number for ask in asked] == list(range(1, len(asked) + 1))
    for name, at in AT.items():
        open_since: int | None = None
        for ask in asked:
            coins, value = dict(ask.coins), value_of(ask.action, name)
            if value is None:
                open_since = None
                assert name not in coins
                continue
            if open_since is None or ask.number >= open_since + STAYS.get(name, 1):
                open_since = ask.number
            assert coins[name] == open_since
            assert value == (2.0 if coins_of(seed, open_since, 3)[at] else -2.0)


@any_actions
def test_blocks_go_on_across_tells_and_withdrawals(actions: cf.ActionSet) -> None:
    """Batches of which a part is told, withdrawn or left, with samples of others in between."""
    learner, system = slow_focus(actions, seed=6), rig()
    asked: dict[int, Ask] = {}
    for i in range(40):
        batch = learner.ask_batch(1 + i % 8)
        asked |= {ask.number: ask for ask in learner.pending}
        for action in batch[: 1 + i % 5]:
            learner.tell(action, system(action))
        if i % 3 == 0 and learner.pending:
            learner.withdraw(learner.pending[-1].number)
        if i % 4 == 0:
            learner.tell(cf.do("X1", 0.3), system(cf.do("X1", 0.3)))
    require_coins_of_blocks(list(asked.values()), 6)
    for name, stay in STAYS.items():
        _, *inner, _ = runs_of(list(asked.values()), name, by_value=True)
        assert inner and min(inner) >= stay


def test_coins_of_blocks_are_fair() -> None:
    """Over many seeds: exact limits at one in a million."""
    ends: dict[str, list[bool]] = {name: [] for name in STAYS}
    repeats: dict[str, list[bool]] = {name: [] for name in STAYS}
    for seed in range(40):
        asked = play_batches(slow_focus(design="uniform", seed=seed), 10, 120, seed)
        for name in STAYS:
            tossed = {dict(a.coins)[name]: a.action for a in asked if name in dict(a.coins)}
            values = [value_of(action, name) == 2.0 for action in tossed.values()]
            ends[name] += values
            repeats[name] += [one == other for one, other in pairwise(values)]
    for found in (*ends.values(), *repeats.values()):
        assert len(found) > 150
        assert stats.binomtest(sum(found), len(found)).pvalue > 1e-6


def test_coins_depend_on_nothing_that_was_told() -> None:
    """Where the design does not look at samples, other samples lead to the same asks."""
    one, other = (slow_focus(BOTH, design="uniform", seed=5) for _ in range(2))
    assert play_batches(one, 7, 90, 0) == play_batches(other, 7, 90, 1)


def test_what_is_chosen_does_not_depend_on_coins() -> None:
    """Order and sets of the first batch are the same whatever the coins say."""
    batches = [[a.targets for a in slow_focus(BOTH, seed=s).choose(40)] for s in range(8)]
    assert all(batch == batches[0] for batch in batches)
    assert len({tuple(slow_focus(BOTH, seed=s).choose(40)) for s in range(8)}) > 1


def blocks_of(learner: cf.Focus) -> Blocks:
    return learner.state.asks.blocks


def test_asking_for_more_goes_on_where_the_batch_ended() -> None:
    whole, parts = slow_focus(design="uniform"), slow_focus(design="uniform")
    whole.ask_batch(1)
    parts.ask_batch(1)
    for n in range(2, 30):
        parts.ask_batch(n)
    assert len(parts.pending) == 29
    for one, other in pairwise(parts.pending):
        for name, coin in one.coins:
            later = dict(other.coins).get(name, coin)
            assert later in (coin, other.number)
    assert whole.ask_batch(29)[:1] == parts.ask_batch(29)[:1]
    assert blocks_of(whole) != slow_focus().state.asks.blocks


def test_a_checkpoint_goes_on_with_the_same_blocks() -> None:
    learner = slow_focus(seed=3)
    play_batches(learner, 5, 63)
    learner.ask_batch(4)
    state, _ = unpack(pack(learner, {}), slow_focus(seed=3))
    assert are_same(state, learner.state) and state.asks.blocks == blocks_of(learner)
    twin = slow_focus(seed=3)
    twin.restore(state, list(learner.log))
    assert actions_of(play(twin, rig(2), 20)) == actions_of(play(learner, rig(2), 20))
    assert twin.cost == learner.cost


@any_actions
def test_replay_is_the_same_to_the_bit(actions: cf.ActionSet) -> None:
    """Of its own log, and of the log alone: numbers and actions say what the coins were."""
    learner = slow_focus(actions, seed=9)
    play_batches(learner, 5, 70)
    for twin in (learner.replay(), learner.replay(learner.log)):
        assert are_same(twin.state, learner.state)
        assert twin.next_asks(12) == learner.next_asks(12)


@pytest.mark.parametrize("with_coins", [True, False])
def test_asks_from_elsewhere_lead_to_the_same_blocks(with_coins: bool) -> None:
    learner, twin = slow_focus(BOTH, seed=4), slow_focus(BOTH, seed=4)
    system = rig()
    for _ in range(15):
        actions = learner.ask_batch(4)
        for ask in learner.pending:
            twin.put_ask(ask.number, ask.action, ask.coins if with_coins else ())
            twin.put_ask(ask.number, ask.action, ask.coins if with_coins else ())
        for action in actions:
            sample = system(action)
            learner.tell(action, sample)
            twin.tell(action, sample)
    assert are_same(twin.state, learner.state) and twin.next_asks(9) == learner.next_asks(9)


def test_nobody_gets_another_coin_by_withdrawing() -> None:
    """An ask that is withdrawn stays a part of its block."""
    learner, twin = slow_focus(design="uniform", seed=2), slow_focus(design="uniform", seed=2)
    for one in (learner, twin):
        while not any(name == "X1" for ask in one.pending for name, _ in ask.coins):
            one.ask_batch(len(one.pending) + 1)
    last = learner.pending[-1]
    blocks = blocks_of(learner)
    learner.withdraw(last.number)
    assert blocks_of(learner) == blocks == blocks_of(twin)
    (again,) = learner.next_asks(1)
    assert again.number == last.number + 1 and again.action == last.action
    assert dict(again.coins)["X1"] == dict(last.coins)["X1"]


def test_asks_that_no_choice_has_lock_nothing() -> None:
    for ends in ("coin", "game"):
        learner = slow_focus(ends=ends)
        learner.put_ask(1, cf.do({"X1": 0.5, "X3": 0.25}))
        assert learner.choose(1) == [cf.OBSERVE]
        assert set(learner.choose(20)) <= set(SLOW)


def test_without_change_costs_nothing_differs() -> None:
    """Change costs of nothing, and of no more than a round, which is kept anyway."""
    plain, nothing = new_focus(seed=8), new_focus(seed=8)
    zero = cf.Focus(
        cf.ActionSet(RANGES, change_costs={"X1": 0.0}), SPACE, epsilon=0.15, rule="class", seed=8
    )
    for learner in (plain, nothing, zero):
        play_batches(learner, 3, 60)
        assert blocks_of(learner) == () and learner.state.last is None
        assert learner.cost == learner.rounds
    assert are_same(plain.state, zero.state) and plain.next_asks(5) == zero.next_asks(5)
    assert all(n == ask.number for ask in plain.next_asks(9) for _, n in ask.coins)


def test_the_cost_has_the_changes_in_the_order_of_telling() -> None:
    learner = slow_focus()
    told = [cf.OBSERVE, cf.do("X1", 2.0), cf.do("X1", 2.0), cf.do("X1", -2.0), cf.do("X3", 2.0)]
    system = rig()
    expected = [1, 8, 9, 16, 27]
    for action, cost in zip(told, expected, strict=True):
        learner.tell(action, system(action))
        assert learner.cost == learner.result().cost == cost
    learner.tell(cf.do("X1", 0.3), system(cf.do("X1", 0.3)))
    assert learner.cost == 28, "a change to what is not in the set is passed over"
    learner.tell(cf.do("X3", 2.0), system(cf.do("X3", 2.0)))
    assert learner.cost == 29


def test_knowing_the_changes_saves_them() -> None:
    """Counted for both, the cost of a design that was not told of them is several times as high."""
    aware, blind = slow_focus(seed=1), slow_focus(cf.ActionSet(RANGES), seed=1)
    for learner in (aware, blind):
        play(learner, rig(), 300)
    changes = sum(SLOW.change_cost(a, b) for a, b in pairwise(actions_of(blind)))
    assert aware.cost - aware.rounds < 0.5 * changes


CHOICES = Choices(
    cf.ActionSet(dict.fromkeys("abcde", (-1, 1)), change_costs={"a": 3, "b": 2, "c": 5}, at_once=2),
    "coin",
)


def batches() -> Iterator[list[int]]:
    rng = np.random.default_rng(0)
    for _ in range(30):
        states = rng.choice(len(CHOICES), size=6)
        yield [int(i) for i in rng.choice(states, size=25)]


def distance(blocking: Blocking, order: list[int], blocks: Blocks) -> float:
    costs = [cost for _, cost in CHOICES.actions.change_costs]
    states = [tuple(b.setting for b in blocks), *(blocking.settings[i] for i in order)]
    return sum(
        cost
        for one, other in pairwise(states)
        for cost, a, b in zip(costs, one, other, strict=True)
        if a != b
    )


def test_a_batch_is_in_the_cheapest_order_that_keeps_its_blocks() -> None:
    """Beside all orders of the groups. Where the cheapest order breaks off a block nothing is
    dearer than what was chosen, if what was chosen breaks off none.
    """
    blocking = Blocking(CHOICES)
    n_cheapest = 0
    for chosen in batches():
        blocks = blocking.start()
        found = blocking.order(blocks, chosen, 1)
        assert sorted(found) == sorted(chosen)
        groups = {
            s: [i for i in chosen if blocking.settings[i] == s]
            for s in map(blocking.settings.__getitem__, chosen)
        }
        least = min(
            distance(blocking, [i for state in order for i in groups[state]], blocks)
            for order in permutations(groups)
        )
        if distance(blocking, found, blocks) == least:
            n_cheapest += 1
            together = [s for s, _ in groupby(found, key=blocking.settings.__getitem__)]
            assert len(together) == len(groups)
            assert all(
                [i for i in found if blocking.settings[i] == s] == g for s, g in groups.items()
            )
        else:
            assert distance(blocking, found, blocks) <= distance(blocking, chosen, blocks)
    assert n_cheapest >= 10


def test_the_present_settings_come_first() -> None:
    learner = slow_focus()
    learner.put_ask(1, cf.do("X1", 2.0))
    blocking, x1 = Blocking(learner.choices), learner.choices.index(cf.do("X1", 2.0))
    assert x1 is not None
    assert blocking.order(blocks_of(learner), [0, x1, 0, x1, x1, x1, x1], 2) == [x1] * 5 + [0, 0]
    too_long = [0, *[x1] * 6]  # the last of them would begin a block and break it off
    assert blocking.order(blocks_of(learner), too_long, 2) == too_long
