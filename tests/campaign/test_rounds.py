"""A campaign's rounds: what is asked and told is learned, kept, and the same when reopened."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import causalfocus as cf
from campaign.hands import ACTIONS, PAIR, PAIR_ACTIONS, SPACE, SYSTEM
from campaign.twins import answer, fill, is_same, play_whole
from causalfocus.campaign import Campaign, Specification
from causalfocus.campaign import ledger as ledger_module
from causalfocus.campaign.status import status
from causalfocus.guarantees.gaussian import GaussianRule
from worlds import rig


@pytest.fixture
def rule() -> str:
    """Every sample counts by it, asked for or not."""
    return "gaussian"


def test_a_round(campaign: Campaign) -> None:
    (asked,) = campaign.next(who="Ada", note="morning")
    assert (asked.id, asked.action) == (1, cf.OBSERVE) and asked.who == "Ada"
    event = campaign.record({"X1": 0.1, "X2": 0.2, "X3": 1 / 3}, id=1, who="Bo", note="warm")
    assert event.sample == (0.1, 0.2, 1 / 3) and (event.who, event.note) == ("Bo", "warm")
    assert event.at.endswith("Z") and campaign.rounds == 1 and campaign.pending == ()
    first, second = campaign.events()
    assert (first.kind, second.kind) == ("asked", "told") and second == event


def test_several_actions_are_out_at_once(campaign: Campaign) -> None:
    """Together they are what a learner would ask for in one batch."""
    one = campaign.next(2)
    two = campaign.next(3)
    batch = campaign.specification.learner().ask_batch(5)
    assert [asked.action for asked in (*one, *two)] == batch
    assert [asked.id for asked in campaign.pending] == [1, 2, 3, 4, 5]
    campaign.reject(2, "pump is broken")
    sample = {"X1": 0.0, "X2": 1.0, "X3": 2.0}
    action = two[1].action  # in any order
    assert action.target is not None and action.value is not None
    sample[action.target] = action.value
    campaign.record(sample, id=4)
    assert [asked.id for asked in campaign.pending] == [1, 3, 5]
    with pytest.raises(cf.InvalidInputError, match=r"3 actions are pending; say by its number"):
        campaign.record(sample)


def test_what_was_not_asked_for_counts_too(campaign: Campaign) -> None:
    event = campaign.record([0.5, 1.0, 0.0], action=cf.do("X1", 0.5))
    assert event.ask is None and campaign.learner.log[0].action == cf.do("X1", 0.5)


def test_what_a_setting_achieved_is_recorded(campaign: Campaign, path: Path) -> None:
    """The asked actions cover the set as they do with nominal values, and all of it is kept."""
    rng = np.random.default_rng(2)
    taken: dict[str | None, int] = {}
    for _ in range(40):
        (asked,) = campaign.next()
        reached = tuple((name, value + 0.05) for name, value in asked.action.settings)
        campaign.record(SYSTEM.sample(cf.Action(reached), 1, rng)[0], id=asked.id)
        taken[asked.action.target] = taken.get(asked.action.target, 0) + 1
    assert set(taken) == {None, "X1", "X2", "X3"} and max(taken.values()) < 30
    with Campaign.open(path) as again:
        assert is_same(again.learner, campaign.learner)
        off = [
            t.sample[("X1", "X2", "X3").index(n)] - v
            for t in again.learner.log
            for n, v in t.action.settings
        ]
        assert off == pytest.approx([0.05] * len(off)) and again.learner.moments.n == 40


def test_a_reopened_campaign_is_the_same_to_the_bit(campaign: Campaign, path: Path) -> None:
    """Through checkpoints, with a few rounds after the last, and from the log alone."""
    for n in (ledger_module.CHECKPOINT_EVERY + 5, 1, 40):
        fill(campaign, n, seed=n)
        with Campaign.open(path) as again:
            learner = again.learner
            assert again._ledger.current().n_played <= 2 * ledger_module.CHECKPOINT_EVERY + 1
            live = cf.Focus(ACTIONS, SPACE, epsilon=0.01, rule="gaussian", seed=0)
            for told in learner.log:
                live.tell(told.action, told.sample)
            assert is_same(learner, live) and is_same(learner, campaign.learner)
            assert (
                learner.ask().targets == live.ask().targets
            )  # the coins go by the number of the ask
            assert again.verify() == again.n_events()
            assert dict(again.curve()) == dict(campaign.curve())


@pytest.mark.parametrize("rule", ["class", "gaussian"])
def test_the_stop_is_kept(path: Path, rule: str) -> None:
    """A certificate, its event, and the same result after every way of opening the file."""
    space = cf.ModelClass(min_effect=0.4, max_effect=2.0, noise_variance=(0.5, 2.0))
    pair = rig(1, PAIR)
    with Campaign.create(path, PAIR_ACTIONS, space, epsilon=0.2, rule=rule) as campaign:
        while campaign.stop is None:
            answer(campaign, pair)
        result = campaign.result()
        assert result.certified and campaign.stop.facts is not None
        assert campaign.stop.facts["rounds"] == result.rounds == campaign.rounds
        with pytest.raises(cf.AlreadyStoppedError):
            campaign.next()
        campaign.continue_after_stop(note="to be sure")
        for _ in range(40):
            answer(campaign, pair)
        assert [event.kind for event in campaign.events()].count("stopped") == 1
        assert "Certified after" in status(campaign).statement
    for _ in range(2):
        with Campaign.open(path) as again:
            assert again.result() == result and again.stop is not None
            assert is_same(again.learner, play_whole(again).learner)
        with sqlite3.connect(path) as raw:
            raw.execute("DELETE FROM checkpoint")
        raw.close()


def test_opening_does_not_grow_with_the_log(campaign: Campaign, path: Path) -> None:
    """Neither the events played, nor those read, nor what recording one more reads."""
    rng = np.random.default_rng(0)
    read: list[int] = []
    for n in (200, 1600):
        taken = [ACTIONS[i % len(ACTIONS)] for i in range(n)]
        campaign.import_samples([(a, SYSTEM.sample(a, 1, rng)[0]) for a in taken])
        statements = 0

        def count() -> int:
            nonlocal statements
            statements += 1
            return 0

        with Campaign.open(path) as again:
            # Ten instructions of SQLite's machine at a time: a scan of the log would show.
            again._ledger.file._connection.set_progress_handler(count, 10)
            again.record([0.0, 0.0, 0.0], action=cf.OBSERVE)
            assert again._ledger.current().n_played <= ledger_module.CHECKPOINT_EVERY + 1
            again._ledger.file._connection.set_progress_handler(None, 0)
        read.append(statements)
    assert read[1] <= 1.5 * read[0] + 10
    assert campaign.rounds == 1802 and len(campaign.learner.log) == 1802


def test_zero_has_no_sign(path: Path) -> None:
    """SQLite would not keep it, and the digest would not fit."""
    actions = cf.ActionSet({"a": (-0.0, 5.0), "b": None})
    with Campaign.create(path, actions, SPACE, epsilon=0.1, rule="gaussian") as campaign:
        campaign.record([-0.0, 1.0], action=cf.do("a", -0.0))
        campaign.import_samples([(cf.do("a", -0.0), [0.0, 2.0])])
        for asked in campaign.next(3):
            value = {} if asked.action.target else {"a": -0.0}
            campaign.record({"b": 1.5} | value, id=asked.id)
    with Campaign.open(path) as again:
        assert again.rounds == 5 and again.verify() == again.n_events()


def test_what_cannot_be_learned_from_is_not_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A learner that fails some rounds after a value mistyped by eighty digits."""
    actions = cf.ActionSet({"a": (-1.0, 1.0), "b": (-1.0, 1.0)})
    rng = np.random.default_rng(9)
    sizes = [1e80 if t == 12 else 1.0 for t in range(30)]
    rows = [(cf.OBSERVE, size * rng.normal(size=2)) for size in sizes]
    estimate = GaussianRule.estimate

    def fails(rule: GaussianRule, moments: cf.Moments) -> cf.LinearSEM:
        if moments.n > 15 and np.abs(moments.rows(intercept=True).grams).max() > 1e100:
            raise OverflowError("a learner that was told too much")
        return estimate(rule, moments)

    monkeypatch.setattr(GaussianRule, "estimate", fails)
    with Campaign.create(path, actions, SPACE, epsilon=0.1, rule="gaussian") as campaign:
        with pytest.raises(cf.InvalidInputError, match=r"Nothing can be learned .* right units"):
            campaign.import_samples(rows)
        assert campaign.n_events() == 0
        with pytest.raises(cf.InvalidInputError, match="Nothing can be"):  # noqa: PT012
            for action, row in rows:
                campaign.record(row, action=action)
        n = campaign.n_events()
        assert n == 15
    with Campaign.open(path) as again:
        assert again.rounds == n and again.verify() == n


def test_telling_the_learner_directly_changes_nothing(campaign: Campaign, path: Path) -> None:
    fill(campaign, 20)
    for _ in range(20):
        campaign.learner.tell(cf.OBSERVE, [0.0, 0.0, 0.0])
    assert campaign.rounds == 20
    fill(campaign, 15, seed=3)
    with Campaign.open(path) as again:
        assert again.rounds == 35 and again.verify() == 70


def test_looking_changes_nothing(campaign: Campaign) -> None:
    """Whatever a looker asks or tells, in the middle of an import too."""
    seen = campaign.learner
    seen.ask_batch(3)
    seen.tell(cf.OBSERVE, [0.1, 0.2, 0.3])
    assert campaign.rounds == 0 and not campaign.learner.pending
    fill(campaign, 40)
    held = campaign.learner
    system = rig(9, SYSTEM)
    more = [(cf.OBSERVE, system(cf.OBSERVE)) for _ in range(40)]

    def look(rounds: int) -> None:
        assert held.ask() in ACTIONS and rounds > 40

    campaign.import_samples(more, on_learned=look)
    assert held.rounds == 40 and len(held.log) == 40 and len(campaign.learner.log) == 80
    (asked,) = campaign.next()
    assert asked.id == 41 and [a.number for a in campaign.learner.pending] == [41]
    with campaign.hold():
        campaign.learner.ask()
        assert campaign.rounds == 80
    assert campaign.verify() == 121


def test_one_variable_is_known_at_once(path: Path) -> None:
    with Campaign.create(path, cf.ActionSet({"a": (0, 1)}), SPACE, epsilon=0.1) as campaign:
        assert campaign.stop is not None and campaign.result().certified
        with pytest.raises(cf.AlreadyStoppedError):
            campaign.next()
    with pytest.raises(cf.InvalidInputError, match="needs two variables"):
        Specification(
            title="",
            actions=cf.ActionSet({"a": (0, 1)}),
            units=("",),
            space=cf.PAPER_CLASS,
            epsilon=0.07,
            delta=0.05,
            rule="paper",
        )


def test_the_status_says_what_a_person_wants_to_know(campaign: Campaign) -> None:
    empty = status(campaign)
    assert empty.rounds == 0 and empty.remaining is None and empty.state == "running"
    fill(campaign, 60)
    campaign.next()
    now = status(campaign)
    assert now.rounds == 60 and sum(now.counts.values()) == 60
    assert now.remaining is not None and now.remaining.low <= now.remaining.rounds
    assert {(e.cause, e.effect) for e in now.edges} == {
        (c, e) for c, e, _ in campaign.learner.estimate.edges
    }
    assert sum(now.share.values()) == pytest.approx(1.0)
    plain = json.loads(json.dumps(now.to_dict()))
    assert plain["pending"][0]["id"] == 61


def test_bad_requests(campaign: Campaign) -> None:
    with pytest.raises(cf.InvalidInputError, match="Nothing is pending"):
        campaign.record([0.0, 0.0, 0.0])
    campaign.next()
    cases: list[tuple[Any, str]] = [
        ({"X1": 1.0, "X2": 2.0}, "lacks X3"),
        ({"X1": 1.0, "X2": 2.0, "Y": 2.0}, "no node named 'Y'"),
        ([1.0, 2.0], "3 numbers"),
        ([1.0, float("inf"), 2.0], "X2 is inf"),
        (["a", 1.0, 2.0], "must consist of numbers"),
    ]
    for sample, message in cases:
        with pytest.raises(cf.InvalidInputError, match=message):
            campaign.record(sample, id=1)
    with pytest.raises(cf.InvalidInputError, match="no asked action with the number 9"):
        campaign.record([0.0, 0.0, 0.0], id=9)
    with pytest.raises(cf.InvalidInputError, match="asks for observe, and the sample is of do"):
        campaign.record([2.0, 0.0, 0.0], id=1, action=cf.do("X1", 2.0))
    with pytest.raises(cf.InvalidInputError, match=r"X1 was set to 2 .* but the sample says 1"):
        campaign.record([1.0, 0.0, 0.0], action=cf.do("X1", 2.0))
    with pytest.raises(cf.InvalidInputError, match="a reason is needed"):
        campaign.reject(1, " ")
    with pytest.raises(cf.InvalidInputError, match="Between 1 and 1000"):
        campaign.next(0)
    with pytest.raises(cf.InvalidInputError, match="nothing to note"):
        campaign.note("")
    with pytest.raises(cf.InvalidInputError, match="has not stopped"):
        campaign.continue_after_stop()
    assert campaign.n_events() == 1 and campaign.rounds == 0
    campaign.record([0.0, 0.0, 0.0], id=1)
    with pytest.raises(cf.InvalidInputError, match=r"Number 1 was recorded already, at .*g: n"):
        campaign.record([0.0, 0.0, 0.0], id=1)
    campaign.next()
    campaign.reject(2, "no")
    with pytest.raises(cf.InvalidInputError, match="Number 2 was rejected already"):
        campaign.reject(2, "no")
    assert campaign.n_events() == 4
