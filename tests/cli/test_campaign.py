"""The command line of campaigns: a whole one, and what is refused, with its reason."""

import contextlib
import io
import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import causalfocus as cf
from campaign.hands import SYSTEM
from causalfocus.campaign import Campaign
from causalfocus.cli import main
from causalfocus.report.campaign_report import browser


@dataclass(frozen=True)
class Done:
    """What came of a command."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]

SPEC = """
title: Reactor 3
variables:
  heater: {range: [20, 80], cost: 5, unit: °C}
  flow: {range: [1, 3]}
  yield: {}
outcomes: [yield]
min_effect: 0.15
epsilon: 0.07
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command, within this process: starting Python for each of a hundred takes minutes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CAUSALFOCUS_WHO", "Ada")

    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["causalfocus", "campaign", *arguments])
        out, err, code = io.StringIO(), io.StringIO(), 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
            except SystemExit as end:
                code = int(end.code or 0)
        return Done(code, out.getvalue(), err.getvalue())

    return call


@pytest.fixture
def rig(run: Run, tmp_path: Path) -> Path:
    """A campaign with one action out."""
    (tmp_path / "spec.yaml").write_text(SPEC, encoding="utf-8")
    assert run("new", "rig.campaign", "--spec", "spec.yaml").returncode == 0
    assert run("next", "rig.campaign").returncode == 0
    return tmp_path / "rig.campaign"


def test_a_campaign_by_command(run: Run, tmp_path: Path) -> None:
    """From new to a certificate, samples by name and by file, then exports and a report."""
    flags = [text for name in SYSTEM.names for text in ("--variable", f"{name}=-2:2")]
    flags += ["--rule", "gaussian"]  # past samples, that nobody asked for, certify by it
    made = run("new", "a.campaign", *flags, "--min-effect", "0.5", "--epsilon", "0.25", "--json")
    assert json.loads(made.stdout)["specification"]["epsilon"] == 0.25, made.stderr
    (asked,) = json.loads(run("next", "a.campaign", "--json").stdout)
    rng = np.random.default_rng(0)
    sample = SYSTEM.sample(action_of(asked), 1, rng)[0]
    values = [
        f"{name}={value!r}" for name, value in zip(SYSTEM.names, sample.tolist(), strict=True)
    ]
    (told,) = json.loads(run("record", "a.campaign", "--json", *values).stdout)
    assert (told["round"], told["id"], told["stopped"]) == (1, 1, False)
    early = run("status", "a.campaign")
    assert early.returncode == 3 and "Nothing is certified yet" in early.stdout
    for _ in range(20):
        batch = json.loads(run("next", "a.campaign", "-n", "200", "--json").stdout)
        lines = ["id," + ",".join(SYSTEM.names)]
        for asked in batch:
            row = SYSTEM.sample(action_of(asked), 1, rng)[0]
            lines.append(f"{asked['id']}," + ",".join(map(repr, row.tolist())))
        (tmp_path / "batch.csv").write_text("\n".join(lines))
        done = run("record", "a.campaign", "--csv", "batch.csv")
        assert done.returncode == 0, done.stderr
        if "certified" in done.stdout:
            break
    final = run("status", "a.campaign", "--json")
    now = json.loads(final.stdout)
    assert final.returncode == 0 and now["state"] == "certified"
    assert {(e["cause"], e["effect"]) for e in now["edges"]} >= {
        (c, e) for c, e, w in SYSTEM.edges if abs(w) >= 0.5
    }
    assert run("export", "a.campaign", "o.json").returncode == 0
    old = json.loads((tmp_path / "o.json").read_text())
    wrong = next(e for e in old["events"] if e["round"] == 1)["sample"]["X2"]
    assert (
        run("correct", "a.campaign", "1", f"X2={wrong + 1e-9!r}", "--reason", "x").returncode == 0
    )
    now = json.loads(run("status", "a.campaign", "--json").stdout)
    assert now["state"] == "certified"
    refused = run("next", "a.campaign")
    assert refused.returncode == 1 and "campaign go-on a.campaign" in refused.stderr
    assert run("go-on", "a.campaign").returncode == 0
    assert run("next", "a.campaign").returncode == 0
    for name in ("out.csv", "out.json", "out.campaign", "-"):
        assert run("export", "a.campaign", name).returncode == 0
    assert run("export", "a.campaign", "out.campaign").returncode == 1
    assert "as they were written" in run("verify", "out.campaign").stdout
    again = run("new", "b.campaign", *flags, "--min-effect", "0.5", "--epsilon", "0.25")
    assert again.returncode == 0
    assert (
        json.loads(run("import", "b.campaign", "out.csv", "--json").stdout)["rounds"]
        == now["rounds"]
    )
    assert json.loads(run("status", "b.campaign", "--json").stdout)["edges"] == now["edges"]
    assert run("report", "a.campaign").returncode == 0
    text = (tmp_path / "report.html").read_text()
    assert "Certified after" in text and "<svg" in text and "http-equiv" in text
    assert 'src="http' not in text and "url(" not in text
    if browser() is not None:
        assert run("report", "a.campaign", "--out", "report.pdf").returncode == 0
        assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def action_of(asked: dict[str, Any]) -> cf.Action:
    return cf.do(asked["target"], asked["value"]) if asked["target"] else cf.OBSERVE


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["record", "rig.campaign", "heater=1", "flow=2"], 2, "lacks yield"),
        (["record", "rig.campaign", "heater=1", "flow=2", "yeild=3"], 2, "no node named 'yeild'"),
        (["record", "rig.campaign", "heater=1", "flow=2", "yield=inf"], 2, "not a finite number"),
        (["record", "rig.campaign", "heater=1", "flow=2", "yield=hot"], 2, "'hot' for yield is"),
        (["record", "rig.campaign", "heater=1", "flow=2", "yield=1,5"], 2, "decimals take a point"),
        (["record", "rig.campaign", "heater=1", "heater=2"], 2, "heater is given more than once"),
        (["record", "rig.campaign", "heater"], 2, "must look like NAME=VALUE"),
        (["record", "rig.campaign"], 2, "The sample lacks "),
        (["record", "rig.campaign", "--id", "7", "flow=2"], 2, "no asked action with the number 7"),
        (
            ["record", "rig.campaign", "--action", "flow=3", "heater=1", "flow=2", "yield=3"],
            2,
            "flow was set to 3 by do(flow = 3) but the sample says 2",
        ),
        (["record", "rig.campaign", "--action", "pump=3", "flow=2"], 2, "is no action"),
        (["record", "rig.campaign", "--csv", "x.csv", "flow=2"], 2, "values or a CSV file"),
        (["record", "rig.campaign", "--csv", "x.csv"], 2, "cannot be read"),
        (["reject", "rig.campaign", "1"], 2, "a reason is needed"),
        (["reject", "rig.campaign", "4", "--reason", "no"], 2, "number 4"),
        (["next", "absent.campaign"], 1, "There is no file"),
        (["status", "spec.yaml"], 1, "not an SQLite database"),
        (["new", "rig.campaign", "--spec", "spec.yaml"], 1, "exists already"),
        (["new", "x.campaign"], 2, "Give the variables"),
        (["new", "x.campaign", "--variable", "a=0:1"], 2, "--matters a=.... Or give --min-effect"),
        (["new", "x.campaign", "--variable", "a=0:b", "--min-effect", "1"], 2, "not of the form"),
        (
            ["new", "x.campaign", "--variable", "a=0:1", "--min-effect", "1", "--epsilon", "x"],
            2,
            "epsilon is a number, or graph",
        ),
        (["new", "x.campaign", "--spec", "spec.yaml", "--delta", "0.1"], 2, "not both"),
        (["new", "x.campaign", "--spec", "absent.yaml"], 2, "cannot be read"),
        (["export", "rig.campaign", "out.xlsx"], 2, "ends in .csv, .json or .campaign"),
        (["report", "rig.campaign", "--out", "a.docx"], 2, "ends in .html or .pdf"),
        (["report", "rig.campaign", "--out", "no/a.html"], 2, "There is no folder no"),
        (["go-on", "rig.campaign"], 2, "has not stopped"),
        (["correct", "rig.campaign", "1", "flow=2", "--reason", "x"], 2, "There is no round 1"),
        (["correct", "rig.campaign", "1", "flow=2"], 2, "a reason is needed"),
        (["note", "rig.campaign", ""], 2, "nothing to note"),
        (["note", "rig.campaign", "caf\udce9"], 2, "bytes that are no text"),
        (["record", "rig.campaign", "--id", "9" * 30, "flow=2"], 2, "no number of an asked"),
        (["record", "rig.campaign", "heater=1_0", "flow=2", "yield=1"], 2, "is not a number"),
        (["export", "rig.campaign", "nowhere/out.csv"], 2, "There is no folder nowhere"),
        (["export", "rig.campaign", "nowhere/out.campaign"], 1, "cannot be written"),
        (["new", "x.campaign", "--spec", "spec.yaml", "--title", "T"], 2, "not both"),
        (["new", "x.campaign", "--variable", "a=0:1", "--variable", "a=1:2"], 2, "min-effect"),
        (["new", "x.campaign", "--variable", " a", "--min-effect", "1"], 2, "must look like"),
    ],
)
def test_what_is_refused(
    run: Run, rig: Path, arguments: list[str], code: int, message: str
) -> None:
    with Campaign.open(rig, read_only=True) as before:
        n = before.n_events()
    done = run(*arguments)
    assert message in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert done.returncode == code
    assert not (rig.parent / "x.campaign").exists()
    with Campaign.open(rig, read_only=True) as after:
        assert after.n_events() == n and len(after.pending) == 1


GOOD = "when,action,T1,flow,yield\nmonday,observe,30,2,1.5\ntuesday,heater=80,80,2,1.5\n"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (GOOD, [], "has columns that are no variables: 'when', 'T1'"),
        (
            GOOD.replace("when", "note"),
            ["--map", "T1=heater", "--map", "T9=flow"],
            "no column 'T9'",
        ),
        (GOOD, ["--map", "T1"], "must look like COLUMN=VARIABLE"),
        (GOOD, ["--map", "T1=heater", "--map", "when=heater"], "more than one column for 'heater'"),
        ("heater,flow,yield\n1,2,3\n", [], "does not say what was done"),
        ("action,heater,flow\nobserve,2,3\n", [], "line 2: The sample lacks yield"),
        ("action;heater;flow;yield\nobserve;1;2;3\n", [], "seems to be separated by semicolons"),
        ("action,heater,flow,yield\nobserve,1,2\n", [], "line 2: 3 cells where the header has 4"),
        ("action,heater,flow,yield\n", [], "has a header and no samples"),
        ("", [], "is empty"),
        ("action,heater,flow,yield\n,1,2,3\n", [], "The cell action is empty"),
        (
            "action,target,value,heater,flow,yield\nobserve,flow,2,1,2,3\n",
            [],
            "action says observe",
        ),
        ("action,heater,flow,yield\nobserve,1,2,3\n", ["--all-observed"], "leave out"),
        ("value,heater,flow,yield\n,1,2,3\n", ["--all-observed"], "leave out"),
        ("action,heater,flow,yield\nsing,1,2,3\n", [], "line 2: 'sing' is no action"),
        ("target,value,heater,flow,yield\n,3,1,2,3\n", [], "a value 3 and no target"),
        ("target,value,heater,flow,yield\nflow,,1,2,3\n", [], "The value is missing"),
        ("target,value,heater,flow,yield\npump,1,1,2,3\n", [], "'pump' is no variable"),
        ("action,heater,flow,yield\nflow=1,1,2,3\n", [], "line 2: flow was set to 1"),
        ('action,heater,flow,yield\nobserve,1,2,"3\n', ["--delimiter", "ab"], "one character"),
        (GOOD, ["--encoding", "klingon"], "no encoding 'klingon'"),
    ],
)
def test_files_that_are_refused(
    run: Run, rig: Path, text: str, options: list[str], message: str
) -> None:
    (rig.parent / "past.csv").write_text(text)
    done = run("import", "rig.campaign", "past.csv", *options)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    with Campaign.open(rig, read_only=True) as after:
        assert after.n_events() == 1


def test_a_file_of_outcomes_may_say_what_was_done(run: Run, rig: Path) -> None:
    """Then it must be what was asked for."""
    with Campaign.open(rig, read_only=True) as campaign:
        ((asked,),) = (one.action.settings for one in campaign.pending)
    name, value = asked
    other = {"flow": "heater", "heater": "flow"}[name]
    (rig.parent / "done.csv").write_text(
        f"id,target,value,{other},{name},yield\n1,{other},3,3,3,2\n"
    )
    done = run("record", "rig.campaign", "--csv", "done.csv")
    said = f"asks for {cf.do(name, value)}, and the sample is of do({other}"
    assert done.returncode == 2 and said in done.stderr
    (rig.parent / "done.csv").write_text(
        f"id;action;{other};{name};yield\n1;{name}={value};3;{value};2\n"
    )
    done = run("record", "rig.campaign", "--csv", "done.csv", "--delimiter", ";")
    assert done.returncode == 0, done.stderr


def test_an_export_never_replaces_the_campaign(run: Run, rig: Path) -> None:
    named = rig.rename(rig.with_name("rig.csv"))
    done = run("export", "rig.csv", "rig.csv")
    assert done.returncode == 2 and "is the campaign itself" in done.stderr
    with Campaign.open(named) as campaign:
        assert campaign.n_events() == 1


def test_titles_and_names_are_no_markup(run: Run, tmp_path: Path) -> None:
    made = run(
        *("new", "m.campaign", "--title", "Reactor [/b] [l/min]", "--min-effect", "1"),
        *("--variable", "heat rate [x]=0:1", "--variable", "a=b=none", "--rule", "gaussian"),
    )
    assert made.returncode == 0, made.stderr
    assert "Reactor [/b] [l/min]" in run("status", "m.campaign").stdout
    asked = run("next", "m.campaign")
    assert "'heat rate [x]=...'" in asked.stdout
    done = run("record", "m.campaign", "heat rate [x]=1", "a=b=2")
    assert done.returncode == 0, done.stderr


def test_wrong_lines_are_all_listed_and_none_is_taken(run: Run, rig: Path) -> None:
    lines = ["action,heater,flow,yield", *["observe,1,2,3"] * 50]
    lines[3], lines[20] = "observe,1,2,inf", "observe,1,x,3"
    (rig.parent / "past.csv").write_text("\n".join(lines))
    done = run("import", "rig.campaign", "past.csv")
    assert "2 of 50 lines of past.csv cannot be used, so none was taken" in done.stderr
    assert "line 4: 'inf' for yield" in done.stderr and "line 21: 'x' for flow" in done.stderr
    with Campaign.open(rig, read_only=True) as after:
        assert after.rounds == 0


def test_files_of_other_programs(run: Run, rig: Path) -> None:
    """Mapped columns, semicolons, latin-1, a byte order mark."""
    text = "Maßnahme;T1;flow;yield\nobserve;30;2;1.5\ndo(heater = 80);;2;1.5\n"
    (rig.parent / "past.csv").write_bytes(text.encode("latin-1"))
    options = ["--map", "Maßnahme=action", "--map", "T1=heater", "--delimiter", ";"]
    wrong = run("import", "rig.campaign", "past.csv", *options)
    assert wrong.returncode == 2 and "not written in utf-8" in wrong.stderr
    done = run("import", "rig.campaign", "past.csv", *options, "--encoding", "latin-1")
    assert done.returncode == 0 and "2 samples are imported" in done.stdout
    (rig.parent / "mark.csv").write_bytes("heater,flow,yield\n1,2,3\n".encode("utf-8-sig"))
    done = run("import", "rig.campaign", "mark.csv", "--all-observed")
    assert done.returncode == 0, done.stderr
    with Campaign.open(rig, read_only=True) as after:
        (_, second, _) = after.events(search="imported")
        assert str(second.action) == "do(heater = 80)" and second.sample == (80.0, 2.0, 1.5)


class Terminal:
    """A person at a terminal: a real one, with the command at its other end."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        master, slave = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "causalfocus", "campaign", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            close_fds=True,
        )
        os.close(slave)
        self._master = master
        self.seen = ""

    def answer(self, question: str, text: str) -> None:
        """Wait for a question, then type."""
        start = len(self.seen)
        end = time.monotonic() + 60
        while question not in self.seen[start:]:
            assert time.monotonic() < end and self._read(), self.seen
        os.write(self._master, text.encode() + b"\n")

    def _read(self) -> bool:
        if select.select([self._master], [], [], 60)[0]:
            try:
                self.seen += os.read(self._master, 4096).decode(errors="replace")
            except OSError:
                return False
        return True

    def end(self) -> int:
        while self._process.poll() is None and self._read():
            pass
        while select.select([self._master], [], [], 0)[0] and self._read():
            pass
        os.close(self._master)
        return self._process.wait()


def test_a_person_is_asked_for_what_is_missing(tmp_path: Path) -> None:
    person = Terminal(tmp_path, "new", "p.campaign")
    person.answer("about", "Reactor")
    for name, span, size in (
        ("heater", "20:80", "5"),
        ("yield", "none", "2"),
        ("flow", "1/3", "1"),
    ):
        person.answer("Name", name)
        person.answer(f"Unit of {name}", "")
        person.answer("low:high", span)
        person.answer("worth knowing", size)
        if span != "none":
            person.answer("Cost", "")
    person.answer("Name", "")
    person.answer("yield cannot be set. Is it an outcome", "")
    person.answer("invalid input", "y")
    person.answer("set in one round", "0")
    person.answer("how much noise", "n")
    person.answer("be wrong", "")
    person.answer("Seed", "")
    person.answer("Make the campaign", "y")
    assert person.end() == 0, person.seen
    with Campaign.open(tmp_path / "p.campaign") as campaign:
        made = campaign.specification
        assert made.epsilon is None and campaign.names == ("heater", "yield", "flow")
        assert made.rule == "randomized" and made.space.outcomes == ("yield",)
        assert made.actions.at_once == 2 and made.actions.switches == ("flow",)
        (asked,) = campaign.next()
    person = Terminal(tmp_path, "record", "p.campaign")
    for name in made.names:
        if name == "yield":
            person.answer("yield", "many")
            person.answer("not a number", "4.5")
        elif name not in asked.action.targets:
            person.answer(name, "33")
    assert person.end() == 0, person.seen
    with Campaign.open(tmp_path / "p.campaign") as campaign:
        sample = campaign.events()[-1].sample
        assert sample is not None and sample[1] == 4.5


def test_a_person_may_take_the_rule_that_needs_no_coin(tmp_path: Path) -> None:
    person = Terminal(tmp_path, "new", "p.campaign", "--min-effect", "1", "--epsilon", "graph")
    person.answer("about", "")
    for name, span in (("heater", "20:80"), ("level", "none")):
        person.answer("Name", name)
        person.answer("Unit", "")
        person.answer("low:high", span)
        if span != "none":
            person.answer("Cost", "")
    person.answer("Name", "")
    person.answer("level cannot be set. Is it an outcome", "n")
    person.answer("Take the gaussian rule", "y")
    person.answer("how much noise", "n")
    person.answer("be wrong", "")
    person.answer("Seed", "")
    person.answer("Make the campaign", "")
    assert person.end() == 0, person.seen
    with Campaign.open(tmp_path / "p.campaign") as campaign:
        assert campaign.specification.rule == "gaussian"
        assert campaign.specification.epsilon == "graph"
        assert campaign.specification.space.outcomes == ()


def test_a_variable_that_drives_nothing_may_be_added(run: Run, rig: Path) -> None:
    refused = run("add", "rig.campaign", "purity=none")
    assert refused.returncode == 2 and "No coin picks a value of purity" in refused.stderr
    assert run("add", "rig.campaign", "purity=none", "--outcome").returncode == 0
    with Campaign.open(rig, read_only=True) as after:
        assert after.specification.space.outcomes == ("yield", "purity")
        assert after.verify() == after.n_events()


def test_switches_on_the_command_line(run: Run, tmp_path: Path) -> None:
    variables = ("--variable", "pump=0:1", "--variable", "heat=20:80", "--min-effect", "1")
    made = run("new", "s.campaign", *variables, "--switch", "pump")
    assert made.returncode == 0, made.stderr
    assert run("add", "s.campaign", "valve=0:1", "--switch").returncode == 0
    with Campaign.open(tmp_path / "s.campaign", read_only=True) as campaign:
        assert campaign.specification.actions.switches == ("pump", "valve")
        assert campaign.verify() == campaign.n_events()
    refused = run("new", "t.campaign", *variables, "--switch", "pumps")
    assert refused.returncode == 2 and "no node named 'pumps'" in refused.stderr
    refused = run("new", "t.campaign", "--spec", "spec.yaml", "--switch", "pump")
    assert refused.returncode == 2 and "flags, not both" in refused.stderr


def test_what_is_known_goes_into_the_campaign(run: Run, tmp_path: Path) -> None:
    """By flags and by a file: the same class, which comes back from the log."""
    variables = ("--variable", "pump=0:1", "--variable", "heat=20:80", "--variable", "yield=none")
    flags = ("--outcome", "yield", "--require", "heat=yield", "--tier", "pump", "--tier", "heat")
    made = run("new", "k.campaign", *variables, "--min-effect", "1", *flags)
    assert made.returncode == 0, made.stderr
    (tmp_path / "k.yaml").write_text(
        "variables: {pump: {range: [0, 1]}, heat: {range: [20, 80]}, yield: {}}\n"
        "min_effect: 1\noutcomes: [yield]\nrequired: [[heat, yield]]\n"
        "tiers: [[pump], [heat]]\n",
        encoding="utf-8",
    )
    assert run("new", "f.campaign", "--spec", "k.yaml").returncode == 0
    for name in ("k", "f"):
        with Campaign.open(tmp_path / f"{name}.campaign", read_only=True) as campaign:
            space = campaign.specification.space
            assert space.required == (("heat", "yield"),)
            assert space.tiers == (("pump",), ("heat",)) and space.outcomes == ("yield",)
            assert campaign.learner.effects()["heat", "yield"].is_required
            assert campaign.learner.effects()["heat", "pump"].is_given
    both = run("new", "b.campaign", "--spec", "k.yaml", "--require", "heat=yield")
    assert both.returncode == 2 and "file or flags" in both.stderr
    loop = run("new", "l.campaign", *variables, "--min-effect", "1", "--require", "yield=heat")
    assert loop.returncode == 2 and "No coin picks a value of yield" in loop.stderr
    wrong = run("new", "w.campaign", *variables, "--min-effect", "1", *flags, "--require", "a=heat")
    assert wrong.returncode == 2 and "required names 'a'" in wrong.stderr
    assert not (tmp_path / "w.campaign").exists()
