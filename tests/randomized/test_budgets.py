"""A number of rounds, and what it buys."""

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.allocation.coin_game import CoinPlan, plan_rounds
from causalfocus.allocation.coin_task import CoinTask
from causalfocus.guarantees.budget import FAR, SIGN, TAKES, affordable, for_verdicts
from worlds import action_set, rig

TRUTH = cf.LinearSEM([[0, 0, 0], [0.9, 0, 0], [0, 1.2, 0]], 1.0)


def task_of(p: int = 5) -> CoinTask:
    weights = np.zeros((p, p))
    weights[np.arange(1, p), np.arange(p - 1)] = 0.8
    return CoinTask(
        weights=weights,
        noise=np.ones(p),
        half_ranges=np.full(p, 2.0),
        radii=np.where(weights != 0.0, 0.05, np.linspace(0.05, 0.3, p * p).reshape(p, p)),
        nats=7.0,
        at_once=p,
    )


def plan(task: CoinTask) -> CoinPlan:
    return plan_rounds(task, np.zeros((task.p, task.p)), 1.0)


def test_what_fits_is_planned_whole() -> None:
    task = task_of()
    assert affordable(task, 2.0 * plan(task).rounds, plan) is task


def test_accuracy_is_given_up_first() -> None:
    task = task_of()
    coarse = for_verdicts(task)
    assert (coarse.radii >= task.radii).all()
    assert np.allclose(coarse.radii[task.weights != 0.0], SIGN * 0.8)
    left = TAKES * plan(coarse).rounds
    assert left < TAKES * plan(task).rounds
    assert np.array_equal(affordable(task, left, plan).radii, coarse.radii)


def test_then_the_effects_that_take_longest() -> None:
    task = task_of()
    coarse = for_verdicts(task)
    left = TAKES * plan(coarse).rounds / FAR / 3.0
    found = affordable(task, left, plan)
    kept = np.isfinite(found.radii) & ~np.eye(5, dtype=np.bool_)
    assert 1 <= kept.sum() < 20
    assert TAKES * plan(found).rounds <= FAR * left or kept.sum() == 1
    to_go = plan(coarse).to_go
    assert to_go[kept].max() <= to_go[~kept & ~np.eye(5, dtype=np.bool_)].min()
    assert np.isfinite(affordable(task, 1e-3, plan).radii).sum() >= 1, "one at least"


def run_with(budget: int | None, seed: int, n: int) -> cf.Focus:
    learner = cf.Focus(action_set(TRUTH.names), cf.ModelClass(0.2), seed=seed, budget=budget)
    system = rig(seed, TRUTH)
    for _ in range(n):
        if learner.has_stopped:
            break
        action = learner.ask()
        learner.tell(action, system(action))
    return learner


def test_after_the_budget_nothing_is_asked_until_somebody_goes_on() -> None:
    learner = run_with(120, 1, 120)
    with pytest.raises(cf.AlreadyStoppedError, match=r"budget of 120 rounds is spent"):
        learner.ask()
    assert not learner.has_stopped and not learner.result().certified
    assert learner.replay().budget == 120
    learner.continue_after_stop()
    assert learner.ask() in learner.actions
    told = cf.Focus(action_set(TRUTH.names), cf.ModelClass(0.2), seed=1, budget=50)
    assert not cf.run(told, rig(1, TRUTH)) and told.rounds == 50


def test_a_budget_buys_verdicts() -> None:
    """Of more effects than the same rounds do without one, over some seeds."""
    with_one, without = (
        sum(
            one.verdict != "open"
            for seed in range(6)
            for one in run_with(budget, seed, 300).effects()
        )
        for budget in (300, None)
    )
    assert with_one >= without


@pytest.mark.parametrize("budget", [0, -3, 2.5, True, "many"])
def test_bad_budgets_are_named(budget: object) -> None:
    with pytest.raises(cf.InvalidInputError, match="whole number of rounds"):
        cf.Focus(action_set(TRUTH.names), cf.ModelClass(0.2), budget=budget)  # type: ignore[arg-type]
