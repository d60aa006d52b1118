"""By how much the means move when settings move, for all systems that intervals leave: with proof.

**What is asked.** Some variables, S, are held at values, and all others, F, are free. With A the
direct effects, row j that of variable j, the rows of F say

    x_F  =  A_FF x_F + A_FS x_S + u_F,

where u_F is all that acts on F beside the variables: hidden causes, drift, noise of any kind.
Moving x_S moves nothing of u_F. So if x_S moves by s and the variables of S are held both times, or
stood by themselves where they are said to have been, then x_F moves, in the same round, by

    d  =  (I - A_FF)^-1 (A_FS s),       that is       d  =  b + A_FF d,    b = A_FS s.      (change)

It does not depend on u_F, and so its mean moves by d as well. Levels are another matter: u_F
drifts, and a variable that stands by itself moves with its hidden causes. No level is guaranteed;
all changes are.

**What is certain of it.** On the event E, of probability 1 - delta, on which all intervals of
direct and of total effects hold at all times (`randomized_intervals`, `randomized_totals`), A is in
a box of intervals [A], whatever is asked, and however often, and after whatever was seen: E does
not speak of questions. So every set that (change) leaves of d for all A in the box holds d on E,
for all questions together. Bounds that hold on E may be intersected. These are:

1. *One variable alone is set.* Then d_j = T_jk s_k with the total effect T_jk, which is in its
   interval.

2. *No way.* A variable that no variable that moves leads to, along pairs of F whose interval is not
   zero alone, does not move: with R these, d_R = A_RR d_R has the solution 0, and it has no other
   because I - A_FF, and with it its diagonal block I - A_RR, can be inverted. For a variable j that
   moves, (change) of the variables that lead to j, and of j, has nothing but these in it: a smaller
   problem, in which an interval without bounds somewhere else does no harm.

3. *A fixed point.* For any matrix C, (change) is d = C b + (I - C (I - A_FF)) d. Let A_c, R be the
   middles and radii of [A_FF], b_c, r those of [b], c = C b_c and e = |d - c|. Entry by entry,

       e  <=  |C| r + G (|c| + e),        G = |I - C (I - A_c)| + |C| R.

   If some v > 0 has G v + g < v, g = |C| r + G |c|, then G v < v: the spectral radius of G is below
   1, (I - G)^-1 = I + G + G^2 + ... has no negative entry, and from (I - G) e <= g < (I - G) v
   follows e < v. So d is in c -+ v. v is a solution of v = g + G v, made a little larger; the
   inequality is checked, so nothing depends on how it was found, nor on how exact C is. It is found
   if loops cannot be near to not settling for any A in the box; else there is no bound by this way.
   C is the inverse of I - A_c, and I as a second choice. Without loops among the intervals, G has
   only zeros on and above a diagonal, and there is always a bound.

4. *No loops, by assumption.* If A_ji is not zero, i does not descend from j, so i moves as it would
   without j. With D_i(V) the move of i in the system of the variables V alone,

       d_j = D_j(V),      D_j(V) = b_j + sum of A_ji D_i(V without j) over i in V but j,

   where a term whose A_ji is zero is zero, whatever stands beside it. In interval arithmetic, which
   holds the values of an expression for all values in its intervals, this bounds d whatever loops
   the box still has. For many variables, which have too many V: A_FF of n variables is nilpotent,
   and d = b + A b + ... + A^(n-1) b by Horner's scheme h_0 = b, h_i+1 = b + A h_i, h_(n-1) = d.

5. *Once more.* If d is in X, then by (change) it is in b + [A] X too.

What rounding can do to a sum is added, so that the bounds hold for the numbers as they are stored.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.guarantees.verdicts import Interval
from causalfocus.moments.effect_intervals import Intervals
from causalfocus.system.graph import reach_of
from causalfocus.system.sem import LinearSEM

Basis = Literal["guaranteed", "given the graph", "estimate"]
"""What an interval rests on: on the same evidence and delta as every certificate; on the effects of
the estimate being all there are; or there is no interval."""

ROUNDING: Final = 1e-12
"""Of the sizes of its parts, that a sum may be off: far more than its digits."""

WIDER: Final = 1e-9
"""Share by which a solution is made larger, so that the inequality that it should meet is met."""

MOST_BY_SUBSETS: Final = 7
"""Variables that move, up to which all sets of them are gone through."""

TIMES: Final = 50
"""Bounds are narrowed so often at most; all are valid."""


class Span(NamedTuple):
    """Lowest and highest values, entry by entry."""

    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class EffectBounds:
    """What evidence leaves of all direct and total effects, all at the same time.

    Attributes
    ----------
    direct : of direct effects
    totals : of total effects; None if there are none of their own
    acyclic : whether loops are ruled out by assumption
    basis : what they rest on
    """

    direct: Intervals
    totals: Intervals | None
    acyclic: bool
    basis: Basis

    def change(self, is_set: Bools, steps: Floats) -> Span:
        """Return bounds (p,) of how far every mean moves; infinite where there are none.

        is_set : (p,), the variables that are held
        steps : (p,), by how much each of them moves; 0 for all others
        """
        p, direct = len(is_set), self.direct
        low, high = np.where(is_set, steps, -math.inf), np.where(is_set, steps, math.inf)
        if not (direct.low <= direct.high).all():
            return Span(low, high)
        may_be = ((direct.low != 0.0) | (direct.high != 0.0)) & ~is_set[:, None]
        ways = reach_of(may_be)
        moving = is_set & (steps != 0.0)
        moves = ~is_set & ways[:, moving].any(axis=1)
        low[~is_set & ~moves] = high[~is_set & ~moves] = 0.0
        found, done = Span(low, high), set[bytes]()
        for j in np.flatnonzero(moves):
            part = moves & (ways[j] | (np.arange(p) == j))
            if part.tobytes() not in done:
                done.add(part.tobytes())
                at = np.flatnonzero(part)
                _narrow(found, at, self._part(at, np.flatnonzero(moving), steps))
        if self.totals is not None and is_set.sum() == 1 and moving.any():
            at, k = np.flatnonzero(moves), int(is_set.argmax())
            step, nothing = Span(steps[[k]], steps[[k]]), Span(np.zeros(len(at)), np.zeros(len(at)))
            total = Span(self.totals.low[at][:, [k]], self.totals.high[at][:, [k]])
            _narrow(found, at, _plus_product(nothing, total, step))
        none = found.low > found.high  # not on E: nothing is said
        return Span(np.where(none, -math.inf, found.low), np.where(none, math.inf, found.high))

    def _part(self, at: Ints, moving: Ints, steps: Floats) -> Span:
        """Bounds of some variables to which nothing leads but what moves and each other."""
        block, sources = np.ix_(at, at), np.ix_(at, moving)
        inner = Span(self.direct.low[block], self.direct.high[block])
        outer = Span(self.direct.low[sources], self.direct.high[sources])
        if not all(np.isfinite(one).all() for one in (*inner, *outer)):
            return Span(np.full(len(at), -math.inf), np.full(len(at), math.inf))
        nothing = Span(np.zeros(len(at)), np.zeros(len(at)))
        start = _plus_product(nothing, outer, Span(steps[moving], steps[moving]))
        return bounds_of_solution(inner, start, acyclic=self.acyclic)


def no_bounds(p: int) -> EffectBounds:
    """Return bounds that say nothing of any pair."""
    least = np.where(np.eye(p, dtype=np.bool_), 0.0, -math.inf)
    return EffectBounds(Intervals(least, -least, 0), None, acyclic=False, basis="estimate")


def bounds_given_graph(intervals: Iterable[Interval], estimate: LinearSEM) -> EffectBounds:
    """Return what intervals of the effects of a model leave if there are no others."""
    at = {name: j for j, name in enumerate(estimate.names)}
    low = np.where(estimate.weights != 0.0, -math.inf, 0.0)
    high = -low
    for one in intervals:
        pair = at[one.effect], at[one.cause]
        low[pair], high[pair] = one.low, one.high
    return EffectBounds(Intervals(low, high, 0), None, acyclic=True, basis="given the graph")


def through_means(estimate: LinearSEM, means: Floats) -> LinearSEM:
    """Return a model with the same effects, every equation through the means of its own rounds.

    means : (p, p), of all variables over the rounds of every row; not numbers where there are none
    """
    constants = means.diagonal() - (estimate.weights * means).sum(axis=1)
    return LinearSEM.from_fit(
        estimate.weights,
        estimate.noise_variances,
        np.where(np.isfinite(constants), constants, estimate.intercepts),
        estimate.names,
    )


def bounds_of_solution(inner: Span, start: Span, *, acyclic: bool = False) -> Span:
    """Return bounds of d = b + A d for all A and b within; infinite if none are found.

    Parameters
    ----------
    inner : of A, (n, n), finite
    start : of b, (n,), finite
    acyclic : whether A is known to have no loops, though its bounds may have
    """
    n = len(start.low)
    found = Span(np.full(n, -math.inf), np.full(n, math.inf))
    everything = np.arange(n)
    middle = 0.5 * (inner.low + inner.high)
    for inverse in _near_inverses(middle):
        _narrow(found, everything, _fixed_point(inner, middle, start, inverse))
    if acyclic:
        by_order = _by_subsets if n <= MOST_BY_SUBSETS else _by_powers
        _narrow(found, everything, by_order(inner, start))
    if np.isfinite(found.low).all() and np.isfinite(found.high).all():
        for _ in range(TIMES):
            before = float((found.high - found.low).sum())
            _narrow(found, everything, _plus_product(start, inner, found))
            if float((found.high - found.low).sum()) > (1.0 - WIDER) * before:
                break
    return found


def _near_inverses(middle: Floats) -> list[Floats]:
    """Return choices of C."""
    eye = np.eye(len(middle))
    try:
        inverse = np.asarray(np.linalg.inv(eye - middle), dtype=np.float64)
    except np.linalg.LinAlgError:
        return [eye]
    return [inverse, eye] if np.isfinite(inverse).all() else [eye]


def _fixed_point(inner: Span, middle: Floats, start: Span, inverse: Floats) -> Span:
    """Return the bounds of the third way; infinite if the inequality is not met."""
    n, eye = len(middle), np.eye(len(middle))
    none = Span(np.full(n, -math.inf), np.full(n, math.inf))
    size = np.abs(inverse)
    radii = np.maximum(inner.high - middle, middle - inner.low)
    centre = 0.5 * (start.low + start.high)
    spread = np.maximum(start.high - centre, centre - start.low)
    left = np.abs(eye - inverse @ (eye - middle)) + size @ radii
    left += ROUNDING * (eye + size @ (eye + np.abs(middle)) + size @ radii)
    c = inverse @ centre
    g = size @ spread + left @ np.abs(c) + ROUNDING * (size @ (np.abs(centre) + spread))
    g += ROUNDING * max(float(g.max()), float(np.abs(c).max()), np.finfo(np.float64).tiny)
    try:
        v = (1.0 + WIDER) * np.linalg.solve(eye - left, g)
    except np.linalg.LinAlgError:
        return none
    if not (np.isfinite(v).all() and (v > 0.0).all() and ((left @ v + g) < v).all()):
        return none
    edge = v + ROUNDING * (v + np.abs(c))
    return Span(c - edge, c + edge)


def _by_subsets(inner: Span, start: Span) -> Span:
    """Return the bounds of the fourth way."""
    n = len(start.low)
    found = [Span(np.zeros(n), np.zeros(n)) for _ in range(2**n)]  # zero outside of each V
    for chosen in range(1, 2**n):
        for j in (j for j in range(n) if chosen >> j & 1):
            row = Span(inner.low[[j]], inner.high[[j]])
            own = Span(start.low[[j]], start.high[[j]])
            low, high = _plus_product(own, row, found[chosen ^ (1 << j)])
            found[chosen].low[j], found[chosen].high[j] = low[0], high[0]
    return found[-1]


def _by_powers(inner: Span, start: Span) -> Span:
    """Return those of Horner's scheme."""
    found = start
    for _ in range(len(start.low) - 1):
        found = _plus_product(start, inner, found)
    return found


def _narrow(found: Span, at: Ints, more: Span) -> None:
    """Intersect bounds, in place, at some places."""
    found.low[at] = np.maximum(found.low[at], more.low)
    found.high[at] = np.minimum(found.high[at], more.high)


def _times(one: Span, other: Span) -> Span:
    """Return bounds of products; what is zero is zero times anything. No entry of what is infinite
    meets bounds on both sides of zero here.
    """
    with np.errstate(invalid="ignore"):
        all_four = [a * b for a in one for b in other]
    products = np.stack(np.broadcast_arrays(*(np.where(np.isnan(x), 0.0, x) for x in all_four)))
    return Span(products.min(axis=0), products.max(axis=0))


def _plus_product(start: Span, matrix: Span, vector: Span) -> Span:
    """Return bounds (n,) of b + A x, with what rounding can do."""
    parts = _times(matrix, Span(vector.low[None, :], vector.high[None, :]))
    size = np.maximum(np.abs(parts.low), np.abs(parts.high)).sum(axis=1)
    slack = ROUNDING * (size + np.maximum(np.abs(start.low), np.abs(start.high)))
    return Span(
        start.low + parts.low.sum(axis=1) - slack, start.high + parts.high.sum(axis=1) + slack
    )
