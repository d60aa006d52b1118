"""One Monte-Carlo run: a drawn system, one method, errors along the way and stopping times."""

import importlib
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from causalfocus.baselines.baseline import Baseline
from causalfocus.baselines.certified import Certified
from causalfocus.baselines.posterior import DagPosterior
from causalfocus.experiments.specification import CLASSES, HOMES, Setting, Specification
from causalfocus.experiments.stops import Stops
from causalfocus.guarantees import guarantee_of
from causalfocus.learner.focus import Focus
from causalfocus.learner.recording import Recording
from causalfocus.oracles import joint_mle
from causalfocus.oracles.estimate import graph_mle
from causalfocus.planning.complexity import complexity
from causalfocus.system.actions import ActionSet
from causalfocus.system.drawn import random_sem
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import PAPER_CLASS


@dataclass(frozen=True, kw_only=True)
class Replicate:
    """What came of one run.

    Attributes
    ----------
    number : of the replicate; with setting and seed it fixes the system and its noise
    shd, weight_error : at the marks, of the method's own estimate
    mle, bayes : the same of other estimates from the same samples: the joint MLE of the class, and
        the most probable DAG; so that designs can be compared without their estimators
    counts : of all actions, in the order of the action set, at the end of the budget
    stops : rounds to the certificate for each delta; None if it was not reached
    wrong : whether that claim was wrong; None likewise
    refuted : the round at which the assumptions, which hold, were refuted at the smallest delta
    complexity : C_epsilon of the system, for methods that are certified
    """

    number: int
    shd: tuple[int, ...]
    weight_error: tuple[float, ...]
    mle: tuple[tuple[int, float], ...]
    bayes: tuple[tuple[int, float], ...]
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
    learner = _learner(specification, actions, number)
    stops = Stops(specification.deltas if specification.is_certified else ())
    own, mle, bayes, refuted = [], [], [], None
    counts: tuple[int, ...] = ()
    marks = set(specification.marks)
    for n in range(1, specification.most_rounds + 1):
        action = learner.ask()
        learner.tell(action, truth.sample(action, 1, rng)[0])
        if isinstance(learner, Focus):
            stops.see(learner.decision, learner.estimate)
            refuted = refuted or (n if learner.is_refuted else None)
            if learner.has_stopped:
                learner.continue_after_stop()
        if n in marks:
            moments = learner.moments
            own.append(_errors(_estimate(learner), truth))
            mle.append(_errors(joint_mle(moments, PAPER_CLASS), truth))
            likeliest = DagPosterior(moments, intercept=False).likeliest
            bayes.append(_errors(graph_mle(moments, likeliest, PAPER_CLASS), truth))
        if n == specification.budget:
            counts = tuple(learner.counts.values())
        if n >= specification.budget and (stops.are_all or refuted):
            break
    missing = [None] * (len(stops.deltas) - len(stops.rounds))
    rule = guarantee_of("class", actions, PAPER_CLASS, epsilon=specification.epsilon)
    wrong = [not rule.holds(model, truth) for model in stops.models]
    is_certified = specification.is_certified
    return Replicate(
        number=number,
        shd=tuple(shd for shd, _ in own),
        weight_error=tuple(error for _, error in own),
        mle=tuple(mle),
        bayes=tuple(bayes),
        counts=counts,
        stops=(*stops.rounds, *missing),
        wrong=(*wrong, *missing),
        refuted=refuted,
        complexity=_complexity(truth, actions, specification) if is_certified else None,
    )


def _learner(specification: Specification, actions: ActionSet, number: int) -> Recording[Any]:
    """The method, under the class rule if it has a certificate."""
    epsilon, delta = specification.epsilon, min(specification.deltas)
    if specification.method == "focus":
        return Focus(actions, PAPER_CLASS, epsilon=epsilon, delta=delta, rule="class")
    home = importlib.import_module(HOMES[specification.method])
    kind: type[Baseline[Any]] = getattr(home, CLASSES[specification.method])
    learner = kind(actions, PAPER_CLASS, seed=number)
    if specification.is_certified:
        return Certified(learner, epsilon=epsilon, delta=delta, rule="class")
    return learner


def _estimate(learner: Recording[Any]) -> LinearSEM:
    """The method's own estimate."""
    if isinstance(learner, Focus | Baseline):
        return learner.estimate
    raise TypeError(f"{type(learner).__name__} has no estimate")


def _errors(model: LinearSEM, truth: LinearSEM) -> tuple[int, float]:
    """Structural Hamming distance and largest error of a weight."""
    return model.shd(truth), float(np.abs(model.weights - truth.weights).max())


def _complexity(truth: LinearSEM, actions: ActionSet, specification: Specification) -> float:
    return complexity(
        truth, actions, PAPER_CLASS, epsilon=specification.epsilon, rule="class"
    ).value
