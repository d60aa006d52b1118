"""One step of AdaHedge, compiled: it is taken in every round."""

import math

from causalfocus.arrays import Floats
from causalfocus.kernels.compile import kernel


@kernel
def hedge_step(weights: Floats, cumulative: Floats, gains: Floats, gap: float) -> float:
    """Take in one round's gains; returns the new mixability gap.

    weights, cumulative : (k,), written: the allocation and the sums of all gains
    """
    log_k = math.log(len(weights))
    earned, highest = 0.0, -math.inf
    for i in range(len(weights)):
        earned += weights[i] * gains[i]
        if weights[i] > 0.0:
            highest = max(highest, gains[i])
    mixed = highest
    if gap > 0.0:
        rate, total = log_k / gap, 0.0
        for i in range(len(weights)):
            if weights[i] > 0.0:  # a lost action may gain more than exp can hold
                total += weights[i] * math.exp(rate * (gains[i] - highest))
        mixed += math.log(total) / rate
    gap += max(mixed - earned, 0.0)
    cumulative += gains
    leader, total = cumulative.max(), 0.0
    for i in range(len(weights)):
        ahead = cumulative[i] - leader
        if gap > 0.0:
            weights[i] = math.exp(log_k / gap * ahead)
        else:
            weights[i] = 1.0 if ahead == 0.0 else 0.0
        total += weights[i]
    weights /= total
    return gap
