"""The command that measures: complete figures, whatever they are."""

import json
from pathlib import Path

from cli.commands import causalfocus


def test_benchmark_writes_what_it_prints(tmp_path: Path) -> None:
    """Figures are positive and complete; nothing here depends on how fast they are."""
    tests = Path(__file__).parents[1]
    done = causalfocus(
        "benchmark", "engine", "--quick", "--referee", str(tests), "--out", str(tmp_path)
    )
    assert done.returncode == 0, done.stderr
    document = (tmp_path / "benchmark.md").read_text()
    assert done.stdout.strip() == document.strip()
    figures = json.loads((tmp_path / "benchmark.json").read_text())
    assert {(row["p"], row["oracle"]) for row in figures["ratios"]} == {
        (p, oracle) for p in (3, 4) for oracle in ("joint MLE", "alternative")
    }
    assert all(row["engine"] > 0 and row["literal"] > 0 for row in figures["ratios"])
    assert [row["p"] for row in figures["times"]] == [5, 6, 7]
    rounds = [(row["rule"], row["p"], row["stopped"]) for row in figures["rounds"]]
    assert rounds == [(r, p, True) for p in (3, 4) for r in ("class", "gaussian")]
    assert figures["runs"][0]["n_rounds"] == 1000


def test_benchmark_counts_the_rounds_to_a_certificate() -> None:
    done = causalfocus("benchmark", "certificates", "--systems", "2", "--nodes", "2", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["certificates"]
    assert row["n_systems"] == row["n_stopped"] == 2 and row["n_wrong"] == 0
    by_delta = row["mean_rounds_by_delta"]
    assert by_delta == sorted(by_delta) and row["median_ratio"] > 1
    assert row["median_uniform_over_focus"] > 0
    assert row["gaussian"]["n_stopped"] == 2 and row["gaussian"]["n_wrong"] == 0


def test_benchmark_of_campaign_files() -> None:
    done = causalfocus("benchmark", "campaigns", "--rounds", "300", "--nodes", "2", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["campaigns"]
    assert [row["n_rounds"] for row in rows] == [30, 300]
    assert all(row["replayed"] <= 33 and row["opening"] > 0 for row in rows)


def test_benchmark_without_the_referee_says_so(tmp_path: Path) -> None:
    done = causalfocus("benchmark", "engine", "--quick", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert "No literal enumeration" in done.stderr
    assert json.loads(done.stdout)["ratios"] == []
