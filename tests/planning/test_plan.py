"""`cf.plan`: what is drawn is what was said, and the plan says what it rests on."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causalfocus as cf
from causalfocus.planning.draws import MOST_TIMES, plausible_systems
from causalfocus.planning.forecast import forecasts

ACTIONS = cf.ActionSet({"heat": (300, 400), "flow": (0, 10), "yield": None}, at_once=2)
NAMES = ACTIONS.names
MATTERS = {"heat": 5.0, "flow": 0.5, "yield": 8.0}
NOISE = {"heat": 4.0, "flow": 0.4, "yield": 6.0}
SPACE = cf.ModelClass(matters=MATTERS, outcomes=["yield"])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.0, 1.0), st.booleans())
def test_what_is_drawn_is_in_the_class(seed: int, density: float, with_more: bool) -> None:
    """By name, in raw units: sizes from what matters to ten times that, the noise that was said."""
    required = [("flow", "heat")] if with_more else []
    space = cf.ModelClass(matters=MATTERS, outcomes=["yield"], required=required).on(ACTIONS)
    drawn = plausible_systems(NAMES, space, noise=NOISE, density=density, n=4, seed=seed)
    widths = {"heat": 100.0, "flow": 10.0}
    for system in drawn:
        assert system.names == NAMES and not system.has_loops
        assert np.sqrt(system.noise_variances) == pytest.approx(list(NOISE.values()))
        for cause, effect, weight in system.edges:
            changes = abs(weight) * widths[cause] / MATTERS[effect]
            assert cause != "yield" and 1 - 1e-9 <= changes <= MOST_TIMES + 1e-9
        assert space.contains(cf.LinearSEM(system.weights, system.noise_variances, 0.0, NAMES))
        assert not with_more or system.weights[0, 1] != 0.0
    again = plausible_systems(NAMES, space, noise=NOISE, density=density, n=4, seed=seed)
    assert again == drawn


def test_the_papers_class_is_drawn_as_in_the_paper() -> None:
    names = tuple(f"X{i}" for i in range(1, 5))
    for i, system in enumerate(plausible_systems(names, cf.PAPER_CLASS, n=3, seed=7)):
        source = np.random.SeedSequence([4, 7, i])
        assert system == cf.random_sem(4, density=0.3, seed=source)


def test_units_change_nothing() -> None:
    """In millikelvin and per cent of a litre the same plan: what is said is said in the units."""
    factors = {"heat": 1000.0, "flow": 0.01, "yield": 3.0}
    plain = cf.plan(ACTIONS, SPACE, noise=NOISE, n_systems=3)
    ranges: dict[str, Any] = {"heat": (3e5, 4e5), "flow": (0, 0.1), "yield": None}
    scaled = cf.plan(
        cf.ActionSet(ranges, at_once=2),
        cf.ModelClass(matters={n: MATTERS[n] * factors[n] for n in NAMES}, outcomes=["yield"]),
        noise={n: NOISE[n] * factors[n] for n in NAMES},
        n_systems=3,
    )
    assert scaled.rounds == pytest.approx(plain.rounds, rel=1e-3)
    for mine, theirs in zip(plain.pairs, scaled.pairs, strict=True):
        assert theirs.rounds == pytest.approx(mine.rounds, rel=1e-3)
        factor = factors[mine.effect] / factors[mine.cause]
        assert theirs.matters == pytest.approx(mine.matters * factor)


def test_a_plan_for_a_model_is_its_forecast() -> None:
    model = cf.LinearSEM([[0, 0, 0], [0, 0, 0], [0.2, 2, 0]], [16, 0.16, 36], names=NAMES)
    found = cf.plan(ACTIONS, SPACE, model=model, delta=[0.01, 0.1])
    (late, early) = (
        forecasts(model, ACTIONS, SPACE, deltas=[delta])[0].rounds for delta in (0.01, 0.1)
    )
    assert [row.delta for row in found.outlooks] == [0.01, 0.1]
    assert [row.rounds for row in found.outlooks] == pytest.approx([late, early], rel=1e-2)
    assert found.n_systems == 1 and "model that was given" in found.assumed[0]
    assert {(one.cause, one.effect) for one in found.pairs} == {
        ("flow", "heat"),
        ("heat", "flow"),
        ("heat", "yield"),
        ("flow", "yield"),
    }
    last = max(one.rounds for one in found.pairs)  # all is settled when the last pair is
    assert last == pytest.approx(late, rel=1e-2)


def test_more_noise_and_smaller_changes_take_more_rounds() -> None:
    """Half widths fall with the root of the rounds: twice the noise takes four times as many, up to
    the logarithm of the tests and the rounds until every variable has a first interval, which count
    for less the more noise there is.
    """
    rounds = [
        cf.plan(
            ACTIONS, SPACE, noise={n: f * NOISE[n] for n in NAMES}, n_systems=2, density=0.0
        ).rounds
        for f in (4, 8, 16)
    ]
    ratios = rounds[1] / rounds[0], rounds[2] / rounds[1]
    assert 3.0 <= ratios[0] <= ratios[1] < 5.0 and ratios[1] >= 3.9
    finer = cf.ModelClass(matters={n: m / 2 for n, m in MATTERS.items()}, outcomes=["yield"])
    small = cf.plan(
        ACTIONS, finer, noise={n: 4 * NOISE[n] for n in NAMES}, n_systems=2, density=0.0
    )
    assert small.rounds == pytest.approx(rounds[1], rel=1e-2)


def test_it_shows_itself() -> None:
    costs = {"heat": 3.0, "flow": 1.0, "observe": 1.0}
    dear = cf.ActionSet({"heat": (300, 400), "flow": (0, 10), "yield": None}, costs=costs)
    seen: list[int] = []
    found = cf.plan(dear, SPACE, noise=2.0, n_systems=2, delta=(0.05, 0.1), on_system=seen.append)
    assert seen == [1, 2] and found.cost > found.rounds
    frame, pairs = found.to_frame(), found.pairs_to_frame()
    assert frame["rounds"].tolist() == [row.rounds for row in found.outlooks] and len(pairs) == 4
    assert frame["epsilon"].tolist() == ["half of what matters"] * 2
    assert repr(found) == f"<Plan: {found.rounds:,.0f} rounds at delta = 0.05, median of 2 systems>"
    html = found._repr_html_()
    assert html.count("<tr>") == 3 and "2 for all" in html and "2 systems were drawn" in html
    assert all(text in str(found) for text in found.assumed)
    assert sum(found.share.values()) == pytest.approx(1.0)
    plain = cf.plan(dear, SPACE, noise=2.0, n_systems=1, rule="randomized", epsilon="graph")
    assert plain.outlooks[0].epsilon == "graph" and not math.isinf(plain.rounds)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no noise": ({}, "how much heat, flow, yield vary.*--noise heat=1.0"),
    "noise of some": ({"noise": {"heat": 1.0}}, "how much flow, yield vary"),
    "noise of a stranger": ({"noise": {**NOISE, "pump": 1.0}}, "no node named 'pump'"),
    "no such noise": ({"noise": {**NOISE, "heat": -1.0}}, "noise of 'heat' must be positive"),
    "noise twice": (
        {"noise": 1.0, "model": cf.LinearSEM(np.zeros((3, 3)), 1.0, names=NAMES)},
        "not both",
    ),
    "no system": ({"noise": 1.0, "n_systems": 0}, "at least one epsilon"),
    "no delta": ({"noise": 1.0, "delta": []}, "at least one epsilon"),
    "no probability": ({"noise": 1.0, "density": 2}, "density is a probability"),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_planned(options: dict[str, Any], message: str) -> None:
    with pytest.raises(cf.InvalidInputError, match=message):
        cf.plan(ACTIONS, SPACE, **options)


def test_noise_of_the_class_is_enough() -> None:
    variances = {name: (size**2 / 2, size**2) for name, size in NOISE.items()}
    space = cf.ModelClass(matters=MATTERS, outcomes=["yield"], noise_variance=variances)
    found = cf.plan(ACTIONS, space, n_systems=2)
    assert "drawn from noise_variance" in found.assumed[1]
    for system in plausible_systems(NAMES, space.on(ACTIONS), n=3):
        for name, variance in zip(NAMES, system.noise_variances, strict=True):
            low, high = variances[name]
            assert low <= variance <= high
    looped = cf.ModelClass(
        matters=MATTERS, outcomes=["yield"], required=[("heat", "flow"), ("flow", "heat")]
    )
    with pytest.raises(cf.InvalidInputError, match="required has the loop"):
        cf.plan(ACTIONS, looped, noise=1.0)


def test_the_example_of_the_document_runs(capsys: pytest.CaptureFixture[str]) -> None:
    document = (Path(__file__).parents[2] / "docs" / "planning.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", document, re.DOTALL)
    exec(compile(block, "planning.md", "exec"), {})  # noqa: S102
    assert "four runs of five" in capsys.readouterr().out
