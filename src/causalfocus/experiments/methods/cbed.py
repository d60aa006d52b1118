"""CBED."""

from causalfocus.baselines.cbed import CBED
from causalfocus.experiments.specification import Specification
from causalfocus.system.action_set import ActionSet
from causalfocus.system.space import PAPER_CLASS


def learner_for(specification: Specification, actions: ActionSet, number: int) -> CBED:
    del specification
    return CBED(actions, PAPER_CLASS, seed=number)
