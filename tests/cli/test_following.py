"""`campaign predict` and `campaign reach`: what follows, by command."""

import json
import sys
from pathlib import Path

import pytest

import causalfocus as cf
from causalfocus.campaign import Campaign
from causalfocus.cli import main

SYSTEM = cf.LinearSEM(
    [[0, 0, 0], [0, 0, 0], [0.02, 0.8, 0]],
    [1.0, 0.1, 1.0],
    [40, 2, 55],
    ["heater", "flow", "yield"],
)
ACTIONS = cf.ActionSet({"heater": (20, 80), "flow": (1, 3), "yield": None}, at_once=2)
SPACE = cf.ModelClass(
    min_effect={("heater", "yield"): 0.02, ("flow", "yield"): 0.5, "other": 0.5},
    outcomes=["yield"],
)


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign with two hundred rounds."""
    path = tmp_path_factory.mktemp("rig") / "rig.campaign"
    with Campaign.create(path, ACTIONS, SPACE, seed=3) as campaign:
        for n in range(200):
            (asked,) = campaign.next()
            sample = SYSTEM.sample(asked.action, 1, n)[0]
            campaign.record(dict(zip(SYSTEM.names, sample.tolist(), strict=True)), id=asked.id)
    return path


def call(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["causalfocus", "campaign", *words])
    code = 0
    try:
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    out = capsys.readouterr()
    return code, out.out + out.err


def test_it_is_what_the_learner_says(
    rig: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = call(monkeypatch, capsys, "predict", str(rig), "flow=2.5", "--json")
    facts = json.loads(text)
    with Campaign.open(rig, read_only=True) as campaign:
        found = campaign.learner.predict({"flow": 2.5})
        moved = campaign.learner.change({"flow": 1}, {"flow": 2.5})
    assert code == 0 and facts["settings"] == {"flow": 2.5}
    assert facts["predictions"] == found.to_dict() and found["yield"].basis == "guaranteed"
    code, text = call(
        monkeypatch, capsys, "predict", str(rig), "flow=2.5", "--from", "flow=1", "--json"
    )
    assert code == 0 and json.loads(text)["changes"] == moved.to_dict()
    assert moved["yield"].low <= 1.2 <= moved["yield"].high
    code, text = call(monkeypatch, capsys, "predict", str(rig), "flow=2.5")
    assert code == 0 and "guaranteed" in text and "Levels are estimated" in text


def test_reach_says_the_settings_or_how_near_one_gets(
    rig: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = call(monkeypatch, capsys, "reach", str(rig), "yield=58", "--json")
    facts = json.loads(text)
    assert code == 0 and facts["is_reached"]
    assert SYSTEM.predict(facts["settings"])["yield"] == pytest.approx(58, abs=0.4)
    assert facts["predictions"]["yield"]["mean"] == pytest.approx(58)
    words = ["reach", str(rig), "yield=60", "--using", "flow"]
    code, text = call(monkeypatch, capsys, *words)
    assert code == 3 and text.startswith("Out of reach within the ranges: yield comes to 58.")
    assert "with flow = 3." in text.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["predict", "flow=9"], "no number in its range, 1 to 3"),
        (["predict", "flow=hot"], "the value must be a number"),
        (["predict", "smell=1"], "There is no node named 'smell'"),
        (["predict", "flow"], "must look like NAME=VALUE"),
        (["predict", "flow=2", "--from", "heater=30"], "only one is given"),
        (["reach", "yield=58", "--using", "yield"], "cannot be used: it has a wish"),
    ],
)
def test_what_makes_no_sense_is_refused(
    words: list[str],
    message: str,
    rig: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, text = call(monkeypatch, capsys, words[0], str(rig), *words[1:])
    assert code in (1, 2) and message in " ".join(text.split())
