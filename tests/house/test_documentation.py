"""What the documents promise runs."""

import csv
import re
import runpy
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

import causalfocus as cf
from causalfocus import campaign
from causalfocus.experiments.replicate import run_replicate
from causalfocus.experiments.specification import DELTAS, Setting, Specification

ROOT = Path(__file__).parents[2]


def test_the_readme_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})  # noqa: S102
    shown = capsys.readouterr().out
    assert "after" in shown and "X1" in shown


def test_the_example_of_the_baselines_runs(capsys: pytest.CaptureFixture[str]) -> None:
    document = (ROOT / "docs" / "baselines.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", document, re.DOTALL)
    scope: dict[str, Any] = {}
    exec(compile(block, "baselines.md", "exec"), scope)  # noqa: S102
    assert "X" in capsys.readouterr().out
    assert scope["to_a_certificate"].rounds == 100


def test_the_example_of_campaigns_runs(capsys: pytest.CaptureFixture[str]) -> None:
    document = (ROOT / "docs" / "campaigns.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", document, re.DOTALL)
    exec(compile(block, "campaigns.md", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out.startswith("3 ")
    (text,) = re.findall(r"```yaml\n(.*?)```", document, re.DOTALL)
    found = campaign.Specification.from_dict(yaml.safe_load(text))
    assert found.actions.ranges == ((20.0, 80.0), (1.0, 3.0), None) and found.epsilon == 0.07


def test_the_engine_has_as_many_graphs_as_the_readme_says() -> None:
    """Robinson's recurrence for the number of labelled DAGs."""
    from math import comb

    counts = [1]
    for n in range(1, 7):
        counts.append(
            sum(
                (-1) ** (k + 1) * comb(n, k) * 2 ** (k * (n - k)) * counts[n - k]
                for k in range(1, n + 1)
            )
        )
    assert f"{counts[6]:,}" in (ROOT / "README.md").read_text()


def test_the_example_finds_its_hidden_system(capsys: pytest.CaptureFixture[str]) -> None:
    path = ROOT / "examples" / "own_system.py"
    scope = runpy.run_path(str(path))
    shown = capsys.readouterr().out
    assert "Certified after" in shown
    result = scope["result"]
    assert result.certified and result.model.shd(scope["hidden"]) == 0
    assert "heater -> temperature" in shown and "temperature -> yield" in shown


def test_the_campaign_against_a_rig_is_certified(tmp_path: Path) -> None:
    """Two programs and the command line; and the rig's other way, by files."""
    folder = ROOT / "examples" / "campaign"
    done = subprocess.run(
        [sys.executable, str(folder / "run.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Certified after" in done.stdout and (tmp_path / "report.html").exists()
    with cf.Campaign.open(tmp_path / "reactor.campaign", read_only=True) as opened:
        found = {(cause, effect) for cause, effect, _ in opened.result().model.edges}
    assert found == {("heater", "temperature"), ("temperature", "yield"), ("stirrer", "yield")}
    asked, outcomes = tmp_path / "asked.csv", tmp_path / "outcomes.csv"
    asked.write_text("id,target,value\n7,,\n8,heater,3\n")
    by_file = [str(folder / "rig.py"), "--seed", "1", "answer", str(asked), str(outcomes)]
    subprocess.run([sys.executable, *by_file], check=True)
    _, first, second = outcomes.read_text().splitlines()
    assert first.startswith("7,") and second.startswith("8,3.0,")


@pytest.mark.parametrize(
    ("name", "folder"), [("results.md", "results"), ("guess.md", "results/guess")]
)
def test_the_tables_of_the_results_are_what_the_command_printed(name: str, folder: str) -> None:
    """Every row of numbers in the document is a line of the committed summary."""
    printed = set((ROOT / "docs" / folder / "summary.md").read_text().splitlines())
    document = (ROOT / "docs" / name).read_text()
    pattern = r"\| (p\d-d0\.\d|all) \|"
    rows = [line for line in document.splitlines() if re.match(pattern, line)]
    assert len(rows) >= 50
    assert [row for row in rows if row not in printed] == []
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", document):
        assert (ROOT / "docs" / picture).exists()


def test_a_run_of_the_results_is_certified_sooner_today() -> None:
    """RANDOM's: its actions do not hang on the last bit of a sum, so any machine plays the same.
    The system is that of the results; the certificate takes fewer of the same samples since.
    """
    with (ROOT / "docs" / "results" / "replicates.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["method"] == "random"]
    (row,) = (r for r in rows if (r["setting"], r["number"]) == ("p5-d0.3", "3"))
    found = run_replicate(Setting(5, 0.3), Specification(method="random"), 3)
    before = [int(row[f"rounds_{d:g}"]) for d in DELTAS]
    assert all(n is not None and n < m for n, m in zip(found.stops, before, strict=True))
    assert found.complexity == pytest.approx(float(row["complexity"]), rel=1e-5)


def test_the_words_on_the_best_guess_are_those_of_its_leads() -> None:
    """Who is ahead, and where, from the file beside the document."""
    found = pd.read_csv(ROOT / "docs" / "results" / "guess" / "leads.csv")
    assert set(found.ahead) == {"FOCUS", "nobody"}
    assert found.n.min() == 100 and found.replicates.eq(200).all()
    middle = found[found.n.isin((215, 383))]
    together = middle[middle.setting == "all"]
    assert len(together) == 16 and together.ahead.eq("FOCUS").all()
    single = middle[middle.setting != "all"]
    by_far = single[single.method.isin(("ait-dcdi", "random, joint MLE"))]
    assert len(by_far) == 40 and by_far.ahead.eq("FOCUS").all()
    cbed = single[(single.method == "cbed") & (single.ahead == "FOCUS")]
    assert cbed.groupby(["error", "n"]).size().to_dict() == {
        ("shd", 215): 3,
        ("shd", 383): 2,
        ("weight_error", 383): 1,
    }


def spread(values: Iterable[float], form: str) -> str:
    """Least and largest, as the document writes them."""
    found = sorted(values)
    return f"{found[0]:{form}} to {found[-1]:{form}}"


def test_the_ranges_in_the_words_of_the_results_are_those_of_its_tables() -> None:
    """Ratios and sums over the settings, computed again from the files beside the document."""
    folder = ROOT / "docs" / "results"
    document = " ".join((ROOT / "docs" / "results.md").read_text().split())
    curves, stops, fits, ratios = (
        pd.read_csv(folder / f"{name}.csv") for name in ("curves", "stops", "fits", "stop_gaps")
    )
    errors = curves.pivot(index=["setting", "n"], columns="method", values=["shd", "weight_error"])
    less = 100 * (1 - errors.xs("focus", axis=1, level=1) / errors.xs("random", axis=1, level=1))
    at_383, at_end = less.xs(383, level="n"), less.xs(1000, level="n")
    focus = stops[stops.method == "focus"]
    at_005 = focus[focus.delta == 0.05]
    slopes = fits[fits.method == "focus"].slope_over_rate
    wrong = focus.groupby("delta").wrong.sum()
    for words in (
        f"It needs {spread(ratios.ratio, '.2f')} of the rounds of RANDOM",
        f"Its slope is {spread(slopes, '.2f')} times 1/C_epsilon",
        f"{wrong[0.1]} wrong stops in 5,000 runs at delta = 0.1, {wrong[0.05]} at 0.05, none",
        f"{spread(at_383.shd, '.0f')} percent fewer wrong edges at n = 383",
        f"{spread(at_383.weight_error, '.0f')} percent smaller at n = 383",
        f"{spread(at_end.weight_error, '.0f')} percent at 1,000",
        f"FOCUS needs {spread(at_005.rounds / at_005.lower_bound, '.1f')} times the lower bound",
    ):
        assert words in document
    assert wrong[[0.02, 0.01, 0.005]].sum() == 0
    assert fits.linearity.min() >= 0.9998 and not fits[["unstopped", "refuted"]].any(axis=None)
