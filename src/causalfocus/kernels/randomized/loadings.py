"""How much of every coin the interval of an effect takes: what the width of an interval is made of.

Row j is b; in the rounds with i set and j free, coin i moves the regressors of row j. With s_i the
half range of i, n_ij the number of these rounds and M[i, r] the mean over them of what one unit of
i moves r, the tests of the coins move by P[i, r] = n_ij s_i M[i, r], and each has the noise n_ij v_j,
v_j the variance of the residual. The combination w of coins that moves regressor k alone has
w P = e_k, so w_i = C_ik / (n_ij s_i) with C the inverse of M transposed, and at h nats

    H_jk^2  =  2 h v_j sum_i w_i^2 n_ij  =  2 h v_j sum_i C_ik^2 / (n_ij s_i^2).

**What C is.** Let B hold the direct effects. Variables that are never set are eliminated first:
B_rk + B_rf B_fk / (1 - B_ff) is what k does to r with f free. So is j, for row j:

    E_ik  =  B_ik + B_ij B_jk / (1 - B_jj).

If i is set alone, it moves r by T_ri / T_ii with T the inverse of 1 - B: setting i cuts its own row.
Over all i but j the inverse of T is 1 - E (a Schur complement), so C_ik = T_ii (delta_ik - E_ik),
exactly. If others are set too, a path counts only while all variables on it are free. Let the others
be set independently, and d_i be the share of rounds with i free. Without loops no path meets a
variable twice, so the mean over the sets of what i moves is the sum over all paths with every weight
B_rk replaced by d_r B_rk (d_j = 1): again the inverse of a matrix, and

    C_ik  =  T_ii (delta_ik - d_i E_ik),

exactly. Two things are approximate: in sets that are not independent, d_i is the share with i free of
the rounds with k set and j free, which is exact for paths of one step beyond k and for those by way
of j; and with loops a path that meets a variable twice is discounted twice.
"""

from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.compile import kernel

LEAST_PIVOT = 1e-9
"""A matrix with a pivot below this is taken for singular."""


class Terms(NamedTuple):
    """The squares of half widths, in units of the squared radius, as sums over coins.

    starts : (q + 1,), the terms of pair number a are those from starts[a] to starts[a + 1]
    effects, causes : (q,), of the pairs
    coins : (t,), of the terms
    sizes : (t,), what each adds where its coin was tossed once with the effect free, and nothing
        else was set
    """

    starts: Ints
    effects: Ints
    causes: Ints
    coins: Ints
    sizes: Floats


class System(NamedTuple):
    """What is known of the system: weights (p, p), the half ranges (p,) of the coins, 0 for none,
    and of every pair the square of its half width for a coin of half range one, tossed once, in
    units of the squared radius: scales (p, p), 0 where nothing is asked.
    """

    weights: Floats
    half_ranges: Floats
    scales: Floats


@kernel
def eliminate(weights: Floats, gone: Bools) -> Floats:
    """Return the weights (p, p) among the others if some variables always follow from these."""
    found, p = weights.copy(), len(weights)
    for f in range(p):
        if gone[f]:
            left = 1.0 - found[f, f]
            row, column = found[f].copy(), found[:, f].copy()
            found[f], found[:, f] = 0.0, 0.0
            for r in range(p):
                for k in range(p):
                    if abs(left) > LEAST_PIVOT and r != f and k != f:
                        found[r, k] += column[r] * row[k] / left
    return found


@kernel
def inverse(matrix: Floats) -> Floats:
    """Return the inverse by elimination with pivots; of the unit matrix if it is singular."""
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
def _product(one: Floats, other: Floats) -> Floats:
    """Return the product of two square matrices, added up in one order on every machine."""
    p = len(one)
    found = np.zeros((p, p))
    for r in range(p):
        for m in range(p):
            factor = one[r, m]
            if factor != 0.0:
                for k in range(p):
                    found[r, k] += factor * other[m, k]
    return found


@kernel
def loops(weights: Floats, free: Floats) -> Floats:
    """Return T_ii (p, p), for row j and coin i; 1 where there is no loop.

    weights : (p, p), among variables that are set now and then
    free : (p,), the share of rounds with each of them free. Row j has its own, 1, which changes one
        row of the matrix, so that its inverse follows from that of all
    """
    p = len(free)
    inside = inverse(np.eye(p) - free.reshape(p, 1) * weights)
    onward = _product(weights, inside)
    found = np.empty((p, p))
    for j in range(p):
        left = 1.0 - (1.0 - free[j]) * onward[j, j]
        for i in range(p):
            found[j, i] = inside[i, i]
            if abs(left) > LEAST_PIVOT:
                found[j, i] += (1.0 - free[j]) * inside[i, j] * onward[j, i] / left
    return found


@kernel
def terms_of(system: System, free: Floats) -> Terms:
    """Return the terms of all pairs whose cause has a coin.

    free : (p,), the share of rounds with each variable free
    """
    p, half_ranges = len(free), system.half_ranges
    weights = eliminate(system.weights, half_ranges <= 0.0)
    looped = loops(weights, free)
    starts, pairs = [0], [(0, 0)]
    coins, sizes = [0], [0.0]
    for j in range(p):
        onward = 1.0 - weights[j, j]
        for k in range(p):
            if k != j and half_ranges[k] > 0.0 and system.scales[j, k] > 0.0:
                for i in range(p):
                    if i == j or half_ranges[i] <= 0.0:
                        continue
                    through = weights[i, j] * weights[j, k]
                    load = weights[i, k]
                    if through != 0.0 and abs(onward) > LEAST_PIVOT:
                        load += through / onward
                    if i == k:
                        load = 1.0 - free[k] * load
                    if load != 0.0:
                        coins.append(i)
                        unit = looped[j, i] * load / half_ranges[i]
                        sizes.append(system.scales[j, k] * unit * unit)
                pairs.append((j, k))
                starts.append(len(coins) - 1)
    effects = np.array([j for j, _ in pairs[1:]], dtype=np.int64)
    causes = np.array([k for _, k in pairs[1:]], dtype=np.int64)
    return Terms(
        np.array(starts, dtype=np.int64),
        effects,
        causes,
        np.array(coins[1:], dtype=np.int64),
        np.array(sizes[1:]),
    )


@kernel
def loads_of(terms: Terms, sets: Bools, rounds: Floats, free: Floats) -> Floats:
    """Return the sizes (t,) of the terms where others are set too: what coin i has to make good of
    cause k is there only while i is free.

    sets, rounds : (m, p) and (m,), what is set in how many of the rounds; if none of them has the
        cause set and the effect free, the share of all rounds (p,) with the coin's variable free
        stands for it
    """
    found = terms.sizes.copy()
    for a in range(len(terms.effects)):
        j, k = terms.effects[a], terms.causes[a]
        total = 0.0
        for m in range(len(rounds)):
            if sets[m, k] and not sets[m, j]:
                total += rounds[m]
        for t in range(terms.starts[a], terms.starts[a + 1]):
            i = terms.coins[t]
            if i != k:
                share = 0.0
                for m in range(len(rounds)):
                    if sets[m, k] and not sets[m, j] and not sets[m, i]:
                        share += rounds[m]
                share = share / total if total > 0.0 else free[i]
                found[t] *= share * share
    return found
