"""What the others do when some variables are set: responses to one unit of each of these.

With B the direct effects and the rows of the set K struck out, the inverse T of 1 - B has in column
l what one unit of l moves, for l in K: along all paths that meet no other variable of K. Setting
one variable more, or freeing one, changes one row of the matrix, so that T follows by one product:

    setting b:  T - T[:, b] (T[b, :] - e_b) / T_bb,
    freeing b:  T + T[:, b] (B_b T) / (1 - B_b T[:, b]).

Loops are allowed. Where a loop feeds back exactly one unit there is no response; it is then taken
for none, so that a wrong estimate does not end a run.
"""

from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.compile import kernel

LEAST_PIVOT = 1e-9
"""A matrix with a pivot below this is taken for singular."""

NOTHING = 1e-14
"""A response below this is rounding."""


class Responses(NamedTuple):
    """Of several sets, number m from starts[m] to starts[m + 1]: what one unit of variable
    `movers`, which is set, moves `moved`, which is another and free; both have coins.
    """

    starts: Ints
    movers: Ints
    moved: Ints
    sizes: Floats


@kernel
def inverse_of(matrix: Floats) -> Floats:
    """Return the inverse, by elimination with pivots; the unit matrix if there is none."""
    p = len(matrix)
    left, right = matrix.copy(), np.eye(p)
    for c in range(p):
        best = c
        for r in range(c + 1, p):
            if abs(left[r, c]) > abs(left[best, c]):
                best = r
        if not abs(left[best, c]) > LEAST_PIVOT:
            return np.eye(p)
        if best != c:
            for k in range(p):
                left[c, k], left[best, k] = left[best, k], left[c, k]
                right[c, k], right[best, k] = right[best, k], right[c, k]
        one_over = 1.0 / left[c, c]
        for k in range(p):
            left[c, k] *= one_over
            right[c, k] *= one_over
        for r in range(p):
            factor = left[r, c]
            if r != c and factor != 0.0:
                for k in range(p):
                    left[r, k] -= factor * left[c, k]
                    right[r, k] -= factor * right[c, k]
    return right


@kernel
def response(weights: Floats, members: Bools) -> Floats:
    """Return T (p, p) of a set, in column l the response to one unit of l."""
    p = len(weights)
    matrix = np.eye(p)
    for r in range(p):
        if not members[r]:
            for k in range(p):
                matrix[r, k] -= weights[r, k]
    return inverse_of(matrix)


@kernel
def set_one(found: Floats, b: int) -> None:
    """Change T, in place, to that of the set with b as well."""
    p, own = len(found), found[b, b]
    if abs(own) > LEAST_PIVOT:
        row, column = found[b] / own, found[:, b].copy()
        for r in range(p):
            if column[r] != 0.0:
                for k in range(p):
                    found[r, k] -= column[r] * row[k]
                found[r, b] = column[r] / own


@kernel
def onward(weights: Floats, found: Floats, b: int) -> Floats:
    """Return (p,), what one unit of each would move b, were b free."""
    p = len(weights)
    row = np.zeros(p)
    for m in range(p):
        factor = weights[b, m]
        if factor != 0.0:
            for k in range(p):
                row[k] += factor * found[m, k]
    return row


@kernel
def free_one(weights: Floats, found: Floats, b: int) -> None:
    """Change T, in place, to that of the set without b."""
    p, row, column = len(found), onward(weights, found, b), found[:, b].copy()
    left = 1.0 - row[b]
    if abs(left) > LEAST_PIVOT:
        for r in range(p):
            if column[r] != 0.0:
                for k in range(p):
                    found[r, k] += column[r] * row[k] / left


@kernel
def responses_to(weights: Floats, is_coin: Bools, sets: Bools) -> Responses:
    """Return the responses to several sets (m, p)."""
    p, n = len(weights), len(sets)
    starts = np.zeros(n + 1, dtype=np.int64)
    movers, moved, sizes = [0], [0], [0.0]
    for m in range(n):
        found = response(weights, sets[m])
        for i in range(p):
            if sets[m, i]:
                for r in range(p):
                    if is_coin[r] and not sets[m, r] and abs(found[r, i]) > NOTHING:
                        movers.append(i)
                        moved.append(r)
                        sizes.append(found[r, i])
        starts[m + 1] = len(sizes) - 1
    return Responses(
        starts,
        np.array(movers[1:], dtype=np.int64),
        np.array(moved[1:], dtype=np.int64),
        np.array(sizes[1:]),
    )


@kernel
def join(one: Responses, other: Responses) -> Responses:
    """Return the responses of some sets and of others after them."""
    return Responses(
        np.append(one.starts, other.starts[1:] + one.starts[-1]),
        np.append(one.movers, other.movers),
        np.append(one.moved, other.moved),
        np.append(one.sizes, other.sizes),
    )
