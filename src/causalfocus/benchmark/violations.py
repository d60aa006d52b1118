"""What happens when the assumptions do not hold: refuted, certified right, certified wrong."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Final, Literal

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.guarantees import Alarm, Guarantee
from causalfocus.guarantees.class_ import ClassRule
from causalfocus.guarantees.gaussian import GaussianRule
from causalfocus.learner.focus import Focus
from causalfocus.moments.moments import Moments
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import Action
from causalfocus.system.drawn import random_sem
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import PAPER_CLASS, ModelClass

Violation = Literal[
    "none",
    "effect above max_effect",
    "effect below min_effect",
    "noise out of range",
    "intercept",
    "quadratic term",
    "variance under one action",
    "drift",
]

SIZES: Final[dict[Violation, tuple[float, ...]]] = {
    "none": (0.0,),
    "effect above max_effect": (0.05, 0.1, 0.2),
    "effect below min_effect": (0.3, 0.5, 0.7),
    "noise out of range": (0.15, 0.3, 0.6),
    "intercept": (0.1, 0.3, 0.6),
    "quadratic term": (0.05, 0.1, 0.2),
    "variance under one action": (1.5, 2.0, 4.0),
    "drift": (0.5, 1.0, 2.0),
}
"""Share above max_effect, of min_effect, above or below the noise range; the constant; the
coefficient of the square; the factor; noise standard deviations over the run."""

OF_EVERY_RULE: Final[tuple[Violation, ...]] = (
    "none",
    "intercept",
    "quadratic term",
    "variance under one action",
    "drift",
)

NODES, DENSITY, EPSILON, DELTA, REACH = 4, 0.5, 0.07, 0.05, 2.0
RUN: Final = {"class": 1500, "gaussian": 2500}
"""Rounds over which a drift reaches its size: about those of a run."""

MOST_ROUNDS: Final = 20_000

Outcome = Literal["refuted", "right", "wrong", "unstopped"]


@dataclass(frozen=True, kw_only=True)
class Violated:
    """Outcomes of many runs with one violation of one size, with the check and without."""

    rule: str
    violation: Violation
    size: float
    with_check: dict[Outcome, int]
    without_check: dict[Outcome, int]
    median_rounds: float


class BrokenSystem:
    """A drawn system that breaks one assumption in one equation, that of `effect`."""

    def __init__(self, violation: Violation, size: float, seed: int, run: int) -> None:
        rng = np.random.default_rng([NODES, seed, 11])
        model = random_sem(NODES, density=DENSITY, seed=int(rng.integers(2**31)))
        while model.n_edges == 0:
            model = random_sem(NODES, density=DENSITY, seed=int(rng.integers(2**31)))
        edges = np.argwhere(model.weights)
        self.effect, self.cause = edges[rng.integers(len(edges))]
        weights, noise = model.weights.copy(), model.noise_variances.copy()
        constants = np.zeros(NODES)
        sign = np.sign(weights[self.effect, self.cause])
        low, high = PAPER_CLASS.variance_limits
        if violation == "effect above max_effect":
            weights[self.effect, self.cause] = sign * PAPER_CLASS.effect_limit * (1 + size)
        elif violation == "effect below min_effect":
            weights[self.effect, self.cause] = sign * PAPER_CLASS.least_effect * size
        elif violation == "noise out of range":
            noise[self.effect] = high * (1 + size) if rng.integers(2) else low * (1 - size)
        elif violation == "intercept":
            constants[self.effect] = size
        self.model = LinearSEM(weights, noise, constants)
        self.violation, self.size, self.run = violation, size, run
        self._rng = rng
        self._round = 0

    def __call__(self, action: Action) -> Floats:
        self._round += 1
        names = self.model.names
        target = -1 if action.target is None else names.index(action.target)
        x = np.zeros(NODES)
        for j in self.model.order:
            if j == target:
                x[j] = action.value
                continue
            spread = math.sqrt(self.model.noise_variances[j])
            x[j] = self.model.weights[j] @ x + self.model.intercepts[j]
            if j == self.effect:
                spread = self._bend(x, spread, target, action.value or 0.0)
            x[j] += spread * self._rng.standard_normal()
        return x

    def _bend(self, x: Floats, spread: float, target: int, value: float) -> float:
        """Bend the equation of the effect; returns its noise standard deviation."""
        if self.violation == "quadratic term":
            x[self.effect] += self.size * x[self.cause] ** 2
        elif self.violation == "drift":
            x[self.effect] += self.size * spread * self._round / self.run
        elif self.violation == "variance under one action" and target == self.cause and value > 0:
            return spread * math.sqrt(self.size)
        return spread


def violated_runs(n: int, workers: int) -> Iterator[Violated]:
    """One row per rule, violation and size, as it is finished."""
    tasks: list[tuple[str, Violation, float]] = [
        (rule, violation, size)
        for rule in RUN
        for violation, sizes in SIZES.items()
        if rule == "class" or violation in OF_EVERY_RULE
        for size in sizes
    ]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for task in tasks:
            runs = list(pool.map(_outcome, [(*task, seed) for seed in range(n)], chunksize=5))
            yield _count_outcomes(task, runs)


def n_tasks() -> int:
    """How many rows there are."""
    shared = sum(len(SIZES[violation]) for violation in OF_EVERY_RULE)
    return shared + sum(len(sizes) for sizes in SIZES.values())


def _count_outcomes(
    task: tuple[str, Violation, float], runs: Sequence[tuple[Outcome, Outcome, int]]
) -> Violated:
    kinds: tuple[Outcome, ...] = ("refuted", "right", "wrong", "unstopped")
    rule, violation, size = task
    return Violated(
        rule=rule,
        violation=violation,
        size=size,
        with_check={kind: sum(run[0] == kind for run in runs) for kind in kinds},
        without_check={kind: sum(run[1] == kind for run in runs) for kind in kinds},
        median_rounds=float(np.median([run[2] for run in runs])),
    )


def violation_table(rows: Sequence[Violated]) -> str:
    """Return the outcomes as Markdown."""
    head = """### Broken assumptions

FOCUS at delta = 0.05 and epsilon = 0.07 on drawn systems of four nodes that break one assumption
in one equation; the rules assume no intercepts. Shares of the runs in percent: refuted, certified
with a claim that holds, with one that does not, not stopped within 20,000 rounds. Without the
check (`unchecked`: right, wrong) the same runs go on to the certificate. Sizes:
share beyond max_effect or the noise range, share of min_effect, the constant, the coefficient of
the square, the factor, noise standard deviations over 1,500 rounds (evidence) or 2,500
(gaussian).

| rule | violation | size | refuted | right | wrong | unstopped | unchecked | rounds |
|---|---|---|---|---|---|---|---|---|
"""
    lines = []
    for r in rows:
        n = sum(r.with_check.values())
        shares = [r.with_check[kind] for kind in ("refuted", "right", "wrong", "unstopped")]
        shown = " | ".join(f"{100 * count / n:.0f}" for count in shares)
        unchecked = [r.without_check[kind] for kind in ("right", "wrong")]
        shown += " | " + ", ".join(f"{100 * count / n:.0f}" for count in unchecked)
        lines.append(
            f"| {r.rule} | {r.violation} | {r.size:g} | {shown} | {r.median_rounds:,.0f} |"
        )
    return head + "\n".join(lines)


class TrustingClassRule(ClassRule):
    """The class rule without the check of its assumptions."""

    def alarms(self, moments: Moments, estimate: LinearSEM) -> tuple[Alarm, ...]:  # noqa: ARG002
        return ()


class TrustingGaussianRule(GaussianRule):
    """The gaussian rule without the check of its assumptions."""

    def alarms(self, moments: Moments, estimate: LinearSEM) -> tuple[Alarm, ...]:  # noqa: ARG002
        return ()


TRUSTING: Final[dict[str, type[Guarantee]]] = {
    "class": TrustingClassRule,
    "gaussian": TrustingGaussianRule,
}


def _outcome(task: tuple[str, Violation, float, int]) -> tuple[Outcome, Outcome, int]:
    """What became of one run, what becomes of it without the check, and its rounds."""
    checked, rounds = _run(task, is_checked=True)
    return checked, _run(task, is_checked=False)[0] if checked == "refuted" else checked, rounds


def _run(task: tuple[str, Violation, float, int], *, is_checked: bool) -> tuple[Outcome, int]:
    rule, violation, size, seed = task
    system = BrokenSystem(violation, size, seed, RUN[rule])
    actions = ActionSet(dict.fromkeys(system.model.names, (-REACH, REACH)))
    space = PAPER_CLASS
    if rule == "gaussian":
        space = ModelClass(PAPER_CLASS.least_effect, intercept=False)
    kind = rule if is_checked else TRUSTING[rule]
    learner = Focus(actions, space, epsilon=EPSILON, delta=DELTA, rule=kind)
    while not learner.has_stopped and learner.rounds < MOST_ROUNDS:
        action = learner.ask()
        learner.tell(action, system(action))
    if not learner.has_stopped:
        return "unstopped", learner.rounds
    if learner.is_refuted:
        return "refuted", learner.rounds
    holds = learner.guarantee.holds(learner.result().model, system.model)
    return "right" if holds else "wrong", learner.rounds
