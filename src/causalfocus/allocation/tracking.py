"""From fractional weights to one action per round (Eq. intervention_tracking)."""

import math

import numpy as np

from causalfocus.allocation.latitude import Latitude, least, most
from causalfocus.arrays import Bools, Floats


def forced_action(
    counts: Floats, t: float, share: float = 1.0, latitude: Latitude | None = None
) -> int | None:
    """The least taken action while it has fewer than share * sqrt(t) rounds, or none; else None.

    latitude : which actions may be taken; None for all
    """
    at = least(counts, latitude)
    return at if counts[at] == 0 or counts[at] < share * math.sqrt(t) else None


def covering_action(
    covers: Bools,
    spent: Floats,
    costs: Floats,
    t: float,
    share: float = 1.0,
    latitude: Latitude | None = None,
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
    latitude : which actions may be taken; None for all
    """
    lacks = np.maximum(share * math.sqrt(t), 1.0) - covers @ spent
    if not (lacks > 0.0).any():
        return None
    worth = np.maximum(lacks, 0.0) @ covers / costs
    at = most(worth, latitude)
    return at if worth[at] > 0.0 else None


def track(
    spent: Floats, cumulative: Floats, costs: Floats, latitude: Latitude | None = None
) -> int:
    """Index of the action that lags most behind its cumulative weight. Ties go to the first. Before
    there are any weights, in a batch that is asked for before anything is told, the least taken.

    Parameters
    ----------
    spent : (k,), on every action so far, N_t if all cost the same; an action that was never taken
        counts as taken once
    cumulative : (k,) sums of the allocations so far
    costs : (k,)
    latitude : which actions may be taken; None for all
    """
    if not cumulative.any():
        return least(spent, latitude)
    return most(cumulative / np.maximum(spent, costs), latitude)
