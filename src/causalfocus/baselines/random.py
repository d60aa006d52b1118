"""RANDOM: any action, each as likely as the others, with FOCUS's estimator."""

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.baselines.baseline import Baseline
from causalfocus.learner.state import LearnerState
from causalfocus.oracles import joint_mle
from causalfocus.system.sem import LinearSEM


class Random(Baseline[LearnerState]):
    """The paper's RANDOM: the joint maximum-likelihood estimate from actions taken at random.

    Examples
    --------
    >>> import causalfocus as cf
    >>> from causalfocus.baselines import Random
    >>> actions = cf.ActionSet({"X1": (-2, 2), "X2": (-2, 2)})
    >>> learner = Random(actions, cf.ModelClass(0.3, intercept=False), seed=1)
    >>> learner.ask() == learner.ask()
    True
    """

    method = "RANDOM"

    def _first_state(self) -> LearnerState:
        return self._blank_state()

    def _choose(self, spent: Floats, rng: np.random.Generator) -> int:
        return int(rng.integers(len(spent)))

    def _make_estimate(self) -> LinearSEM:
        return joint_mle(self.moments, self.space)

    def _parents(self) -> Ints:
        return parent_sets(self.estimate.weights)


def parent_sets(weights: Floats) -> Ints:
    """Parents of every node as sets of nodes."""
    bits = 1 << np.arange(len(weights), dtype=np.int64)
    found: Ints = (weights != 0.0) @ bits
    return found
