"""What the rounds to a certificate are spent on: information, the price of mixing, the rest."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Final

import numpy as np

from causalfocus.benchmark.problems import DENSITY, EPSILON
from causalfocus.learner.focus import Focus
from causalfocus.planning.forecast import forecasts
from causalfocus.system.action_set import ActionSet
from causalfocus.system.drawn import random_sem
from causalfocus.system.space import PAPER_CLASS

DELTA: Final = 0.05
LOOK: Final = 5
"""How many rounds pass between two looks at who is still lacking something."""


@dataclass(frozen=True, kw_only=True)
class SplitRun:
    """One system under the class rule.

    Attributes
    ----------
    rounds : of FOCUS
    information : log(1/delta) / C_epsilon, which no method can beat as delta goes to zero
    without_chance : rounds at which the certificate fires on the expected data of the best fixed
        design: what it takes beyond the information is the price of the mixture
    at_the_end : rounds before the stop in which at most one rival lacked evidence
    """

    rounds: int
    information: float
    without_chance: float
    at_the_end: int


@dataclass(frozen=True, kw_only=True)
class SplitSummary:
    """Means over systems. `rest` is what learning the design and chance add to the price, or what
    adapting to the data saves: rounds less `information` and `mixture`.
    """

    p: int
    n_systems: int
    rounds: float
    information: float
    mixture: float
    rest: float
    rest_error: float
    at_the_end: float


def split_runs(p: int, seeds: range, workers: int) -> Iterator[SplitRun]:
    """One row per system as it is finished."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_split, [(p, seed) for seed in seeds])


def split_summary(p: int, runs: Sequence[SplitRun]) -> SplitSummary:
    """Put the systems together."""
    rest = np.array([run.rounds - run.without_chance for run in runs])
    return SplitSummary(
        p=p,
        n_systems=len(runs),
        rounds=float(np.mean([run.rounds for run in runs])),
        information=float(np.mean([run.information for run in runs])),
        mixture=float(np.mean([run.without_chance - run.information for run in runs])),
        rest=float(rest.mean()),
        rest_error=float(rest.std(ddof=1) / math.sqrt(len(runs))) if len(runs) > 1 else 0.0,
        at_the_end=float(np.mean([run.at_the_end for run in runs])),
    )


def _split(task: tuple[int, int]) -> SplitRun:
    p, seed = task
    truth = random_sem(p, density=DENSITY, seed=np.random.SeedSequence([p, seed, 7]))
    actions = ActionSet(dict.fromkeys(truth.names, (-2.0, 2.0)))
    learner = Focus(actions, PAPER_CLASS, epsilon=EPSILON, delta=DELTA, rule="class", ends="game")
    rng, last_several = np.random.default_rng([seed, 3]), 0
    while not learner.has_stopped:
        action = learner.ask()
        learner.tell(action, truth.sample(action, 1, rng)[0])
        if learner.rounds % LOOK == 0 and not learner.has_stopped:
            stages = learner.state.standing.stages
            if sum(int((stage.deficits > 0.0).sum()) for stage in stages) > 1:
                last_several = learner.rounds
    (plan,) = forecasts(
        truth, actions, PAPER_CLASS, epsilon=EPSILON, deltas=[DELTA], rule="class", ends="game"
    )
    return SplitRun(
        rounds=learner.rounds,
        information=math.log(1 / DELTA) / plan.complexity.value,
        without_chance=plan.rounds,
        at_the_end=learner.rounds - last_several,
    )
