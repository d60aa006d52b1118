"""Plans: the rule on expected moments, their spread, and the command."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.planning.forecast import forecasts, mean_share, outlook

SPACE = cf.ModelClass(0.3, 1.5, (0.8, 1.2), intercept=False)


def small(seed: int) -> tuple[cf.LinearSEM, cf.ActionSet]:
    model = cf.random_sem(3, density=0.6, seed=seed, space=SPACE)
    return model, cf.ActionSet(dict.fromkeys(model.names, (-2, 2)))


def rounds_of_focus(model: cf.LinearSEM, actions: cf.ActionSet, seed: int) -> int:
    learner = cf.Focus(actions, SPACE, epsilon=0.15, delta=0.05, stopping="evidence")
    rng = np.random.default_rng(seed)
    assert cf.run(learner, lambda a: model.sample(a, 1, rng)[0], max_rounds=20_000)
    return learner.rounds


def test_forecasts_are_near_what_focus_needs() -> None:
    """Median over drawn systems, as the docs measure it at five and six nodes."""
    predicted, measured = [], []
    for seed in range(12):
        model, actions = small(seed)
        (forecast,) = forecasts(
            model, actions, SPACE, epsilon=0.15, deltas=[0.05], stopping="evidence"
        )
        predicted.append(forecast.rounds)
        measured.append(rounds_of_focus(model, actions, seed))
    assert np.median(predicted) == pytest.approx(np.median(measured), rel=0.35)


def test_more_certainty_takes_more_rounds_than_the_bounds_say() -> None:
    model, actions = small(1)
    found = forecasts(
        model, actions, SPACE, epsilon=0.15, deltas=[0.01, 0.1, 0.05], stopping="evidence"
    )
    assert [f.delta for f in found] == [0.1, 0.05, 0.01]
    rounds = [f.rounds for f in found]
    assert rounds == sorted(rounds)
    for forecast in found:
        assert forecast.low < forecast.rounds < forecast.high
        assert forecast.rounds > forecast.complexity.first_order(forecast.delta)
        assert forecast.rounds > forecast.complexity.lower_bound(forecast.delta)
        assert sum(forecast.share.values()) == pytest.approx(1.0)
        assert min(forecast.share.values()) > 0
        assert forecast.cost == pytest.approx(forecast.rounds)


def test_costs_are_counted() -> None:
    model, _ = small(1)
    actions = cf.ActionSet(
        dict.fromkeys(model.names, (-2, 2)),
        costs={"observe": 2.0} | dict.fromkeys(model.names, 2.0),
    )
    (forecast,) = forecasts(model, actions, SPACE, epsilon=0.15, deltas=[0.05], stopping="evidence")
    assert forecast.cost == pytest.approx(2 * forecast.rounds)


def test_what_can_never_be_certified_takes_for_ever() -> None:
    model = cf.LinearSEM([[0, 0], [0.5, 0]], 1.0)
    actions = cf.ActionSet({"X1": None, "X2": None})
    space = cf.ModelClass(0.3, intercept=False)
    found = forecasts(model, actions, space, epsilon=0.15, deltas=[0.1, 0.05], stopping="evidence")
    assert all(math.isinf(f.rounds) for f in found)
    together = outlook(found[:1])
    assert together.n_hopeless == 1 and math.isinf(together.rounds)


def test_an_outlook_holds_its_systems() -> None:
    rows = []
    for seed in range(5):
        model, actions = small(seed)
        rows += forecasts(model, actions, SPACE, epsilon=0.15, deltas=[0.05], stopping="evidence")
    together = outlook(rows)
    assert min(r.low for r in rows) <= together.low < together.rounds < together.high
    assert together.rounds == np.median([r.rounds for r in rows])
    assert sum(mean_share(rows).values()) == pytest.approx(1.0)
    with pytest.raises(cf.InvalidInputError, match="no system"):
        outlook([])


def plan(*arguments: str):
    from test_cli import causalfocus

    return causalfocus("plan", *arguments)


def test_plan_from_ranges_alone(tmp_path: Path) -> None:
    picture = tmp_path / "plan.png"
    ranges = ("--range", "heat=20:80", "--range", "flow=-1:1", "--range", "yield=none")
    options = ("--systems", "3", "--cost", "heat=4", "--epsilon", "0.07", "--delta", "0.1")
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


def test_plan_for_a_model(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(cf.LinearSEM([[0, 0], [0.5, 0]], 1.0).to_dict()))
    done = plan("--model", str(path))
    assert done.returncode == 0, done.stderr
    assert "hardest to rule out" in done.stdout and "X1 -> X2" in done.stdout
    hopeless = plan(
        "--model", str(path), "--range", "X1=none", "--range", "X2=none", "--noise", "0.1", "9"
    )
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
