"""What it is worth to set several variables at once: information per round, and rounds."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Final

import numpy as np

from causalfocus.benchmark.certificates import UNBOUNDED
from causalfocus.benchmark.problems import DENSITY, EPSILON
from causalfocus.learner.focus import Focus
from causalfocus.learner.run import run
from causalfocus.planning.complexity import complexity
from causalfocus.system.action_set import ActionSet
from causalfocus.system.drawn import random_sem
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import PAPER_CLASS

AT_ONCE: Final = (1, 2, None)
"""How many variables may be set in one round."""

MOST_ROUNDS: Final = 100_000


@dataclass(frozen=True, kw_only=True)
class SeveralRun:
    """One system, with one variable, two and any number set at once.

    Attributes
    ----------
    complexities : C_epsilon of the paper's claim
    class_rounds, gaussian_rounds : of FOCUS at delta = 0.05
    n_wrong : certified claims that are not right
    """

    complexities: tuple[float, ...]
    class_rounds: tuple[int, ...]
    gaussian_rounds: tuple[int, ...]
    n_wrong: int


@dataclass(frozen=True, kw_only=True)
class SeveralSummary:
    """Over many systems; gains are over one variable at a time, on the same system."""

    p: int
    n_systems: int
    mean_gain: tuple[float, ...]
    median_class: tuple[float, ...]
    median_gaussian: tuple[float, ...]
    median_class_ratio: tuple[float, ...]
    median_gaussian_ratio: tuple[float, ...]
    n_wrong: int


def several_runs(p: int, seeds: range, workers: int) -> Iterator[SeveralRun]:
    """One row per system as it is finished."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_compare, [(p, seed) for seed in seeds])


def several_summary(p: int, runs: Sequence[SeveralRun]) -> SeveralSummary:
    """Means and medians."""
    values = np.array([one.complexities for one in runs])
    by_class = np.array([one.class_rounds for one in runs], dtype=float)
    by_gaussian = np.array([one.gaussian_rounds for one in runs], dtype=float)
    return SeveralSummary(
        p=p,
        n_systems=len(runs),
        mean_gain=tuple((values / values[:, :1]).mean(axis=0).tolist()),
        median_class=tuple(np.median(by_class, axis=0).tolist()),
        median_gaussian=tuple(np.median(by_gaussian, axis=0).tolist()),
        median_class_ratio=tuple(np.median(by_class[:, :1] / by_class, axis=0).tolist()),
        median_gaussian_ratio=tuple(np.median(by_gaussian[:, :1] / by_gaussian, axis=0).tolist()),
        n_wrong=sum(one.n_wrong for one in runs),
    )


def _compare(task: tuple[int, int]) -> SeveralRun:
    p, seed = task
    truth = random_sem(p, density=DENSITY, seed=np.random.SeedSequence([p, seed, 19]))
    sets = [ActionSet(dict.fromkeys(truth.names, (-2.0, 2.0)), at_once=n) for n in AT_ONCE]
    values = [
        complexity(truth, actions, PAPER_CLASS, epsilon=EPSILON, rule="class").value
        for actions in sets
    ]
    by_class = [_run_to_stop(truth, actions, "class", seed) for actions in sets]
    by_gaussian = [_run_to_stop(truth, actions, "gaussian", seed) for actions in sets]
    return SeveralRun(
        complexities=tuple(values),
        class_rounds=tuple(learner.rounds for learner in by_class),
        gaussian_rounds=tuple(learner.rounds for learner in by_gaussian),
        n_wrong=sum(
            not learner.guarantee.holds(learner.result().model, truth)
            for learner in (*by_class, *by_gaussian)
        ),
    )


def _run_to_stop(truth: LinearSEM, actions: ActionSet, rule: str, seed: int) -> Focus:
    space = PAPER_CLASS if rule == "class" else UNBOUNDED
    learner = Focus(actions, space, epsilon=EPSILON, delta=0.05, rule=rule, seed=seed)
    rng = np.random.default_rng([seed, 23])
    run(learner, lambda action: truth.sample(action, 1, rng)[0], max_rounds=MOST_ROUNDS)
    return learner
