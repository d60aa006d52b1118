"""The problems that are timed: the paper's simulation settings, by number of nodes and seed."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.moments.moments import Moments
from causalfocus.oracles import joint_mle
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import Action
from causalfocus.system.drawn import random_sem
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import PAPER_CLASS

DENSITY: Final = 0.3
SAMPLES_PER_ACTION: Final = 50
EPSILON: Final = 0.07


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A data set with its moments, and the estimate that the alternative oracle starts from."""

    p: int
    seed: int
    targets: Ints
    samples: Floats
    moments: Moments
    estimate: LinearSEM
    weights: dict[Action, float]


def problem(p: int, seed: int) -> Problem:
    """Samples under all 2p + 1 actions of a random system; equal weights for the alternative."""
    truth = random_sem(p, density=DENSITY, seed=np.random.SeedSequence([p, seed]))
    actions = ActionSet(dict.fromkeys(truth.names, (-2.0, 2.0)))
    rng = np.random.default_rng([p, seed, 1])
    taken = [action for action in actions for _ in range(SAMPLES_PER_ACTION)]
    samples = np.vstack([truth.sample(action, SAMPLES_PER_ACTION, rng) for action in actions])
    targets = [truth.names.index(a.target) if a.target else -1 for a in taken]
    moments = Moments(truth.names)
    moments.add_many(taken, samples)
    weights = dict.fromkeys(actions, 1.0 / len(actions))
    estimate = joint_mle(moments, PAPER_CLASS)
    return Problem(
        p=p,
        seed=seed,
        targets=np.array(targets),
        samples=samples,
        moments=moments,
        estimate=estimate,
        weights=weights,
    )
