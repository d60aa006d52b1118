"""How often a certified answer is wrong, over many runs: at most delta, with the exact limit.

The short version runs with the other tests; `make validity` runs two thousand.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from causalfocus.learner.round import Design
from worlds import action_set, finish

DELTA = 0.2
EPSILON = 0.07
COARSE = 0.45
MOST_ROUNDS = 20_000


def system_for(seed: int) -> tuple[cf.LinearSEM, cf.ModelClass, Design]:
    """Two to four nodes, sparse to complete; weights and noise often at the class's edges."""
    rng = np.random.default_rng([seed, 1])
    intercept = bool(rng.integers(2))
    space = cf.ModelClass(0.15, 1.5, (0.8, 1.2), intercept=intercept)
    p = int(rng.integers(2, 5))
    base = cf.random_sem(
        p,
        density=float(rng.choice([0.2, 0.5, 1.0])),
        seed=seed,
        intercept_range=(-2.0, 2.0) if intercept else (0.0, 0.0),
    )
    sizes = rng.choice([0.15, 0.151, 0.2, 1.5, 0.0], size=(p, p), p=[0.35, 0.1, 0.15, 0.1, 0.3])
    sizes = np.where(sizes == 0.0, np.abs(base.weights), sizes)
    weights = np.where(base.weights != 0, np.sign(base.weights) * sizes, 0.0)
    noise = np.where(rng.random(p) < 0.4, rng.choice([0.8, 1.2], size=p), base.noise_variances)
    design: Design = "focus" if rng.choice(["focus", "uniform"]) == "focus" else "uniform"
    return cf.LinearSEM(weights, noise, base.intercepts), space, design


def any_system_for(seed: int) -> tuple[cf.LinearSEM, cf.ModelClass, Design]:
    """No class: weights from 0.01 to 3, many near epsilon and near min_effect, noise variances from
    0.05 to 20. The resolution is coarse, so that the noisiest of them end in time.
    """
    rng = np.random.default_rng([seed, 3])
    intercept = bool(rng.integers(2))
    p = int(rng.integers(2, 5))
    space = cf.ModelClass(float(rng.choice([0.5, 0.7])), intercept=intercept)
    epsilon = COARSE * space.least_effect
    shape = cf.random_sem(p, density=float(rng.choice([0.3, 0.6, 1.0])), seed=seed).weights != 0
    kinds = rng.choice(4, size=(p, p), p=[0.4, 0.2, 0.3, 0.1])
    sizes = np.exp(rng.uniform(np.log(0.01), np.log(3.0), (p, p)))
    sizes = np.where(kinds == 1, epsilon * rng.uniform(0.9, 1.1, (p, p)), sizes)
    sizes = np.where(kinds == 2, space.least_effect * rng.uniform(0.9, 1.1, (p, p)), sizes)
    sizes = np.where(kinds == 3, space.least_effect, sizes)
    weights = np.where(shape, rng.choice([-1.0, 1.0], (p, p)) * sizes, 0.0)
    noise = np.exp(rng.uniform(np.log(0.05), np.log(20.0), p))
    constants = rng.uniform(-3.0, 3.0, p) if intercept else np.zeros(p)
    design: Design = "focus" if rng.choice(["focus", "uniform"]) == "focus" else "uniform"
    return cf.LinearSEM(weights, noise, constants), space, design


Task = tuple[str, int | None, int]
"""A rule, how many variables may be set at once, and a seed."""


def outcome(task: Task) -> tuple[int, bool, bool, int]:
    """Seed, whether it stopped, whether wrongly (false claim or false alarm), and its rounds."""
    rule, at_once, seed = task
    truth, space, design = (system_for if rule == "class" else any_system_for)(seed)
    epsilon = EPSILON if rule == "class" else COARSE * space.least_effect
    learner = cf.Focus(
        action_set(truth.names, at_once=at_once),
        space,
        epsilon=epsilon,
        delta=DELTA,
        rule=rule,
        design=design,
        seed=seed,
    )
    rng = np.random.default_rng([seed, 2])
    finish(learner, lambda action: truth.sample(action, 1, rng)[0], MOST_ROUNDS)
    result = learner.result()
    broken = result.certified and not learner.guarantee.holds(result.model, truth)
    return seed, learner.has_stopped, broken or learner.is_refuted, learner.rounds


def check(rule: str, at_once: int | None, seeds: range, workers: int) -> str:
    tasks = [(rule, at_once, seed) for seed in seeds]
    if workers == 1:
        rows = [outcome(task) for task in tasks]
    else:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            rows = list(pool.map(outcome, tasks, chunksize=10))
    stopped = [row for row in rows if row[1]]
    wrong = [row[0] for row in stopped if row[2]]
    limit = float(stats.beta.ppf(0.95, len(wrong) + 1, max(len(rows) - len(wrong), 1)))
    rounds = np.median([row[3] for row in stopped])
    report = (
        f"{rule}, at once {at_once or 'any'}: {len(rows)} runs, {len(stopped)} stopped, "
        f"{len(wrong)} wrong (seeds {wrong}); 95 percent upper limit on the share of wrong stops "
        f"{limit:.4f}; median rounds {rounds:g}"
    )
    assert len(stopped) >= 0.98 * len(rows), report
    assert limit < DELTA, report
    return report


@pytest.mark.parametrize("rule", ["class", "gaussian"])
@pytest.mark.parametrize("at_once", [1, None])
def test_wrong_stops_in_a_few_runs(rule: str, at_once: int | None) -> None:
    check(rule, at_once, range(20), workers=1)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["class", "gaussian"])
@pytest.mark.parametrize("at_once", [1, 2, None])
def test_wrong_stops_in_many_runs(
    rule: str, at_once: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = int(os.environ.get("RUNS", "2000"))
    report = check(rule, at_once, range(1000, 1000 + runs), workers=2)
    with capsys.disabled():
        print("\n" + report)  # noqa: T201
