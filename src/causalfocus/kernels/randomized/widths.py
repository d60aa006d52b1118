"""How wide the intervals of all effects will be after given rounds, and what one more is worth.

Row j is tested in rounds with j free. With s_i the half range of i, N_i the number of these rounds
with i set and M[i, r] the mean over them of what one unit of i moves r (`responses`), the tests of
the coins move by N_i s_i M[i, r] per unit of coefficient r, and each has the noise N_i v_j, v_j the
variance of the residual; their noises are uncorrelated, because the coins are independent. The
combination w of coins that coefficient k alone moves has w_i = C_ik / (N_i s_i) with C the inverse
of M transposed, and at h nats

    H_jk^2  =  2 h v_j sum_i w_i^2 N_i  =  2 h v_j sum_i C_ik^2 / (N_i s_i^2).

Variables without a coin are no regressors: what goes through them is part of the responses. Nor
are those that are known not to act on j: C is the inverse without their rows and columns, and their
own coins are left out, though some might help. This is exact to first order, for loops and for any
sets, where N counts the rounds that M is the mean of. What the coins moved in rounds that are
covered already is given; where it is not, they are taken to have moved what the others move on
average, so that M does not change with the number of others.

**Worth.** Let f_jk = H_jk^2 / radius_jk^2, y_jk be prices, n_K the rounds with the set K and n_i
the rounds that M is the mean of with i set and j free. N_i grows with every round with i set, and
M_ir moves by (T_ri - M_ir) / n_i, T the response in this round; dC = -C dM' C. So one more round
with K is worth

    sum over j not in K, i in K of  q_ji + 2 sum_r Z_jir (T_ri - M_jir),
        q_ji = sum_k x_jk C_ik^2 / (N_i^2 s_i^2),   x_jk = 2 h v_j y_jk / radius_jk^2,
        Z_jir = sum_k x_jk C_ik U_rk / n_i,   U_rk = sum_l C_lr C_lk / (N_l s_l^2).

The part with q is a directed cut. The rest says that it is good to set what the coin would move.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.responses import (
    LEAST_PIVOT,
    Responses,
    inverse_of,
    response,
)


class Stand(NamedTuple):
    """What is asked and known: direct effects (p, p), the half ranges of coins (p,), 0 for none,
    and f of every pair for a coin of half range one, tossed once: scales (p, p), 0 where nothing
    is asked. Rounds so far with the column's variable set and the row's free: covered (p, p). Which
    effects there may be: may_act (p, p); nothing else is asked. What the coins moved in rounds so
    far: moved (p, p, p), as in `Means`, of no rows where that is not known.
    """

    weights: Floats
    half_ranges: Floats
    scales: Floats
    covered: Floats
    may_act: Bools
    moved: Floats


class Worths(NamedTuple):
    """What one more round is worth: cuts (p, p), the row's variable free, the column's set, and
    for what is moved besides, pulls (p, p, p): row, coin, and what the coin moves.
    """

    cuts: Floats
    pulls: Floats


class Means(NamedTuple):
    """Of the rounds of several sets: tosses (p, p), the free one first, and M (p, p, p), for row,
    coin, and what it moves; the unit matrix where a coin was not tossed.
    """

    tosses: Floats
    moves: Floats


@kernel
def coverage(sets: Bools, rounds: Floats) -> Floats:
    """Return in how many rounds (p, p) a variable is set and another free, the free one first."""
    p = sets.shape[1]
    found = np.zeros((p, p))
    for m in range(len(rounds)):
        for j in range(p):
            if not sets[m, j]:
                for i in range(p):
                    if sets[m, i]:
                        found[j, i] += rounds[m]
    return found


@kernel
def means_of(sets: Bools, rounds: Floats, responses: Responses) -> Means:
    """Return what the coins move on average, in rounds (m,) of sets (m, p)."""
    p = sets.shape[1]
    tosses, moves = coverage(sets, rounds), np.zeros((p, p, p))
    for m in range(len(rounds)):
        for j in range(p):
            if not sets[m, j]:
                for e in range(responses.starts[m], responses.starts[m + 1]):
                    r = responses.moved[e]
                    if r != j:
                        moves[j, responses.movers[e], r] += rounds[m] * responses.sizes[e]
    for j in range(p):
        for i in range(p):
            n = tosses[j, i]
            if n > 0.0:
                for r in range(p):
                    moves[j, i, r] /= n
            moves[j, i, i] = 1.0
    return Means(tosses, moves)


@kernel
def independent_means(weights: Floats, is_coin: Bools, share: float) -> Means:
    """Return what the coins move on average, per round, if each variable with a coin is set in a
    share of the rounds, independently of the others.

    Without loops no path meets a variable twice, so the mean over all sets of what i moves is the
    sum over its paths with every weight times the share of rounds in which the variable it leads to
    is free, for i set and row j free: the inverse of one matrix. With loops it is near that.
    """
    p = len(weights)
    tosses, moves = np.zeros((p, p)), np.zeros((p, p, p))
    thinned = weights.copy()
    for r in range(p):
        if is_coin[r]:
            thinned[r] *= 1.0 - share
    nobody = np.zeros(p, dtype=np.bool_)
    for j in range(p):
        row, thinned[j] = thinned[j].copy(), weights[j]
        found = response(thinned, nobody)
        thinned[j] = row
        for i in range(p):
            if is_coin[i] and i != j:
                tosses[j, i] = share * (1.0 - share) if is_coin[j] else share
                for r in range(p):
                    if is_coin[r] and r != j and abs(found[i, i]) > LEAST_PIVOT:
                        moves[j, i, r] = found[r, i] / found[i, i]
            moves[j, i, i] = 1.0
    return Means(tosses, moves)


@kernel
def _isolation(moves: Floats, may_act: Bools) -> Floats:
    """Return C (p, p) of a row, from M (p, p) and which variables (p,) may act on it: the unit
    matrix in the rows and columns of others.
    """
    p, found = len(moves), moves.copy()
    for r in range(p):
        if not may_act[r]:
            for i in range(p):
                found[i, r] = found[r, i] = 0.0
            found[r, r] = 1.0
    return inverse_of(found)


@kernel
def all_means(stand: Stand, means: Means) -> Means:
    """Return tosses and what coins move in all rounds, those that are covered included.

    means : of the others
    """
    tosses = stand.covered + means.tosses
    if len(stand.moved) == 0:
        return Means(tosses, means.moves)
    p, moves = len(tosses), means.moves.copy()
    for j in range(p):
        for i in range(p):
            if stand.covered[j, i] > 0.0:
                before = stand.covered[j, i] / tosses[j, i]
                for r in range(p):
                    change = stand.moved[j, i, r] - moves[j, i, r]
                    moves[j, i, r] += before * change
    return Means(tosses, moves)


@kernel
def loads_of(stand: Stand, means: Means) -> Floats:
    """Return (p, p, p), for row j, cause k and coin i: scale_jk C_ik^2 / s_i^2, which the tosses of
    i divide. Where the cause has no coin all are infinite.

    means : of all rounds, or in proportion to them
    """
    p = len(stand.scales)
    found = np.zeros((p, p, p))
    for j in range(p):
        back = _isolation(means.moves[j], stand.may_act[j])
        for k in range(p):
            if k != j and stand.scales[j, k] > 0.0:
                for i in range(p):
                    if stand.half_ranges[k] <= 0.0:
                        found[j, k, i] = math.inf
                    elif i != j and stand.half_ranges[i] > 0.0:
                        load = back[k, i] / stand.half_ranges[i]
                        found[j, k, i] = stand.scales[j, k] * load * load
    return found


@kernel
def ratios(loads: Floats, tosses: Floats) -> Floats:
    """Return f (p, p) of every pair; infinite where a coin that it needs was never tossed."""
    p = len(tosses)
    found = np.zeros((p, p))
    for j in range(p):
        for k in range(p):
            for i in range(p):
                if loads[j, k, i] > 0.0:
                    n = tosses[j, i]
                    found[j, k] += loads[j, k, i] / n if n > 0.0 else math.inf
    return found


@kernel
def _ratio_at(loads: Floats, tosses: Floats, rates: Floats, times: float) -> float:
    total = 0.0
    for i in range(len(loads)):
        if loads[i] > 0.0:
            n = tosses[i] + times * rates[i]
            total += loads[i] / n if n > 0.0 else math.inf
    return total


@kernel
def _time_to_go(loads: Floats, tosses: Floats, rates: Floats, low: float) -> float:
    """Return how many times the rates (p,) have to be added until f <= 1, at least `low`, by
    bisection.
    """
    if not _ratio_at(loads, tosses, rates, low) > 1.0:
        return low
    high = max(1.0, 1.1 * low)
    while _ratio_at(loads, tosses, rates, high) > 1.0:
        high *= 2.0
        if high > 1e15:
            return math.inf
    for _ in range(60):
        middle = 0.5 * (low + high)
        if _ratio_at(loads, tosses, rates, middle) > 1.0:
            low = middle
        else:
            high = middle
        if high - low <= 1e-9 * high:
            break
    return high


@kernel
def times_to_go(loads: Floats, tosses: Floats, rates: Floats) -> Floats:
    """Return for every pair (p, p) how many times the rates (p, p) have to be added until f <= 1: 0
    if it is done, infinite if that never happens.
    """
    p = len(tosses)
    found = np.zeros((p, p))
    for j in range(p):
        for k in range(p):
            if (loads[j, k] > 0.0).any():
                found[j, k] = _time_to_go(loads[j, k], tosses[j], rates[j], 0.0)
    return found


@kernel
def time_for_all(loads: Floats, tosses: Floats, rates: Floats) -> float:
    """Return how many times the rates (p, p) have to be added until f <= 1 for all pairs."""
    p, found = len(tosses), 0.0
    for j in range(p):
        for k in range(p):
            if k != j:
                found = _time_to_go(loads[j, k], tosses[j], rates[j], found)
    return found


@kernel
def ratios_and_worths(
    stand: Stand, means: Means, prices: Floats, ratio: Floats, worths: Worths
) -> None:
    """Write f (p, p) of every pair, multiply the prices (p, p) by it, and write what one more round
    is worth at these.

    means : of the rounds beside those that are covered

    Pairs that are asked must have coins, and all coins that they need must have been tossed.
    """
    p, total = len(prices), all_means(stand, means)
    mixed = means.tosses if len(stand.moved) == 0 else total.tosses
    per_toss, shared, paid = np.zeros(p), np.empty((p, p)), np.empty(p)
    for j in range(p):
        back = _isolation(total.moves[j], stand.may_act[j])
        shared[:], worths.cuts[j], worths.pulls[j], ratio[j] = 0.0, 0.0, 0.0, 0.0
        for i in range(p):
            per_toss[i] = 0.0
            if i != j and stand.half_ranges[i] > 0.0 and mixed[j, i] > 0.0:
                per_toss[i] = 1.0 / (total.tosses[j, i] * stand.half_ranges[i] ** 2)
                for r in range(p):
                    if back[r, i] != 0.0:
                        factor = back[r, i] * per_toss[i]
                        for k in range(p):
                            shared[r, k] += factor * back[k, i]
        for k in range(p):
            ratio[j, k] = stand.scales[j, k] * shared[k, k] if k != j else 0.0
            prices[j, k] *= ratio[j, k]
            paid[k] = prices[j, k] * stand.scales[j, k]
        for i in range(p):
            if per_toss[i] > 0.0:
                _add_worths(worths, j, i, back, shared, paid)
                worths.cuts[j, i] *= per_toss[i] / total.tosses[j, i]
                for r in range(p):
                    worths.pulls[j, i, r] *= 2.0 / mixed[j, i]
                worths.pulls[j, i, i], worths.pulls[j, i, j] = 0.0, 0.0
                for r in range(p):
                    worths.cuts[j, i] -= worths.pulls[j, i, r] * total.moves[j, i, r]


@kernel
def _add_worths(worths: Worths, j: int, i: int, back: Floats, shared: Floats, paid: Floats) -> None:
    for k in range(len(paid)):
        load = back[k, i]
        if load != 0.0 and paid[k] > 0.0:
            worths.cuts[j, i] += paid[k] * load * load
            factor = paid[k] * load
            for r in range(len(paid)):
                worths.pulls[j, i, r] += factor * shared[k, r]


@kernel
def worth_of(worths: Worths, members: Bools, responses: Responses, m: int) -> float:
    """Return what one more round of a set, number m of the responses, is worth."""
    p, total = len(members), 0.0
    for j in range(p):
        if not members[j]:
            for i in range(p):
                if members[i]:
                    total += worths.cuts[j, i]
            for e in range(responses.starts[m], responses.starts[m + 1]):
                if responses.moved[e] != j:
                    total += (
                        worths.pulls[j, responses.movers[e], responses.moved[e]]
                        * (responses.sizes[e])
                    )
    return total
