"""Ranges that were widened after a run had begun: those of the beginning are remembered.

What a test bets must be fixed before the first round that it counts. Where it depends on ranges, it
is on these, so that a wider range changes no test of what was done.
"""

from copy import copy

from causalfocus.system.action_set import ActionSet


def begun_with(actions: ActionSet, earlier: ActionSet) -> ActionSet:
    """Return the same actions with the ranges with which an earlier set of actions began; a node
    that was not there had none.
    """
    first = dict(zip(earlier.names, earlier.first_ranges, strict=True))
    found = copy(actions)
    object.__setattr__(found, "first_ranges", tuple(first.get(name) for name in found.names))
    return found
