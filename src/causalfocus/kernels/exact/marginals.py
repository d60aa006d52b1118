"""How probable every family of a node is: the likelihood of its row, averaged over the class.

Within the class the coefficients of a row are uniform on their two intervals, and a node is as
likely to have any number of parents as any other, each set of so many alike. Given the noise
variance v, the average of the likelihood over all coefficients would be that at the least-squares
fit b^ times density^s (2 pi v)^(s/2) |G|^(-1/2), with s parents; what of it falls into the class is
taken coefficient by coefficient, from N(b^_k, v (G^-1)_kk). For v stands its best value.

Where effects have no largest size, a row has the information of one sample beforehand (Zellner's
prior with g = n): the residual becomes (total + n residual) / (1 + n) and each parent costs half of
log(1 + n). So it does where the noise has no lower limit, lest a perfect fit win everything.

What is known of the parents beforehand is certain: the number of parents is then uniform from
those that are needed to all that are possible, and each set of so many of these alike.

These are beliefs: estimates and probabilities of edges are made of them, certificates never.
"""

import math

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic.sets import choose, count
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.exact.scores import noise_variance, row_score
from causalfocus.kernels.records import Bounds, Families, Row
from causalfocus.kernels.search.families import first_tableau, push_tableau
from causalfocus.kernels.search.tableau import CAREFUL, PRECISE

NARROWEST = 1e-6
"""The interval of an effect's size is taken to be at least this share of min_effect wide."""

CERTAIN = 6.0
"""Standard deviations from the ends of an interval at which a coefficient is surely inside."""


@kernel
def log_inside(b: float, deviation: float, smallest: float, largest: float) -> float:
    """Return the log probability that a normal coefficient has a size between two others.

    Far outside it is that of the nearest end alone, without underflow.
    """
    size = abs(b)
    if size - smallest > CERTAIN * deviation and largest - size > CERTAIN * deviation:
        return 0.0
    scale = deviation * math.sqrt(2.0)
    inside = math.erfc((smallest - size) / scale) - math.erfc((largest - size) / scale)
    inside += math.erfc((smallest + size) / scale) - math.erfc((largest + size) / scale)
    if inside > 1e-100:
        return math.log(0.5 * inside)
    away = max(smallest - size, size - largest, 0.0) / deviation
    return -0.5 * away * away - math.log1p(away)


@kernel
def _log_sets(n_needed: int, n_possible: int, m: int) -> Floats:
    """Return the log number of sets of so many parents that a node may have, by their size; zero
    for sizes that it cannot have.
    """
    found = np.zeros(m + 1)
    for size in range(n_needed, n_possible + 1):
        found[size] = math.log(choose(n_possible - n_needed, size - n_needed))
    return found


@kernel
def family_costs(
    row: Row, candidates: Ints, n: float, bounds: Bounds, families: Families, table: Floats
) -> None:
    """Fill ``table[mask]``, minus the log of likelihood and prior of each family, up to what all
    families of the node share; infinity for those that it cannot have, and where the samples do not
    determine the coefficients. If not even those of the needed parents, these count as none would.

    Parameters
    ----------
    row : moments of node j
    candidates : indices of the possible parents; bit i of a mask stands for candidates[i]
    n : number of samples of the row
    bounds : the class
    families : that the node may have
    """
    gram, target = row.high, row.target
    m = len(candidates)
    needed, possible = families.needed, families.possible & ((1 << m) - 1)
    log_sets = _log_sets(count(needed), count(possible), m)
    stack, members = np.empty((m + 1, m + 1, m + 1)), np.empty((m + 1, 2, m))
    log_volume = np.zeros(m + 1)
    n_open, is_regular = np.zeros(m + 1, dtype=np.int64), np.ones(m + 1, dtype=np.bool_)
    first_tableau(row, candidates, stack)
    n_open[0] = m
    total = gram[target, target]
    own_largest = max(bounds.largest, bounds.smallest * (1.0 + NARROWEST))
    has_unit = bounds.largest == math.inf or bounds.lowest <= 0.0
    table[:] = math.inf
    for mask in range(1, 1 << m):
        if mask & ~possible:
            continue
        k, size = 0, count(mask)
        while not (mask >> k) & 1:
            k += 1
        parent = size - 1
        at = parent + n_open[parent] - k
        pivot, own_size = stack[parent, at, at], gram[candidates[k], candidates[k]]
        regular = is_regular[parent] and n > size and pivot * CAREFUL > own_size
        if regular:
            one_over = 1.0 / pivot
            slope = stack[parent, at, 0] * one_over
            residual = stack[parent, 0, 0] - slope * stack[parent, at, 0]
            regular = residual > PRECISE * stack[0, 0, 0]
            if has_unit:
                residual = (total + n * residual) / (1.0 + n)
            v = noise_variance(residual, n, total, bounds)
            log_volume[size] = log_volume[parent] + math.log(pivot)
            cost = row_score(residual, n, total, bounds) + log_sets[size]
            if has_unit:
                cost += 0.5 * size * math.log1p(n)
            else:
                density = 0.5 / (own_largest - bounds.smallest)
                cost -= size * math.log(density * math.sqrt(2.0 * math.pi * v))
                cost += 0.5 * log_volume[size]
            cost -= log_inside(slope, math.sqrt(v * one_over), bounds.smallest, own_largest)
            for i in range(1, size):
                tilt = stack[parent, at, i]
                inverse = members[parent, 0, i - 1] + tilt * tilt * one_over
                regular = regular and inverse * members[parent, 1, i - 1] < CAREFUL
                b = stack[parent, 0, i] - tilt * slope
                cost -= log_inside(b, math.sqrt(v * inverse), bounds.smallest, own_largest)
            if regular and cost == cost and needed & ~mask == 0:
                table[mask] = cost
        if k > 0:
            is_regular[size] = regular
            n_open[size] = k
            if regular:
                push_tableau(stack, members, size, at, k, own_size)
    if table[needed] == math.inf:
        table[needed] = row_score(total, n, total, bounds)
