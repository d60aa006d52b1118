"""Where the next rounds go: gains to weights (AdaHedge), weights to actions (tracking); or straight
from what rivals still need to actions (pursuit).

`game` finds the design that is best against all rivals, for a system that is known.
"""

from causalfocus.allocation.adahedge import AdaHedge
from causalfocus.allocation.latitude import Latitude, least
from causalfocus.allocation.pursuit import Stage, pursued_action
from causalfocus.allocation.tracking import covering_action, forced_action, track

__all__ = [
    "AdaHedge",
    "Latitude",
    "Stage",
    "covering_action",
    "forced_action",
    "least",
    "pursued_action",
    "track",
]
