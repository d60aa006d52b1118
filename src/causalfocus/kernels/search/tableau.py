"""Sweep tableaus of a least-squares problem, in 53 or 106 bits: the linear algebra of row fits.

The tableau of a Gram matrix G holds -G_FF^-1 on the swept (free) coordinates, the Schur complement
on the others (fixed), and between them G_FF^-1 G_F,rest; one sweep moves a coordinate from one
side to the other. Where 53 bits are not enough the tableau is rebuilt in double-double arithmetic
instead of updated.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic import double_double as dd
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.records import Row

CAREFUL = 1e6
"""Variance inflation up to which 53 bits are enough."""

PRECISE = 1e-6
"""Share of the node's sum of squares down to which a residual is known with 53 bits."""

B, Y, BOX_LOW, BOX_HIGH, INVERSE = 0, 1, 2, 3, 4
"""Rows of a search state: coefficients, half the gradient (zero where free), the box, and, at the
root only, the diagonal of G^-1."""

FREE, AT_LOW, AT_HIGH = 0, -1, 1


class Workspace(NamedTuple):
    """Room for searches with up to s coefficients.

    Attributes
    ----------
    tableau : (s + 1, s, s), per level of the search
    state : (s + 1, 5, s), per level; rows B to INVERSE
    where : (s + 1, s), per level: FREE, AT_LOW or AT_HIGH
    problem : (2, s + 3, s + 1), high and low parts of G with the ridge, h, the ridge, and g in a
        corner
    wide : (2, s, s + 1), a tableau with its right side, high and low parts
    """

    tableau: Floats
    state: Floats
    where: Ints
    problem: Floats
    wide: Floats


@kernel
def workspace(s: int) -> Workspace:
    """Return room for searches with up to s coefficients."""
    return Workspace(
        np.empty((s + 1, s, s)),
        np.empty((s + 1, 5, s)),
        np.empty((s + 1, s), dtype=np.int64),
        np.zeros((2, s + 3, s + 1)),
        np.empty((2, s, s + 1)),
    )


@kernel
def sweep(tableau: Floats, level: int, k: int, s: int, sign: float) -> None:
    """Sweep coordinate k in (sign +1: it becomes free) or out (sign -1: it becomes fixed)."""
    one_over = 1.0 / tableau[level, k, k]
    for i in range(s):
        if i != k:
            factor = tableau[level, i, k] * one_over
            for j in range(s):
                tableau[level, i, j] -= factor * tableau[level, k, j]
            tableau[level, i, k] = sign * factor
    for i in range(s):
        tableau[level, k, i] = tableau[level, i, k]
    tableau[level, k, k] = -one_over


@kernel
def load(row: Row, members: Ints, ridge: float, problem: Floats) -> None:
    """Write the least-squares problem of a family, its diagonal raised by `ridge` of itself."""
    high, low, target = row.high, row.low, row.target
    s = len(members)
    for i in range(s):
        for k in range(s):
            problem[0, i, k] = high[members[i], members[k]]
            problem[1, i, k] = low[members[i], members[k]]
        problem[0, s, i] = high[members[i], target]
        problem[1, s, i] = low[members[i], target]
        penalty = ridge * problem[0, i, i]
        problem[0, s + 1, i] = penalty
        problem[0, i, i], problem[1, i, i] = dd.add(
            problem[0, i, i], problem[1, i, i], penalty, 0.0
        )
    problem[0, s + 2, 0] = high[target, target]
    problem[1, s + 2, 0] = low[target, target]


@kernel
def fit_free(work: Workspace, s: int) -> float:
    """Write plain tableau and coefficients at level 0, all free; return R, or -1 if 53 bits are not
    enough.
    """
    tableau, state, problem = work.tableau, work.state, work.problem
    residual = problem[0, s + 2, 0]
    for i in range(s):
        for k in range(s):
            tableau[0, i, k] = problem[0, i, k]
        state[0, B, i] = problem[0, s, i]
    for i in range(s):
        if not tableau[0, i, i] * CAREFUL > problem[0, i, i]:
            return -1.0
        slope = state[0, B, i] / tableau[0, i, i]
        residual -= slope * state[0, B, i]
        for k in range(s):
            state[0, B, k] -= tableau[0, k, i] * slope
        state[0, B, i] = slope
        sweep(tableau, 0, i, s, 1.0)
    for i in range(s):
        if not -tableau[0, i, i] * problem[0, i, i] < CAREFUL:
            return -1.0
    return residual if residual > PRECISE * problem[0, s + 2, 0] else -1.0


@kernel
def rebuild(work: Workspace, level: int, s: int) -> float:
    """Write tableau, free coefficients and multipliers from G, given which coordinates are fixed.

    In double-double arithmetic. A free coordinate keeps its multiplier, if it has one (it is on its
    way to a bound). Returns the largest variance inflation of a free coordinate; infinity if a
    pivot vanishes.
    """
    tableau, state, where = work.tableau, work.state, work.where
    problem, wide = work.problem, work.wide
    for i in range(s):
        rest, rest_low = problem[0, s, i], problem[1, s, i]
        for k in range(s):
            wide[0, i, k], wide[1, i, k] = problem[0, i, k], problem[1, i, k]
            if where[level, k] != FREE:
                part, part_low = dd.multiply(
                    problem[0, i, k], problem[1, i, k], state[level, B, k], 0.0
                )
                rest, rest_low = dd.add(rest, rest_low, -part, -part_low)
        if where[level, i] == FREE:
            rest, rest_low = dd.add(rest, rest_low, state[level, Y, i], 0.0)
        wide[0, i, s], wide[1, i, s] = rest, rest_low
    for k in range(s):
        if where[level, k] == FREE:
            if not wide[0, k, k] > 0.0:
                return math.inf
            wide_sweep(wide, k, s)
    largest = 1.0
    for i in range(s):
        for k in range(s):
            tableau[level, i, k] = wide[0, i, k]
        if where[level, i] == FREE:
            state[level, B, i] = wide[0, i, s]
            largest = max(largest, -wide[0, i, i] * problem[0, i, i])
        else:
            state[level, Y, i] = -wide[0, i, s]
    return largest


@kernel
def wide_sweep(wide: Floats, k: int, s: int) -> None:
    """Sweep coordinate k in, in double-double; column s is the right side."""
    pivot, pivot_low = wide[0, k, k], wide[1, k, k]
    for i in range(s):
        if i == k:
            continue
        factor, factor_low = dd.divide(wide[0, i, k], wide[1, i, k], pivot, pivot_low)
        for j in range(s + 1):
            if j != k:
                part, part_low = dd.multiply(factor, factor_low, wide[0, k, j], wide[1, k, j])
                wide[0, i, j], wide[1, i, j] = dd.add(
                    wide[0, i, j], wide[1, i, j], -part, -part_low
                )
        wide[0, i, k], wide[1, i, k] = factor, factor_low
    wide[0, k, s], wide[1, k, s] = dd.divide(wide[0, k, s], wide[1, k, s], pivot, pivot_low)
    for i in range(s):
        if i != k:
            wide[0, k, i], wide[1, k, i] = wide[0, i, k], wide[1, i, k]
    one_over, one_over_low = dd.divide(1.0, 0.0, pivot, pivot_low)
    wide[0, k, k], wide[1, k, k] = -one_over, -one_over_low


@kernel
def objective(problem: Floats, s: int, b: Floats) -> float:
    """Return R(b) from its definition, in double-double: an error of b is of second order."""
    value, value_low = problem[0, s + 2, 0], problem[1, s + 2, 0]
    for i in range(s):
        inner, inner_low = -2.0 * problem[0, s, i], -2.0 * problem[1, s, i]
        for k in range(s):
            part, part_low = dd.multiply(problem[0, i, k], problem[1, i, k], b[k], 0.0)
            inner, inner_low = dd.add(inner, inner_low, part, part_low)
        part, part_low = dd.multiply(inner, inner_low, b[i], 0.0)
        value, value_low = dd.add(value, value_low, part, part_low)
    return max(value, 0.0)


@kernel
def plain_objective(problem: Floats, s: int, b: Floats) -> float:
    """Return R(b) from its definition, where 53 bits are enough."""
    value = problem[0, s + 2, 0]
    for i in range(s):
        inner = -2.0 * problem[0, s, i]
        for k in range(s):
            inner += problem[0, i, k] * b[k]
        value += inner * b[i]
    return value
