"""Plans: the rule on expected moments, and their spread."""

import math

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.planning.forecast import Forecast, forecasts, mean_share, outlook
from worlds import SPACE, action_set, rig


def small(seed: int) -> tuple[cf.LinearSEM, cf.ActionSet]:
    model = cf.random_sem(3, density=0.6, seed=seed, space=SPACE)
    return model, action_set(model.names)


def rounds_of_focus(model: cf.LinearSEM, actions: cf.ActionSet, seed: int) -> int:
    learner = cf.Focus(actions, SPACE, epsilon=0.15, delta=0.05, rule="class")
    assert cf.run(learner, rig(seed, model), max_rounds=20_000)
    return learner.rounds


def test_forecasts_are_near_what_focus_needs() -> None:
    """Median over drawn systems, as the docs measure it at five and six nodes."""
    predicted, measured = [], []
    for seed in range(12):
        model, actions = small(seed)
        (forecast,) = forecasts(model, actions, SPACE, epsilon=0.15, deltas=[0.05], rule="class")
        predicted.append(forecast.rounds)
        measured.append(rounds_of_focus(model, actions, seed))
    assert np.median(predicted) == pytest.approx(np.median(measured), rel=0.35)


def test_more_certainty_takes_more_rounds_than_the_bounds_say() -> None:
    model, actions = small(1)
    found = forecasts(model, actions, SPACE, epsilon=0.15, deltas=[0.01, 0.1, 0.05], rule="class")
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
    costs: dict[cf.Action | str, float] = {"observe": 2.0}
    actions = action_set(model.names, costs=costs | dict.fromkeys(model.names, 2.0))
    (forecast,) = forecasts(model, actions, SPACE, epsilon=0.15, deltas=[0.05], rule="class")
    assert forecast.cost == pytest.approx(2 * forecast.rounds)


def test_what_can_never_be_certified_takes_for_ever() -> None:
    model = cf.LinearSEM([[0.0, 0.0], [0.5, 0.0]], 1.0)
    actions = cf.ActionSet({"X1": None, "X2": None})
    space = cf.ModelClass(0.3, intercept=False)
    found = forecasts(model, actions, space, epsilon=0.15, deltas=[0.1, 0.05], rule="class")
    assert all(math.isinf(f.rounds) for f in found)
    together = outlook(found[:1])
    assert together.n_hopeless == 1 and math.isinf(together.rounds)


def test_an_outlook_holds_its_systems() -> None:
    rows: list[Forecast] = []
    for seed in range(5):
        model, actions = small(seed)
        rows += forecasts(model, actions, SPACE, epsilon=0.15, deltas=[0.05], rule="class")
    together = outlook(rows)
    assert min(r.low for r in rows) <= together.low < together.rounds < together.high
    assert together.rounds == np.median([r.rounds for r in rows])
    assert sum(mean_share(rows).values()) == pytest.approx(1.0)
    with pytest.raises(cf.InvalidInputError, match="no system"):
        outlook([])
