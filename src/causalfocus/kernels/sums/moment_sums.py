"""Sums of products of all variables, kept apart by intervention target.

Layout: ``sums[0]`` holds the high and ``sums[1]`` the low parts; ``sums[:, g]`` is the group of
samples in which node g was set, ``g = p`` the passive observations. Each group is a symmetric
(p + 1, p + 1) matrix of which the lower triangle is used; its last index is the constant 1, so its
last row holds plain sums and its corner the number of samples.

Variables are taken as their differences from an origin, exactly: where all values are far from zero
the sums then keep their digits.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.arithmetic import double_double as dd
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.records import Actions, Model, Rows
from causalfocus.kernels.sums.population import action_mean, total_effects

CONSTANT = 1e-24
"""A variable whose centred sum of squares is below this share of that about the origin does not
vary: 106 bits resolve it no better than to 1e-8, and estimates bear no more (`row_fit`)."""

FAR = 1e6
"""What is left of a sum of squares after a shift or a subtraction may be smaller by this factor;
below it is lost, and no row that has it gives evidence. What is left is off by 1e-31 of what it
was, so with `row_evidence.TRUST` the evidence is off by FAR * 1e20 * 1e-31 nats per coefficient."""


class CentredRows(NamedTuple):
    """The moments of all nodes, see `Rows`, and the means of all nodes over the samples of each
    (p, p); centred if there is an intercept.
    """

    grams: Floats
    lows: Floats
    counts: Floats
    means: Floats


@kernel
def add_samples(sums: Floats, origin: Floats, targets: Ints, samples: Floats) -> None:
    """Add samples one after the other; a bulk call is bit for bit the same as single ones."""
    p = samples.shape[1]
    z, z_low = np.ones(p + 1), np.zeros(p + 1)
    for s in range(samples.shape[0]):
        group = targets[s] if targets[s] >= 0 else p
        for j in range(p):
            z[j], z_low[j] = dd.two_sum(samples[s, j], -origin[j])
        for j in range(p + 1):
            for k in range(j + 1):
                high, low = dd.multiply(z[j], z_low[j], z[k], z_low[k])
                high, low = dd.add(sums[0, group, j, k], sums[1, group, j, k], high, low)
                sums[0, group, j, k] = high
                sums[1, group, j, k] = low


@kernel
def move_origin(sums: Floats, by: Floats) -> tuple[Floats, float]:
    """Return the same sums about an origin that is further away, by (2, p), high and low parts; and
    the largest factor by which a sum of squares of a row fell, see `FAR`. It is infinite where
    nothing is left, though that may be right.
    """
    result = sums.copy()
    p = sums.shape[2] - 1
    for g in range(p + 1):
        n, n_low = sums[0, g, p, p], sums[1, g, p, p]
        for i in range(p):
            # sum (x_i - a_i) = S_i - n a_i
            part, part_low = dd.multiply(n, n_low, by[0, i], by[1, i])
            plain, plain_low = dd.add(sums[0, g, p, i], sums[1, g, p, i], -part, -part_low)
            result[0, g, p, i], result[1, g, p, i] = plain, plain_low
            for k in range(i + 1):
                # sum (x_i - a_i)(x_k - a_k) = S_ik - a_i S_k - a_k sum (x_i - a_i)
                part, part_low = dd.multiply(sums[0, g, p, k], sums[1, g, p, k], by[0, i], by[1, i])
                high, low = dd.add(sums[0, g, i, k], sums[1, g, i, k], -part, -part_low)
                part, part_low = dd.multiply(plain, plain_low, by[0, k], by[1, k])
                high, low = dd.add(high, low, -part, -part_low)
                result[0, g, i, k], result[1, g, i, k] = high, low
    loss = 0.0
    for j in range(p):
        for i in range(p):
            before, after = 0.0, 0.0
            for g in range(p + 1):
                if g != j:
                    before += sums[0, g, i, i]
                    after += result[0, g, i, i]
            if before > 0.0:
                loss = max(loss, before / after if after > 0.0 else math.inf)
    return result, loss


@kernel
def merge(sums: Floats, other: Floats) -> None:
    """Add the sums of other samples."""
    groups, q = sums.shape[1], sums.shape[2]
    for g in range(groups):
        for j in range(q):
            for k in range(j + 1):
                high, low = dd.add(
                    sums[0, g, j, k], sums[1, g, j, k], other[0, g, j, k], other[1, g, j, k]
                )
                sums[0, g, j, k] = high
                sums[1, g, j, k] = low


@kernel
def expected_sums(reference: Model, actions: Actions) -> Floats:
    """Return what the sums would be on average under a model if actions were taken by a actions."""
    coefficients, variances = reference.weights, reference.variances
    intercepts, order = reference.intercepts, reference.order
    targets, values, weights = actions.targets, actions.values, actions.weights
    p = coefficients.shape[0]
    sums = np.zeros((2, p + 1, p + 1, p + 1))
    for a in range(len(targets)):
        if weights[a] == 0.0:
            continue
        target = targets[a]
        effects = total_effects(coefficients, order, target)
        mean = action_mean(effects, intercepts, target, values[a])
        group = target if target >= 0 else p
        for j in range(p + 1):
            m_j = mean[j] if j < p else 1.0
            for k in range(j + 1):
                m_k = mean[k] if k < p else 1.0
                high, low = dd.two_product(m_j, m_k)
                if j < p:
                    for i in range(p):
                        if i != target:
                            spread, spread_low = dd.two_product(effects[j, i], effects[k, i])
                            spread, spread_low = dd.multiply(spread, spread_low, variances[i], 0.0)
                            high, low = dd.add(high, low, spread, spread_low)
                high, low = dd.multiply(high, low, weights[a], 0.0)
                high, low = dd.add(sums[0, group, j, k], sums[1, group, j, k], high, low)
                sums[0, group, j, k] = high
                sums[1, group, j, k] = low
    return sums


@kernel
def _sum_of_rows(sums: Floats, j: int) -> Floats:
    """Return the sums over the samples in which node j was not set, as high and low parts."""
    groups, q = sums.shape[1], sums.shape[2]
    total = np.zeros((2, q, q))
    for g in range(groups):
        if g == j or sums[0, g, q - 1, q - 1] == 0.0:
            continue
        for i in range(q):
            for k in range(i + 1):
                high, low = dd.add(
                    total[0, i, k], total[1, i, k], sums[0, g, i, k], sums[1, g, i, k]
                )
                total[0, i, k] = high
                total[1, i, k] = low
    return total


@kernel
def difference(sums: Floats, earlier: Floats) -> Floats:
    """Return the sums of the samples since an earlier state of the same sums. A variable of which
    too few digits are left is nan: it gives no evidence. So is one of which nothing is left but
    earlier values, since zeros cannot be told from values that were lost.
    """
    result = np.zeros_like(sums)
    groups, q = sums.shape[1], sums.shape[2]
    for g in range(groups):
        for j in range(q):
            for k in range(j + 1):
                high, low = dd.add(
                    sums[0, g, j, k], sums[1, g, j, k], -earlier[0, g, j, k], -earlier[1, g, j, k]
                )
                result[0, g, j, k] = high
                result[1, g, j, k] = low
        if not result[:, g].any():
            continue
        for j in range(q):
            if not sums[0, g, j, j] <= FAR * result[0, g, j, j]:
                result[:, g, j, : j + 1] = math.nan
                result[:, g, j:, j] = math.nan
    return result


@kernel
def anchored_moments(sums: Floats, uncounted: float, skipped: Floats, skips: Bools) -> Rows:
    """Return per node j the sums of products of (x - origin, 1), high and low parts, and their
    number. A variable of which too few digits are left is nan: it gives no evidence.

    uncounted : 1 if the origin is one of the samples and is to count for nothing: about itself it
        adds nothing but its count, which is taken off. 0 for other samples
    skipped : (2, p), a sample, less the origin, that counts for nothing in the rows j with
        skips[j]; its share is taken off
    """
    q = sums.shape[2]
    p = q - 1
    grams, lows = np.zeros((p, q, q)), np.zeros((p, q, q))
    counts = np.zeros(p)
    for j in range(p):
        total = _sum_of_rows(sums, j)
        whole = total.copy()
        if skips[j]:
            _take_off(total, skipped)
        n = total[0, p, p]
        if n <= uncounted:
            continue
        total[0, p, p] -= uncounted
        counts[j] = n - uncounted
        for i in range(q):
            for k in range(i + 1):
                grams[j, i, k], lows[j, i, k] = total[0, i, k], total[1, i, k]
                grams[j, k, i], lows[j, k, i] = total[0, i, k], total[1, i, k]
        for i in range(p):
            if not whole[0, i, i] <= FAR * total[0, i, i]:
                grams[j, i, :], grams[j, :, i] = math.nan, math.nan
    return Rows(grams, lows, counts)


@kernel
def _take_off(total: Floats, sample: Floats) -> None:
    """Take one sample, (2, p), off the sums of a row."""
    p = total.shape[1] - 1
    total[0, p, p], total[1, p, p] = dd.add(total[0, p, p], total[1, p, p], -1.0, 0.0)
    for i in range(p):
        total[0, p, i], total[1, p, i] = dd.add(
            total[0, p, i], total[1, p, i], -sample[0, i], -sample[1, i]
        )
        for k in range(i + 1):
            part, part_low = dd.multiply(sample[0, i], sample[1, i], sample[0, k], sample[1, k])
            total[0, i, k], total[1, i, k] = dd.add(
                total[0, i, k], total[1, i, k], -part, -part_low
            )


@kernel
def row_moments(sums: Floats, intercept: bool) -> CentredRows:
    """Return per node j its Gram matrix G_j (high and low parts), number of samples n_j, and means,
    all about the origin of the sums.

    With an intercept the constant regressor is swept out: G_j is centred over the samples of j. A
    variable that does not vary among them gets exact zeros.
    """
    q = sums.shape[2]
    p = q - 1
    grams, lows = np.zeros((p, p, p)), np.zeros((p, p, p))
    counts = np.zeros(p)
    means = np.zeros((p, p))
    for j in range(p):
        total = _sum_of_rows(sums, j)
        n, n_low = total[0, p, p], total[1, p, p]
        counts[j] = n
        if n <= 0.0:
            continue
        for i in range(p):
            for k in range(i + 1):
                high, low = total[0, i, k], total[1, i, k]
                if intercept:
                    square, square_low = dd.multiply(
                        total[0, p, i], total[1, p, i], total[0, p, k], total[1, p, k]
                    )
                    square, square_low = dd.divide(square, square_low, n, n_low)
                    high, low = dd.add(high, low, -square, -square_low)
                grams[j, i, k], lows[j, i, k] = high, low
                grams[j, k, i], lows[j, k, i] = high, low
        if intercept:
            for i in range(p):
                means[j, i] = total[0, p, i] / n
            for i in range(p):
                if grams[j, i, i] <= CONSTANT * total[0, i, i]:
                    grams[j, i, :], lows[j, i, :] = 0.0, 0.0
                    grams[j, :, i], lows[j, :, i] = 0.0, 0.0
    return CentredRows(grams, lows, counts, means)
