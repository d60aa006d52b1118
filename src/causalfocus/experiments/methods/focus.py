"""FOCUS under the class rule."""

from causalfocus.experiments.methods.certificates import CertificateWatch, watch_for
from causalfocus.experiments.specification import Specification
from causalfocus.learner.focus import Focus
from causalfocus.system.action_set import ActionSet
from causalfocus.system.space import PAPER_CLASS

__all__ = ["CertificateWatch", "learner_for", "watch_for"]


def learner_for(specification: Specification, actions: ActionSet, number: int) -> Focus:
    del number
    delta = min(specification.deltas)
    return Focus(
        actions, PAPER_CLASS, epsilon=specification.epsilon, delta=delta, rule="class", ends="game"
    )
