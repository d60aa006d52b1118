"""Second coins in a campaign: kept with the ask and its law, replayed to the bit, shown as any
setting; and files from before there were any.
"""

import csv
import io
import json
import pickle
import sqlite3
from pathlib import Path

import pytest

import causalfocus as cf
from causalfocus.campaign import Campaign
from causalfocus.campaign.events import Event, Toss
from causalfocus.campaign.export import samples_csv, whole_json
from causalfocus.campaign.playback import LogError, Playback
from causalfocus.campaign.sheet import run_sheet, sheet_csv
from causalfocus.guarantees.randomized import RandomizedRule
from causalfocus.learner.parts import are_same
from causalfocus.moments.coin_record import CoinRecord
from causalfocus.system.coins import is_middle, is_probe
from worlds import CHAIN, action_set, rig

ACTIONS = action_set(CHAIN.names, at_once=2)
SPACE = cf.ModelClass(0.1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rig.campaign"


def new(path: Path) -> Campaign:
    return Campaign.create(path, ACTIONS, SPACE, epsilon=0.05, rule="randomized", seed=4)


def play(campaign: Campaign, n: int, seed: int = 0) -> None:
    """In batches of three, told in another order than they were asked for, some rejected."""
    system = rig(seed)
    for i in range(n // 3):
        asked = campaign.next(3)
        for one in (asked[2], asked[0]):
            campaign.record(system(one.action), id=one.id)
        if i % 9 == 4:
            campaign.reject(asked[1].id, "the pump was off")
        else:
            campaign.record(system(asked[1].action), id=asked[1].id)


def coins_of(campaign: Campaign) -> CoinRecord:
    coins = campaign.learner.state.coins
    assert coins is not None
    return coins


def test_the_law_is_kept_and_all_is_replayed_to_the_bit(path: Path) -> None:
    with new(path) as campaign:
        play(campaign, 330)
        campaign.next(2)
        state, before = campaign.learner.state, coins_of(campaign)
        assert before.guards.curves.rounds.sum() > 20
        tosses = [
            (event, name, toss)
            for event in campaign.iterate()
            for name, toss in (event.coins or {}).items()
        ]
        middles = 0
        for event, name, toss in tosses:
            assert event.ask is not None and event.action is not None
            assert toss.has_second == is_probe(4, event.ask)
            value = dict(event.action.settings)[name]
            assert sum(share for _, share in toss.law) == 1.0
            assert value in dict(toss.law)
            middles += value == 0.0
        assert middles > 3
        document = json.loads(whole_json(campaign))
        laws = {len(c["law"]) for e in document["events"] for c in e.get("coins", {}).values()}
        assert laws == {2, 3}
    with Campaign.open(path) as again:  # from a checkpoint
        assert again.n_replayed < 600
        assert are_same(again.learner.state, state)
        again.verify()
        twin = again.learner.replay()
        assert twin.state.coins is not None and are_same(twin.state.coins, before)
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM checkpoint")
    connection.commit()
    connection.close()
    with Campaign.open(path) as again:  # from the start
        assert are_same(again.learner.state, state)


def test_a_corrected_round_is_learned_anew_with_its_second_coins(path: Path) -> None:
    with new(path) as campaign:
        play(campaign, 150)
        log, state = campaign.learner.log, campaign.learner.state
        number, told = next(
            (number, told)
            for number, told in enumerate(log, 1)
            if number > 40 and told.asked is not None and told.asked.with_second
        )
        free = next(name for name in CHAIN.names if name not in told.action.targets)
        was = float(told.sample[CHAIN.names.index(free)])
        campaign.correct(number, {free: was + 1.0}, "misread")
        curves = coins_of(campaign).guards.curves
        assert state.coins is not None and not are_same(curves, state.coins.guards.curves)
        campaign.correct(number, {free: was}, "it was right")
        assert are_same(coins_of(campaign), state.coins)


def test_a_file_from_before_second_coins_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its asks had none, whatever their numbers say; from now on there are some."""
    with monkeypatch.context() as patch:
        patch.setattr(RandomizedRule, "tosses_second_coins", False)
        with new(path) as campaign:
            play(campaign, 150)
            actions = [told.action for told in campaign.learner.log]
            before = coins_of(campaign)
    assert all(value != 0.0 for action in actions for _, value in action.settings)
    with Campaign.open(path) as campaign:
        campaign.verify()
        assert [told.action for told in campaign.learner.log] == actions
        assert are_same(coins_of(campaign), before)
        assert coins_of(campaign).guards.curves.rounds.size == 0
        assert any(is_probe(4, event.ask) for event in campaign.iterate() if event.ask)
        play(campaign, 90, seed=1)
        assert coins_of(campaign).guards.curves.rounds.sum() > 0
        campaign.verify()


def test_a_middle_that_the_seed_does_not_give_is_seen(path: Path) -> None:
    """Nor is an end taken where the second coin says the middle, or none where there was none."""
    with new(path) as campaign:
        specification, choices = campaign.specification, campaign.learner.choices
    number = next(n for n in range(1, 2000) if is_probe(4, n) and is_middle(4, n, 0))
    end = choices.value_of("X1", 4, number)
    assert end in (-2.0, 2.0)
    for value, has_second, is_right in (
        (0.0, True, True),
        (end, False, True),
        (0.0, False, False),
        (end, True, False),
        (-end, False, False),
    ):
        toss = Toss(coin=number, law=choices.law("X1", has_second))
        event = Event(kind="asked", ask=number, action=cf.do("X1", value), coins={"X1": toss})
        playback = Playback(specification, b"root")
        if is_right:
            playback.play(event.after(0, b"root"))
            assert playback.learner.pending[0].with_second == (("X1",) if has_second else ())
        else:
            with pytest.raises(LogError, match="The coin of X1 in event 1 is not the one"):
                playback.play(event.after(0, b"root"))


def test_switches_travel_with_a_campaign(path: Path) -> None:
    """No ask and no law of theirs has a middle, after reopening, adding and widening as well."""
    names = {"X1": (-2.0, 2.0), "X2": (-2.0, 2.0), "X3": (-2.0, 2.0)}
    actions = cf.ActionSet(names, at_once=2, switches=["X2"])
    assert pickle.loads(pickle.dumps(actions)) == actions  # noqa: S301
    with Campaign.create(path, actions, SPACE, epsilon=0.05, rule="randomized", seed=4) as campaign:
        play(campaign, 120)
        state = campaign.learner.state
    with Campaign.open(path) as campaign:
        assert campaign.specification.actions == actions
        assert are_same(campaign.learner.state, state)
        assert json.loads(whole_json(campaign))["specification"]["switches"] == ["X2"]
        campaign.widen("X2", -3.0, 3.0, "another pump")
        campaign.add_variable("valve", {"range": [0.0, 1.0]}, is_switch=True)
        campaign.next(60)
        for asked in campaign.pending:
            settings = dict(asked.action.settings)
            assert settings.get("X2") in (None, -3.0, 3.0)
            assert settings.get("valve") in (None, 0.0, 1.0)
        with pytest.raises(cf.InvalidInputError, match="lamp is among the switches and cannot"):
            campaign.add_variable("lamp", is_outcome=True, is_switch=True)
        laws: dict[str, set[int]] = {}
        for event in campaign.iterate():
            for name, toss in (event.coins or {}).items():
                laws.setdefault(name, set()).add(len(toss.law))
        assert laws["X1"] == {2, 3} and laws["X2"] == laws["valve"] == {2}
        state = campaign.learner.state
    with Campaign.open(path) as again:
        assert again.specification.actions.switches == ("X2", "valve")
        assert are_same(again.learner.state, state)
        again.verify()


def test_a_middle_is_shown_as_any_setting(path: Path) -> None:
    with new(path) as campaign:
        play(campaign, 120)
        while not any(0.0 in dict(one.action.settings).values() for one in campaign.pending):
            run_sheet(campaign, len(campaign.pending) + 8)
        lines = run_sheet(campaign, len(campaign.pending))
        shown = sheet_csv(lines, campaign.names)
        assert any("=0.0" in row["action"] for row in csv.DictReader(io.StringIO(shown)))
        exported = "".join(samples_csv(campaign))
        assert any("=0.0" in row["action"] for row in csv.DictReader(io.StringIO(exported)))
