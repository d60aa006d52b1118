"""From fractional weights to one action per round (Eq. intervention_tracking)."""

import math

import numpy as np

from causalfocus.arrays import Bools, Floats


def least(amounts: Floats, allowed: Bools | None = None) -> int:
    """Index of the smallest amount among the actions that may be taken; all of them if None."""
    return int((amounts if allowed is None else np.where(allowed, amounts, np.inf)).argmin())


def most(amounts: Floats, allowed: Bools | None = None) -> int:
    """Index of the largest amount among the actions that may be taken; all of them if None."""
    return int((amounts if allowed is None else np.where(allowed, amounts, -np.inf)).argmax())


def forced_action(
    counts: Floats, t: float, share: float = 1.0, allowed: Bools | None = None
) -> int | None:
    """The least taken action while it has fewer than share * sqrt(t) rounds, or none; else None.

    allowed : (k,), the actions that may be taken; None for all
    """
    at = least(counts, allowed)
    return at if counts[at] == 0 or counts[at] < share * math.sqrt(t) else None


def covering_action(
    covers: Bools,
    spent: Floats,
    costs: Floats,
    t: float,
    share: float = 1.0,
    allowed: Bools | None = None,
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
    allowed : (k,), the actions that may be taken; None for all
    """
    lacks = np.maximum(share * math.sqrt(t), 1.0) - covers @ spent
    if not (lacks > 0.0).any():
        return None
    worth = np.maximum(lacks, 0.0) @ covers / costs
    at = most(worth, allowed)
    return at if worth[at] > 0.0 else None


def track(spent: Floats, cumulative: Floats, costs: Floats, allowed: Bools | None = None) -> int:
    """Index of the action that lags most behind its cumulative weight. Ties go to the first.

    Parameters
    ----------
    spent : (k,), on every action so far, N_t if all cost the same; an action that was never taken
        counts as taken once
    cumulative : (k,) sums of the allocations so far
    costs : (k,)
    allowed : (k,), the actions that may be taken; None for all
    """
    return most(cumulative / np.maximum(spent, costs), allowed)
