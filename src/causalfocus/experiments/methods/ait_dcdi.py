"""AIT-DCDI."""

from causalfocus.baselines.ait import AITDCDI
from causalfocus.experiments.specification import Specification
from causalfocus.system.action_set import ActionSet
from causalfocus.system.space import PAPER_CLASS


def learner_for(specification: Specification, actions: ActionSet, number: int) -> AITDCDI:
    del specification
    return AITDCDI(actions, PAPER_CLASS, seed=number)
