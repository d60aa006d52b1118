"""The command that repeats an experiment: resumed, killed, interrupted, refused."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

REPRODUCE = [sys.executable, "-m", "causalfocus", "reproduce", "p2-d0.5"]


def reproduce(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*REPRODUCE, "--out", str(folder), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_draws_and_goes_on_where_it_was(tmp_path: Path) -> None:
    done = reproduce(tmp_path, "--quick", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert {row["method"] for row in facts["runs"]} == {"focus", "random", "ait-dcdi", "cbed"}
    assert all(row["replicates"] == 2 for row in facts["runs"])
    assert (tmp_path / "p2-d0.5.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "p2-d0.5.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "p2-d0.5-estimators.png").exists()
    for name in ("curves", "stops", "fits", "gaps", "leads", "stop_gaps", "runs"):
        assert (tmp_path / f"{name}.csv").read_text().startswith("setting,method,replicates")
    assert len((tmp_path / "replicates.csv").read_text().splitlines()) == 1 + 2 * 2
    said = (tmp_path / "summary.md").read_text()
    assert said.count("\n## ") == 6 and said.count("| p2-d0.5 | cbed |") > 4
    wrong = next(line for line in said.splitlines() if line.startswith("| p2-d0.5 | focus | 0.1 |"))
    assert "of 2 |" in wrong
    before = {path.name: path.read_bytes() for path in (tmp_path / "units").iterdir()}
    again = reproduce(tmp_path, "--quick", "--json")
    assert "0 to run" in again.stderr and json.loads(again.stdout) == facts
    assert {path.name: path.read_bytes() for path in (tmp_path / "units").iterdir()} == before


def test_a_killed_run_loses_the_units_in_flight_only(tmp_path: Path) -> None:
    arguments = ["--methods", "random", "--budget", "40", "--replicates", "60", "--workers", "2"]
    process = subprocess.Popen(
        [*REPRODUCE, "--out", str(tmp_path), *arguments],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    units = tmp_path / "units"
    for _ in range(1200):
        if units.exists() and len(list(units.glob("p2*.json"))) >= 2:
            break
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = {path.name: path.read_bytes() for path in units.glob("p2*.json")}
    assert len(kept) >= 2 and all(json.loads(contents) for contents in kept.values())
    done = reproduce(tmp_path, *arguments)
    assert done.returncode == 0, done.stderr
    assert f"{len(kept)} of 6 units are there" in done.stderr
    after = {path.name: path.read_bytes() for path in units.glob("p2*.json")}
    assert len(after) == 6 and after.items() >= kept.items()


def hear_interrupts() -> None:
    """Whoever started the tests in the background may have them ignore interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupted_run_says_how_to_go_on(tmp_path: Path) -> None:
    arguments = ["--methods", "random", "--budget", "40", "--replicates", "2000"]
    process = subprocess.Popen(
        [*REPRODUCE, "--out", str(tmp_path), *arguments],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_interrupts,
    )
    try:
        for _ in range(1200):
            if (tmp_path / "journal.jsonl").exists():
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 1
    assert "what is done is kept. The same command goes on from here" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "best"], "no method 'best'"),
        (["--methods", " "], "at least one method"),
        (["p0-d2"], "A setting"),
    ],
)
def test_bad_requests(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = reproduce(tmp_path, *arguments)
    assert done.returncode == 2 and message in done.stderr
