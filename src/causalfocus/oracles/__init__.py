"""The exact oracles: the joint MLE, the closest alternative, and what to report of a system."""

from causalfocus.oracles.alternative import Alternative, best_alternative
from causalfocus.oracles.estimate import graph_mle, joint_mle
from causalfocus.oracles.gaussian import report, reported_from

__all__ = [
    "Alternative",
    "best_alternative",
    "graph_mle",
    "joint_mle",
    "report",
    "reported_from",
]
