"""Many processes at one file: nothing acknowledged is lost, and nobody sees half a step."""

import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from campaign.twins import fill, is_same, play_whole
from causalfocus.campaign import Campaign, CampaignError
from causalfocus.campaign.status import status

HANDS = Path(__file__).with_name("hands.py")


def test_a_look_is_of_one_moment(campaign: Campaign, path: Path) -> None:
    fill(campaign, 5)
    with Campaign.open(path) as other, campaign.hold():
        before = status(campaign, foretell=False)
        fill(other, 3, seed=2)
        after = status(campaign, foretell=False)
        assert before == after and campaign.last_event == 10
    assert campaign.rounds == 8 and campaign.last_event == 16


def test_half_a_look_at_the_log_stops_nobody(campaign: Campaign, path: Path) -> None:
    fill(campaign, 3)
    looking = campaign.iterate()
    next(looking)
    with Campaign.open(path) as other:
        fill(other, 2, seed=4)
    fill(campaign, 2, seed=5)
    assert campaign.rounds == 7 and len(list(looking)) == 13


def hand(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(HANDS), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_killed_at_any_moment_nothing_acknowledged_is_lost(campaign: Campaign, path: Path) -> None:
    """SIGKILL at random moments during hundreds of records."""
    rng = np.random.default_rng(4)
    acknowledged: dict[str, str] = {}
    for life in range(12):
        process = hand("write", str(path), f"life{life}", "600")
        assert process.stdout is not None and process.stderr is not None
        first = process.stdout.readline()
        time.sleep(rng.uniform(0.0, 0.8))
        process.send_signal(signal.SIGKILL)
        for line in (first, *process.stdout):
            number, name, count, values = line.rstrip("\n").split(" ", 3)
            if line.endswith("\n"):
                acknowledged[f"{name} {count}"] = f"{number} {values}"
        assert process.wait() == -signal.SIGKILL, process.stderr.read()
        process.stdout.close()
        process.stderr.close()
    told = {e.note: f"{e.round} {list(e.sample or ())!r}" for e in campaign.events(search="told")}
    assert len(acknowledged) > 200
    assert acknowledged.items() <= told.items(), "an acknowledged sample is missing or changed"
    assert len(told) == campaign.rounds, "a sample was recorded twice"
    assert len(told) - len(acknowledged) <= 12, "more than one in flight per life"
    with Campaign.open(path) as again:
        assert again.verify() == again.n_events()
        assert is_same(again.learner, play_whole(again).learner)
        assert len(again.pending) <= 12


def test_two_writers_and_five_readers(campaign: Campaign, path: Path) -> None:
    """For a minute on one file: no error, nothing lost, nothing doubled."""
    seconds = "60"
    writers = [hand("write", str(path), name, seconds) for name in ("Ada", "Bo")]
    readers = [hand("read", str(path), seconds) for _ in range(5)]
    said = [process.communicate(timeout=300) for process in (*writers, *readers)]
    for process, (_, errors) in zip((*writers, *readers), said, strict=True):
        assert process.returncode == 0 and errors == "", errors
    acknowledged = [line.split(" ", 3) for out, _ in said[:2] for line in out.splitlines()]
    assert sorted(int(line[0]) for line in acknowledged) == list(range(1, campaign.rounds + 1))
    assert {line[1] for line in acknowledged} == {"Ada", "Bo"}
    told = {event.note for event in campaign.events(search="told")}
    assert told == {f"{line[1]} {line[2]}" for line in acknowledged}
    assert campaign.verify() == campaign.n_events()


def test_a_writer_waits_for_another(campaign: Campaign, path: Path) -> None:
    """And says so, if it takes too long; readers do not notice."""
    fill(campaign, 2)
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("BEGIN IMMEDIATE")
    with (
        Campaign.open(path, patience=0.1) as hasty,
        pytest.raises(CampaignError, match=r"Another process has been writing .* Try again"),
    ):
        hasty.next()
    with Campaign.open(path, read_only=True) as reader:
        assert status(reader).rounds == 2
    with ThreadPoolExecutor(1) as pool:
        patient = pool.submit(campaign.next)
        assert not patient.done()
        raw.execute("ROLLBACK")
        assert patient.result()[0].id == 3
    raw.close()
