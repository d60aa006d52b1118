"""The game of design against rival, solved by cutting planes.

A design spreads one unit of rounds (or of cost) over the actions, and the closest rival responds.
Each rival met so far is a linear function of the design; a linear program finds the design that is
best against these, which bounds the value from above. The exact closest rival to that design bounds
it from below and is the next function. Both bounds are part of the solution.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from causalfocus.allocation.program import solve_program
from causalfocus.arrays import Floats
from causalfocus.errors import NumericalError

MOST_PLANES = 1000
NOTHING = 1e-10
"""Nats per round below which a divergence is rounding: nothing tells the models apart."""

SMALLEST_SHARE = 1e-6
"""Responses that carry less of the game's equilibrium than this are not named."""


class Response(Protocol):
    """What the other player does."""

    @property
    def gains(self) -> Floats:
        """The divergence of the rival under every action."""

    @property
    def changes(self) -> str:
        """How the rival differs, in words."""


R = TypeVar("R", bound=Response)


@dataclass(frozen=True)
class Solution(Generic[R]):
    """A solved game.

    Attributes
    ----------
    value, upper : lower and upper bound on the value, nats per unit of cost
    design : shares of the cost, one per action
    responses : of the rivals met on the way
    shares : of each of them in the equilibrium mixture
    """

    value: float
    upper: float
    design: Floats
    responses: tuple[R, ...]
    shares: Floats

    def binding_responses(self) -> tuple["Binding[R]", ...]:
        """The responses that carry the equilibrium, equal ones together, the heaviest first."""
        together: dict[str, Binding[R]] = {}
        for response, share in zip(self.responses, self.shares, strict=True):
            if share > SMALLEST_SHARE:
                known = together.get(response.changes, Binding(response, 0.0))
                together[response.changes] = Binding(known.response, known.share + float(share))
        return tuple(sorted(together.values(), key=lambda found: -found.share))


@dataclass(frozen=True)
class Binding(Generic[R]):
    """A response with its share of the equilibrium mixture."""

    response: R
    share: float


def solve(respond: Callable[[Floats], R], costs: Floats, gap: float) -> Solution[R]:
    """The best design against all rivals.

    Parameters
    ----------
    respond : gives the closest rival to a design, which comes as rounds per action
    costs : of the actions
    gap : relative distance of the bounds at which to stop
    """
    k = len(costs)
    design, best = np.full(k, 1.0 / k), np.full(k, 1.0 / k)
    lower, upper = -math.inf, math.inf
    planes: list[Floats] = []
    responses: list[R] = []
    for _ in range(MOST_PLANES):
        response = respond(design / costs)
        gains = response.gains / costs
        if float(gains @ design) > lower:
            lower, best = float(gains @ design), design
        planes.append(gains)
        responses.append(response)
        bound, design, shares = best_design(planes, lower)
        upper = min(upper, bound)
        if upper * costs.min() <= NOTHING:
            lower, upper = 0.0, 0.0
        if upper - lower <= gap * lower:
            break
    else:
        raise NumericalError(
            f"The game was not solved to {gap:g}: after {MOST_PLANES} cutting planes its "
            f"value is between {lower:g} and {upper:g}. Ask for a larger gap."
        )
    even = _even_out(best, np.array(planes))
    value = float((respond(even / costs).gains / costs) @ even)
    if value >= lower * (1.0 - 1e-9):
        lower, best = min(value, upper), even
    return Solution(lower, upper, best, tuple(responses), shares)


def best_design(planes: Sequence[Floats], scale: float) -> tuple[float, Floats, Floats]:
    """The design that is best against some rivals, and their equilibrium mixture.

    First an upper bound on the value of any design: the best action against the mixture. It holds
    for any mixture, so the accuracy of the linear program does not matter to it.

    scale : about the value, so that the solver's tolerances are relative to it
    """
    if scale < NOTHING:
        scale = max(float(plane.max()) for plane in planes) or 1.0
    found = solve_program(np.array(planes), scale, NOTHING)
    return found.upper, found.design, found.mixture


def _even_out(design: Floats, planes: Floats) -> Floats:
    """Equal shares for actions that tell equally much against every rival met."""
    even = design.copy()
    columns = planes.T
    for a in range(len(design)):
        twins = np.flatnonzero(np.isclose(columns, columns[a], rtol=1e-9, atol=0.0).all(axis=1))
        even[a] = design[twins].mean()
    even /= even.sum()
    return even
