"""Where the next rounds go: gains to weights (AdaHedge), weights to actions (tracking).

`game` finds the design that is best against all rivals, for a system that is known.
"""

from causalfocus.allocation.adahedge import AdaHedge
from causalfocus.allocation.tracking import forced_action, tracked_action

__all__ = ["AdaHedge", "forced_action", "tracked_action"]
