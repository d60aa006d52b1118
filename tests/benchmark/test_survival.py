"""What each rule survives is counted right, and goes on where it was interrupted."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from benchmark.test_verbs import run
from causalfocus.benchmark.row_files import read_rows, write_rows
from causalfocus.benchmark.survival import (
    EPSILON,
    WorldRun,
    cells,
    count_fates,
    is_right,
    stopping_rules,
    survival_table,
)
from causalfocus.benchmark.worlds import NODES, SPACE, WORLDS, draw_weights
from causalfocus.guarantees.rules import RULES, guarantee_of
from causalfocus.version import __version__


def test_all_rules_but_the_paper_s_are_compared() -> None:
    assert set(stopping_rules()) == set(RULES) - {"paper"}
    assert len(cells((), ())) == len(stopping_rules()) * len(WORLDS)
    assert cells(["class"], ["drift"]) == [("class", "drift")]
    with pytest.raises(cf.InvalidInputError, match="no rule 'paper' that stops; there are"):
        cells(["paper"], ())
    with pytest.raises(cf.InvalidInputError, match="no world 'sunny'"):
        cells((), ["sunny"])


def test_claims_are_judged_as_the_rules_judge_them() -> None:
    """Where every effect is zero or matters both rules claim the same."""
    actions, rng = WORLDS["clean"].actions, np.random.default_rng(0)
    rules = [
        guarantee_of(rule, actions, SPACE, epsilon=EPSILON, delta=0.1)
        for rule in ("class", "gaussian")
    ]
    seen = set()
    for seed in range(300):
        truth = draw_weights(seed)
        found = np.where(truth, truth + rng.uniform(-0.2, 0.2, truth.shape), 0.0)
        if seed % 3 == 0:
            found = draw_weights(seed + 1)
        right = is_right(found, truth)
        seen.add(right)
        models = cf.LinearSEM(found, 1.0), cf.LinearSEM(truth, 1.0)
        assert [rule.holds(*models) for rule in rules] == [right, right]
    assert seen == {True, False}


def test_a_refutation_is_an_error_where_all_that_is_assumed_holds() -> None:
    fates = ["right"] * 14 + ["wrong"] * 2 + ["refuted"] * 3 + ["unstopped"]
    groups = [
        [WorldRun(rule, world, seed, fate, 100 + seed) for seed, fate in enumerate(fates)]
        for rule in ("gaussian", "demonstration")
        for world in ("clean", "hidden cause 0.5", "hidden cause 0.5, reach 1")
    ]
    found = count_fates(groups)
    assert [cell.errors for cell in found] == [5, 2, 2, 5, 5, 5]
    for cell in found:
        assert (cell.right, cell.wrong, cell.refuted, cell.unstopped) == (14, 2, 3, 1)
        exact = stats.binomtest(cell.errors, 20, alternative="less").proportion_ci(0.95).high
        assert cell.limit == pytest.approx(exact) and cell.median_rounds == 109.5
    assert [cell.clean_rounds for cell in found[:3]] == [109.5, 109.5, None]
    table = survival_table(found)
    assert "| gaussian | clean | 14 | 2 | 3 | 1 | 5 |" in table and "on 20 drawn systems" in table


def test_rows_come_back_from_their_file_unless_another_version_wrote_them(tmp_path: Path) -> None:
    rows = [WorldRun("class", "clean, reach 1", seed, "right", 7 * seed) for seed in range(3)]
    file = tmp_path / "new" / "rows.csv"
    assert read_rows(file, WorldRun) == []
    write_rows(file, WorldRun, rows)
    assert read_rows(file, WorldRun) == rows
    text = file.read_text().splitlines()
    text[2] = text[2].replace(__version__, "0.0.0", 1)
    file.write_text("\n".join(text))
    assert read_rows(file, WorldRun) == [rows[0], rows[2]]


def test_the_command_goes_on_where_it_was(tmp_path: Path) -> None:
    """What the file has is believed, here against better knowledge; the rest is run."""
    known = WorldRun("class", "clean", 0, "refuted", 12_345)
    write_rows(tmp_path / "violations.csv", WorldRun, [known])
    of = ("--worlds", "clean", "--worlds", "feedback", "--rules", "class")
    done = run("violations", "--runs", "2", *of, "--json", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    clean, feedback = json.loads(done.stdout)["survival"]
    assert (clean["right"], clean["refuted"], clean["errors"]) == (1, 1, 1)
    assert (feedback["world"], feedback["wrong"] + feedback["refuted"]) == ("feedback", 2)
    rows = read_rows(tmp_path / "violations.csv", WorldRun)
    assert rows[0] == known and len(rows) == 4
    assert {len(draw_weights(row.seed)) for row in rows} == {NODES}
    assert run("violations", "--worlds", "sunny").returncode != 0
