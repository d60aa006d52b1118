"""Residuals of all families of a node: the best fit of node j within every set of candidates.

For a set U of candidate parents, ``table[U] = min over S in U of R*_j(S)`` where R* is the residual
of the exact fit (`row_fit`). Because the score of a row rises with its residual (the optimal
variance is a clipped multiple of it), minima of residuals are minima of scores for any noise range.

The unconstrained fits of all families come from one walk over the subsets in numerical order.
Family S extends S without its lowest member by one sweep, so the tableaus of the ancestors of S
form a stack. A tableau keeps only what descendants need: the rows of the target and of the open
candidates (those below the lowest member), and of the inverse of G_SS just the diagonal. A family
with candidate 0, half of them all, has no descendants and keeps nothing.

Most families are settled without a search. If the unconstrained coefficients are allowed, they are
the fit. If not, b_k must move by some d_k at least, and R* >= R + max_k d_k^2 / (G^-1)_kk; when
that is no better than the best subset of S, the family cannot matter: whatever graph holds it may
hold the subset instead, which is acyclic too. Only the others are fitted by branch and bound.

A family must beat its subsets by more than TIE of the node's own sum of squares. This is the rule
for ties, fewer parents first, and it is also the accuracy to which the minima are exact.
"""

import math

import numpy as np
from numpy.typing import NDArray

from causalfocus.kernels.compile import kernel
from causalfocus.kernels.row_fit import SINGULAR, fit_row, two_intervals, workspace

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TIE = 1e-13


@kernel
def residual_table(
    row: tuple[Floats, int],
    candidates: Ints,
    effects: tuple[float, float],
    excluded: int,
    table: Floats,
) -> int:
    """Fill ``table[mask]`` for all masks over the candidates; returns the number of searches.

    Parameters
    ----------
    row : gram (p, p) of node j, and j
    candidates : indices of the possible parents; bit i of a mask stands for candidates[i]
    effects : min_effect, max_effect
    excluded : a mask that must not be chosen itself (it does not prune its supersets either);
        -1 for none
    table : (2**m,), written; infinity where nothing is left
    """
    gram, target = row
    m = len(candidates)
    tie = TIE * gram[target, target]
    allowed = two_intervals(m, effects[0], effects[1])
    work = workspace(m)
    best = np.empty(m)
    stack, inverses = np.empty((m + 1, m + 1, m + 1)), np.empty((m + 1, m))
    n_swept = np.zeros(m + 1, dtype=np.int64)
    n_open = np.zeros(m + 1, dtype=np.int64)
    is_singular = np.zeros(m + 1, dtype=np.bool_)
    searches = 0

    _first_tableau(row, candidates, stack)
    n_open[0] = m
    table[0] = math.inf if excluded == 0 else gram[target, target]
    for mask in range(1, 1 << m):
        least, size, rest = math.inf, 0, mask
        while rest:
            without = mask ^ (rest & -rest)
            least = min(least, table[without])
            rest &= rest - 1
            size += 1
        k = 0
        while not (mask >> k) & 1:
            k += 1
        to_beat = least - tie
        parent = size - 1
        f = n_swept[parent]
        at = f + n_open[parent] - k
        depends = not stack[parent, at, at] > SINGULAR * gram[candidates[k], candidates[k]]
        singular = depends or is_singular[parent]

        if singular:
            value, bound = math.inf, stack[parent, 0, 0]
            if not depends:
                bound -= stack[parent, at, 0] ** 2 / stack[parent, at, at]
        else:
            value, bound = _unconstrained(stack, inverses, size, at, effects)
        if mask == excluded:
            value = math.inf
        elif value == math.inf and bound < to_beat:
            searches += 1
            members = _members(mask, size, candidates)
            value = fit_row(row, members, allowed, to_beat, work, best)
        table[mask] = value if value < to_beat else least

        if k > 0:
            is_singular[size] = singular
            n_open[size] = k
            n_swept[size] = f if depends else f + 1
            if depends:
                _left_out(stack, inverses, size, at, f, k)
            else:
                _swept(stack, inverses, size, at, f, k)
    return searches


@kernel
def _members(mask: int, size: int, candidates: Ints) -> Ints:
    members = np.empty(size, dtype=np.int64)
    n = 0
    for i in range(len(candidates)):
        if (mask >> i) & 1:
            members[n] = candidates[i]
            n += 1
    return members


@kernel
def _first_tableau(row: tuple[Floats, int], candidates: Ints, stack: Floats) -> None:
    """Index 0 is the target; candidate i stands at m - i, so that the open ones are the last."""
    gram, target = row
    m = len(candidates)
    stack[0, 0, 0] = gram[target, target]
    for i in range(m):
        stack[0, 0, m - i] = gram[target, candidates[i]]
        stack[0, m - i, 0] = stack[0, 0, m - i]
        for k in range(m):
            stack[0, m - i, m - k] = gram[candidates[i], candidates[k]]


@kernel
def _unconstrained(
    stack: Floats, inverses: Floats, size: int, at: int, effects: tuple[float, float]
) -> tuple[float, float]:
    """Add the candidate at `at` to a regular parent: residual of the fit if it is allowed, infinity
    if not, and a lower bound of the constrained residual.
    """
    smallest, largest = effects
    parent = size - 1
    one_over = 1.0 / stack[parent, at, at]
    slope = stack[parent, at, 0] * one_over
    residual = max(stack[parent, 0, 0] - slope * stack[parent, at, 0], 0.0)
    away = max(smallest - abs(slope), abs(slope) - largest)
    is_allowed = away <= 0.0
    rise = 0.0 if is_allowed else away * away * stack[parent, at, at]
    for i in range(1, size):
        tilt = stack[parent, at, i]
        b = abs(stack[parent, 0, i] - tilt * slope)
        away = max(smallest - b, b - largest)
        if away > 0.0:
            is_allowed = False
            rise = max(rise, away * away / (inverses[parent, i - 1] + tilt * tilt * one_over))
    return (residual if is_allowed else math.inf), residual + rise


@kernel
def _swept(stack: Floats, inverses: Floats, size: int, at: int, f: int, k: int) -> None:
    """Child tableau: target, f swept members, the new one, and the k candidates below it.

    Rows of swept members are not kept; their column entries in the other rows are.
    """
    parent = size - 1
    one_over = 1.0 / stack[parent, at, at]
    skip = at - (f + 1)
    for i in range(f):
        tilt = stack[parent, at, i + 1]
        inverses[size, i] = inverses[parent, i] + tilt * tilt * one_over
    inverses[size, f] = one_over
    for row in range(k + 1):
        i = 0 if row == 0 else f + 1 + row
        from_i = 0 if row == 0 else i + skip
        tilt = stack[parent, from_i, at] * one_over
        for j in range(f + 1):
            stack[size, i, j] = stack[parent, from_i, j] - tilt * stack[parent, at, j]
        stack[size, i, f + 1] = tilt
        for j in range(f + 2, f + 2 + k):
            stack[size, i, j] = stack[parent, from_i, j + skip] - tilt * stack[parent, at, j + skip]


@kernel
def _left_out(stack: Floats, inverses: Floats, size: int, at: int, f: int, k: int) -> None:
    """Child tableau without a dependent candidate, which cannot lower any residual."""
    skip = at - f
    for i in range(f):
        inverses[size, i] = inverses[size - 1, i]
    for row in range(k + 1):
        i = 0 if row == 0 else f + row
        from_i = 0 if row == 0 else i + skip
        for j in range(f + 1 + k):
            stack[size, i, j] = stack[size - 1, from_i, j if j <= f else j + skip]


@kernel
def best_family(table: Floats, mask: int) -> int:
    """The family that attains ``table[mask]``: drop candidates, last ones first, while it stays so.

    Along the way only exact copies of one number are compared, so no tolerance is involved.
    """
    reduced = True
    while reduced:
        reduced = False
        bit = 1
        while bit <= mask:
            bit <<= 1
        while bit > 1:
            bit >>= 1
            if mask & bit and table[mask ^ bit] == table[mask]:
                mask ^= bit
                reduced = True
                break
    return mask
