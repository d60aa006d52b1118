"""How often each action was taken, and what that cost."""

from collections.abc import Mapping

from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import Action


def tally(actions: ActionSet, tallies: Mapping[Action, int]) -> dict[Action, int]:
    """Of every action of a set, in order, and of probes behind them; where several variables may be
    set at once, of those that were taken, in the order in which they first were.
    """
    if actions.at_once > 1:
        return dict(tallies)
    return dict.fromkeys(actions, 0) | dict(tallies)


def cost_of(actions: ActionSet, tallies: Mapping[Action, int]) -> float:
    """What so many rounds have cost."""
    return float(sum(n * actions.cost_of(action) for action, n in tallies.items()))
