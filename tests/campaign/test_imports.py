"""Samples from elsewhere come all or not at all, and go out as they came."""

import json
from pathlib import Path

import pytest

import causalfocus as cf
from campaign.hands import PAIR, PAIR_ACTIONS, new_campaign, new_pair_campaign
from campaign.twins import fill, is_same
from causalfocus.campaign import Campaign
from causalfocus.campaign.export import samples_csv, whole_json
from causalfocus.campaign.samples import read_samples
from worlds import rig


@pytest.fixture
def rule() -> str:
    """Every sample counts by it, asked for or not."""
    return "gaussian"


def test_imported_samples_come_all_or_not_at_all(campaign: Campaign, path: Path) -> None:
    fill(campaign, 3)
    good = (cf.OBSERVE, [1.0, 2.0, 3.0])
    with pytest.raises(cf.InvalidInputError, match=r"^Sample 2: The value of X2 is inf"):
        campaign.import_samples([good, (cf.OBSERVE, [1.0, float("inf"), 0.0]), good])
    assert campaign.rounds == 3 and campaign.n_events() == 6
    with pytest.raises(cf.InvalidInputError, match="1 of 2 samples are given more than once"):
        campaign.import_samples([good, good])
    assert campaign.import_samples([good, good], note="from last year", again=True) == 2
    with Campaign.open(path) as again:
        assert again.rounds == 5 and is_same(again.learner, campaign.learner)
        assert [event.note for event in again.events(search="imported")] == ["from last year"] * 2


def test_an_import_can_stop_the_campaign(path: Path) -> None:
    pair = rig(0, PAIR)
    taken = [PAIR_ACTIONS[i % len(PAIR_ACTIONS)] for i in range(600)]
    samples = [(action, pair(action)) for action in taken]
    seen: list[int] = []
    with new_pair_campaign(path, "gaussian") as campaign:
        campaign.import_samples(samples, on_learned=seen.append)
        assert seen[-1] == 600 and campaign.stop is not None
        assert campaign.stop.seq == 601 and campaign.result().rounds < 600
        assert campaign.verify() == 601


def test_the_same_samples_are_not_counted_twice(campaign: Campaign, tmp_path: Path) -> None:
    fill(campaign, 20)
    file = tmp_path / "export.csv"
    file.write_text("".join(samples_csv(campaign)))
    past = [
        (line.action or cf.OBSERVE, line.sample)
        for line in read_samples(file, campaign.specification.actions)
    ]
    with pytest.raises(cf.InvalidInputError, match=r"20 of 20 samples are in the campaign already"):
        campaign.import_samples(past)
    fresh = [(cf.OBSERVE, [0.1 * i, 1.0, 2.0]) for i in range(30)]
    with pytest.raises(cf.InvalidInputError, match=r"1 of 31 samples are in the campaign already"):
        campaign.import_samples([past[0], *fresh])
    assert campaign.import_samples(fresh) == 30
    with pytest.raises(cf.InvalidInputError, match="already"):
        campaign.import_samples(fresh)
    assert campaign.import_samples(fresh, again=True) == 30


def test_an_interrupted_import_leaves_nothing(campaign: Campaign) -> None:
    fill(campaign, 3)

    def interrupt(rounds: int) -> None:
        if rounds == 10:
            raise KeyboardInterrupt

    samples = [(cf.OBSERVE, [0.1 * i, 1.0, 2.0]) for i in range(30)]
    with pytest.raises(KeyboardInterrupt):
        campaign.import_samples(samples, on_learned=interrupt)
    assert campaign.rounds == 3 and campaign.n_events() == 6
    assert campaign.import_samples(samples) == 30 and campaign.verify() == 36


def test_an_import_waits_for_nobody_and_nobody_for_it(campaign: Campaign, path: Path) -> None:
    """Others write while it learns; it learns again what it must, and all is kept once."""
    samples = [(cf.OBSERVE, [0.1 * i, 1.0, 2.0]) for i in range(20)]
    n_written = 0
    with Campaign.open(path, patience=0.0) as other:

        def disturb(rounds: int) -> None:
            nonlocal n_written
            if rounds % 20 == 5 and n_written < 2:
                other.record([0.5, float(n_written), 0.25], action=cf.OBSERVE)
                n_written += 1

        campaign.import_samples(samples, on_learned=disturb)
        assert n_written == 2 and campaign.rounds == other.rounds == 22
        assert is_same(campaign.learner, other.learner) and campaign.verify() == 22


def test_exports_come_back(campaign: Campaign, tmp_path: Path) -> None:
    """What is exported can be imported into another campaign, to the bit."""
    fill(campaign, 30)
    campaign.record([1 / 3, 0.0, 1.0], action=cf.do("X1", 1 / 3), note="=1+1", who="@me")
    file = tmp_path / "samples.csv"
    file.write_text("".join(samples_csv(campaign)))
    assert "'=1+1" in file.read_text() and "'@me" in file.read_text()
    lines = read_samples(file, campaign.specification.actions)
    with new_campaign(tmp_path / "second.campaign", "gaussian") as second:
        second.import_samples([(line.action or cf.OBSERVE, line.sample) for line in lines])
        assert is_same(second.learner, campaign.learner)
    whole = json.loads(whole_json(campaign))
    assert len(whole["events"]) == campaign.n_events()
    assert whole["events"][-1]["sample"]["X1"] == 1 / 3
