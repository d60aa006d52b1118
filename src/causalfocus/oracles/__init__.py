"""The exact oracles of the paper: the joint MLE and the closest alternative."""

from causalfocus.oracles.alternative import Alternative, best_alternative
from causalfocus.oracles.estimate import graph_mle, joint_mle

__all__ = ["Alternative", "best_alternative", "graph_mle", "joint_mle"]
