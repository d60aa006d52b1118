"""The exact oracles: the joint MLE, the closest alternative, and the estimates."""

from causalfocus.oracles.alternative import Alternative, best_alternative
from causalfocus.oracles.beliefs import edge_probabilities
from causalfocus.oracles.estimate import graph_mle, joint_mle, probable_model
from causalfocus.oracles.gaussian import gaussian_estimate, shown_from

__all__ = [
    "Alternative",
    "best_alternative",
    "edge_probabilities",
    "gaussian_estimate",
    "graph_mle",
    "joint_mle",
    "probable_model",
    "shown_from",
]
