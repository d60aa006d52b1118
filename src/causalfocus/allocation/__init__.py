"""Where the next rounds go: gains to weights (AdaHedge), weights to actions (tracking)."""

from causalfocus.allocation.adahedge import AdaHedge
from causalfocus.allocation.tracking import forced_action, tracked_action

__all__ = ["AdaHedge", "forced_action", "tracked_action"]
