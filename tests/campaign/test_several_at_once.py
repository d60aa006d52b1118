"""Campaigns that set several variables at once: asked, tossed, recorded, exported, read back."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

import causalfocus as cf
from campaign.hands import SPACE, SYSTEM
from campaign.twins import fill, is_same
from causalfocus.campaign import Campaign, LogError, Specification
from causalfocus.campaign.export import event_dict, samples_csv, whole_json
from causalfocus.campaign.samples import read_samples
from causalfocus.campaign.sheet import run_sheet, sheet_csv
from causalfocus.system.coins import coins_of
from causalfocus.system.words import action_in, action_text

RANGES = dict.fromkeys(SYSTEM.names, (-2.0, 2.0))


def new(path: Path, at_once: int | None = None, **more: object) -> Campaign:
    actions = cf.ActionSet(RANGES, at_once=at_once, **more)  # type: ignore[arg-type]
    return Campaign.create(path, actions, SPACE, epsilon=0.01, seed=7)


def test_asks_are_tossed_by_the_seed_and_kept_with_their_law(path: Path) -> None:
    with new(path) as campaign:
        fill(campaign, 240)
        asks = [event for event in campaign.iterate() if event.kind == "asked"]
        assert max(len(event.action.settings) for event in asks if event.action) == 2
        for event in asks:
            assert event.action is not None and event.ask is not None
            coins = coins_of(7, event.ask, 3)
            expected = {name: (-2.0, 2.0)[int(coins[i])] for i, name in enumerate(SYSTEM.names)}
            tossed = event.coins or {}
            assert set(tossed) == set(event.action.targets)
            assert all(toss.coin == event.ask for toss in tossed.values())
            for name, value in event.action.settings:
                if tossed[name].law == ((-2.0, 0.5), (2.0, 0.5)):
                    assert value == expected[name]
                else:  # there is a second coin, for the middle
                    assert dict(tossed[name].law) == {-2.0: 0.375, 0.0: 0.25, 2.0: 0.375}
                    assert value in (0.0, expected[name])
        ends = [value for event in asks if event.action for _, value in event.action.settings]
        high, low = sum(value > 0 for value in ends), sum(value < 0 for value in ends)
        assert stats.binomtest(high, high + low).pvalue > 1e-4
    with Campaign.open(path) as again:
        assert is_same(again.learner, again.specification.learner().replay(again.learner.log))
        assert again.verify() == again.n_events() == 480


def test_a_coin_that_the_seed_does_not_give_is_noticed(path: Path) -> None:
    """Even if somebody computes the digests anew."""
    with new(path) as campaign:
        fill(campaign, 9)
        playback = campaign._ledger.fresh()
        for event in campaign.iterate():
            if event.coins and event.action is not None:
                turned = cf.do({name: -value for name, value in event.action.settings})
                forged = replace(event, action=turned).after(playback.seq, playback.digest)
                with pytest.raises(LogError, match="is not the one that the seed gives"):
                    playback.play(forged)
                break
            playback.play(event)
        else:
            pytest.fail("no coin was tossed")


def test_what_is_exported_is_read_back(path: Path, tmp_path: Path) -> None:
    with new(path) as campaign:
        fill(campaign, 30)
        campaign.record([1.9, 0.0, 0.5], action=cf.do({"X1": 2.0, "X3": 0.4}), failed=["X3"])
        file = tmp_path / "samples.csv"
        file.write_text("".join(samples_csv(campaign)))
        lines = read_samples(file, campaign.specification.actions)
        assert [line.action for line in lines] == [told.action for told in campaign.learner.log]
        assert [line.details.failed for line in lines[-2:]] == [(), ("X3",)]
        events = json.loads(whole_json(campaign))["events"]
        assert events[-1]["settings"] == {"X1": 2.0, "X3": 0.4} and events[-1]["target"] is None
        asked = next(e for e in campaign.iterate() if e.coins)
        assert event_dict(asked, campaign.names)["coins"]
        with new(tmp_path / "other.campaign") as other:
            samples = [(one.action or cf.OBSERVE, one.sample, one.details) for one in lines]
            assert other.import_samples(samples) == 31
            assert other.decision.evidence == campaign.decision.evidence
            with pytest.raises(cf.InvalidInputError, match="31 of 31 samples are in the campaign"):
                other.import_samples(samples)


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("observe", {}),
        ("a=1", {"a": 1.0}),
        ("a=1; b=-2.5", {"a": 1.0, "b": -2.5}),
        ("do(a = 1, b = 2)", {"a": 1.0, "b": 2.0}),
        ("x, y=3;a=2", {"x, y": 3.0, "a": 2.0}),
        ("p=q=1; a=0", {"p=q": 1.0, "a": 0.0}),
    ],
)
def test_actions_in_words(text: str, settings: dict[str, float]) -> None:
    names = ("a", "b", "x, y", "p=q")
    action = cf.do(settings) if settings else cf.OBSERVE
    assert action_in(text, names) == action
    assert action_in(action_text(action), names) == action


@pytest.mark.parametrize("text", ["a", "a=1; a=2", "c=1", "a=1; c=2", "a=1 b=2", ""])
def test_actions_that_are_none(text: str) -> None:
    with pytest.raises(cf.InvalidInputError):
        action_in(text, ("a", "b"))


def test_a_specification_goes_through_its_file(tmp_path: Path) -> None:
    """Costs of sets, tolerances, change costs, seed and ends; and without costs a set costs one."""
    actions = cf.ActionSet(
        {"heat": (20, 80), "flow": (1, 3), "yield": None},
        at_once=2,
        costs={"heat": 5, cf.do({"heat": 80, "flow": 1}): 5.5},
        tolerances={"heat": 1.5},
        change_costs={"heat": 30},
    )
    plain = cf.ActionSet({"heat": (20, 80), "flow": (1, 3), "yield": None}, at_once=2)
    for given in (actions, plain):
        specification = Specification(
            title="T",
            actions=given,
            units=("°C", "", ""),
            space=cf.ModelClass(0.2, outcomes=["yield"]),
            epsilon=0.1,
            delta=0.1,
            ends="coin",
        )
        file = tmp_path / "s.json"
        file.write_text(json.dumps(specification.to_dict()))
        assert Specification.read(file) == specification
        assert Specification.from_stored(specification.to_stored()) == specification


def test_widened_sets_keep_their_costs(tmp_path: Path) -> None:
    actions = cf.ActionSet(RANGES, at_once=2, costs={cf.do({"X1": 2.0, "X2": -2.0}): 0.5})
    path = tmp_path / "x.campaign"
    with Campaign.create(path, actions, SPACE, epsilon=0.01) as campaign:
        campaign.widen("X1", -2.0, 5.0)
        assert campaign.specification.actions.cost_of(cf.do({"X1": 5.0, "X2": -2.0})) == 0.5
        assert campaign.specification.actions.cost_of(cf.do({"X1": -2.0, "X2": -2.0})) == 2.0


def test_slow_variables_keep_their_coin_in_the_log(path: Path) -> None:
    with new(path, 1, change_costs={"X1": 6.0}) as campaign:
        fill(campaign, 240)
        asks = [event for event in campaign.iterate() if event.kind == "asked"]
        shared = [e for e in asks if e.coins and "X1" in e.coins and e.coins["X1"].coin != e.ask]
        assert shared
    with Campaign.open(path) as again:
        assert again.verify() == again.n_events()
        assert again.learner.state.asks == replayed_asks(again)


def replayed_asks(campaign: Campaign) -> object:
    playback = campaign._ledger.fresh()
    for event in campaign.iterate():
        playback.play(event)
    return playback.learner.state.asks


def test_a_run_sheet_comes_back_filled_in(path: Path, tmp_path: Path) -> None:
    with new(path, 2) as campaign:
        lines = run_sheet(campaign, 6)
        assert [line.asked.id for line in lines] == [1, 2, 3, 4, 5, 6]
        assert run_sheet(campaign, 6) == lines and run_sheet(campaign, 4) == lines
        before: dict[str, float] = {}
        for line in lines:
            either = line.settings.items() ^ before.items()
            assert line.changes == {name for name, _ in either}
            before = dict(line.settings)
        text = sheet_csv(lines, campaign.names).splitlines()
        assert text[0] == "id,action,X1,X2,X3,failed,performed,not_done"
        free = [n for n in campaign.names if n not in lines[1].settings]
        values = dict.fromkeys(free, "0.5")
        (one,) = list(lines[1].settings)[:1]
        values[one] = "0.75"  # its setting failed
        cells = [values.get(name, "") for name in campaign.names]
        here = ["" if name in lines[0].settings else "NA" for name in campaign.names]
        text[1] = ",".join([*text[1].split(",")[:2], *here, "", "2026-05-04T10:00+00:00", ""])
        text[2] = ",".join([*text[2].split(",")[:2], *cells, one, "", ""])
        text[3] = ",".join([*text[3].split(",")[:2], "", "", "", "", "", "no steam"])
        file = tmp_path / "sheet.csv"
        file.write_text("\n".join(text))
        found = read_samples(file, campaign.specification.actions, by_id=True)
        assert [line.id for line in found] == [1, 2, 3]
        done = campaign.record_many(
            [(f.id or 0, f.action, f.sample, f.details) for f in found if not f.not_done],
            rejections={f.id or 0: f.not_done for f in found if f.not_done},
        )
        assert [event.kind for event in done] == ["told", "told", "rejected"]
        assert done[0].performed == "2026-05-04T10:00:00.000Z" and done[1].failed == (one,)
        assert done[2].note == "no steam" and [a.id for a in campaign.pending] == [4, 5, 6]


def test_what_is_wrong_with_a_filled_sheet_is_named(path: Path, tmp_path: Path) -> None:
    with new(path, 2) as campaign:
        lines = run_sheet(campaign, 2)
        file = tmp_path / "sheet.csv"
        file.write_text("id,X1,X2,X3,failed,not_done\n1,1,2,3,X9,\n2,1,,,,broken\n")
        with pytest.raises(cf.InvalidInputError, match=r"line 2: failed: 'X9' is no variable") as e:
            read_samples(file, campaign.specification.actions, by_id=True)
        assert "line 3: it has values, and says that it was not done" in str(e.value)
        file.write_text(sheet_csv(lines, campaign.names))
        with pytest.raises(cf.InvalidInputError, match="a header and no samples yet"):
            read_samples(file, campaign.specification.actions, by_id=True)


def test_the_tables_hold_what_they_say(path: Path) -> None:
    """For those who read the file with other programs."""
    with new(path, 2) as campaign:
        campaign.record([2.0, -2.0, 0.5], action=cf.do({"X2": -2.0, "X1": 2.0}), key="k")
    raw = sqlite3.connect(path)
    (row,) = raw.execute("SELECT target, value, settings, key FROM events").fetchall()
    raw.close()
    assert row == ("X1, X2", None, '{"X1": 2.0, "X2": -2.0}', "k")
