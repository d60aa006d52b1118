"""`causalfocus benchmark` is a verb per measurement, and the documents name verbs that exist."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from causalfocus.cli.benchmark import benchmark

ROOT = Path(__file__).parents[2]
GROUP = get_command(benchmark)
VERBS = (
    "engine",
    "certificates",
    "constant",
    "several",
    "questions",
    "plant",
    "coins",
    "large",
    "columns",
    "costs",
    "blocks",
    "violations",
    "equations",
    "coverage",
    "foretelling",
    "today",
    "baselines",
    "campaigns",
)


def options(verb: str) -> set[str]:
    return {name for option in GROUP.commands[verb].params for name in option.opts}  # type: ignore[attr-defined]


def test_every_measurement_writes_files_and_json() -> None:
    assert tuple(GROUP.commands) == VERBS  # type: ignore[attr-defined]
    for verb in VERBS:
        assert {"--out", "--json"} <= options(verb)


def commands_in(text: str) -> list[list[str]]:
    """Every `causalfocus benchmark ...` between backquotes, or a recipe of the Makefile."""
    found = re.findall(r"`causalfocus (benchmark[^`]*)`", text)
    found += re.findall(r"^\t\S*/causalfocus (benchmark.*)$", text, re.MULTILINE)
    return [shlex.split(command) for command in found]


def documents() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "Makefile", *ROOT.glob("docs/*.md")]


def test_the_documents_name_commands_that_exist() -> None:
    named = [words for path in documents() for words in commands_in(path.read_text())]
    assert {words[1] for words in named if len(words) > 1} == set(VERBS)
    for _, verb, *rest in (words for words in named if len(words) > 1):
        assert {word for word in rest if word.startswith("--")} <= options(verb)


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "causalfocus", "benchmark", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("arguments", [("--systems", "2"), ("costs", "--systems", "0")])
def test_what_is_not_a_measurement_is_a_usage_error(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_measurement_holds_its_own_figures_and_no_others(tmp_path: Path) -> None:
    done = run("costs", "--systems", "2", "--nodes", "2", "--json", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures == json.loads((tmp_path / "benchmark.json").read_text())
    machine = figures.pop("machine")
    assert machine["causalfocus"]
    assert [name for name, rows in figures.items() if rows] == ["costs"]
    (row,) = figures["costs"]
    assert (row["p"], row["n_systems"]) == (2, 2) and row["mean_aware"] > 0


def test_the_verbs_are_found_without_the_measurements() -> None:
    """Who reads the help does not wait for compilers and solvers."""
    script = "import sys, causalfocus.cli.benchmark; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert not {"numba", "scipy", "causalfocus.benchmark"} & set(done.stdout.split())


def test_columns_are_compared_side_by_side() -> None:
    done = run("columns", "--systems", "2", "--nodes", "4", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["columns"]
    assert [(row["p"], row["seed"], row["n_sets"]) for row in rows] == [(4, 0, 15), (4, 1, 15)]
    for row in rows:
        assert row["made"]["is_exhaustive"] and row["made"]["gap"] <= 1e-3
        assert row["made"]["value"] == pytest.approx(row["listed"]["value"], rel=2e-3)
        assert row["pairs"]["n_choices"] == 11 and row["listed"]["n_choices"] == 15
