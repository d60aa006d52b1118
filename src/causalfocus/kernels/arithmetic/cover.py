"""The fewest rounds that give every rival what it lacks: a small linear program.

With gains G (rivals by actions, not negative), deficits d > 0 and costs c > 0, the rounds x >= 0 of
least cost c.x with G x >= d are sought. Its dual, to maximise d.y over y >= 0 with y G <= c, starts
at y = 0, which is feasible; so the simplex method needs no first phase, and the rounds are the
prices of the actions in its last tableau. It is solved in every round of a learner, in some
microseconds, which is why it stands here and not in a library: tens of rows and columns, dense.

Where it goes wrong the learner takes other actions, and no claim is touched.
"""

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.compile import kernel

ZERO = 1e-11
"""Share of the largest entry below which one is rounding."""

DANTZIG = 4
"""Pivots per row for which the steepest column enters; after that the first one (Bland), so that
ties cannot go round in circles."""

MOST = 40
"""Pivots per row after which the search is given up."""


@kernel
def least_cover(deficits: Floats, gains: Floats, costs: Floats) -> Floats:
    """Return (k,), the rounds of every action; the best so far if the search was given up.

    Parameters
    ----------
    deficits : (m,); what is not positive is done
    gains : (m, k), what one round of every action gives to each; where all are zero, there is
        nothing to be done
    costs : (k,), of a round of each action
    """
    m, k = gains.shape
    tableau, n = np.zeros((k + 1, m + k + 1)), 0
    for i in range(m):
        most = gains[i].max()
        if deficits[i] > 0.0 and most > 0.0:
            # Each rival in its own unit, so that its largest gain is one.
            for a in range(k):
                tableau[a, n] = gains[i, a] / most
            tableau[k, n] = deficits[i] / most
            n += 1
    width = n + k + 1
    for a in range(k):
        tableau[a, n + a] = 1.0
        tableau[a, width - 1] = costs[a]
    largest = tableau[k, :n].max() if n else 0.0
    for step in range(MOST * k):
        enters = _column_to_enter(tableau, width, ZERO * largest, step < DANTZIG * k)
        if enters < 0:
            break
        leaves = _row_to_leave(tableau, enters, width)
        if leaves < 0:
            break
        _pivot(tableau, leaves, enters, width)
    rounds = np.empty(k)
    for a in range(k):
        rounds[a] = max(-tableau[k, n + a], 0.0)
    return rounds


@kernel
def _column_to_enter(tableau: Floats, width: int, least: float, is_steep: bool) -> int:
    """Return the column that improves most, or the first that does; -1 if none does."""
    found, best, last = -1, least, tableau.shape[0] - 1
    for i in range(width - 1):
        if tableau[last, i] > best:
            found, best = i, tableau[last, i]
            if not is_steep:
                break
    return found


@kernel
def _row_to_leave(tableau: Floats, enters: int, width: int) -> int:
    """Return the row that limits a column first; -1 if none does."""
    found, best = -1, np.inf
    for a in range(tableau.shape[0] - 1):
        if tableau[a, enters] > ZERO:
            ratio = tableau[a, width - 1] / tableau[a, enters]
            if ratio < best:
                found, best = a, ratio
    return found


@kernel
def _pivot(tableau: Floats, row: int, column: int, width: int) -> None:
    one_over = 1.0 / tableau[row, column]
    for i in range(width):
        tableau[row, i] *= one_over
    for a in range(tableau.shape[0]):
        factor = tableau[a, column]
        if a != row and factor != 0.0:
            for i in range(width):
                tableau[a, i] -= factor * tableau[row, i]
