"""From fractional weights to one action per round (Eq. intervention_tracking)."""

import math

import numpy as np

from causalfocus.arrays import Bools, Floats


def forced_action(counts: Floats, t: float, share: float = 1.0) -> int | None:
    """The least taken action while it has fewer than share * sqrt(t) rounds, or none; else None."""
    least = int(counts.argmin())
    return least if counts[least] == 0 or counts[least] < share * math.sqrt(t) else None


def covering_action(
    covers: Bools, spent: Floats, costs: Floats, t: float, share: float = 1.0
) -> int | None:
    """The action that gives most to what occurs too rarely, for its cost; None if nothing does.

    Where several variables are set at once there are far more actions than rounds. What must keep
    occurring is every pair of a variable that is set and one that is free.

    Parameters
    ----------
    covers : (m, k), what occurs under which action
    spent : (k,), on every action so far
    costs : (k,)
    t : all that was spent
    share : of sqrt(t), that each of them is to have
    """
    lacks = np.maximum(share * math.sqrt(t), 1.0) - covers @ spent
    if not (lacks > 0.0).any():
        return None
    return int((np.maximum(lacks, 0.0) @ covers / costs).argmax())


def track(spent: Floats, cumulative: Floats, costs: Floats) -> int:
    """Index of the action that lags most behind its cumulative weight. Ties go to the first.

    Parameters
    ----------
    spent : (k,), on every action so far, N_t if all cost the same; an action that was never taken
        counts as taken once
    cumulative : (k,) sums of the allocations so far
    costs : (k,)
    """
    return int((cumulative / np.maximum(spent, costs)).argmax())
