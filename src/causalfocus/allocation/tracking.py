"""From fractional weights to one action per round (Eq. intervention_tracking)."""

import math

from causalfocus.arrays import Floats


def forced_action(counts: Floats, t: float, share: float = 1.0) -> int | None:
    """The least taken action while it has fewer than share * sqrt(t) rounds, or none; else None."""
    least = int(counts.argmin())
    return least if counts[least] == 0 or counts[least] < share * math.sqrt(t) else None


def tracked_action(counts: Floats, cumulative: Floats, t: float, share: float = 1.0) -> int:
    """Index of the next action.

    The least taken action while it has fewer than sqrt(t) rounds, which also plays every action
    once at the start; after that the action that lags most behind its cumulative weight. Ties go
    to the first action.

    Parameters
    ----------
    counts : (k,) how often each action was taken, N_t, or what was spent on it
    cumulative : (k,) sums of the allocations so far
    t : rounds so far, or all that was spent
    share : of sqrt(t); 1 in the paper
    """
    forced = forced_action(counts, t, share)
    return int((cumulative / counts).argmax()) if forced is None else forced
