"""Rounds of which a value is missing: does it depend on the action whether one is lost?

A lost round counts for no evidence, and that is fair as long as losses have nothing to do with what
would have been measured. Whether they do cannot be seen. Whether they depend on what was set can:
a sensor that fails when it is hot loses rounds at one end of the heater's range. So it is an alarm,
but one that refutes nothing, for a loss that depends on the action alone leaves a fair sample of
every action.

Under the null every round is lost with the same unknown probability, whatever was done. For a
node's value (or for observing) against all else, the two groups get probabilities of their own,
each mixed over Beta(1/2, 1/2); the best single probability stands against them. The ratio has a
mean of at most one at any time, for its numerator is a density of the losses and its denominator at
least the one that is true. All groups that there can be share equally.
"""

import math
from collections.abc import Iterable, Mapping

from causalfocus.guarantees.alarm import Alarm
from causalfocus.system.actions import OBSERVE, Action


def loss_alarms(
    tallies: Mapping[Action, int], losses: Mapping[Action, int], n_groups: int
) -> tuple[Alarm, ...]:
    """An alarm for every setting under which rounds were taken, the loudest first; none while
    nothing was lost.

    Parameters
    ----------
    tallies : rounds of each action
    losses : those of them that have a missing value
    n_groups : how many groups there can ever be: they share equally, whichever have occurred
    """
    if not losses:
        return ()
    n, lost = sum(tallies.values()), sum(losses.values())
    single = _best(lost, n)
    found = []
    for (name, value), members in _groups(tallies).items():
        inside = sum(tallies[action] for action in members)
        gone = sum(losses.get(action, 0) for action in members)
        evidence = _log_mixture(gone, inside) + _log_mixture(lost - gone, n - inside) - single
        words = f"do({name} = {value:g})" if name else "observe"
        found.append(Alarm("loss", name, None, words, evidence - math.log(n_groups)))
    return tuple(sorted(found, key=lambda alarm: -alarm.evidence))


def _groups(actions: Iterable[Action]) -> dict[tuple[str, float], list[Action]]:
    """The actions that set a node to a value, by both; under no name those that set nothing."""
    found: dict[tuple[str, float], list[Action]] = {}
    for action in actions:
        for setting in action.settings if action != OBSERVE else (("", 0.0),):
            found.setdefault(setting, []).append(action)
    return found


def _log_mixture(lost: int, n: int) -> float:
    """Log probability of a sequence with so many losses, mixed over Beta(1/2, 1/2)."""
    return math.lgamma(lost + 0.5) + math.lgamma(n - lost + 0.5) - math.lgamma(n + 1.0) - LOG_PI


def _best(lost: int, n: int) -> float:
    """The same under the probability that fits it best."""
    if lost in (0, n):
        return 0.0
    return lost * math.log(lost / n) + (n - lost) * math.log1p(-lost / n)


LOG_PI = math.log(math.pi)
