"""Intervals of all total effects by the coins, at all times and together with the direct ones.

Every ordered pair that some way may lead along has one test, of the rounds in which its cause alone
was set (`moments.total_sums`, `kernels.randomized.totals`). Their share of delta (`portions`) is
shared by all of them in equal parts, but for those that are asked for: with the directions, the
tests of all coins and the guardrails it is part of one union, so that all direct and all total
effects are in their intervals at all times, except with probability delta.

On the same event more is known, at no price (`totals_at`):

- If no way leads from k to j over pairs whose direct effect may be other than zero, the total
  effect is zero. Let D be the variables that k reaches and R the others, without k: no row of R has
  an effect of D or k, so x_R = A_RR x_R + u_R, which the coin of k does not influence.
- If no cause that j may have, but k, is reached from k, then x_j = A_jk x_k + (what the coin of k
  does not influence): the total effect is the direct one, and in its interval.

A pair may be other than zero if it is not known to be zero (outcomes, forbidden effects) and its
interval, which holds the truth on that event, is not zero alone.
"""

import math
from typing import Final

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.guarantees.portions import Scope, pairs_on_a_way, total_nats
from causalfocus.kernels.randomized.box import SAFETY
from causalfocus.kernels.randomized.totals import SCALE, Totals, bound_totals
from causalfocus.moments.effect_intervals import Intervals, no_intervals

LEAST_ROUNDS: Final = 1.0


def no_total_intervals(unknown: Bools) -> Intervals:
    """Return the intervals before the first round: zero where no way leads, else without bounds."""
    return no_intervals(pairs_on_a_way(unknown))


def totals_at(
    totals: Totals, scope: Scope, level: float, direct: Intervals, within: Intervals
) -> Intervals:
    """Return the intervals of all total effects at a level in nats, log(1 / delta).

    Parameters
    ----------
    totals : sums of the rounds that are complete
    scope : what is asked, by which delta is shared out
    direct : intervals of these at the same level
    within : the intersection of those of total effects at earlier looks, in which what is
        returned lies
    """
    low, high = _bounds(totals, level + total_nats(scope) + SAFETY)
    may_be = scope.unknown & ((direct.low != 0.0) | (direct.high != 0.0))
    ways = pairs_on_a_way(may_be)
    is_direct = ways & ~(may_be.astype(np.float64) @ ways > 0.0)
    low = np.where(is_direct, np.maximum(low, direct.low), np.where(ways, low, 0.0))
    high = np.where(is_direct, np.minimum(high, direct.high), np.where(ways, high, 0.0))
    return within.intersect(Intervals(low, high, direct.rounds))


def _bounds(totals: Totals, nats: Floats) -> tuple[Floats, Floats]:
    """Return the bounds (p, p) that the tests leave at nats (p, p), of which few are different."""
    low, high = np.full(nats.shape, -math.inf), np.full(nats.shape, math.inf)
    for h in np.unique(nats).tolist():
        lowest, highest = bound_totals(totals, h)
        low, high = np.where(nats == h, lowest, low), np.where(nats == h, highest, high)
    return low, high


def nats_for_total(level: float, scope: Scope, rounds: float) -> Floats:
    """(p, p), what the tests of total effects have to reach after so many rounds with the cause
    alone, at a level: the h of `half_width_of_total`.
    """
    found: Floats = level + total_nats(scope) + 0.5 * math.log1p(max(rounds, LEAST_ROUNDS) / SCALE)
    return found


def half_width_of_total(
    nats: Floats | float, variance: Floats, rounds: Floats, half_range: Floats
) -> Floats:
    """Return the half width H that is foretold, to first order: H^2 = 2 h v / (n s^2).

    All may be arrays that fit each other.

    Parameters
    ----------
    nats : h, see `nats_for_total`
    variance : v, of what the cause does not explain of the effect while it alone is set
    rounds : n, with the cause alone set
    half_range : s, of the coin; 0 where there is none
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.sqrt(2.0 * nats * variance / rounds) / half_range
    return np.where(np.isnan(found), math.inf, found)


def rounds_for_total(
    nats: Floats | float, variance: Floats, half_width: Floats, half_range: Floats
) -> Floats:
    """Return the rounds n at which `half_width_of_total` is a given half width."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = 2.0 * nats * variance / (half_width * half_range) ** 2
    return np.where(np.isnan(found), math.inf, found)


def totals_of(weights: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Return the total effects (p, p) of a system, and the variance of what is not the cause's of
    every effect while the cause alone is set. With C = (I - A)^-1 and S = C N C' they are T = C_jk
    / C_kk and S_jj - 2 T S_jk + T^2 S_kk: of x_j - T x_k, the same whether k is set or not. What no
    inverse tells is infinite, or not a number.
    """
    p = len(weights)
    try:
        solved = np.linalg.inv(np.eye(p) - weights)
    except np.linalg.LinAlgError:
        return np.full((p, p), math.nan), np.full((p, p), math.inf)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        totals = solved / solved.diagonal()
        spread = (solved * noise) @ solved.T
        own = spread.diagonal()
        variance = own[:, None] - 2.0 * totals * spread + totals**2 * own
    return totals, np.maximum(variance, 0.0)
