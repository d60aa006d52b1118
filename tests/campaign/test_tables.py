"""DataFrames into a campaign and out of it: the same reader and the same checks as for files."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import causalfocus as cf
from campaign.hands import SYSTEM, new_campaign
from campaign.twins import fill, is_same
from causalfocus.campaign import Campaign
from causalfocus.campaign.export import samples_csv
from causalfocus.campaign.samples import read_frame, read_samples


@pytest.fixture
def rule() -> str:
    """Every sample counts by it, asked for or not."""
    return "gaussian"


def test_rounds_go_out_as_a_frame_and_come_back(campaign: Campaign, tmp_path: Path) -> None:
    fill(campaign, 12)
    campaign.record([1 / 3, np.nan, 1.0], action=cf.do("X1", 1 / 3), note="=1+1", who="Ada")
    campaign.record([0.1, 0.2, 0.3], action=cf.OBSERVE, performed="2026-05-04T13:30+02:00")
    campaign.record([2.0, 0.5, 0.25], action=cf.do("X1", 2.0), failed=["X1"])
    free = next(n for n in SYSTEM.names if n not in campaign.learner.log[2].action.targets)
    campaign.correct(3, {free: 0.125}, "typed wrongly")
    campaign.withdraw(5, "another rig")
    frame = campaign.to_frame()
    assert len(frame) == campaign.rounds - 1 and 5 not in set(frame["round"])
    assert frame.loc[frame["round"] == 3, free].tolist() == [0.125]
    assert str(frame["performed"].dropna().iloc[0]) == "2026-05-04 11:30:00+00:00"
    assert frame["id"].isna().sum() == 3 and frame["note"].iloc[-3] == "=1+1"
    with new_campaign(tmp_path / "second.campaign", "gaussian") as second:
        assert second.import_frame(frame) == len(frame)
        standing = [told for told in campaign.learner.log if not told.withdrawn]
        for mine, theirs in zip(standing, second.learner.log, strict=True):
            assert (mine.action, mine.failed) == (theirs.action, theirs.failed)
            assert np.array_equal(mine.sample, theirs.sample, equal_nan=True)
        with pytest.raises(cf.InvalidInputError, match="in the campaign already"):
            second.import_frame(frame)


def test_a_frame_is_read_as_its_file(campaign: Campaign, tmp_path: Path) -> None:
    """What is written as CSV and read with pandas brings the same rounds as the file itself."""
    fill(campaign, 20)
    file = tmp_path / "export.csv"
    file.write_text("".join(samples_csv(campaign)))
    actions = campaign.specification.actions
    by_file, by_frame = read_samples(file, actions), read_frame(pd.read_csv(file), actions)
    for mine, theirs in zip(by_file, by_frame, strict=True):
        assert (mine.action, mine.sample) == (theirs.action, theirs.sample)
    with new_campaign(tmp_path / "second.campaign", "gaussian") as second:
        second.import_frame(pd.read_csv(file))
        assert is_same(second.learner, campaign.learner)


def past(**change: Any) -> pd.DataFrame:
    rows = [{"action": "observe", "X1": 0.1 * i, "X2": 1.0, "X3": 2.0} for i in range(3)]
    return pd.DataFrame([rows[0], rows[1] | change, rows[2]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X2": "warm"}, "row 1: 'warm' for X2 is not a number"),
        ({"action": "X1=7"}, "row 1: .* is outside of the range of X1"),
        ({"action": "X1=2"}, "row 1: X1 was set to 2 .* but the sample says 0.1"),
        ({"action": "X1=2", "X1": None}, "row 1: X1 was set to 2 and its cell is empty"),
        ({"action": "X9=2"}, "row 1: 'X9=2' is no action"),
        ({"performed": "noon"}, "row 1: 'noon' is no time"),
        ({"failed": "X9"}, "row 1: failed: 'X9' is no variable"),
        ({"ask": 3}, "no variables: 'ask'"),
    ],
)
def test_one_wrong_row_and_nothing_is_kept(
    campaign: Campaign, change: dict[str, Any], message: str
) -> None:
    n = campaign.n_events()
    with pytest.raises(cf.InvalidInputError, match=message):
        campaign.import_frame(past(**change))
    assert campaign.rounds == 0 and campaign.n_events() == n
    assert campaign.import_frame(past()) == 3


def test_all_or_nothing_and_not_twice(campaign: Campaign) -> None:
    none = past().iloc[:0]
    with pytest.raises(cf.InvalidInputError, match="no rows"):
        campaign.import_frame(none)
    doubled = pd.concat([past(), past().iloc[:1]])
    with pytest.raises(cf.InvalidInputError, match="given more than once"):
        campaign.import_frame(doubled)
    assert campaign.import_frame(doubled, again=True, note="by hand") == 4
    assert {event.note for event in campaign.events(search="imported")} == {"by hand"}
    seen = past().drop(columns="action").rename(columns={"X1": "T"}) + 1.0
    with pytest.raises(cf.InvalidInputError, match="does not say what was done"):
        campaign.import_frame(seen, columns={"T": "X1"})
    assert campaign.import_frame(seen, columns={"T": "X1"}, all_observed=True) == 3
    assert campaign.verify() == campaign.n_events()


def test_a_series_is_recorded_by_its_labels(campaign: Campaign) -> None:
    (asked,) = campaign.next()
    sample = pd.Series(SYSTEM.sample(asked.action, 1, 0)[0], index=SYSTEM.names)
    with pytest.raises(cf.InvalidInputError, match="are no names: 0, 1, 2"):
        campaign.record(sample.reset_index(drop=True), id=asked.id)
    with pytest.raises(cf.InvalidInputError, match="no node named 'X9'"):
        campaign.record(sample.rename({"X2": "X9"}), id=asked.id)
    free = next(n for n in SYSTEM.names if n not in asked.action.targets)
    with pytest.raises(cf.InvalidInputError, match=f"lacks {free}"):
        campaign.record(sample.drop(free))
    assert campaign.rounds == 0 and len(campaign.pending) == 1
    shuffled = sample[["X3", "X1", "X2"]]
    event = campaign.record(shuffled, id=asked.id, key="first")
    assert event.sample == pytest.approx(tuple(sample))
    assert campaign.record(shuffled[["X2", "X3", "X1"]], id=asked.id, key="first") == event
    with pytest.raises(cf.InvalidInputError, match="which says something else"):
        campaign.record(pd.Series(sample.to_numpy(), index=shuffled.index), key="first")
    campaign.correct(1, pd.Series({free: 4.5}), "typed wrongly")  # type: ignore[arg-type]
    assert campaign.learner.log[0].sample[SYSTEM.names.index(free)] == 4.5
