"""One frozen state: all that asking and telling change, compared and restored whole."""

import math
import pickle
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.arrays import Floats
from causalfocus.baselines import Certified, Random
from causalfocus.campaign.checkpoint import pack, unpack
from causalfocus.learner.parts import (
    PartsError,
    are_same,
    put_together,
    stored_fields,
    stored_values,
    take_apart,
)
from causalfocus.learner.protocol import Told
from causalfocus.learner.round import FocusState
from causalfocus.learner.state import MOST_PENDING
from worlds import ACTIONS, CHAIN, SPACE, actions_of, finish, new_focus, play, rig

INTERCEPTS = cf.ModelClass(0.3)


def a_learner(n: int = 90, **options: Any) -> cf.Focus:
    """With marks, anchors, an aim, and asks that wait."""
    learner = play(cf.Focus(ACTIONS, INTERCEPTS, epsilon=0.15, **options), rig(), n)
    learner.ask_batch(3)
    return learner


def test_nothing_but_state_and_log_changes_when_it_is_told_or_asked() -> None:
    learner = a_learner()
    before = dict(vars(learner))
    learner.ask()
    learner.tell(cf.OBSERVE, [0.1, 0.2, 0.3])
    learner.continue_after_stop()
    after = vars(learner)
    assert before.keys() == after.keys()
    changed = {name for name in before if before[name] is not after[name]}
    assert changed == {"_state"} and len(after["_log"]) == 91


def test_a_state_is_frozen_and_an_older_one_stays_as_it_was() -> None:
    learner = a_learner()
    old = learner.state
    parts = pickle.dumps(take_apart(old))
    with pytest.raises(FrozenInstanceError):
        old.rounds = 3  # type: ignore[misc]
    play(learner, rig(4), 40)
    assert pickle.dumps(take_apart(old)) == parts
    learner.restore(old, list(learner.log[: old.rounds]))
    assert learner.rounds == 90 and learner.state is old


@pytest.mark.parametrize("rule", ["gaussian", "class", "paper"])
@pytest.mark.parametrize("n", [0, 1, 7, 150])
def test_a_checkpoint_is_the_state_to_the_bit(rule: str, n: int) -> None:
    learner = play(new_focus(rule=rule), rig(), n)
    learner.ask_batch(2)
    state, more = unpack(pack(learner, {"kept": 1}), new_focus(rule=rule))
    assert are_same(state, learner.state) and more == {"kept": 1}
    twin = new_focus(rule=rule)
    twin.restore(state, list(learner.log))
    assert twin.decision.evidence == learner.decision.evidence
    if not learner.has_stopped:
        assert actions_of(play(twin, rig(2), 5)) == actions_of(play(learner, rig(2), 5))


def other_values(thing: Any) -> Iterator[Any]:  # noqa: C901 - one case for each type
    """Something else of the same type; of a dataclass, one for every part that it has."""
    match thing:
        case np.ndarray():
            other = np.where(np.isfinite(thing), np.abs(thing) + thing + 1, 1.0)
            yield other if thing.size else np.ones(1)
        case bool():
            yield not thing
        case int() | float():
            yield abs(thing) + thing + 1 if math.isfinite(thing) else 1.0
        case str():
            yield thing + "!"
        case tuple():
            yield (*thing, *thing[:1]) if thing else (cf.OBSERVE,)
            for i, one in enumerate(thing):
                yield from ((*thing[:i], other, *thing[i + 1 :]) for other in other_values(one))
        case dict():
            yield dict(list(thing.items())[1:])
        case cf.Action():
            yield cf.do("X1", 0.321)
        case cf.LinearSEM():
            yield cf.LinearSEM(0.5 * thing.weights, thing.noise_variances, names=thing.names)
        case _ if is_dataclass(thing) and not isinstance(thing, type):
            for name in stored_fields(type(thing)):
                for value in other_values(getattr(thing, name)):
                    yield replace(thing, **{name: value})


@pytest.fixture(scope="module")
def stopped() -> cf.Focus:
    """With everything that a state can hold but another chooser."""
    slow = cf.ActionSet(dict.fromkeys(CHAIN.names, (-2.0, 2.0)), change_costs={"X1": 3, "X2": 2})
    learner = finish(cf.Focus(slow, INTERCEPTS, epsilon=0.15, delta=0.5), rig(), 3000)
    learner.continue_after_stop()
    learner.tell(cf.do("X1", 2.0), {"X2": None, "X3": 0.0})
    learner.ask_batch(3)
    return learner


@pytest.mark.parametrize("name", stored_fields(FocusState))
def test_no_field_can_be_forgotten(name: str, stopped: cf.Focus) -> None:
    """Whatever differs in a state, however deep, differs in what verify compares."""
    learner = stopped.replay()
    state = learner.state
    assert state.stop is not None and state.continued and len(state.asks.pending) == 3
    whole = pack(learner, {})
    found = list(other_values(getattr(state, name)))
    assert found or name in ("chooser", "coins")
    for value in found:
        learner.adopt(replace(state, **{name: value}))
        assert pack(learner, {}) != whole, (name, value)
        assert not are_same(learner.state, state)


def test_what_follows_says_so_and_is_found_again() -> None:
    follows = {one.name for one in fields(FocusState)} - set(stored_fields(FocusState))
    assert follows == {"standing"}
    learner = a_learner()
    tree, arrays = take_apart(learner.state)
    again = learner.state_from(stored_values(FocusState, tree, arrays))
    assert again.standing.estimate == learner.estimate
    assert again.standing.decision.reason == learner.decision.reason
    assert are_same(again.standing.schedule, learner.state.standing.schedule)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda tree: tree.pop("rounds"),
        lambda tree: tree.update(more=1),
        lambda tree: tree.update(rounds="many"),
        lambda tree: tree.update(rounds=True),
        lambda tree: tree.update(counts=[1.0]),
        lambda tree: tree.update(counts={"array": "elsewhere"}),
        lambda tree: tree["asks"].update(pending=[[1]]),
        lambda tree: tree.update(hedge=None),
        lambda tree: tree.update(continued=[1.5]),
    ],
)
def test_parts_that_do_not_fit_are_refused(spoil: Any) -> None:
    tree, arrays = take_apart(a_learner().state)
    stored_values(FocusState, tree, arrays)
    spoil(tree)
    with pytest.raises(PartsError):
        stored_values(FocusState, tree, arrays)


def test_a_thing_without_parts_is_refused() -> None:
    with pytest.raises(PartsError, match="is a set"):
        take_apart({"a": {1, 2}})
    assert put_together(float, 3, {}) == 3.0


def test_an_ask_has_a_number_and_is_answered_by_its_action() -> None:
    learner = new_focus()
    first, second, third = learner.ask_batch(3)
    assert [(a.number, a.action, a.rounds) for a in learner.pending] == [
        (1, first, 0),
        (2, second, 0),
        (3, third, 0),
    ]
    system = rig()
    learner.tell(second, system(second))
    assert [a.number for a in learner.pending] == [1, 3] and learner.log[0].ask == 2
    unasked = cf.do("X3", 0.25)
    learner.tell(unasked, {"X1": 0.1, "X2": 0.2})
    assert learner.log[1].ask is None and [a.number for a in learner.pending] == [1, 3]
    learner.tell(first, system(first))
    learner.tell(first, system(first))
    assert [told.ask for told in learner.log] == [2, None, 1, None]
    assert learner.state.asks.issued == 3


def test_asking_again_issues_nothing_new_until_something_is_told() -> None:
    learner = new_focus()
    assert learner.ask() == learner.ask() == learner.ask_batch(2)[0]
    assert learner.state.asks.issued == 2
    action = learner.ask()
    learner.tell(action, rig()(action))
    learner.ask()
    assert learner.state.asks.issued == 3 and len(learner.pending) == 2


def test_what_is_being_done_elsewhere_counts_as_done() -> None:
    """The first rounds play every action once: those that are out are not asked for again."""
    learner = new_focus(ends="game")
    out = list(ACTIONS)[:4]
    assert learner.ask_batch(2, pending=out) == list(ACTIONS)[4:6]
    assert learner.choose(2, pending=out) == list(ACTIONS)[4:6]
    assert learner.choose(1, pending=[cf.do("X1", 0.123)]) == [ACTIONS[0]]
    assert learner.state.asks.issued == 2


def test_an_ask_can_be_withdrawn_or_taken_over() -> None:
    learner = new_focus()
    learner.ask_batch(2)
    learner.withdraw(1)
    assert [a.number for a in learner.pending] == [2]
    learner.put_ask(7, cf.do("X2", 2.0))
    assert learner.state.asks.issued == 7
    learner.tell(cf.do("X2", 2.0), [0.0, 2.0, 0.5])
    assert learner.log[0].ask == 7
    assert learner.ask() in ACTIONS and learner.state.asks.issued == 8


def test_a_thousand_asks_wait_and_no_more() -> None:
    """Who never does what is asked for does not fill the memory, nor slow down the rounds."""
    learner = Random(ACTIONS, SPACE, seed=1)
    for i in range(1100):
        learner.ask()
        learner.tell(cf.do("X1", 0.001 * i), [0.001 * i, 0.1, 0.2])
    assert learner.state.asks.issued == 1100 and len(learner.pending) == MOST_PENDING
    assert learner.pending[0].number == 101


def test_only_what_waits_can_be_withdrawn() -> None:
    learner = new_focus()
    learner.ask()
    for number in (0, 2, 99, "x"):
        with pytest.raises(cf.InvalidInputError, match="no pending ask with the number"):
            learner.withdraw(number)  # type: ignore[arg-type]
    assert learner.state.asks.issued == 1 and len(learner.pending) == 1


@pytest.mark.parametrize("rule", ["gaussian", "class"])
def test_what_is_told_while_an_ask_is_chosen_is_kept(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the ask is one of the state after it."""
    learner, twin, system = new_focus(rule=rule), new_focus(rule=rule), rig()
    samples = [system(cf.OBSERVE) for _ in range(2)]
    next_index = learner.next_index

    def interfere(counts: Floats, t: int) -> int:
        found = next_index(counts, t)
        if samples:
            learner.tell(cf.OBSERVE, samples.pop())
        return found

    told = list(samples)
    monkeypatch.setattr(learner, "next_index", interfere)
    asked = learner.ask()
    for sample in told[::-1]:
        twin.tell(cf.OBSERVE, sample)
    assert learner.rounds == len(learner.log) == 2
    assert asked.targets == twin.ask().targets and learner.pending[-1].rounds == 2


def test_an_ask_while_a_sample_is_learned_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    learner, system = new_focus(), rig()
    after = learner.after

    def interfere(told: Told) -> FocusState:
        learner.ask_batch(2)
        return after(told)

    monkeypatch.setattr(learner, "after", interfere)
    learner.tell(cf.do("X3", 2.0), system(cf.do("X3", 2.0)))
    assert learner.rounds == len(learner.log) == 1
    assert [a.number for a in learner.pending] == [1, 2]


def test_a_line_of_a_log_says_itself_what_it_answers() -> None:
    learner, twin = new_focus(), new_focus()
    learner.ask_batch(3)
    action = learner.pending[1].action
    learner.take(Told(action, rig()(action), None))
    assert len(learner.pending) == 3 and learner.log[0].ask is None
    twin.take(Told(action, learner.log[0].sample, 5))
    assert twin.state.asks.issued == 5 and twin.pending == ()
    with pytest.raises(cf.InvalidInputError, match="A sample is 3 numbers"):
        twin.take(Told(action, np.zeros(2), None))
    assert twin.rounds == 1


def test_asks_do_not_change_what_is_learned() -> None:
    """Two learners with the same log and other asks: the same estimate, evidence and design."""
    one, other = new_focus(), new_focus()
    system = rig()
    for _ in range(70):
        action = one.ask()
        sample = system(action)
        one.tell(action, sample)
        other.ask_batch(4, pending=[cf.OBSERVE])
        other.take(Told(action, sample, None))
    assert are_same(replace(one.state, asks=other.state.asks), other.state)
    # The coins belong to the numbers of the asks, and so do the ends; the design is the same.
    assert [a.targets for a in one.choose(5)] == [a.targets for a in other.choose(5)]


def test_the_chooser_of_a_certified_baseline_is_in_its_state() -> None:
    learner = play(Certified(Random(ACTIONS, SPACE, seed=3), epsilon=0.15), rig(), 20)
    old, own = learner.state, learner.learner.state
    assert old.chooser is own
    play(learner, rig(5), 10)
    assert learner.learner.rounds == 30
    learner.restore(old, list(learner.log[:20]))
    assert learner.learner.rounds == 20 and learner.learner.state is own
    assert learner.learner.estimate.names == CHAIN.names
