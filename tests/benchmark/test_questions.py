"""What asking for less is worth, and a plant in raw units: how they are counted."""

import pytest

from causalfocus.benchmark.plant import PlantRun, _play, plant, plant_summaries, plant_table
from causalfocus.benchmark.questions import (
    QuestionRun,
    _compare,
    question_summaries,
    question_table,
)


def test_ratios_are_those_of_the_same_system() -> None:
    def run(at_once: int, *rounds: int) -> QuestionRun:
        everything, last, total = rounds
        return QuestionRun(
            at_once=at_once, everything=everything, last=last, total=total, n_wrong=1
        )

    runs = [(run(1, 100, 50, 10), run(0, 80, 20, 8)), (run(1, 1000, 200, 300), run(0, 10, 10, 1))]
    one, several = question_summaries(6, runs)
    assert (one.everything, one.last, one.total) == (550.0, 125.0, 155.0)
    assert one.last_ratio == pytest.approx((0.5 + 0.2) / 2) and one.n_wrong == 2
    assert several.at_once == 0 and several.total_ratio == pytest.approx(0.1)
    assert "| 6 | 2 | any | 45 | 15 (0.62) | 4 (0.10) | 2 |" in question_table([one, several])


def test_less_takes_fewer_rounds_on_a_small_system() -> None:
    for row in _compare((3, 1)):
        assert row.n_wrong == 0 and row.last < row.everything and row.total < row.everything


def test_a_plant_is_counted() -> None:
    run = _play((1, 3))
    assert run.is_right and run.rounds <= 1500 and 0 <= run.early <= 4
    assert plant().edges[0] == ("temperature", "pressure", 0.015)
    others = [
        PlantRun(at_once=1, rounds=n, is_right=n < 900, early=4) for n in range(100, 1100, 10)
    ]
    (found,) = plant_summaries(others)
    assert found.rounds[1] == pytest.approx(595.0) and found.n_wrong == 20 and found.early == 1.0
    assert 0.2 < found.limit < 0.3 and "| 1 | 100 |" in plant_table([found])
