"""The file: whole, on the disk, of a known version, and of whoever may read or write it."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import causalfocus as cf
from campaign.hands import ACTIONS, SPACE, SYSTEM, new_campaign
from campaign.twins import fill, is_same, play_whole
from causalfocus.campaign import Campaign, CampaignError, schema
from causalfocus.campaign import file as file_module
from causalfocus.campaign import log as log_module


def test_a_file_that_is_gone_acknowledges_nothing(campaign: Campaign, path: Path) -> None:
    fill(campaign, 2)
    elsewhere = path.with_name("moved.campaign")
    path.rename(elsewhere)
    with pytest.raises(CampaignError, match=r"moved, replaced or deleted .* was not recorded"):
        campaign.record([0.0, 0.0, 0.0], action=cf.OBSERVE)
    elsewhere.rename(path)
    fill(campaign, 1)
    assert campaign.rounds == 3


def test_the_working_folder_may_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with new_campaign(Path("rig.campaign")) as campaign:
        monkeypatch.chdir("/")
        fill(campaign, 2)
        assert campaign.rounds == 2 and str(campaign.path) == "rig.campaign"


def test_a_new_campaign_is_one_whole_file(path: Path, tmp_path: Path) -> None:
    """Even if the program that made it never closes it."""
    with new_campaign(path):
        copy = tmp_path / "copy.campaign"
        copy.write_bytes(path.read_bytes())
        with Campaign.open(copy) as found:
            assert found.names == SYSTEM.names


def test_what_is_written_is_forced_to_the_disk(campaign: Campaign) -> None:
    """A power cut cannot be tested here; that the disk is asked to keep its promise can."""
    read = campaign._ledger.file.read
    assert read("PRAGMA journal_mode") == [("wal",)]
    assert read("PRAGMA synchronous") == [(2,)] and read("PRAGMA fullfsync") == [(1,)]


def test_a_full_disk_loses_nothing(campaign: Campaign, path: Path) -> None:
    fill(campaign, 5)
    connection = campaign._ledger.file._connection
    ((pages,),) = connection.execute("PRAGMA page_count").fetchall()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(CampaignError, match=r"no room on the disk .* Make room and do it again"):
        campaign.note("x" * 1_000_000)
    n = campaign.n_events()
    connection.execute("PRAGMA max_page_count = 1000000")
    assert campaign.rounds == 5 and is_same(campaign.learner, play_whole(campaign).learner)
    fill(campaign, 1)
    assert campaign.n_events() == n + 2 and campaign.verify() == n + 2


def test_a_record_that_fails_half_way_is_not_seen(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(campaign, 3)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(log_module.EventLog, "keep_curve", interrupt)
        with pytest.raises(KeyboardInterrupt):
            campaign.record([0.0, 0.0, 0.0], action=cf.OBSERVE)
    assert campaign.rounds == 3 and is_same(campaign.learner, play_whole(campaign).learner)
    assert campaign.record([0.0, 0.0, 0.0], action=cf.OBSERVE).round == 4


def test_versions(campaign: Campaign, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Older files are brought up to date step by step; newer ones are left alone."""
    fill(campaign, 2)
    campaign.close()
    more = (
        *schema.MIGRATIONS,
        "CREATE TABLE extra (a INTEGER) STRICT; INSERT INTO extra VALUES (1);",
    )
    monkeypatch.setattr(file_module, "MIGRATIONS", more)
    monkeypatch.setattr(file_module, "VERSION", len(more))
    with Campaign.open(path) as newer:
        assert newer.rounds == 2 and newer._ledger.file.version == schema.VERSION
        newer.note("written to")
        assert newer._ledger.file.version == len(more)
        assert newer._ledger.file.read("SELECT a FROM extra") == [(1,)]
    monkeypatch.undo()
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version=4")
    raw.close()
    with pytest.raises(CampaignError, match=r"version 4 .* reads up to 3: .* Upgrade causalfocus"):
        Campaign.open(path)


def test_what_is_no_campaign(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("Dear diary, " * 100)
    with pytest.raises(CampaignError, match="is not an SQLite database"):
        Campaign.open(text)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as raw:
        raw.execute("CREATE TABLE t (a)")
    raw.close()
    with pytest.raises(CampaignError, match="a database but not a campaign"):
        Campaign.open(other)
    with pytest.raises(CampaignError, match="There is no file"):
        Campaign.open(tmp_path / "absent")
    with pytest.raises(CampaignError, match="exists already"):
        new_campaign(text)
    with pytest.raises(CampaignError, match="in a folder that exists"):
        new_campaign(tmp_path / "nowhere" / "x.campaign")
    assert text.read_text().startswith("Dear diary")


def test_a_read_only_campaign(campaign: Campaign, path: Path) -> None:
    fill(campaign, 2)
    with Campaign.open(path, read_only=True) as reader:
        assert reader.rounds == 2
        fill(campaign, 1)
        assert reader.rounds == 3, "it follows what others record"
        with pytest.raises(CampaignError, match="opened for reading only"):
            reader.next()


LOOK = """
import os, sys
import causalfocus as cf
from causalfocus.campaign import Campaign
cf.Focus(cf.ActionSet({"a": (0, 1), "b": (0, 1)}), cf.ModelClass(0.2), epsilon=0.1)  # loads all
if os.getuid() == 0:
    os.setuid(65534)  # root may write everywhere
with Campaign.open(sys.argv[1], read_only=sys.argv[2] == "ro") as campaign:
    print(campaign.last_event)
"""


def look(path: Path, how: str) -> subprocess.CompletedProcess[str]:
    """Open a campaign as a user without rights."""
    return subprocess.run(
        [sys.executable, "-c", LOOK, str(path), how], capture_output=True, text=True, check=False
    )


@pytest.fixture
def open_to_all(tmp_path: Path) -> Path:
    """A folder that every user reaches."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and len(folder.parts) > 2:
            folder.chmod(folder.stat().st_mode | 0o055)
    return tmp_path


def test_a_file_that_may_not_be_written(open_to_all: Path) -> None:
    folder = open_to_all / "shut"
    folder.mkdir()
    path = folder / "rig.campaign"
    with new_campaign(path) as campaign:
        fill(campaign, 2)
    path.chmod(0o444)
    folder.chmod(0o555)
    try:
        done = look(path, "rw")
        assert "may not be written to" in done.stderr and "reading only" in done.stderr
        done = look(path, "ro")
        assert done.stdout == "4\n", done.stderr
    finally:
        folder.chmod(0o755)


def test_a_creation_that_fails_leaves_nothing(tmp_path: Path, path: Path) -> None:
    with pytest.raises(cf.InvalidInputError, match="epsilon"):
        Campaign.create(path, ACTIONS, SPACE, epsilon=0.5)
    with pytest.raises(cf.InvalidInputError, match="'value'"):
        Campaign.create(path, cf.ActionSet({"value": (0, 1)}), SPACE, epsilon=0.1)
    assert list(tmp_path.iterdir()) == []


def test_a_copy_is_whole(campaign: Campaign, tmp_path: Path) -> None:
    fill(campaign, 4)
    campaign.copy_to(tmp_path / "copy.campaign")
    with Campaign.open(tmp_path / "copy.campaign") as copy:
        assert copy.verify() == 8 and is_same(copy.learner, campaign.learner)
    with pytest.raises(CampaignError, match="exists already"):
        campaign.copy_to(tmp_path / "copy.campaign")
