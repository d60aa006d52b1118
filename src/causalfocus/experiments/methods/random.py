"""RANDOM, with the certificate of the class rule."""

from causalfocus.baselines.certified import Certified
from causalfocus.baselines.random import Random
from causalfocus.experiments.methods.certificates import CertificateWatch, watch_for
from causalfocus.experiments.specification import Specification
from causalfocus.system.action_set import ActionSet
from causalfocus.system.space import PAPER_CLASS

__all__ = ["CertificateWatch", "learner_for", "watch_for"]


def learner_for(specification: Specification, actions: ActionSet, number: int) -> Certified:
    start = Random(actions, PAPER_CLASS, seed=number)
    delta = min(specification.deltas)
    return Certified(start, epsilon=specification.epsilon, delta=delta, rule="class")
