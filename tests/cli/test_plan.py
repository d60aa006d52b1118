"""The command that plans."""

import json
import subprocess
from pathlib import Path

import pytest

import causalfocus as cf
from cli.commands import causalfocus


def plan(*arguments: str) -> subprocess.CompletedProcess[str]:
    return causalfocus("plan", *arguments)


def test_plan_from_ranges_alone(tmp_path: Path) -> None:
    picture = tmp_path / "plan.png"
    ranges = ("--range", "heat=20:80", "--range", "flow=-1:1", "--range", "yield=none")
    options = (
        *("--min-effect", "0.15", "--noise", "1"),
        "--outcome",
        "yield",
        "--systems",
        "3",
        "--cost",
        "heat=4",
        "--epsilon",
        "0.07",
        "--delta",
        "0.1",
    )
    done = plan(*ranges, *options, "--out", str(picture), "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    (row,) = facts["outlooks"]
    assert row["n_systems"] == 3 and 0 < row["low"] <= row["rounds"] <= row["high"]
    assert row["cost"] > row["rounds"]
    assert set(facts["share_of_rounds"]) == {
        "observe",
        "do(heat = 20)",
        "do(heat = 80)",
        "do(flow = -1)",
        "do(flow = 1)",
    }
    assert picture.stat().st_size > 10_000


def test_changes_of_a_slow_node_are_a_part_of_the_cost() -> None:
    """Spread over its least stay a change doubles the cost of a round that sets the node."""
    given = ("--nodes", "3", "--systems", "1", "--epsilon", "0.07", "--delta", "0.1", "--json")
    free, slow = (
        json.loads(plan(*given, *more).stdout) for more in ((), ("--change-cost", "X1=30"))
    )
    (row,), (dear,) = free["outlooks"], slow["outlooks"]
    shares = slow["share_of_rounds"]
    assert row["cost"] == pytest.approx(row["rounds"])
    assert dear["cost"] == pytest.approx(
        dear["rounds"] * (1 + shares["do(X1 = -2)"] + shares["do(X1 = 2)"])
    )
    assert shares["do(X1 = 2)"] < free["share_of_rounds"]["do(X1 = 2)"]


def test_plan_for_a_model(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(cf.LinearSEM([[0.0, 0.0], [0.5, 0.0]], 1.0).to_dict()))
    done = plan("--model", str(path))
    assert done.returncode == 0, done.stderr
    assert "hardest to rule out" in done.stdout and "with X2 -> X1" in done.stdout
    blind = ("--range", "X1=none", "--range", "X2=none", "--noise-variance", "0.1", "9")
    hopeless = plan("--model", str(path), *blind, "--rule", "gaussian")
    assert hopeless.returncode == 1
    assert "X1 -> X2 reversed" in hopeless.stdout and "never" in hopeless.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--range", "X1"), "must look like"),
        (("--range", "X1=a:b"), "not of the form"),
        (("--range", "X1=3:2"), "Swap them"),
        (("--cost", "X1=0"), "must be positive"),
        (("--cost", "X1=much"), "not of the form"),
        (("--change-cost", "X1"), "must look like X1=30"),
        (("--change-cost", "X1=-3"), "0 or more"),
        (("--epsilon", "0.5"), "above min_effect / 2"),
        (("--model", "missing.json"), "cannot be read"),
        (("--nodes", "2", "--range", "a=1", "--range", "b=1", "--range", "c=1"), "3 ranges for 2"),
        (("--nodes", "2", "--range", "a=1"), "no node named 'a'"),
    ],
)
def test_bad_plans(arguments: tuple[str, ...], message: str) -> None:
    done = plan(*arguments, "--systems", "1")
    assert done.returncode == 2
    assert message in done.stderr
