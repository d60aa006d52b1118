"""The command line as a user runs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


def causalfocus(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from causalfocus.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
    )


def test_demo_shows_both_graphs_and_names_its_picture(tmp_path: Path) -> None:
    picture = tmp_path / "deep" / "graph.png"
    done = causalfocus("demo", "--out", str(picture))
    assert done.returncode == 0, done.stderr
    assert "Structural Hamming distance 0" in done.stdout
    assert "X3 -> X1" in done.stdout and "recovered" in done.stdout
    assert "graph.png" in done.stdout.replace("\n", "")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_demo_as_json_is_reproducible() -> None:
    runs = [causalfocus("demo", "--seed", "11", "--samples", "30", "--json") for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout
    facts = json.loads(runs[0].stdout)
    assert facts["samples"] == 30 * 11
    assert set(facts) == {"samples", "shd", "max_weight_error", "truth", "estimate"}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["demo", "--density", "3", "--json"], 2, "density is a probability"),
        (["demo", "--nodes", "0", "--json"], 2, "number of nodes must be 1 or more"),
        (["demo", "--nodes", "30", "--json"], 2, "30 nodes are too many"),
        (["demo", "--nodes", "x"], 2, "--nodes"),
        (["demo", "--samples", "-1", "--json"], 2, "--samples"),
        (["nonsense"], 2, "No such command"),
    ],
)
def test_usage_errors(arguments: list[str], code: int, message: str) -> None:
    done = causalfocus(*arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_version() -> None:
    done = causalfocus("--version")
    assert done.returncode == 0 and done.stdout.strip().count(".") == 2


def test_benchmark_writes_what_it_prints(tmp_path: Path) -> None:
    """Figures are positive and complete; nothing here depends on how fast they are."""
    tests = Path(__file__).parent
    done = causalfocus("benchmark", "--quick", "--referee", str(tests), "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    document = (tmp_path / "benchmark.md").read_text()
    assert done.stdout.strip() == document.strip()
    figures = json.loads((tmp_path / "benchmark.json").read_text())
    assert {(row["p"], row["oracle"]) for row in figures["ratios"]} == {
        (p, oracle) for p in (3, 4) for oracle in ("joint MLE", "alternative")
    }
    assert all(row["engine"] > 0 and row["literal"] > 0 for row in figures["ratios"])
    assert [row["p"] for row in figures["times"]] == [5, 6, 7]


def test_benchmark_without_the_referee_says_so(tmp_path: Path) -> None:
    done = causalfocus("benchmark", "--quick", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert "No literal enumeration" in done.stderr
    assert json.loads(done.stdout)["ratios"] == []
