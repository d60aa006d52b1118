"""When a rule stops on the moments that a system gives on average: a search for the round."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from causalfocus.moments.moments import Moments
from causalfocus.system.actions import Action
from causalfocus.system.sem import LinearSEM

if TYPE_CHECKING:
    from causalfocus.guarantees.guarantee import Guarantee

MOST_ROUNDS = 1e12
"""Beyond this a rule is taken never to stop."""


def rounds_on_average(
    rule: "Guarantee",
    model: LinearSEM,
    share: Callable[[float], dict[Action, float]],
    start: float,
) -> float:
    """The number of rounds, to a thousandth; see `Guarantee.forecast`."""

    def stops(rounds: float) -> bool:
        parts = share(rounds)
        moments = Moments.expected(model, {a: rounds * part for a, part in parts.items()})
        return rule.decide(moments, rule.expected_estimate(model, moments)).stop

    low, high = start, max(2.0 * start, 16.0)
    while not stops(high):
        low, high = high, 2.0 * high
        if high > MOST_ROUNDS:
            return math.inf
    while high > 1.001 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if stops(middle) else (middle, high)
    return high
