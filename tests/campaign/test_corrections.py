"""Corrections: learned as if the right value had been recorded at once."""

from pathlib import Path

import pytest

import causalfocus as cf
from campaign.hands import ACTIONS, PAIR, SPACE, new_pair_campaign
from campaign.twins import answer, fill, is_same, play_whole
from causalfocus.campaign import Campaign
from causalfocus.campaign import ledger as ledger_module
from causalfocus.campaign.export import samples_csv
from causalfocus.campaign.playback import is_noted
from causalfocus.campaign.samples import read_samples
from worlds import rig


@pytest.fixture
def rule() -> str:
    """Every sample counts by it, asked for or not."""
    return "gaussian"


def test_a_correction_is_learned_as_if_it_had_been_right_at_once(
    campaign: Campaign, path: Path, tmp_path: Path
) -> None:
    """Whether a checkpoint came before it, after it, or not at all; and twice for one round."""
    fill(campaign, 50)
    with Campaign.open(path) as other:
        assert other.rounds == 50  # it has the wrong value in memory
        for number, value in ((7, 0.25), (48, -1.0), (7, 0.5)):
            name = "X3" if campaign.learner.log[number - 1].action.target != "X3" else "X1"
            campaign.correct(number, {name: value}, "slip of the pen", who="Ada")
        fill(campaign, 3, seed=9)
        corrected = {number: by[-1].sample for number, by in campaign.amendments().items()}
        assert sorted(corrected) == [7, 48]
        right = [
            (told.action, corrected.get(i) or tuple(told.sample))
            for i, told in enumerate(campaign.learner.log, 1)
        ]
        assert all(
            tuple(t.sample) == r for t, (_, r) in zip(campaign.learner.log, right, strict=True)
        )
        live = cf.Focus(ACTIONS, SPACE, epsilon=0.01, rule="gaussian", seed=0)
        for action, row in right:
            live.tell(action, row)
        assert is_same(campaign.learner, live) and is_same(other.learner, live)
    with Campaign.open(path) as again:
        assert again.n_replayed <= ledger_module.CHECKPOINT_EVERY and is_same(again.learner, live)
        assert [tuple(told.sample) for told in again.learner.log] == [row for _, row in right]
        assert again.verify() == again.n_events()
        assert dict(again.curve()) == play_curve(again)
        file = tmp_path / "samples.csv"
        file.write_text("".join(samples_csv(again)))
    assert [
        tuple(line.sample.values()) for line in read_samples(file, campaign.specification.actions)
    ] == [row for _, row in right]


def play_curve(campaign: Campaign) -> dict[int, float]:
    """The evidence after every noted round, from the present log alone."""
    learner, found = campaign.specification.learner(), {}
    for told in campaign.learner.log:
        learner.tell(told.action, told.sample)
        if is_noted(learner.rounds) or learner.rounds == campaign.rounds:
            found[learner.rounds] = learner.decision.evidence
    return found


def test_a_certificate_that_rested_on_a_wrong_value_is_gone(path: Path) -> None:
    pair = rig(1, PAIR)
    with new_pair_campaign(path, "gaussian") as campaign:
        while campaign.stop is None:
            answer(campaign, pair)
        rounds = campaign.rounds
        free = "X1" if campaign.learner.log[-1].action.target != "X1" else "X2"
        campaign.correct(rounds, {free: 40.0}, "a decimal point")
        assert not campaign.result().certified or campaign.result().rounds < rounds
        assert is_same(campaign.learner, play_whole(campaign).learner)
        was = campaign.events(search="told")[-1].sample
        assert was is not None
        campaign.correct(rounds, {free: was[campaign.names.index(free)]}, "it was right")
        assert campaign.result().certified and campaign.stop is not None
        assert campaign.stop.seq == campaign.n_events(), "the new stop is noted anew"


def test_corrections_that_are_refused(campaign: Campaign) -> None:
    fill(campaign, 3)
    n = campaign.n_events()
    cases = [
        (9, {"X1": 1.0}, "why", "no round 9; the campaign has 3"),
        (1, {}, "why", "Give the variables"),
        (1, {"Y": 1.0}, "why", "no node named 'Y'"),
        (1, {"X1": float("inf")}, "why", "X1 is inf"),
        (1, {"X1": 1.0}, " ", "a reason is needed"),
        (2, {"X1": 5.0}, "why", r"X1 was set to -?2 by do\(X1 = -?2\)"),
        (1, {"X1": campaign.learner.log[0].sample[0]}, "why", "says this already"),
    ]
    for number, values, reason, message in cases:
        with pytest.raises(cf.InvalidInputError, match=message):
            campaign.correct(number, values, reason)
    assert campaign.n_events() == n
