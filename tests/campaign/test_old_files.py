"""Files that version 1 wrote, one of each rule: they open, verify and go on, from now on for ever.

Each was made by the code of its time: an import, a rejection, a correction, a sample that nobody
had asked for, asks that still wait and, but for the paper's rule, a certificate after which
somebody went on. `expected.json` holds what that code said of it, and of five rounds more.
"""

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.campaign import Campaign, Specification
from causalfocus.campaign.events import FIRST_COLUMNS
from causalfocus.campaign.schema import VERSION
from causalfocus.campaign.status import status
from worlds import rig

FILES = Path(__file__).with_name("files")
EXPECTED: dict[str, dict[str, Any]] = json.loads((FILES / "expected.json").read_text())
RULES = {"resolution": "gaussian", "evidence": "class", "paper": "paper"}
SYSTEM = cf.LinearSEM(
    [[0.0, 0.0, 0.0], [0.9, 0.0, 0.0], [0.0, -0.7, 0.0]],
    [1.0, 0.9, 1.1],
    [20.0, 3.0, 1.0],
    ["heater", "flow", "yield"],
)

every_file = pytest.mark.parametrize("name", RULES)


@pytest.fixture
def old(name: str, path: Path) -> Path:
    shutil.copy(FILES / f"{name}.campaign", path)
    return path


def assert_same_model(found: cf.LinearSEM, said: dict[str, Any], rtol: float) -> None:
    """The graph, and the parameters to a relative accuracy."""
    then = cf.LinearSEM.from_dict(said)
    assert found.names == then.names and found.shd(then) == 0
    np.testing.assert_allclose(found.weights, then.weights, rtol=rtol)
    np.testing.assert_allclose(found.noise_variances, then.noise_variances, rtol=rtol)


@every_file
def test_it_opens_and_verifies(name: str, old: Path) -> None:
    """The certificates and the guess have changed since: what the file says of its stop, and what
    is found now, are both shown. The paper's rule has not.
    """
    said = EXPECTED[name]
    with Campaign.open(old, read_only=True) as campaign:
        assert campaign.specification.rule == RULES[name]
        assert campaign.rounds == said["rounds"]
        assert_same_model(campaign.learner.estimate, said["model"], rtol=0.1)
        assert [[a.id, str(a.action)] for a in campaign.pending] == said["pending"]
        assert [a.number for a in campaign.learner.pending] == [a.id for a in campaign.pending]
        assert campaign.verify() == said["events"]
        if not said["certified"]:
            assert campaign.contradiction is None
            assert campaign.decision.evidence == pytest.approx(said["evidence"], rel=1e-6)
            assert status(campaign, foretell=False).state == "running"
            return
        words = f"The log says: certified after {said['stopped_at']} rounds"
        assert words in str(campaign.contradiction)
        assert words in status(campaign, foretell=False).statement
        # Bounds have become tighter since: the same samples certify sooner, and not much later.
        assert campaign.result().rounds < 1.25 * said["stopped_at"]


@every_file
def test_it_goes_on(name: str, old: Path) -> None:
    said, system = EXPECTED[name], rig(2, SYSTEM)
    with Campaign.open(old) as campaign:
        if campaign.learner.has_stopped:
            campaign.continue_after_stop()
        events = campaign.n_events()
        for number in range(5):
            (asked,) = campaign.next()
            assert asked.id == said["then_asked"][number][0]
            campaign.record(system(asked.action), id=asked.id)
        assert_same_model(campaign.learner.estimate, said["then_estimate"], rtol=0.1)
        if name == "paper":
            assert campaign.decision.evidence == pytest.approx(said["then_evidence"], rel=1e-6)
    with Campaign.open(old) as campaign:
        assert campaign.rounds == said["rounds"] + 5 and campaign.verify() == campaign.n_events()
        assert campaign.n_events() >= events + 10


@every_file
def test_looking_changes_nothing_and_writing_brings_it_up_to_date(name: str, old: Path) -> None:
    """What was there keeps its words and its digests; only the tables get more columns."""
    before = raw_events(old)
    with Campaign.open(old) as campaign:
        assert campaign.verify() == len(before)
    assert version_of(old) == 1 and raw_events(old) == before
    with Campaign.open(old) as campaign:
        campaign.note("still here")
        assert campaign.verify() == len(before) + 1
    raw = sqlite3.connect(old)
    ((document,),) = raw.execute("SELECT document FROM specification").fetchall()
    raw.close()
    assert version_of(old) == VERSION == 3
    assert [row[: len(FIRST_COLUMNS)] for row in raw_events(old)][:-1] == before
    assert json.loads(document)["stopping"] == name
    assert Specification.from_stored(document).to_dict()["rule"] == RULES[name]


def raw_events(path: Path) -> list[tuple[Any, ...]]:
    raw = sqlite3.connect(path)
    rows = raw.execute("SELECT * FROM events ORDER BY seq").fetchall()
    raw.close()
    return rows


def version_of(path: Path) -> int:
    raw = sqlite3.connect(path)
    ((version,),) = raw.execute("PRAGMA user_version").fetchall()
    raw.close()
    return int(version)


@pytest.mark.parametrize("name", ["resolution", "evidence"])
def test_it_gets_a_seed_when_it_is_first_asked_again(name: str, old: Path) -> None:
    """Until then the design picks the ends, as it did; the log says so, once."""
    with Campaign.open(old) as campaign:
        campaign.continue_after_stop()
        assert campaign.specification.ends == "game"
        (first,) = campaign.next()
        asked, seeded = campaign.events(limit=2, newest=True)
        assert seeded.kind == "seeded" and "from before there were coins" in seeded.note
        assert seeded.facts == {"seed": campaign.learner.seed, "ends": "coin"}
        assert campaign.learner.guarantee.ends == "coin"
        assert (asked.coins is None) == first.action.is_observation
        campaign.next()
        assert len([e for e in campaign.iterate() if e.kind == "seeded"]) == 1
        assert campaign.verify() == campaign.n_events()


def test_a_file_of_version_2_opens_verifies_and_goes_on(path: Path) -> None:
    """Made by the last code that wrote version 2; `version2.json` is what that code said of it."""
    said = json.loads((FILES / "version2.json").read_text())
    shutil.copy(FILES / "version2.campaign", path)
    with Campaign.open(path, read_only=True) as campaign:
        assert campaign.rounds == said["rounds"] and campaign.verify() == said["events"]
        assert campaign.decision.evidence == pytest.approx(said["evidence"], rel=1e-9)
        assert campaign.learner.estimate.to_dict() == said["model"]
        assert [[a.id, str(a.action)] for a in campaign.pending] == said["pending"]
        assert {str(a): n for a, n in campaign.learner.counts.items()} == said["counts"]
        assert campaign.learner.cost == said["cost"] + 1.0  # do(flow = 18) counts since
    with Campaign.open(path) as campaign:
        campaign.withdraw(3, "of another rig")
        (asked,) = campaign.next()
        campaign.record(rig(3, SYSTEM)(asked.action), id=asked.id)
        assert campaign.rounds == said["rounds"] + 1 and campaign.verify() == said["events"] + 4


def test_new_files_speak_of_rules(path: Path) -> None:
    actions = cf.ActionSet({"a": (0, 1), "b": None})
    with Campaign.create(path, actions, cf.ModelClass(0.2, outcomes=["b"]), epsilon=0.1):
        pass
    raw = sqlite3.connect(path)
    ((document,),) = raw.execute("SELECT document FROM specification").fetchall()
    ((version,),) = raw.execute("PRAGMA user_version").fetchall()
    raw.close()
    given = json.loads(document)
    assert (given["version"], given["rule"], version) == (3, "randomized", 3)
    assert "stopping" not in given


def test_a_document_of_a_later_version_is_not_guessed_at() -> None:
    document = json.dumps({"version": 4, "variables": {"a": {}}, "min_effect": 1, "epsilon": None})
    with pytest.raises(cf.InvalidInputError, match="version 4 and this causalfocus reads up to 3"):
        Specification.from_stored(document)
