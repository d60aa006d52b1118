"""The linear program over designs, in whatever units the gains come out right.

A design x spreads one unit over the actions; the least gain against some rivals, v, is to be as
large as possible: max v with G x >= v for every rival and x on the simplex. What rivals tell may
differ by ten orders of magnitude, from rival to rival and from action to action: a solver that
works with absolute tolerances then gives up, or is far off.

So the solution is judged by itself. Any design bounds the value from below, by the least of G x,
and any mixture y of rivals from above, by the largest of y G; both hold whatever the solver did.
Where the two are not close the program is posed again: rivals with little to tell among the others
put first, by dividing every row by its largest gain; then every action by its largest entry too;
then by another method. The closest pair of bounds is taken.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import linprog

from causalfocus.arrays import Floats
from causalfocus.errors import NumericalError

CLOSE: Final = 1e-6
"""Relative distance of the bounds at which a solution is taken as it is."""

ROUNDING: Final = 1e-14
"""Gains below this share of what a rival's best action tells are rounding."""

TOLERANCES: Final = {
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
}


@dataclass(frozen=True)
class Program:
    """A solved program.

    Attributes
    ----------
    design : shares of the actions
    mixture : of the rivals
    lower, upper : what the design guarantees, and what the mixture lets no design exceed
    """

    design: Floats
    mixture: Floats
    lower: float
    upper: float

    def is_close(self, least: float) -> bool:
        """Whether the bounds are, at values from `least` on."""
        return self.upper - self.lower <= CLOSE * max(self.upper, least)


def solve_program(planes: Floats, scale: float, least: float) -> Program:
    """The best design against some rivals, and their equilibrium mixture.

    Parameters
    ----------
    planes : (r, k), what every action tells against each rival
    scale : about the value, so that the solver's tolerances are relative to it
    least : value below which nothing need be told apart
    """
    best, message = None, ""
    for found in _attempts(planes, scale):
        if isinstance(found, str):
            message = message or found
        elif best is None or found.upper - found.lower < best.upper - best.lower:
            best = found
        if best is not None and best.is_close(least):
            return best
    if best is None:
        largest = planes.max(axis=1)
        raise NumericalError(
            f"The linear program over designs failed: {message} What the {len(planes)} rivals tell "
            f"at most is between {largest.min():g} and {largest.max():g} nats per round."
        )
    return best


def _attempts(planes: Floats, scale: float) -> Iterator[Program | str]:
    """The program as it is, then in other scales; solutions, or why there is none."""
    k = planes.shape[1]
    table, none = planes / scale, np.ones(len(planes))
    yield _solution(planes, table, none, np.ones(k), "highs")
    largest = table.max(axis=1)
    rows = np.where(largest > 0.0, largest, 1.0)
    even = table / rows[:, None]
    even[even < ROUNDING] = 0.0
    yield _solution(planes, even, rows, np.ones(k), "highs")
    for method in ("highs-ds", "highs-ipm"):
        most = even.max(axis=0)
        columns = np.where(most > 0.0, most, 1.0)
        yield _solution(planes, even / columns, rows, columns, method)


def _solution(
    planes: Floats, table: Floats, rows: Floats, columns: Floats, method: str
) -> Program | str:
    """One attempt.

    table : (r, k), gains by what rows (r,) and columns (k,) were divided by
    """
    k = len(columns)
    found = linprog(
        np.append(np.zeros(k), -1.0),
        A_ub=np.hstack([-table, (1.0 / rows)[:, None]]),
        b_ub=np.zeros(len(planes)),
        A_eq=[[*(1.0 / columns), 0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * k + [(None, None)],
        method=method,
        options=TOLERANCES,
    )
    if found.x is None or found.ineqlin.marginals is None:
        return str(found.message)
    design = np.maximum(found.x[:k], 0.0) / columns
    mixture = np.maximum(-found.ineqlin.marginals, 0.0) / rows
    if not design.sum() > 0.0:
        return "It found no design."
    if not mixture.sum() > 0.0:
        mixture = np.ones(len(planes))
    mixture /= mixture.sum()
    design /= design.sum()
    upper = float((mixture @ planes).max())
    return Program(design, mixture, float((planes @ design).min()), upper)
