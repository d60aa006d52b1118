"""Exact fit of one row whose coefficients must avoid zero: LocalFit of the paper.

Minimise R(b) = g - 2 b.h + b'Gb (Eq. alternative_expected_residual) where every coefficient lies in
[low, gap_low] or [gap_high, high]. The paper enumerates the sign vectors; here the convex problem
over the hulls [low, high] is solved first and a coefficient is branched on only if it ends up
inside its gap. Every node of the search continues from its parent's solution with a dual
active-set method, whose objective only rises: a branch is left as soon as it reaches the value to
beat.

The working matrix is the symmetric sweep tableau of G: rows and columns of free coefficients are
swept (their block is -G_FF^-1), those of coefficients at a bound are not (their block is the Schur
complement), so one sweep per change of the active set is all the linear algebra there is.

Bound of a branch. Let b be the minimum over a node's box and y its multipliers. The Lagrangian
R(b) - 2 y.(b - bounds) has the unconstrained minimum R* and the Hessian 2G, and it is below R on
the box. So moving coefficient k by d costs at least d^2 / (G^-1)_kk on top of R*, with the inverse
of the whole G, whatever bounds are active.

Ill-conditioned G. Moments carry 106 bits, as a high and a low part. If the variance inflation
G_kk (G^-1)_kk of a coefficient exceeds CAREFUL, or R is below PRECISE of g, 53 bits are not enough:
the tableau is then rebuilt from G in double-double arithmetic after every change, free coordinates
only, and R is evaluated in it too. If even that G is singular (inflation above SINGULAR), a ridge
of RIDGE * G_kk is added to the diagonal and R reported without it. By optimality the reported R
exceeds the minimum by at most the ridge's weight times |b*|^2 - |b|^2, where b* is the nearest
minimiser: along exactly flat directions b* - b is itself of the order of the ridge, and along
directions that are flat to 1 / SINGULAR the residual hardly depends on b. Of the many minimisers
the ridge picks one with small coefficients. In a ridged search nothing is pruned by the bounds of
branches, only by R itself. Moments that were rounded to 53 bits before they came here may be
indefinite; the ridge then grows until they are not.

A variable that is zero throughout gets the allowed coefficient closest to zero, the positive one
first.
"""

import math

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.records import Row
from causalfocus.kernels.search.tableau import (
    AT_HIGH,
    AT_LOW,
    BOX_HIGH,
    BOX_LOW,
    FREE,
    INVERSE,
    B,
    Workspace,
    Y,
    fit_free,
    load,
    objective,
    plain_objective,
    rebuild,
    sweep,
)

SINGULAR = 1e22
RIDGE = 1e-16
LARGEST_RIDGE = 1e-7
PLAIN_MODE, CAREFUL_MODE, RIDGED_MODE = 0, 1, 2
BOUND_SLACK = 1e-13
"""A coefficient this close to its bound, relatively, is at the bound: far below what moves R."""

LOW, GAP_LOW, GAP_HIGH, HIGH = 0, 1, 2, 3
"""Rows of the array `allowed`: column i allows [LOW, GAP_LOW] and [GAP_HIGH, HIGH]."""


@kernel
def _step_to_bound(
    work: Workspace, level: int, s: int, q: int, mode: int, residual: float
) -> float:
    """Move free coordinate q to its violated bound and fix it there; return the new residual.

    Other coordinates leave their bounds when their multiplier changes sign on the way (the dual
    method of Goldfarb and Idnani, for boxes).
    """
    tableau, state, where = work.tableau, work.state, work.where
    problem = work.problem
    goes_up = state[level, B, q] < state[level, BOX_LOW, q]
    bound = state[level, BOX_LOW, q] if goes_up else state[level, BOX_HIGH, q]
    leaves = q
    while leaves >= 0:
        z_q = -tableau[level, q, q]
        step = (bound - state[level, B, q]) / z_q
        leaves = -1
        for i in range(s):
            side = where[level, i]
            if side == FREE or state[level, BOX_LOW, i] == state[level, BOX_HIGH, i]:
                continue
            slack = max(-side * state[level, Y, i], 0.0)
            if side * step * tableau[level, i, q] > slack:
                step = side * slack / tableau[level, i, q]
                leaves = i
        for i in range(s):
            if where[level, i] == FREE:
                state[level, B, i] -= step * tableau[level, i, q]
            else:
                state[level, Y, i] += step * tableau[level, i, q]
        residual += z_q * step * (2.0 * state[level, Y, q] + step)
        state[level, Y, q] += step
        if leaves >= 0:
            state[level, Y, leaves] = 0.0
            where[level, leaves] = FREE
        else:
            state[level, B, q] = bound
            where[level, q] = AT_LOW if goes_up else AT_HIGH
        if mode != PLAIN_MODE:
            rebuild(work, level, s)
            residual = objective(problem, s, state[level, B])
        elif leaves >= 0:
            sweep(tableau, level, leaves, s, 1.0)
        else:
            sweep(tableau, level, q, s, -1.0)
    return residual


@kernel
def _solve_box(
    work: Workspace, level: int, s: int, mode: int, residual: float, cutoff: float
) -> float:
    """Continue from a dual feasible state to the minimum over the box; return it, or infinity if it
    is above the cutoff.
    """
    tableau, state, where = work.tableau, work.state, work.where
    for _ in range(100 * (s + 1)):
        if residual >= cutoff:
            return math.inf
        q, worst = -1, 0.0
        for i in range(s):
            if where[level, i] != FREE:
                continue
            value = state[level, B, i]
            short = max(state[level, BOX_LOW, i] - value, value - state[level, BOX_HIGH, i])
            if short > BOUND_SLACK * abs(value):
                gain = short * short / -tableau[level, i, i]
                if q < 0 or gain > worst:
                    q, worst = i, gain
        if q < 0:
            return residual
        residual = _step_to_bound(work, level, s, q, mode, residual)
    raise ArithmeticError("the active-set method did not end")


@kernel
def _gap_coordinate(state: Floats, level: int, s: int, allowed: Floats) -> tuple[int, float]:
    """Return the coefficient inside its gap whose repair costs most, and the cost; -1 if there is
    none.
    """
    found, worst = -1, 0.0
    for i in range(s):
        value = state[level, B, i]
        inside = min(value - allowed[GAP_LOW, i], allowed[GAP_HIGH, i] - value)
        if inside > BOUND_SLACK * (allowed[GAP_HIGH, i] - allowed[GAP_LOW, i]):
            rise = inside * inside / state[0, INVERSE, i]
            if found < 0 or rise > worst:
                found, worst = i, rise
    return found, worst


@kernel
def _descend(work: Workspace, level: int, s: int) -> None:
    """Copy a level of the search to the next one."""
    tableau, state, where = work.tableau, work.state, work.where
    for i in range(s):
        for k in range(s):
            tableau[level + 1, i, k] = tableau[level, i, k]
        for row in range(4):
            state[level + 1, row, i] = state[level, row, i]
        where[level + 1, i] = where[level, i]


@kernel
def _solve_node(
    work: Workspace, level: int, s: int, mode: int, start: float, cutoff: float
) -> tuple[float, float]:
    """Return the minimum over the box of a node: with the ridge's penalty, and without."""
    state, problem = work.state, work.problem
    if mode != RIDGED_MODE:
        value = _solve_box(work, level, s, mode, start, cutoff)
        return value, value
    penalised = _solve_box(work, level, s, mode, start, math.inf)
    residual = penalised
    for i in range(s):
        residual -= problem[0, s + 1, i] * state[level, B, i] ** 2
    return penalised, residual


@kernel
def _search(
    work: Workspace,
    s: int,
    mode: int,
    start: float,
    allowed: Floats,
    cutoff: float,
    best: Floats,
) -> float:
    """Return the minimum over the allowed coefficients, from the unconstrained fit in level 0.

    start : its residual, penalty included.

    Depth first. The side of a gap that is nearer is searched first, the positive one when both are
    equally near, and the first of equal minima is kept.
    """
    tableau, state = work.tableau, work.state
    values = np.empty((s + 1, 2))
    branched = np.empty(s + 1, dtype=np.int64)
    sides_left = np.zeros(s + 1, dtype=np.int64)
    for i in range(s):
        state[0, BOX_LOW, i] = allowed[LOW, i]
        state[0, BOX_HIGH, i] = allowed[HIGH, i]
        state[0, INVERSE, i] = math.inf if mode == RIDGED_MODE else -tableau[0, i, i]
    found = math.inf
    values[0] = _solve_node(work, 0, s, mode, start, cutoff)
    level, is_new = 0, True
    while level >= 0:
        residual = values[level, 1]
        if is_new:
            is_new = False
            k, rise = _gap_coordinate(state, level, s, allowed)
            branched[level] = k
            sides_left[level] = 2
            if k < 0 and residual < cutoff:
                found = cutoff = residual
                for i in range(s):
                    best[i] = _snap(state[level, B, i], allowed, i)
            if k < 0 or residual + rise >= cutoff:
                sides_left[level] = 0
        if sides_left[level] == 0:
            level -= 1
            continue
        k = branched[level]
        value = state[level, B, k]
        nearer_high = allowed[GAP_HIGH, k] - value <= value - allowed[GAP_LOW, k]
        upper = nearer_high == (sides_left[level] == 2)
        sides_left[level] -= 1
        away = allowed[GAP_HIGH, k] - value if upper else value - allowed[GAP_LOW, k]
        if residual + away * away / state[0, INVERSE, k] >= cutoff:
            continue
        _descend(work, level, s)
        if upper:
            state[level + 1, BOX_LOW, k] = allowed[GAP_HIGH, k]
        else:
            state[level + 1, BOX_HIGH, k] = allowed[GAP_LOW, k]
        values[level + 1] = _solve_node(work, level + 1, s, mode, values[level, 0], cutoff)
        if values[level + 1, 1] < cutoff:
            level += 1
            is_new = True
    return max(found, 0.0)


@kernel
def _snap(value: float, allowed: Floats, i: int) -> float:
    """Return the value, moved onto an allowed interval if rounding left it just outside."""
    value = min(max(value, allowed[LOW, i]), allowed[HIGH, i])
    if allowed[GAP_LOW, i] < value < allowed[GAP_HIGH, i]:
        nearer_high = allowed[GAP_HIGH, i] - value <= value - allowed[GAP_LOW, i]
        value = allowed[GAP_HIGH, i] if nearer_high else allowed[GAP_LOW, i]
    return value


@kernel
def fit_row(
    row: Row,
    members: Ints,
    allowed: Floats,
    cutoff: float,
    work: Workspace,
    best: Floats,
) -> float:
    """Write the best allowed coefficients of a row on the members; return its residual.

    Infinity, and `best` is of no use, if the minimum is not below the cutoff.

    allowed : (4, s or more), see LOW to HIGH
    """
    high = row.high
    s = len(members)
    n_idle = 0
    for i in range(s):
        if not high[members[i], members[i]] > 0.0:
            n_idle += 1
    if n_idle == 0:
        return _fit_varying(row, members, allowed, cutoff, work, best)
    varying = np.empty(s - n_idle, dtype=np.int64)
    at = np.empty(s - n_idle, dtype=np.int64)
    sets = np.empty((4, s - n_idle))
    n = 0
    for i in range(s):
        best[i] = _snap(0.0, allowed, i)
        if high[members[i], members[i]] > 0.0:
            varying[n], at[n] = members[i], i
            sets[:, n] = allowed[:, i]
            n += 1
    fitted = np.empty(n)
    found = _fit_varying(row, varying, sets, cutoff, work, fitted)
    for i in range(n):
        best[at[i]] = fitted[i]
    return found


@kernel
def _fit_varying(
    row: Row,
    members: Ints,
    allowed: Floats,
    cutoff: float,
    work: Workspace,
    best: Floats,
) -> float:
    """Do `fit_row` for members that all vary, as carefully as their G demands."""
    state, where, problem = work.state, work.where, work.problem
    s = len(members)
    for i in range(s):
        where[0, i] = FREE
        state[0, Y, i] = 0.0
    load(row, members, 0.0, problem)
    start = fit_free(work, s)
    mode = PLAIN_MODE
    if start < 0.0:
        mode = CAREFUL_MODE
        if not rebuild(work, 0, s) < SINGULAR:
            mode = RIDGED_MODE
            ridge = RIDGE
            load(row, members, ridge, problem)
            while not rebuild(work, 0, s) < math.inf:
                ridge *= 100.0
                if ridge > LARGEST_RIDGE:
                    raise ArithmeticError("a Gram matrix is not positive semidefinite")
                load(row, members, ridge, problem)
        start = objective(problem, s, state[0, B])
    found = _search(work, s, mode, start, allowed, cutoff, best)
    if found < math.inf and mode == PLAIN_MODE:
        found = plain_objective(problem, s, best)
    elif found < math.inf:
        load(row, members, 0.0, problem)
        found = objective(problem, s, best)
    return found


@kernel
def two_intervals(s: int, min_effect: float, max_effect: float) -> Floats:
    """Return the allowed coefficients of the model class: min_effect <= |b| <= max_effect."""
    allowed = np.empty((4, s))
    allowed[LOW] = -max_effect
    allowed[GAP_LOW] = -min_effect
    allowed[GAP_HIGH] = min_effect
    allowed[HIGH] = max_effect
    return allowed
