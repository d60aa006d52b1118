"""What knowing the costs saves: FOCUS with and without them on the same systems."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Final

import numpy as np

from causalfocus.benchmark.problems import DENSITY, EPSILON
from causalfocus.learner.focus import Focus
from causalfocus.learner.run import run
from causalfocus.system.action_set import ActionSet
from causalfocus.system.drawn import random_sem
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import PAPER_CLASS

DEAREST: Final = 10.0
"""Setting a node costs between 1 and this, log-uniform; observing costs 1."""


@dataclass(frozen=True)
class CostRun:
    """Cost at the stop, delta = 0.05, of FOCUS that knows the costs and of FOCUS that does not."""

    aware: float
    blind: float


@dataclass(frozen=True, kw_only=True)
class CostSummary:
    p: int
    n_systems: int
    mean_aware: float
    mean_blind: float
    mean_ratio: float
    standard_error: float


def cost_runs(p: int, seeds: range, workers: int) -> Iterator[CostRun]:
    """One row per system as it is finished."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_both, [(p, seed) for seed in seeds])


def cost_summary(p: int, runs: Sequence[CostRun]) -> CostSummary:
    ratios = np.array([run.aware / run.blind for run in runs])
    return CostSummary(
        p=p,
        n_systems=len(runs),
        mean_aware=float(np.mean([run.aware for run in runs])),
        mean_blind=float(np.mean([run.blind for run in runs])),
        mean_ratio=float(ratios.mean()),
        standard_error=float(ratios.std(ddof=1) / np.sqrt(len(runs))) if len(runs) > 1 else 0.0,
    )


def _both(task: tuple[int, int]) -> CostRun:
    p, seed = task
    truth = random_sem(p, density=DENSITY, seed=np.random.SeedSequence([p, seed, 11]))
    prices = DEAREST ** np.random.default_rng([p, seed, 12]).random(p)
    ranges = dict.fromkeys(truth.names, (-2.0, 2.0))
    priced = ActionSet(ranges, costs=dict(zip(truth.names, prices.tolist(), strict=True)))
    aware = _run_to_stop(truth, priced, seed).cost
    blind = _run_to_stop(truth, ActionSet(ranges), seed)
    price_of = dict(zip(priced, priced.costs, strict=True))
    return CostRun(aware, sum(n * price_of[action] for action, n in blind.counts.items()))


def _run_to_stop(truth: LinearSEM, actions: ActionSet, seed: int) -> Focus:
    learner = Focus(actions, PAPER_CLASS, epsilon=EPSILON, delta=0.05, rule="class")
    rng = np.random.default_rng([seed, 13])
    run(learner, lambda action: truth.sample(action, 1, rng)[0])
    return learner
