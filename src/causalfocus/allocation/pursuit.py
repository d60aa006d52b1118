"""From what rivals still need to one action per round: a plan that gives all what they lack.

The paper's game plays against expectations and averages over all rounds, so that what it learned
from a wrong estimate early on stays in its allocation for long. Here the data say how far each
rival is from being rejected, and the cheapest rounds that would reject them all are a small linear
program (`kernels.arithmetic.cover`), solved anew in every round. Rivals come in stages: of the
actions that the plan asks for, the one that tells most against the first stage that is not done
comes first. Certificates hold for any choice of actions, so all of this moves the number of rounds
alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from causalfocus.allocation.latitude import Latitude
from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic.cover import least_cover

TIE = 1e-9
"""Gains that differ by less, relatively, are equal; the less taken action comes first."""

NOTHING = 1e-12
"""Nats per round below which a divergence is rounding: nothing tells against such a rival."""

AHEAD = 0.7
"""Nats that are planned for beyond what all rivals have when none lacks anything."""


@dataclass(frozen=True)
class Stage:
    """Rivals that are pursued together.

    Attributes
    ----------
    deficits : (m,), what each still lacks to be rejected, in nats; not positive where it is done
    gains : (m, k), what one round of every action tells against each, in nats
    """

    deficits: Floats
    gains: Floats

    def __post_init__(self) -> None:
        """A gain without limit comes of numbers that overflow, one below zero of rounding: neither
        tells anything.
        """
        kept = np.where(np.isfinite(self.gains), np.maximum(self.gains, 0.0), 0.0)
        object.__setattr__(self, "gains", kept)

    def deficits_after(self, pending: Floats) -> Floats:
        """What each still lacks after rounds that are under way; minus infinity for what no action
        tells apart.
        """
        is_told = self.gains.max(axis=1, initial=0.0) > NOTHING
        return np.where(is_told, self.deficits - self.gains @ pending, -np.inf)


def pursued_action(
    stages: Sequence[Stage],
    pending: Floats,
    costs: Floats,
    spent: Floats,
    *,
    is_endless: bool,
    latitude: Latitude | None = None,
) -> int | None:
    """Index of the action to take next; None if all rivals are done, or no action tells anything
    against those that are not.

    Parameters
    ----------
    stages : the first comes first
    is_endless : whether to go on when all are done
    pending : (k,), rounds of each action that are under way and not in the deficits
    costs : (k,), of the actions
    spent : (k,), on each action so far, to break ties
    latitude : which actions may be taken; None for all. The plan is of all actions; if it asks for
        none of these, the one that tells most against all rivals for its cost
    """
    lefts = [stage.deficits_after(pending) for stage in stages]
    lacks = [float(left.max(initial=-np.inf)) for left in lefts]
    first = next((i for i, lack in enumerate(lacks) if lack > 0.0), None)
    largest = max(lacks, default=-np.inf)
    if first is None:
        if not is_endless or largest == -np.inf:
            return None
        lefts = [left - largest + AHEAD for left in lefts]
    gains = np.vstack([stage.gains for stage in stages])
    planned = least_cover(np.concatenate(lefts), gains, costs)
    if first is not None and first + 1 < len(stages):
        worth = np.maximum(lefts[first], 0.0) @ stages[first].gains / costs
        planned = np.where(planned > 0.0, worth, 0.0)
    if latitude is None:
        twins = _twins(gains / costs, int(planned.argmax()))
        return int(twins[spent[twins].argmin()])
    if not (planned[latitude.allowed] > 0.0).any():
        planned = np.maximum(np.concatenate(lefts), 0.0) @ gains / costs
        if not (planned[latitude.allowed] > 0.0).any():
            return None
    among = latitude.narrow(planned)
    twins = _twins(gains / costs, int(np.where(among, planned, -np.inf).argmax()))
    twins = twins[among[twins]]
    return int(twins[spent[twins].argmin()])


def _twins(gains: Floats, action: int) -> Ints:
    """Actions that tell as much against every rival as one of them does, itself included."""
    own = gains[:, action, None]
    found: Ints = np.flatnonzero((np.abs(gains - own) <= TIE * own).all(axis=0))
    return found
