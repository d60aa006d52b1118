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

DELTA = 0.2
EPSILON = 0.07
MOST_ROUNDS = 20_000


def system_for(seed: int) -> tuple[cf.LinearSEM, cf.ModelClass, str]:
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
    design = str(rng.choice(["focus", "uniform"]))
    return cf.LinearSEM(weights, noise, base.intercepts), space, design


def outcome(seed: int) -> tuple[int, bool, bool, int]:
    """Seed, whether it stopped, whether the answer was wrong, and after how many rounds."""
    truth, space, design = system_for(seed)
    actions = cf.ActionSet(dict.fromkeys(truth.names, (-2, 2)))
    learner = cf.Focus(actions, space, epsilon=EPSILON, delta=DELTA, design=design)
    rng = np.random.default_rng([seed, 2])
    while not learner.has_stopped and learner.rounds < MOST_ROUNDS:
        action = learner.ask()
        learner.tell(action, truth.sample(action, 1, rng)[0])
    model = learner.result().model
    wrong = model.shd(truth) > 0 or np.abs(model.weights - truth.weights).max() >= EPSILON
    return seed, learner.has_stopped, learner.has_stopped and bool(wrong), learner.rounds


def check(seeds: range, workers: int) -> str:
    if workers == 1:
        rows = [outcome(seed) for seed in seeds]
    else:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            rows = list(pool.map(outcome, seeds, chunksize=10))
    stopped = [row for row in rows if row[1]]
    wrong = [row[0] for row in stopped if row[2]]
    limit = float(stats.beta.ppf(0.95, len(wrong) + 1, max(len(stopped) - len(wrong), 1)))
    rounds = np.median([row[3] for row in stopped])
    report = (
        f"{len(rows)} runs, {len(stopped)} stopped, {len(wrong)} wrong (seeds {wrong}); 95 percent "
        f"upper limit on the share of wrong stops {limit:.4f}; median rounds {rounds:g}"
    )
    assert len(stopped) == len(rows), report
    assert limit < DELTA, report
    return report


def test_wrong_stops_in_a_few_runs() -> None:
    check(range(20), workers=1)


@pytest.mark.slow
def test_wrong_stops_in_many_runs(capsys: pytest.CaptureFixture[str]) -> None:
    report = check(range(1000, 1000 + int(os.environ.get("RUNS", "2000"))), workers=2)
    with capsys.disabled():
        print("\n" + report)  # noqa: T201
