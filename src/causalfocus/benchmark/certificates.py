"""How many rounds a certificate takes: FOCUS and uniform sampling on the paper's systems."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Final

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.experiments.stops import Stops
from causalfocus.learner.focus import Focus
from causalfocus.learner.round import Design
from causalfocus.planning.forecast import forecasts
from causalfocus.system.action_set import ActionSet
from causalfocus.system.drawn import random_sem
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import PAPER_CLASS, ModelClass

DELTAS: Final = (0.1, 0.05, 0.02, 0.01, 0.005)
EPSILON: Final = 0.07
DENSITY: Final = 0.3
MOST_ROUNDS: Final = 100_000
UNBOUNDED: Final = ModelClass(PAPER_CLASS.least_effect, intercept=False)


@dataclass(frozen=True, kw_only=True)
class CertifiedRun:
    """One system: rounds to the certificate for every delta, how many claims were wrong, and what
    was predicted for FOCUS.
    """

    seed: int
    complexity: float
    focus: tuple[int, ...]
    uniform: tuple[int, ...]
    n_wrong: int
    predicted: tuple[float, ...]
    gaussian: "GaussianRun"


@dataclass(frozen=True)
class GaussianRun:
    """The same system under the gaussian rule, at delta = 0.05."""

    rounds: int
    is_wrong: bool
    predicted: float
    complexity: float


@dataclass(frozen=True, kw_only=True)
class CertificateSummary:
    """Over many systems, at delta = 0.05 unless said otherwise."""

    p: int
    n_systems: int
    n_stopped: int
    n_wrong: int
    median_rounds: float
    median_ratio: float
    median_uniform_over_focus: float
    mean_rounds_by_delta: tuple[float, ...]
    slope: float
    mean_inverse_complexity: float
    median_predicted: float
    measured_over_predicted: tuple[float, float, float]
    gaussian: "GaussianSummary"


@dataclass(frozen=True, kw_only=True)
class GaussianSummary:
    """The gaussian rule beside the class rule, FOCUS at delta = 0.05."""

    n_stopped: int
    n_wrong: int
    median_rounds: float
    over_class: float
    median_over_class: float
    median_inverse_complexity_ratio: float
    median_predicted: float
    measured_over_predicted: tuple[float, float, float]


def certified_runs(p: int, seeds: range, workers: int) -> Iterator[CertifiedRun]:
    """One row per system as it is finished; stopping times of all deltas come from one run."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_both_designs, [(p, seed) for seed in seeds])


def summary(p: int, runs: Sequence[CertifiedRun]) -> CertificateSummary:
    """Medians, and the line of mean rounds over log(1/delta)."""
    at = DELTAS.index(0.05)
    scale = math.log(1 / DELTAS[at])
    focus = np.array([run.focus for run in runs], dtype=float)
    uniform = np.array([run.uniform for run in runs], dtype=float)
    values = np.array([run.complexity for run in runs])
    predicted = np.array([run.predicted for run in runs])
    ratios = focus[:, at] / predicted[:, at]
    tenth, middle, ninetieth = np.quantile(ratios, [0.1, 0.5, 0.9])
    levels = np.log(1 / np.array(DELTAS))
    slope = float(np.polyfit(levels, focus.mean(axis=0), 1)[0])
    return CertificateSummary(
        p=p,
        n_systems=len(runs),
        n_stopped=int((focus[:, -1] < MOST_ROUNDS).sum()),
        n_wrong=sum(run.n_wrong for run in runs),
        median_rounds=float(np.median(focus[:, at])),
        median_ratio=float(np.median(focus[:, at] * values / scale)),
        median_uniform_over_focus=float(np.median(uniform[:, at] / focus[:, at])),
        mean_rounds_by_delta=tuple(focus.mean(axis=0).tolist()),
        slope=slope,
        mean_inverse_complexity=float((1 / values).mean()),
        median_predicted=float(np.median(predicted[:, at])),
        measured_over_predicted=(float(tenth), float(middle), float(ninetieth)),
        gaussian=_gaussian_summary(runs, focus[:, at]),
    )


def _gaussian_summary(runs: Sequence[CertifiedRun], class_rounds: Floats) -> GaussianSummary:
    found = [run.gaussian for run in runs]
    rounds = np.array([run.rounds for run in found], dtype=float)
    predicted = np.array([run.predicted for run in found])
    slower = [run.complexity / run.gaussian.complexity for run in runs]
    tenth, middle, ninetieth = np.quantile(rounds / predicted, [0.1, 0.5, 0.9])
    return GaussianSummary(
        n_stopped=int((rounds < MOST_ROUNDS).sum()),
        n_wrong=sum(run.is_wrong for run in found),
        median_rounds=float(np.median(rounds)),
        over_class=float(np.median(rounds) / np.median(class_rounds)),
        median_over_class=float(np.median(rounds / class_rounds)),
        median_inverse_complexity_ratio=float(np.median(slower)),
        median_predicted=float(np.median(predicted)),
        measured_over_predicted=(float(tenth), float(middle), float(ninetieth)),
    )


def _both_designs(task: tuple[int, int]) -> CertifiedRun:
    p, seed = task
    truth = random_sem(p, density=DENSITY, seed=np.random.SeedSequence([p, seed, 7]))
    actions = ActionSet(dict.fromkeys(truth.names, (-2.0, 2.0)))
    focus, wrong = _stopping_times(truth, actions, "focus", seed)
    uniform, also_wrong = _stopping_times(truth, actions, "uniform", seed)
    plan = forecasts(
        truth, actions, PAPER_CLASS, epsilon=EPSILON, deltas=DELTAS, rule="class", ends="game"
    )
    predicted = tuple(forecast.rounds for forecast in plan)
    value = plan[0].complexity.value
    gaussian = _gaussian_run(truth, actions, seed)
    return CertifiedRun(
        seed=seed,
        complexity=value,
        focus=focus,
        uniform=uniform,
        n_wrong=wrong + also_wrong,
        predicted=predicted,
        gaussian=gaussian,
    )


def _gaussian_run(truth: LinearSEM, actions: ActionSet, seed: int) -> GaussianRun:
    learner = Focus(actions, UNBOUNDED, epsilon=EPSILON, delta=0.05, rule="gaussian", ends="game")
    rng = np.random.default_rng([seed, 3])
    while not learner.has_stopped and learner.rounds < MOST_ROUNDS:
        action = learner.ask()
        learner.tell(action, truth.sample(action, 1, rng)[0])
    is_wrong = learner.has_stopped and not learner.guarantee.holds(learner.result().model, truth)
    (plan,) = forecasts(
        truth, actions, UNBOUNDED, epsilon=EPSILON, deltas=[0.05], rule="gaussian", ends="game"
    )
    return GaussianRun(learner.rounds, is_wrong, plan.rounds, plan.complexity.value)


def _stopping_times(
    truth: LinearSEM, actions: ActionSet, design: Design, seed: int
) -> tuple[tuple[int, ...], int]:
    """Rounds at which each delta is reached, and how many of these claims are wrong."""
    learner = Focus(
        actions,
        PAPER_CLASS,
        epsilon=EPSILON,
        delta=DELTAS[-1],
        rule="class",
        design=design,
        ends="game",
    )
    rng = np.random.default_rng([seed, 3])
    stops = Stops(DELTAS)
    while not stops.are_all and learner.rounds < MOST_ROUNDS:
        action = learner.ask()
        learner.tell(action, truth.sample(action, 1, rng)[0])
        stops.see(learner.decision, learner.estimate)
    wrong = sum(not learner.guarantee.holds(model, truth) for model in stops.models)
    missing = [MOST_ROUNDS] * (len(DELTAS) - len(stops.rounds))
    return (*stops.rounds, *missing), wrong
