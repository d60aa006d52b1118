"""One Monte-Carlo run: a drawn system, one method, errors along the way and stopping times."""

import importlib
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from causalfocus.baselines.posterior import DagPosterior
from causalfocus.experiments.specification import HOMES, Setting, Specification
from causalfocus.moments.moments import Moments
from causalfocus.oracles.estimate import graph_mle, joint_mle, probable_model
from causalfocus.system.action_set import ActionSet
from causalfocus.system.drawn import random_sem
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import PAPER_CLASS


@dataclass(frozen=True, kw_only=True)
class Certificates:
    """What a run on to its certificate gave; nothing for methods that have none.

    Attributes
    ----------
    stops : rounds to the certificate for each delta; None if it was not reached
    wrong : whether that claim was wrong; None likewise
    refuted : the round at which the assumptions, which hold, were refuted at the smallest delta
    complexity : C_epsilon of the system
    """

    stops: tuple[int | None, ...] = ()
    wrong: tuple[bool | None, ...] = ()
    refuted: int | None = None
    complexity: float | None = None


@dataclass(frozen=True, kw_only=True)
class Replicate:
    """What came of one run.

    Attributes
    ----------
    number : of the replicate; with setting and seed it fixes the system and its noise
    shd, weight_error : at the marks, of the method's own estimate
    mle, bayes, probable : the same of other estimates from the same samples: the joint MLE of the
        class, the most probable DAG of the Bayesian methods, and the most probable model of the
        class; so that designs can be compared without their estimators
    counts : of all actions, in the order of the action set, at the end of the budget
    stops, wrong, refuted, complexity : see `Certificates`
    """

    number: int
    shd: tuple[int, ...]
    weight_error: tuple[float, ...]
    mle: tuple[tuple[int, float], ...]
    bayes: tuple[tuple[int, float], ...]
    probable: tuple[tuple[int, float], ...]
    counts: tuple[int, ...]
    stops: tuple[int | None, ...]
    wrong: tuple[bool | None, ...]
    refuted: int | None
    complexity: float | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def system_of(setting: Setting, seed: int, number: int) -> LinearSEM:
    """The system of a replicate, the same for all methods."""
    key = [seed, setting.p, round(1000 * setting.density), number]
    return random_sem(setting.p, density=setting.density, seed=np.random.SeedSequence([*key, 0]))


def run_replicate(setting: Setting, specification: Specification, number: int) -> Replicate:
    """Play one run; a pure function of its arguments and of the code."""
    truth = system_of(setting, specification.seed, number)
    actions = ActionSet(dict.fromkeys(truth.names, (-specification.reach, specification.reach)))
    key = [specification.seed, setting.p, round(1000 * setting.density), number]
    rng = np.random.default_rng([*key, 1])
    method = importlib.import_module(HOMES[specification.method])
    learner = method.learner_for(specification, actions, number)
    watch = None
    if specification.is_certified:
        watch = method.watch_for(specification, actions, truth)
    curves: list[tuple[tuple[int, float], ...]] = []
    counts: tuple[int, ...] = ()
    marks = set(specification.marks)
    for n in range(1, specification.most_rounds + 1):
        action = learner.ask()
        learner.tell(action, truth.sample(action, 1, rng)[0])
        if watch is not None:
            watch.see(learner)
        if n in marks:
            models = (learner.estimate, *_other_estimates(learner.moments))
            curves.append(tuple(_errors(model, truth) for model in models))
        if n == specification.budget:
            counts = tuple(learner.counts.values())
        if n >= specification.budget and (watch is None or watch.is_done):
            break
    own, mle, bayes, probable = zip(*curves, strict=True)
    certificates = Certificates() if watch is None else watch.summary()
    return Replicate(
        number=number,
        shd=tuple(shd for shd, _ in own),
        weight_error=tuple(error for _, error in own),
        mle=mle,
        bayes=bayes,
        probable=probable,
        counts=counts,
        **asdict(certificates),
    )


def _other_estimates(moments: Moments) -> tuple[LinearSEM, LinearSEM, LinearSEM]:
    """From the same samples: `mle`, `bayes` and `probable` of a `Replicate`."""
    likeliest = DagPosterior(moments, intercept=False).likeliest
    return (
        joint_mle(moments, PAPER_CLASS),
        graph_mle(moments, likeliest, PAPER_CLASS),
        probable_model(moments, PAPER_CLASS),
    )


def _errors(model: LinearSEM, truth: LinearSEM) -> tuple[int, float]:
    """Structural Hamming distance and largest error of a weight."""
    return model.shd(truth), float(np.abs(model.weights - truth.weights).max())
