"""From fractional weights to one action per round (Eq. intervention_tracking)."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def tracked_action(counts: Floats, cumulative: Floats, t: int) -> int:
    """Index of the next action.

    The least taken action while it has fewer than sqrt(t) rounds, which also plays every action
    once at the start; after that the action that lags most behind its cumulative weight. Ties go
    to the first action.

    Parameters
    ----------
    counts : (k,) how often each action was taken, N_t
    cumulative : (k,) sums of the allocations so far
    t : rounds so far
    """
    least = int(np.argmin(counts))
    if counts[least] == 0 or counts[least] < math.sqrt(t):
        return least
    return int(np.argmax(cumulative / counts))
