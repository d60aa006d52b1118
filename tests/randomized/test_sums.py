"""Sums by intention and in the order of asking, against their definition."""

import pickle
from typing import Any

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.arrays import Bools
from causalfocus.moments.randomized_sums import MOST_ADDED_UP, RandomizedSums, signs_of
from causalfocus.moments.stakes_ahead import LEAST_EPOCH
from causalfocus.system.coins import coins_of
from randomized.rigs import LOOP, Bench, bench, hidden

EVERYTHING = ~np.eye(3, dtype=np.bool_)


def same(one: RandomizedSums, other: RandomizedSums) -> bool:
    a, b = one.read(), other.read()
    pairs: list[tuple[Any, Any]] = [
        *zip(a.sums.coins, b.sums.coins, strict=True),
        *zip(a.sums.directions, b.sums.directions, strict=True),
        *zip(a.sums.pool, b.sums.pool, strict=True),
        *zip(a.stakes, b.stakes, strict=True),
    ]
    return all(np.array_equal(x, y) for x, y in pairs)


def far_enough(batch: int = 1, has_grams: bool = True) -> Bench:
    one = bench(LOOP, hidden, seed=4, failing=0.2, has_grams=has_grams)
    one.play(240, batch)
    return one


@pytest.mark.parametrize("has_grams", [True, False])
@pytest.mark.parametrize("batch", [1, 4, 40])
def test_sums_are_those_of_the_definition(batch: int, has_grams: bool) -> None:
    """S exactly; V too where each test keeps its grams, else from above and exactly but for what is
    of second order.
    """
    one = far_enough(batch, has_grams)
    reading, rng = one.state.read(), np.random.default_rng(0)
    stakes, sums = reading.stakes, reading.sums
    assert stakes.is_begun.all() and len({id(r[0]) for r in one.literal.rounds}) > 3
    for j in range(3):
        for size in (0.0, 0.01, 1.0, 100.0):
            b = LOOP[j] + size * rng.normal(size=3) * EVERYTHING[j]
            q, d = -b.copy(), b - stakes.references[j]
            q[j] = 1.0
            second = sum(
                float(((b - at.references[j]) @ (x - at.centres[j])) ** 2)
                for at, asked, _, x in one.literal.rounds
                if at.is_begun[j] and not asked[j]
            )
            for tests, ks in (
                (sums.coins, (None,)),
                (sums.directions, [*np.flatnonzero(LOOP[j]).tolist(), 3, 4]),
            ):
                for k in ks:
                    s, v = one.literal.sums(j, b, k)
                    at = slice(None) if k is None else [k]
                    bound = tests.squares[j] - 2 * tests.crossed[j] @ d
                    grams = tests.grams[j] if tests.has_grams else sums.pool.grams[j][None]
                    bound = (bound + np.einsum("r,krs,s->k", d, grams, d))[at]
                    used = v > 0.0
                    np.testing.assert_allclose((tests.moved[j] @ q)[at], s, rtol=1e-9, atol=1e-7)
                    assert (bound >= v * (1 - 1e-12))[used].all()
                    most = v if has_grams else v + second
                    assert (bound <= most * (1 + 1e-9))[used].all()


def test_the_order_of_telling_within_a_batch_does_not_matter() -> None:
    asks = [(EVERYTHING[t % 3], EVERYTHING[t % 3] * (-1.0) ** (t // 3)) for t in range(200)]
    rows = np.random.default_rng(0).normal(size=(200, 3))
    states = []
    for backwards in (False, True):
        state = RandomizedSums.empty(EVERYTHING)
        for start in range(0, 200, 8):
            numbers = list(range(start + 1, start + 9))
            for number in numbers:
                state = state.issue(number, *asks[number - 1])
            for number in reversed(numbers) if backwards else numbers:
                state = state.answer(number, rows[number - 1])
        states.append(state)
    assert same(*states)


def test_what_is_incomplete_cannot_be_read() -> None:
    state = far_enough().state
    first, second, third = (state.issued + i for i in (1, 2, 3))
    asked, signs = EVERYTHING[0], EVERYTHING[0] * 1.0
    for number in (first, second, third):
        state = state.issue(number, asked, signs)
    later = state.answer(third, [1.0, 2.0, 3.0]).answer(second, [1.0, 0.0, 3.0])
    assert same(later, state) and later.n == state.n
    assert later.answer(first, [0.0, 0.0, 0.0]).n == state.n + 3
    assert later.withdraw(first).n == state.n + 2


def test_a_state_is_never_written_to() -> None:
    one = bench(LOOP, hidden, seed=1)
    one.play(120)
    early, literal = one.state, one.state.read()
    kept = [np.array(array) for array in (*literal.sums.coins, *literal.stakes)]
    one.play(120)
    again = early.read()
    now: list[Any] = [*again.sums.coins, *again.stakes]
    assert all(np.array_equal(a, b) for a, b in zip(kept, now, strict=True))


def test_asks_that_wait_keep_the_stakes_with_which_they_were_asked() -> None:
    """One ask stays open for a hundred others: nothing enters before it, and then all does, by the
    definition.
    """
    one = bench(LOOP, hidden, seed=9)
    one.play(150)
    number, asked = one.state.issued + 1, EVERYTHING[2]
    one.state = one.state.issue(number, asked, asked * 1.0)
    stakes, before = one.state.stakes[max(one.state.stakes)], one.state.n
    late = np.array([2.0, 2.0, 0.7])
    one.literal.rounds.append((stakes, asked, asked * 1.0, late))
    one.play(100)
    assert one.state.n == before
    one.state = one.state.answer(number, late)
    one.play(40)
    assert one.state.n == before + 141
    reading = one.state.read()
    for j in range(3):
        q = -LOOP[j]
        q[j] = 1.0
        s, _ = one.literal.sums(j, LOOP[j], None)
        np.testing.assert_allclose(reading.sums.coins.moved[j] @ q, s, rtol=1e-9, atol=1e-7)


def test_a_first_batch_of_any_size_counts_for_the_centres_alone() -> None:
    one = bench(LOOP, hidden, seed=9)
    one.play(100, batch=100)
    assert not one.state.read().sums.pool.rounds.any()
    one.play(100, batch=50)
    assert one.state.read().sums.pool.rounds.max() > 30


def test_reading_changes_nothing() -> None:
    """Read after every round or never: the same, to the bit."""
    states = []
    for reads in (False, True):
        one = bench(LOOP, hidden, seed=2)
        for _ in range(150):
            one.play(1)
            if reads:
                one.state.read()
        states.append(one.state)
    assert same(*states)


def test_nothing_large_is_copied_per_round() -> None:
    state = far_enough().state
    kinds = []
    for number in range(state.issued + 1, state.issued + 2 * LEAST_EPOCH):
        after = state.issue(number, EVERYTHING[1], EVERYTHING[1] * 1.0).answer(number, [0, 1, 2])
        kinds.append(after.epoch is state.epoch)
        state = after
    assert sum(not kept for kept in kinds) <= 4


def test_a_state_of_many_variables_keeps_rounds_rather_than_their_sums() -> None:
    """Of an epoch; read at any time the sums are the same, to the bit, and there is one array of
    p^3 numbers for every sum that is kept for good.
    """
    p = MOST_ADDED_UP + 1
    rng = np.random.default_rng(0)
    states = [RandomizedSums.empty(~np.eye(p, dtype=np.bool_)) for _ in range(2)]
    for number in range(1, 330):
        asked = rng.random(p) < 0.5
        signs = np.where(asked, rng.choice([-1.0, 1.0], size=p), 0.0)
        row = rng.normal(size=p) + signs
        states = [state.issue(number, asked, signs).answer(number, row) for state in states]
        if number % 50 == 0:
            states[1].read()
    assert same(*states) and states[0].read().stakes.is_begun.any()
    assert states[0].epoch is None and states[0].tail
    assert len(pickle.dumps(states[0])) < 7.0 * 8 * p**3


def test_rounds_without_a_coin_count_for_nothing() -> None:
    state = far_enough().state
    number = state.issued + 1
    after = state.issue(number, EVERYTHING[0], np.zeros(3)).answer(number, [9.0, 9.0, 9.0])
    assert same(after, state) and after.n == state.n


def test_a_row_counts_by_intention() -> None:
    """A variable that was asked to be set has no round in its own row, whatever it did."""
    state = far_enough().state
    number, asked = state.issued + 1, np.array([True, False, False])
    after = state.issue(number, asked, asked * 1.0).answer(number, [-0.3, 5.0, 5.0])
    grown = after.read().sums.pool.rounds - state.read().sums.pool.rounds
    assert grown.tolist() == [0.0, 1.0, 1.0]
    grown_coins = after.read().sums.pool.counts - state.read().sums.pool.counts
    assert grown_coins.tolist() == [[0, 0, 0], [1, 0, 0], [1, 0, 0]]


def test_a_coin_counts_in_the_ask_for_which_it_was_tossed() -> None:
    names = ("a", "b", "c")
    tossed = np.where(coins_of(3, 12, 3), 1.0, -1.0)
    assert signs_of(3, 12, [("a", 12), ("c", 12)], names).tolist() == [tossed[0], 0, tossed[2]]
    assert signs_of(3, 12, [("a", 9), ("c", 12)], names).tolist() == [0, 0, tossed[2]]
    assert signs_of(3, 12, [], names).tolist() == [0, 0, 0]


def test_signs_agree_with_what_a_learner_asks_for() -> None:
    """With a slow variable: its coin is an instrument once per block."""
    actions = cf.ActionSet(dict.fromkeys("abc", (-2, 2)), change_costs={"a": 5})
    learner = cf.Focus(actions, cf.ModelClass(0.3), epsilon=0.15, seed=8)
    rng, n_slow = np.random.default_rng(0), 0
    for _ in range(60):
        action = learner.ask()
        ask = learner.pending[-1]
        signs = signs_of(learner.seed, ask.number, ask.coins, actions.names)
        for name, value in action.settings:
            at = actions.names.index(name)
            if value == 0.0:  # a second coin took it to the middle
                assert name in ask.with_second
                continue
            assert signs[at] in (np.sign(value), 0.0)
            assert name == "a" or signs[at] != 0.0
            n_slow += name == "a" and signs[at] == 0.0
        learner.tell(action, {name: rng.normal() for name in "abc"})
    assert n_slow > 0


@pytest.mark.parametrize(
    ("asked", "signs", "message"),
    [
        ([True, False], [1.0, 0.0], "one entry for each of 3"),
        ([True, False, False], [0.5, 0.0, 0.0], "A coin is 1 or -1"),
        ([True, False, False], [1.0, 1.0, 0.0], "A coin is 1 or -1"),
    ],
)
def test_bad_asks_are_refused(asked: list[bool], signs: list[float], message: str) -> None:
    with pytest.raises(cf.InvalidInputError, match=message):
        RandomizedSums.empty(EVERYTHING).issue(1, asked, signs)


def test_bad_answers_are_refused() -> None:
    state = RandomizedSums.empty(EVERYTHING).issue(3, EVERYTHING[0], EVERYTHING[0] * 1.0)
    with pytest.raises(cf.InvalidInputError, match="rising numbers"):
        state.issue(3, EVERYTHING[0], EVERYTHING[0] * 1.0)
    with pytest.raises(cf.InvalidInputError, match=r"Ask 4 is not open; open are \[3\]"):
        state.answer(4, [0, 0, 0])
    with pytest.raises(cf.InvalidInputError, match="Withdraw the ask"):
        state.answer(3, [0, np.nan, 0])
    with pytest.raises(cf.InvalidInputError, match="open are none"):
        state.answer(3, [0, 0, 0]).withdraw(3)


@pytest.mark.parametrize("mask", [np.ones((2, 2)), np.zeros((2, 3)), np.zeros(4)])
def test_bad_masks_are_refused(mask: Bools) -> None:
    with pytest.raises(cf.InvalidInputError, match="False on its diagonal"):
        RandomizedSums.empty(mask)
