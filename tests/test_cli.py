"""The command line as a user runs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


def causalfocus(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "causalfocus", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
    )


def test_demo_goes_from_nothing_to_a_certificate(tmp_path: Path) -> None:
    picture = tmp_path / "deep" / "journey.png"
    done = causalfocus("demo", "--nodes", "3", "--out", str(picture))
    assert done.returncode == 0, done.stderr
    assert "Certified after" in done.stdout
    assert "Hamming distance 0" in done.stdout.replace("\n", " ")
    assert "not rejected at delta" in done.stdout
    assert "journey.png" in done.stdout.replace("\n", "")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_demo_as_json_is_reproducible() -> None:
    runs = [causalfocus("demo", "--seed", "11", "--nodes", "2", "--json") for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout
    facts = json.loads(runs[0].stdout)
    assert facts["stopped"] and facts["shd"] == 0


SIMULATE = ["simulate", "--nodes", "3", "--seed", "2", "--json"]


def test_simulate_prints_what_it_should() -> None:
    done = causalfocus(*SIMULATE)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["stopped"] and facts["correct"] and facts["shd"] == 0
    assert facts["max_weight_error"] < 0.07
    assert facts["evidence"] >= facts["threshold"]
    assert sum(facts["counts"].values()) == facts["rounds"]
    assert 0 < facts["complexity"] < 1
    assert facts["rounds"] * facts["complexity"] > 1


def test_simulate_says_when_it_has_not_stopped() -> None:
    done = causalfocus(*SIMULATE, "--max-rounds", "50")
    assert done.returncode == 3
    facts = json.loads(done.stdout)
    assert not facts["stopped"] and facts["rounds"] == 50 and facts["reason"]
    paper = causalfocus(*SIMULATE, "--stopping", "paper", "--max-rounds", "30")
    assert paper.returncode == 3
    assert "samples at the present rate" in json.loads(paper.stdout)["reason"]


@pytest.mark.parametrize("policy", ["random", "ait-dcdi", "cbed", "abcd", "git-dcdi"])
def test_simulate_runs_the_baselines(policy: str) -> None:
    arguments = [*SIMULATE, "--policy", policy, "--max-rounds"]
    short = causalfocus(*arguments, "40")
    assert short.returncode == 3, short.stderr
    facts = json.loads(short.stdout)
    assert facts["rounds"] == 40 == sum(facts["counts"].values()) and not facts["stopped"]
    assert json.loads(causalfocus(*arguments, "40").stdout)["estimate"] == facts["estimate"]


def test_simulate_runs_a_baseline_to_a_certificate() -> None:
    done = causalfocus(*SIMULATE, "--policy", "random", "--stopping", "evidence")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["stopped"] and facts["correct"] and facts["evidence"] >= facts["threshold"]


def test_simulate_takes_a_system_from_a_file(tmp_path: Path) -> None:
    system = {"weights": [[0, 0], [0.6, 0]], "noise_variances": [1, 1], "names": ["heat", "yield"]}
    path = tmp_path / "system.json"
    path.write_text(json.dumps(system))
    done = causalfocus("simulate", "--model", str(path), "--policy", "uniform", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["estimate"]["names"] == ["heat", "yield"]
    path.write_text("{")
    broken = causalfocus("simulate", "--model", str(path), "--json")
    assert broken.returncode == 2 and "cannot be read as JSON" in broken.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["demo", "--density", "3", "--json"], 2, "density is a probability"),
        (["demo", "--nodes", "0", "--json"], 2, "number of nodes must be 1 or more"),
        (["demo", "--nodes", "30", "--json"], 2, "30 nodes are too many"),
        (["demo", "--nodes", "x"], 2, "--nodes"),
        (["demo", "--max-rounds", "-1", "--json"], 2, "--max-rounds"),
        (["simulate", "--epsilon", "0.2", "--json"], 2, "above min_effect / 2"),
        (["simulate", "--delta", "2", "--json"], 2, "delta is a probability"),
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
    rounds = [(row["stopping"], row["p"], row["stopped"]) for row in figures["rounds"]]
    assert rounds == [(r, p, True) for p in (3, 4) for r in ("evidence", "resolution")]
    assert figures["runs"][0]["n_rounds"] == 1000


def test_benchmark_counts_the_rounds_to_a_certificate() -> None:
    done = causalfocus("benchmark", "certificates", "--systems", "2", "--nodes", "2", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["certificates"]
    assert row["n_systems"] == row["n_stopped"] == 2 and row["n_wrong"] == 0
    by_delta = row["mean_rounds_by_delta"]
    assert by_delta == sorted(by_delta) and row["median_ratio"] > 1
    assert row["median_uniform_over_focus"] > 0
    assert row["resolution"]["n_stopped"] == 2 and row["resolution"]["n_wrong"] == 0


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
