"""The baselines: what a round costs, what was traded for speed, and how DCDI does by itself."""

import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, Final

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.baselines import ABCD, AITDCDI, CBED, GIT, Baseline, Random, Schedule, fit_dcdi
from causalfocus.baselines.dcdi import DcdiFit
from causalfocus.benchmark.problems import DENSITY, EPSILON
from causalfocus.benchmark.rounds import play
from causalfocus.learner.focus import Focus
from causalfocus.learner.recording import Recording
from causalfocus.moments.moments import Moments
from causalfocus.oracles import joint_mle
from causalfocus.system.action_set import ActionSet
from causalfocus.system.drawn import random_sem
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import PAPER_CLASS

MARKS: Final = (50, 100, 200, 400, 700, 1000)
"""Rounds at which a curve is looked at."""

P: Final = 6

VARIANTS: Final[dict[str, tuple[type[Baseline[Any]], dict[str, Any]]]] = {
    "CBED": (CBED, {}),
    "CBED, 100 models and outcomes": (CBED, {"n_models": 100, "n_outcomes": 100}),
    "AIT-DCDI": (AITDCDI, {}),
    "AIT-DCDI, refit every 5": (AITDCDI, {"refit_every": 5}),
    "AIT-DCDI, always the best score": (AITDCDI, {"softness": 0.0}),
    "GIT-DCDI": (GIT, {}),
    "ABCD": (ABCD, {}),
    "RANDOM": (Random, {}),
}
TRADES: Final = {
    "CBED": "CBED, 100 models and outcomes",
    "AIT-DCDI": "AIT-DCDI, refit every 5",
}
"""What is compared with what it stands for."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Mean errors over systems at the marks, and what a round took.

    Attributes
    ----------
    shd, shd_error : structure error and the standard error of its mean
    weight, weight_error : the same of the largest weight error
    difference, difference_error : of structure errors from the variant this one stands for, paired
        by system; nothing if there is none
    seconds : per round
    """

    variant: str
    n_systems: int
    shd: tuple[float, ...]
    shd_error: tuple[float, ...]
    weight: tuple[float, ...]
    weight_error: tuple[float, ...]
    difference: tuple[float, ...]
    difference_error: tuple[float, ...]
    seconds: float


def curves(n_systems: int, workers: int) -> Iterator[Curve]:
    """One row per variant, on the same systems, as soon as it is finished."""
    found: dict[str, Floats] = {}
    order = sorted(VARIANTS, key=lambda variant: variant not in TRADES.values())
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for variant in order:
            runs = list(pool.map(_errors, [(variant, seed) for seed in range(n_systems)]))
            found[variant] = np.array([errors for errors, _ in runs])
            seconds = float(np.mean([each for _, each in runs]))
            yield _curve(variant, found, seconds)


def _curve(variant: str, found: dict[str, Floats], seconds: float) -> Curve:
    errors = found[variant]
    difference: tuple[tuple[float, ...], tuple[float, ...]] = (), ()
    if variant in TRADES:
        difference = _mean_and_error(errors[:, :, 0] - found[TRADES[variant]][:, :, 0])
    shd, shd_error = _mean_and_error(errors[:, :, 0])
    weight, weight_error = _mean_and_error(errors[:, :, 1])
    return Curve(
        variant=variant,
        n_systems=len(errors),
        shd=shd,
        shd_error=shd_error,
        weight=weight,
        weight_error=weight_error,
        difference=difference[0],
        difference_error=difference[1],
        seconds=seconds,
    )


def _mean_and_error(values: Floats) -> tuple[tuple[float, ...], tuple[float, ...]]:
    n = len(values)
    errors = values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(values.shape[1])
    return tuple(values.mean(axis=0).tolist()), tuple(errors.tolist())


def _errors(task: tuple[str, int]) -> tuple[list[tuple[float, float]], float]:
    """Structure and weight errors at the marks, and seconds per round."""
    variant, seed = task
    kind, options = VARIANTS[variant]
    truth, actions = _system(P, seed)
    learner = kind(actions, PAPER_CLASS, seed=seed, **options)
    rng = np.random.default_rng([P, seed, 22])
    found, seconds = [], 0.0
    for mark in MARKS:
        seconds += play(truth, learner, mark - learner.rounds, rng)
        model = learner.estimate
        found.append((float(model.shd(truth)), float(np.abs(model.weights - truth.weights).max())))
    return found, seconds / MARKS[-1]


def _system(p: int, seed: int) -> tuple[LinearSEM, ActionSet]:
    truth = random_sem(p, density=DENSITY, seed=np.random.SeedSequence([p, seed, 21]))
    return truth, ActionSet(dict.fromkeys(truth.names, (-2.0, 2.0)))


@dataclass(frozen=True)
class LearnerTimes:
    """Seconds of a round, ask and tell, and of an estimate after it; over so many rounds."""

    learner: str
    p: int
    n_rounds: int
    round: float
    estimate: float


BLOCK: Final = 25
"""Rounds that a learner plays before it is the next one's turn; AIT-DCDI refits once in them."""


def learner_times(n_blocks: int) -> list[LearnerTimes]:
    """One system, all learners in turn, so that they share the machine's moods."""
    truth, actions = _system(P, 0)
    learners: dict[str, Recording[Any]] = {
        variant: kind(actions, PAPER_CLASS, seed=0, **options)
        for variant, (kind, options) in VARIANTS.items()
    }
    for rule in ("class", "gaussian"):
        learners[f"FOCUS, {rule} rule"] = Focus(actions, PAPER_CLASS, epsilon=EPSILON, rule=rule)
    rngs = {name: np.random.default_rng([P, 23]) for name in learners}
    rounds, estimates = dict.fromkeys(learners, 0.0), dict.fromkeys(learners, 0.0)
    for block in range(n_blocks + 1):
        for name, learner in learners.items():
            seconds = play(truth, learner, BLOCK, rngs[name])
            start = time.perf_counter()
            _ = learner.estimate  # type: ignore[attr-defined]
            if block > 0:  # the first warms up, and compiles
                rounds[name] += seconds
                estimates[name] += time.perf_counter() - start
    n = n_blocks * BLOCK
    return [
        LearnerTimes(name, P, n, rounds[name] / n, estimates[name] / n_blocks) for name in learners
    ]


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """Systems whose graph DCDI finds, beside the exact MLE.

    Attributes
    ----------
    n_samples : under actions drawn uniformly
    dcdi, mle : systems with the right graph
    dcdi_shd, mle_shd : mean structure errors
    """

    p: int
    n_systems: int
    n_samples: int
    dcdi: int
    mle: int
    dcdi_shd: float
    mle_shd: float


def recovery(p: int, n_systems: int, n_samples: int, workers: int) -> Recovery:
    """DCDI and the exact joint MLE on the same data."""
    tasks = [(p, seed, n_samples) for seed in range(n_systems)]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        errors = np.array(list(pool.map(_recover, tasks)))
    right = (errors == 0).sum(axis=0)
    shd = errors.mean(axis=0)
    return Recovery(
        p=p,
        n_systems=n_systems,
        n_samples=n_samples,
        dcdi=int(right[0]),
        mle=int(right[1]),
        dcdi_shd=float(shd[0]),
        mle_shd=float(shd[1]),
    )


def _recover(task: tuple[int, int, int]) -> tuple[int, int]:
    truth, moments = _uniform_data(*task)
    fit = fit_dcdi(moments, intercept=False)
    return _shd(fit, truth), joint_mle(moments, PAPER_CLASS).shd(truth)


def _uniform_data(p: int, seed: int, n: int) -> tuple[LinearSEM, Moments]:
    truth, actions = _system(p, seed)
    rng = np.random.default_rng([p, seed, 24])
    taken = [actions[int(i)] for i in rng.integers(len(actions), size=n)]
    moments = Moments(truth.names)
    moments.add_many(taken, np.vstack([truth.sample(action, 1, rng) for action in taken]))
    return truth, moments


def _shd(fit: DcdiFit, truth: LinearSEM) -> int:
    has_edge = (fit.parents[:, None] >> np.arange(truth.p)) & 1 == 1
    differs = has_edge != (truth.weights != 0)
    return int(np.triu(differs | differs.T).sum())


SCHEDULES: Final = {
    "DCDI's own": Schedule(rate=1e-3, first_mu=1e-8, window=100),
    "faster steps": Schedule(rate=1e-2, first_mu=1e-8, window=100),
    "default": Schedule(),
    "shorter": Schedule(rate=1e-2, window=25),
    "rushed": Schedule(rate=2e-2, first_mu=1e-2, factor=4.0, window=10),
}


@dataclass(frozen=True, kw_only=True)
class ScheduleRow:
    """Mean structure error of DCDI, started cold, on systems with so many uniform samples."""

    schedule: str
    settings: tuple[float, float, float, int]
    n_systems: int
    n_samples: int
    shd: float
    shd_error: float
    n_iterations: float
    seconds: float


def schedules(n_systems: int, workers: int) -> Iterator[ScheduleRow]:
    """One row per schedule and number of samples."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for name, schedule in SCHEDULES.items():
            for n in (100, 400, 1600):
                tasks = [(name, seed, n) for seed in range(n_systems)]
                runs = np.array(list(pool.map(_follow_schedule, tasks)))
                shd, n_iterations, seconds = runs.mean(axis=0).tolist()
                error = float(runs[:, 0].std(ddof=1) / np.sqrt(n_systems))
                settings = schedule.rate, schedule.first_mu, schedule.factor, schedule.window
                yield ScheduleRow(
                    schedule=name,
                    settings=settings,
                    n_systems=n_systems,
                    n_samples=n,
                    shd=shd,
                    shd_error=error,
                    n_iterations=n_iterations,
                    seconds=seconds,
                )


def _follow_schedule(task: tuple[str, int, int]) -> tuple[int, int, float]:
    name, seed, n = task
    truth, moments = _uniform_data(P, seed, n)
    start = time.perf_counter()
    fit = fit_dcdi(moments, intercept=False, schedule=SCHEDULES[name])
    return _shd(fit, truth), fit.n_iterations, time.perf_counter() - start
