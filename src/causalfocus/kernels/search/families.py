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

The walk works with 53 bits. A family for which they are not enough (a large variance inflation, or
a residual that is a small part of the node's sum of squares) is fitted on its own, with care; so
are all that contain it, since inflation only grows and the residual only falls with more members.

Coefficients below min_effect can be had at a price: the least-squares fit then competes too, its
residual multiplied by the price once for every coefficient that is not allowed. For a row without
limits on its noise that is a fixed number of nats for each of them.

Where something is known of the parents beforehand, U has a residual only if it holds those that are
needed; sets with one that is not possible have that of what is left without it. Neither is fitted.
No family with an impossible member lies on the way to one without, so the walk leaves them out.

A family must beat its subsets by more than TIE of their residual. This is the rule for ties, fewer
parents first, and it is also the accuracy to which the minima are exact.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.records import Bounds, Families, Row
from causalfocus.kernels.search.row_fit import fit_row, two_intervals
from causalfocus.kernels.search.tableau import CAREFUL, PRECISE, Workspace, workspace

TIE = 1e-12
TIE_OF_TOTAL = 1e-26
"""Share of the node's sum of squares below which a residual is nothing."""


class FreeFit(NamedTuple):
    """The unconstrained fit of a family.

    Attributes
    ----------
    value : residual at its price, infinity if it is not allowed
    bound : a lower bound of the constrained residual
    is_regular : whether 53 bits are enough for all this; if not, the first two are infinity and
        zero
    """

    value: float
    bound: float
    is_regular: bool


@kernel
def residual_table(
    row: Row,
    candidates: Ints,
    bounds: Bounds,
    families: Families,
    price: float,
    table: Floats,
) -> int:
    """Fill ``table[mask]`` for all masks over the candidates; return the number of searches.

    Parameters
    ----------
    row : moments of node j
    candidates : indices of the possible parents; bit i of a mask stands for candidates[i]
    bounds : the class; of the noise nothing is read
    families : that may be chosen; one that is excluded does not prune its supersets either
    price : factor on the residual for each coefficient that is not allowed; infinity for never
    table : (2**m,), written; infinity where nothing is left
    """
    gram, target = row.high, row.target
    needed, possible, excluded = families
    m = len(candidates)
    nothing = TIE_OF_TOTAL * gram[target, target]
    allowed = two_intervals(m, bounds.smallest, bounds.largest)
    work = workspace(m)
    best = np.empty(m)
    stack, members = np.empty((m + 1, m + 1, m + 1)), np.empty((m + 1, 2, m))
    n_open, is_regular = np.zeros(m + 1, dtype=np.int64), np.ones(m + 1, dtype=np.bool_)
    searches = 0
    first_tableau(row, candidates, stack)
    n_open[0] = m
    table[0] = math.inf if excluded == 0 or needed != 0 else gram[target, target]
    for mask in range(1, 1 << m):
        least, size, rest = math.inf, 0, mask
        while rest:
            without = mask ^ (rest & -rest)
            least = min(least, table[without])
            rest &= rest - 1
            size += 1
        if mask & ~possible:
            table[mask] = least
            continue
        k = 0
        while not (mask >> k) & 1:
            k += 1
        to_beat = least * (1.0 - TIE) - nothing
        parent = size - 1
        at = parent + n_open[parent] - k
        own_size = gram[candidates[k], candidates[k]]

        free = FreeFit(math.inf, 0.0, False)
        if is_regular[parent] and stack[parent, at, at] * CAREFUL > own_size:
            free = _free_fit(stack, members, size, at, bounds, price)
        value = free.value
        if mask == excluded or needed & ~mask:
            value = math.inf
        elif free.bound < min(value, to_beat):
            searches += 1
            chosen = _chosen_members(mask, size, candidates)
            if price < math.inf and not free.is_regular:
                value = priced_fit(row, chosen, bounds, price, work, best)
            value = min(value, fit_row(row, chosen, allowed, min(value, to_beat), work, best))
        table[mask] = value if value < to_beat else least

        if k > 0:
            is_regular[size] = free.is_regular
            n_open[size] = k
            if free.is_regular:
                push_tableau(stack, members, size, at, k, own_size)
    return searches


@kernel
def _chosen_members(mask: int, size: int, candidates: Ints) -> Ints:
    """Return the candidates in a mask."""
    chosen = np.empty(size, dtype=np.int64)
    n = 0
    for i in range(len(candidates)):
        if (mask >> i) & 1:
            chosen[n] = candidates[i]
            n += 1
    return chosen


@kernel
def first_tableau(row: Row, candidates: Ints, stack: Floats) -> None:
    """Write the tableau of no members: index 0 is the target; candidate i stands at m - i, so that
    the open ones are the last.
    """
    gram, target = row.high, row.target
    m = len(candidates)
    stack[0, 0, 0] = gram[target, target]
    for i in range(m):
        stack[0, 0, m - i] = gram[target, candidates[i]]
        stack[0, m - i, 0] = stack[0, 0, m - i]
        for k in range(m):
            stack[0, m - i, m - k] = gram[candidates[i], candidates[k]]


@kernel
def _free_fit(
    stack: Floats,
    members: Floats,
    size: int,
    at: int,
    bounds: Bounds,
    price: float,
) -> FreeFit:
    """Return the fit of a regular parent and the candidate at `at`."""
    smallest, largest = bounds.smallest, bounds.largest
    parent = size - 1
    pivot = stack[parent, at, at]
    one_over = 1.0 / pivot
    slope = stack[parent, at, 0] * one_over
    residual = stack[parent, 0, 0] - slope * stack[parent, at, 0]
    regular = residual > PRECISE * stack[0, 0, 0]
    away = max(smallest - abs(slope), abs(slope) - largest)
    factor, rise = 1.0, 0.0
    if away > 0.0:
        factor, rise = price, away * away * pivot
    for i in range(1, size):
        tilt = stack[parent, at, i]
        inverse = members[parent, 0, i - 1] + tilt * tilt * one_over
        regular = regular and inverse * members[parent, 1, i - 1] < CAREFUL
        b = abs(stack[parent, 0, i] - tilt * slope)
        away = max(smallest - b, b - largest)
        if away > 0.0:
            factor *= price
            rise = max(rise, away * away / inverse)
    if not regular:
        return FreeFit(math.inf, 0.0, False)
    return FreeFit(residual * factor, residual + rise, True)


@kernel
def priced_fit(
    row: Row,
    members: Ints,
    bounds: Bounds,
    price: float,
    work: Workspace,
    best: Floats,
) -> float:
    """Write the least-squares coefficients of a family; return its residual at its price, infinity
    if that is infinite.
    """
    s = len(members)
    anything = two_intervals(s, 0.0, math.inf)
    residual = fit_row(row, members, anything, math.inf, work, best)
    for i in range(s):
        if not bounds.smallest <= abs(best[i]) <= bounds.largest:
            if price == math.inf:
                return math.inf
            residual *= price
    return residual


@kernel
def push_tableau(
    stack: Floats, members: Floats, size: int, at: int, k: int, own_size: float
) -> None:
    """Write the child tableau: target, the parent's members, the new one, and the k candidates
    below it.

    Rows of swept members are not kept; their column entries in the other rows are. `members` holds
    their diagonals of the inverse and of G.
    """
    parent = size - 1
    one_over = 1.0 / stack[parent, at, at]
    skip = at - size
    for i in range(parent):
        tilt = stack[parent, at, i + 1]
        members[size, 0, i] = members[parent, 0, i] + tilt * tilt * one_over
        members[size, 1, i] = members[parent, 1, i]
    members[size, 0, parent] = one_over
    members[size, 1, parent] = own_size
    for row in range(k + 1):
        i = 0 if row == 0 else size + row
        from_i = 0 if row == 0 else i + skip
        tilt = stack[parent, from_i, at] * one_over
        for j in range(size):
            stack[size, i, j] = stack[parent, from_i, j] - tilt * stack[parent, at, j]
        stack[size, i, size] = tilt
        for j in range(size + 1, size + 1 + k):
            stack[size, i, j] = stack[parent, from_i, j + skip] - tilt * stack[parent, at, j + skip]


@kernel
def best_family(scores: Floats, mask: int, tolerance: float) -> int:
    """Return the smallest family whose score is that of ``scores[mask]``, to the tolerance.

    Candidates are dropped while the score stays, the last ones first.
    """
    highest = scores[mask] + tolerance
    reduced = True
    while reduced:
        reduced = False
        bit = 1
        while bit <= mask:
            bit <<= 1
        while bit > 1:
            bit >>= 1
            if mask & bit and scores[mask ^ bit] <= highest:
                mask ^= bit
                reduced = True
                break
    return mask
