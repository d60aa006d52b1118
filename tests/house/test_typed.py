"""Who installs the wheel gets its types: right use passes a strict checker, wrong use does not."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")

RIGHT = """
import causalfocus as cf

actions = cf.ActionSet({"X1": (-2, 2), "X2": (-2, 2)})
space = cf.ModelClass(min_effect=0.3)
learner = cf.Focus(actions, space, epsilon=0.15, delta=0.05)
action: cf.Action = learner.ask()
learner.tell(action, [0.1, 0.2])
stop: bool = learner.decision.stop
result: cf.Result = learner.result()
rounds: int = result.rounds
model: cf.LinearSEM = result.model
moments: cf.Moments = cf.Moments(["X1", "X2"])
best: cf.LinearSEM = cf.joint_mle(moments, cf.PAPER_CLASS)
truth = cf.LinearSEM([[0, 0], [0.8, 0]], 1.0)
prices = {"X1": 5}
priced = cf.ActionSet({"X1": (-2, 2), "X2": None}, costs=prices)
mixed = cf.ActionSet({"X1": (-2, 2)}, costs={"observe": 1, cf.do("X1", 2): 3.5})
state: int = learner.state.rounds
stands = [verdict.stand for verdict in learner.verdicts()]
"""

WRONG = {
    'cf.Focus(actions, space, epsilon="x")': "arg-type",
    "learner.decisions": "attr-defined",
    "learner.tell(action)": "call-arg",
    "rounds = result.model": "assignment",
    "cf.joint_mle(actions, space)": "arg-type",
}


CHECKER = """
import os, sys
from mypy.__main__ import console_entry
others = {place for place in sys.path if os.path.isdir(os.path.join(place, "causalfocus"))}
rest = [place for place in sys.path[1:] if place not in others]
sys.path[1:] = [os.environ["WHEEL"], *rest]  # mypy leaves the first one, this folder, out
console_entry()
"""
"""mypy, with the wheel's folder in the place of a checkout that this environment may know."""


def python(*arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, **options
    )


@pytest.fixture(scope="module")
def wheel_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel installed in it and nothing of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ("wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder))
    done = python(*PIP, *build, str(ROOT))
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("causalfocus-*.whl")
    target = folder / "site"
    done = python(*PIP, "install", "--no-deps", "--no-index", "--target", str(target), str(wheel))
    assert done.returncode == 0, done.stderr
    return target


def strict_report(script: str, wheel_files: Path, folder: Path) -> str:
    """What mypy says of the script of somebody who has the wheel; his settings are not ours."""
    (folder / "consumer.py").write_text(script)
    unset = ("PYTHONPATH", "MYPYPATH")
    own = {name: value for name, value in os.environ.items() if name not in unset}
    options = ("--strict", "--config-file=", "--cache-dir", str(wheel_files.parent / "cache"))
    done = python(
        "-c",
        CHECKER,
        *options,
        "consumer.py",
        cwd=folder,
        env=own | {"WHEEL": str(wheel_files)},
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_the_wheel_has_the_mark_and_what_the_page_needs(wheel_files: Path) -> None:
    package = wheel_files / "causalfocus"
    assert (package / "py.typed").is_file()
    assert (package / "web" / "static" / "page.js").is_file()
    assert (package / "report" / "templates" / "report.html").is_file()


def test_right_use_passes(wheel_files: Path, tmp_path: Path) -> None:
    assert strict_report(RIGHT, wheel_files, tmp_path).startswith("Success")


def test_wrong_use_is_reported_line_by_line(wheel_files: Path, tmp_path: Path) -> None:
    report = strict_report(RIGHT + "\n".join(WRONG) + "\n", wheel_files, tmp_path)
    first = RIGHT.count("\n") + 1
    found = re.findall(r"^consumer\.py:(\d+): error: .*\[([a-z-]+)\]$", report, re.MULTILINE)
    expected = [(str(first + i), code) for i, code in enumerate(WRONG.values())]
    assert found == expected, report


def test_without_the_mark_nothing_is_known(wheel_files: Path, tmp_path: Path) -> None:
    """The checker of these tests can tell: it reads the wheel and not the checkout."""
    bare = tmp_path / "bare" / "site"
    shutil.copytree(wheel_files, bare)
    (bare / "causalfocus" / "py.typed").unlink()
    report = strict_report(RIGHT, bare, tmp_path)
    assert "py.typed" in report and "[import-untyped]" in report
