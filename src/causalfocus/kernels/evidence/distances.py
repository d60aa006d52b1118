"""How far a fitted coefficient is from the values that alternatives may give it."""

import math

from causalfocus.kernels.compile import kernel


@kernel
def distance(at: float, centre: float, radius: float, low: float, high: float) -> float:
    """Return the distance from `at` to the nearest value of size in [low, high) that is `radius` or
    more away from `centre` >= 0; infinity if there is none.
    """
    found = math.inf
    below = min(high, centre - radius)  # [low, below]
    if below >= low:
        found = min(found, max(at - below, low - at, 0.0))
    above = max(low, centre + radius)  # [above, high)
    if above < high:
        found = min(found, max(above - at, at - high, 0.0))
    nearest = max(low, radius - centre)  # (-high, -nearest]
    if nearest < high:
        found = min(found, max(at + nearest, -high - at, 0.0))
    return found
