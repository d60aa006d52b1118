"""Rounds and asks that are put right, and campaigns that grow: by one more event each."""

import math
from pathlib import Path

import numpy as np
import pytest

import causalfocus as cf
from campaign.hands import ACTIONS, PAIR, SPACE, SYSTEM, new_pair_campaign
from campaign.twins import answer, fill, is_same, play_whole
from causalfocus.campaign import Campaign
from causalfocus.campaign.export import event_dict, samples_csv
from causalfocus.campaign.samples import read_samples
from causalfocus.campaign.status import status
from causalfocus.learner.protocol import Told
from worlds import rig


@pytest.fixture
def rule() -> str:
    """Every sample counts by it, asked for or not."""
    return "gaussian"


def live_learner(lines: list[Told]) -> cf.Focus:
    """One that was told these lines and nothing else."""
    learner = cf.Focus(ACTIONS, SPACE, epsilon=0.01, rule="gaussian", seed=0)
    for told in lines:
        learner.take(told)
    return learner


def test_a_withdrawn_round_counts_for_nothing_and_stays_in_the_log(
    campaign: Campaign, path: Path
) -> None:
    fill(campaign, 40)
    before = campaign.learner
    event = campaign.withdraw(17, "recorded twice", who="Ada")
    assert (event.kind, event.round, event.note) == ("withdrawn", 17, "recorded twice")
    learner = campaign.learner
    without = live_learner([told for i, told in enumerate(before.log, 1) if i != 17])
    assert learner.rounds == 40 and without.rounds == 39
    assert learner.decision.evidence == without.decision.evidence
    assert learner.counts == without.counts and learner.cost == without.cost
    assert np.array_equal(learner.estimate.weights, without.estimate.weights)
    assert learner.log[16].withdrawn and learner.log[16].action == before.log[16].action
    with Campaign.open(path) as again:
        assert is_same(again.learner, learner) and again.verify() == again.n_events()
        assert again.record([0.0, 0.0, 0.0], action=cf.OBSERVE).round == 41
        assert status(again, foretell=False).n_left_out == 1
    with pytest.raises(cf.InvalidInputError, match="withdrawn already"):
        campaign.withdraw(17, "again")


def test_a_correction_brings_a_withdrawn_round_back(campaign: Campaign) -> None:
    fill(campaign, 12)
    before = campaign.learner
    free = next(n for n in campaign.names if n not in before.log[4].action.targets)
    campaign.withdraw(5, "of another rig")
    value = float(before.log[4].sample[campaign.names.index(free)])
    campaign.correct(5, {free: value}, "it was ours after all")
    assert is_same(campaign.learner, before)
    assert is_same(campaign.learner, play_whole(campaign).learner)


def test_the_action_of_a_round_is_corrected(campaign: Campaign, tmp_path: Path) -> None:
    """What it set then is measured, what it sets now is nominal, unless a value is given."""
    fill(campaign, 30)
    campaign.record({"X1": 0.5, "X2": 1.0}, action=cf.do("X3", 2.0))
    campaign.correct(31, {"X3": 0.75}, "it was X2", action=cf.do("X2", -2.0))
    lines = list(campaign.learner.log)
    assert lines[30].action == cf.do("X2", -2.0) and lines[30].sample.tolist() == [0.5, -2.0, 0.75]
    assert is_same(campaign.learner, live_learner(lines))
    with pytest.raises(cf.InvalidInputError, match="lacks X2"):
        campaign.correct(31, {}, "nothing was set", action=cf.OBSERVE)
    campaign.correct(31, {"X2": -1.9}, "the valve was off", failed=["X2"])
    assert [told.failed for told in campaign.learner.log[30:]] == [("X2",)]
    campaign.correct(31, reason="it was on", failed=[])
    assert not any(told.failed for told in campaign.learner.log)
    file = tmp_path / "samples.csv"
    file.write_text("".join(samples_csv(campaign)))
    assert read_samples(file, ACTIONS)[30].action == cf.do("X2", -2.0)


def test_an_accidental_ask_is_taken_back_and_its_coin_is_used_up(campaign: Campaign) -> None:
    (asked,) = campaign.next()
    event = campaign.take_back(asked.id, "pressed the button", who="Bob")
    assert (event.kind, event.ask, event.round) == ("withdrawn", 1, None)
    assert campaign.pending == () and campaign.learner.pending == ()
    (other,) = campaign.next()
    assert other.id == 2
    with pytest.raises(cf.InvalidInputError, match=r"1 was taken back already, at .* by Bob"):
        campaign.record([0.0, 0.0, 0.0], id=1)
    with pytest.raises(cf.InvalidInputError, match="a reason is needed"):
        campaign.take_back(2, " ")


def test_a_missing_value_is_kept_and_leaves_the_round_out(campaign: Campaign, path: Path) -> None:
    fill(campaign, 20)
    before = campaign.learner
    event = campaign.record({"X1": 1.0, "X2": None, "X3": 0.0}, action=cf.OBSERVE)
    assert event.sample is not None and math.isnan(event.sample[1])
    assert campaign.rounds == 21
    assert campaign.learner.decision.evidence == before.decision.evidence
    assert campaign.learner.counts[cf.OBSERVE] == before.counts[cf.OBSERVE] + 1
    with Campaign.open(path) as again:
        last = again.events(limit=1, newest=True)[0]
        assert last.digest == event.digest and again.verify() == again.n_events()
        assert event_dict(last, again.names)["sample"] == {"X1": 1.0, "X2": None, "X3": 0.0}
        assert "1.0,NA,0.0," in list(samples_csv(again))[-1]
    campaign.correct(21, {"X2": 0.3}, "it was in the notebook")
    assert status(campaign, foretell=False).n_left_out == 0


def test_losses_at_one_end_are_noticed_and_refute_nothing(path: Path) -> None:
    """A sensor of X2 that is blind whenever X1 is set high, against one that is blind at random."""
    pair, rng = rig(4, PAIR), np.random.default_rng(4)
    doubts = []
    for number, at_random in enumerate((False, True)):
        with new_pair_campaign(path.with_name(f"{number}.campaign"), "gaussian") as campaign:
            for i in range(150):
                action = cf.do("X1", 2.0 if i % 2 else -2.0)
                sample = dict(zip(PAIR.names, pair(action), strict=True))
                if rng.random() < 0.25 if at_random else action.value == 2.0:
                    sample["X2"] = None
                campaign.record(sample, action=action)
            now = status(campaign, foretell=False)
            doubts.append(now.losses)
            assert now.state != "refuted"
    assert doubts[0] is not None and "depends on do(X1 = " in doubts[0]
    assert doubts[1] is None


def test_failed_settings_and_far_values(campaign: Campaign, path: Path) -> None:
    """A failed setting leaves its variable free; a far value is refused unless it is as read."""
    fill(campaign, 15)
    campaign.record([0.3, 0.1, 0.2], action=cf.do("X1", 2.0), failed=["X1"])
    campaign.record([1.5, 0.1, 0.2], action=cf.do("X1", 2.0), as_read=True)
    lines = campaign.learner.log
    assert lines[15].effective_action == cf.OBSERVE
    assert campaign.learner.is_evidence(lines[15]) and not campaign.learner.is_evidence(lines[16])
    twin = live_learner(list(lines[:15]))
    twin.tell(cf.do("X1", 2.0), [0.3, 0.1, 0.2], failed=["X1"])
    assert twin.decision.evidence == campaign.decision.evidence
    with pytest.raises(cf.InvalidInputError, match=r"'X2' cannot have failed: do\(X1 = 2\)"):
        campaign.record([2.0, 0.0, 0.0], action=cf.do("X1", 2.0), failed=["X2"])
    with Campaign.open(path) as again:
        assert [event.failed for event in again.iterate() if event.failed] == [("X1",)]
        assert again.verify() == again.n_events()


def test_what_is_not_allowed_needs_a_word(tmp_path: Path) -> None:
    actions = cf.ActionSet({"a": (0, 1), "b": None})
    with Campaign.create(
        tmp_path / "x.campaign", actions, cf.ModelClass(0.2), epsilon=0.1, rule="gaussian"
    ) as campaign:
        cases = [
            (cf.do("b", 1.0), "sets b, and b was said not to be settable"),
            (cf.do("a", 2.0), "outside of the range of a, 0 to 1. Widen"),
            (cf.do({"a": 1.0, "b": 1.0}), "b was said not to be settable"),
        ]
        for action, message in cases:
            with pytest.raises(cf.InvalidInputError, match=message):
                campaign.record([1.0, 1.0], action=action, as_read=True)
        assert campaign.n_events() == 0
        event = campaign.record([1.0, 1.0], action=cf.do("b", 1.0), force="by hand, with a jug")
        assert event.reason == "by hand, with a jug"
        campaign.record([0.5, 1.0], action=cf.do("a", 0.5))  # within the range
        with pytest.raises(cf.InvalidInputError, match=r"Sample 1: .*outside of the range"):
            campaign.import_samples([(cf.do("a", -1.0), [-1.0, 2.0])])
        assert campaign.import_samples([(cf.do("a", -1.0), [-1.0, 2.0])], force="last year") == 1
        assert campaign.verify() == campaign.n_events() == 3


def test_a_range_is_widened(campaign: Campaign, path: Path) -> None:
    fill(campaign, 25)
    n, evidence = campaign.n_events(), campaign.decision.evidence
    campaign.widen("X2", -3.0, 2.0, "a new pump", who="Ada")
    assert campaign.specification.actions.ranges[1] == (-3.0, 2.0)
    assert campaign.specification.actions.tolerances[1] == pytest.approx(0.5)  # from now on
    assert campaign.decision.evidence == pytest.approx(evidence, rel=1e-9)
    for _ in range(20):
        answer(campaign, rig(7, SYSTEM))
    ends = {v for told in campaign.learner.log[25:] for k, v in told.action.settings if k == "X2"}
    assert ends == {-3.0, 2.0}
    with Campaign.open(path) as again:
        assert is_same(again.learner, campaign.learner) and again.verify() == n + 41
        assert is_same(again.learner, play_from_file(again))
    for low, high, message in ((-2.0, 2.0, "does not hold all"), (-3.0, 2.0, "already")):
        with pytest.raises(cf.InvalidInputError, match=message):
            campaign.widen("X2", low, high)


def play_from_file(campaign: Campaign) -> cf.Focus:
    """The learner from all events, without a checkpoint."""
    playback = campaign._ledger.fresh()
    for event in campaign.iterate():
        playback.play(event)
    return playback.learner


def test_a_variable_is_added(campaign: Campaign, path: Path) -> None:
    """What was recorded before lacks it, and counts for no evidence until somebody fills it in."""
    fill(campaign, 10)
    campaign.add_variable("Y", {"range": [0.0, 1.0], "unit": "bar"}, "a new sensor")
    assert campaign.names == ("X1", "X2", "X3", "Y") and campaign.specification.unit("Y") == "bar"
    assert campaign.rounds == 10 and campaign.learner.moments.n == 0
    assert all(math.isnan(told.sample[3]) for told in campaign.learner.log)
    (asked,) = campaign.next()
    campaign.record([0.1, 0.2, 0.3, 0.4], id=asked.id, as_read=True)
    campaign.correct(1, {"Y": 0.5}, "in the notebook")
    assert campaign.learner.moments.n >= 1
    with Campaign.open(path) as again:
        assert is_same(again.learner, campaign.learner) and again.verify() == again.n_events()
        assert is_same(again.learner, play_from_file(again))
    for name, entry, message in (
        ("Y", {}, "a variable 'Y' already"),
        ("note", {}, "cannot be called 'note'"),
        ("Z", {"span": [0, 1]}, "The variable Z has no 'span'"),
    ):
        with pytest.raises(cf.InvalidInputError, match=message):
            campaign.add_variable(name, entry)


def test_when_it_was_performed_and_requests_that_come_again(campaign: Campaign) -> None:
    first = campaign.next(2, key="rig-1")
    assert campaign.next(2, key="rig-1") == first and len(campaign.pending) == 2
    event = campaign.record(
        [0.0, 0.0, 0.0], id=1, performed="2026-05-04 13:30:05+02:00", key="sample-1"
    )
    assert event.performed == "2026-05-04T11:30:05.000Z"
    assert campaign.record([0.0, 0.0, 0.0], id=1, key="sample-1").seq == event.seq
    with pytest.raises(cf.InvalidInputError, match="'sample-1' was used for round 1, which"):
        campaign.record([0.0, 0.0, 1.0], id=2, key="sample-1")
    with pytest.raises(cf.InvalidInputError, match="'yesterday' is no time"):
        campaign.record([0.0, 0.0, 0.0], action=cf.OBSERVE, performed="yesterday")
    assert campaign.rounds == 1


def test_achieved_values_leave_the_design_as_it_is(tmp_path: Path) -> None:
    """Recorded as 1.9 or 2.1, the asked actions cover the set as they do with nominal values."""
    tallies = []
    for name, miss in (("exact", 0.0), ("near", 0.05)):
        system, rng = rig(3, SYSTEM), np.random.default_rng(1)
        path = tmp_path / f"{name}.campaign"
        with Campaign.create(
            path, ACTIONS, SPACE, epsilon=0.01, rule="gaussian", seed=0
        ) as campaign:
            for _ in range(150):
                (asked,) = campaign.next()
                reached = {k: v + miss * rng.normal() for k, v in asked.action.settings}
                row = system(cf.do(reached) if reached else cf.OBSERVE)
                campaign.record(dict(zip(SYSTEM.names, row, strict=True)))
            counts = campaign.learner.counts
            shares = [
                sum(n for action, n in counts.items() if action.targets == targets) / 150
                for targets in ((), ("X1",), ("X2",), ("X3",))
            ]
            assert min(shares) >= 0.5 / np.sqrt(150) and sum(shares) == pytest.approx(1.0)
            assert campaign.learner.moments.n == 150
            tallies.append(np.array(shares))
    assert np.abs(tallies[0] - tallies[1]).max() < 0.1
