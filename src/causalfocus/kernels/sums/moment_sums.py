"""Sums of products of all variables, one matrix per row.

Layout: ``sums[0]`` holds the high and ``sums[1]`` the low parts; ``sums[:, j]`` is over the samples
in which node j was free, whatever else was set: those in which its equation was in force. Each is a
symmetric (p + 1, p + 1) matrix of which the lower triangle is used; its last index is the constant
1, so its last row holds plain sums and its corner the number of samples.

Variables are taken as their differences from an origin, exactly: where all values are far from zero
the sums then keep their digits. Every row may have an origin of its own.
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
def add_samples(sums: Floats, origins: Floats, own: Ints, is_set: Bools, samples: Floats) -> None:
    """Add samples one after the other; a bulk call is bit for bit the same as single ones.

    origins : (m, p)
    own : (p,), which of them serves each row
    is_set : (n, p), which nodes were set in each sample
    """
    p = samples.shape[1]
    z, z_low = np.ones(p + 1), np.zeros(p + 1)
    highs, lows = np.empty((p + 1, p + 1)), np.empty((p + 1, p + 1))
    for s in range(samples.shape[0]):
        for m in range(len(origins)):
            if not serves(m, own, is_set[s]):
                continue
            for j in range(p):
                z[j], z_low[j] = dd.two_sum(samples[s, j], -origins[m, j])
            for i in range(p + 1):
                for k in range(i + 1):
                    highs[i, k], lows[i, k] = dd.multiply(z[i], z_low[i], z[k], z_low[k])
            for j in range(p):
                if own[j] == m and not is_set[s, j]:
                    _add_lower(sums[:, j], highs, lows)


@kernel
def serves(m: int, own: Ints, is_set: Bools) -> bool:
    """Return whether an origin serves any row in which a sample counts."""
    found = False
    for j in range(len(own)):
        found = found or (own[j] == m and not is_set[j])
    return found


@kernel
def _add_lower(total: Floats, highs: Floats, lows: Floats) -> None:
    """Add the lower triangle of a matrix, high and low parts, to that of a sum."""
    for i in range(highs.shape[0]):
        for k in range(i + 1):
            total[0, i, k], total[1, i, k] = dd.add(
                total[0, i, k], total[1, i, k], highs[i, k], lows[i, k]
            )


@kernel
def move_origin(sums: Floats, by: Floats) -> tuple[Floats, float]:
    """Return the same sums about origins that are further away: by (p, 2, p), for every row its
    own, high and low parts; and the largest factor by which a sum of squares of a row fell, `FAR`.
    It is infinite where nothing is left, though that may be right.
    """
    result = sums.copy()
    p = sums.shape[2] - 1
    loss = 0.0
    for g in range(p):
        n, n_low = sums[0, g, p, p], sums[1, g, p, p]
        for i in range(p):
            # sum (x_i - a_i) = S_i - n a_i
            part, part_low = dd.multiply(n, n_low, by[g, 0, i], by[g, 1, i])
            plain, plain_low = dd.add(sums[0, g, p, i], sums[1, g, p, i], -part, -part_low)
            result[0, g, p, i], result[1, g, p, i] = plain, plain_low
            for k in range(i + 1):
                # sum (x_i - a_i)(x_k - a_k) = S_ik - a_i S_k - a_k sum (x_i - a_i)
                part, part_low = dd.multiply(
                    sums[0, g, p, k], sums[1, g, p, k], by[g, 0, i], by[g, 1, i]
                )
                high, low = dd.add(sums[0, g, i, k], sums[1, g, i, k], -part, -part_low)
                part, part_low = dd.multiply(plain, plain_low, by[g, 0, k], by[g, 1, k])
                high, low = dd.add(high, low, -part, -part_low)
                result[0, g, i, k], result[1, g, i, k] = high, low
        for i in range(p):
            before, after = sums[0, g, i, i], result[0, g, i, i]
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
    """Return what the sums would be on average under a model if actions were taken so often."""
    coefficients, variances = reference.weights, reference.variances
    intercepts, order = reference.intercepts, reference.order
    p = coefficients.shape[0]
    sums = np.zeros((2, p, p + 1, p + 1))
    highs, lows = np.empty((p + 1, p + 1)), np.empty((p + 1, p + 1))
    for a in range(len(actions.weights)):
        weight = actions.weights[a]
        if weight == 0.0:
            continue
        is_set = actions.is_set[a]
        effects = total_effects(coefficients, order, is_set)
        mean = action_mean(effects, intercepts, is_set, actions.values[a])
        for j in range(p + 1):
            m_j = mean[j] if j < p else 1.0
            for k in range(j + 1):
                m_k = mean[k] if k < p else 1.0
                high, low = dd.two_product(m_j, m_k)
                if j < p:
                    for i in range(p):
                        own = actions.spreads[a, i] if is_set[i] else variances[i]
                        if own != 0.0:
                            spread, spread_low = dd.two_product(effects[j, i], effects[k, i])
                            spread, spread_low = dd.multiply(spread, spread_low, own, 0.0)
                            high, low = dd.add(high, low, spread, spread_low)
                highs[j, k], lows[j, k] = dd.multiply(high, low, weight, 0.0)
        for j in range(p):
            if not is_set[j]:
                _add_lower(sums[:, j], highs, lows)
    return sums


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
def anchored_moments(
    sums: Floats, uncounted: float, anchors: Floats, skips: Bools, own: Ints
) -> Rows:
    """Return per node j the sums of products of (x - origin, 1), high and low parts, and their
    number. A variable of which too few digits are left is nan: it gives no evidence.

    uncounted : 1 if the origin is one of the samples and is to count for nothing: about itself it
        adds nothing but its count, which is taken off. 0 for other samples
    anchors : (m, p), the samples that are origins of rows
    skips : (p, m), which of them count for nothing in each row though they are not its origin:
        their share is taken off
    own : (p,), which of them is the origin of each row
    """
    q = sums.shape[2]
    p = q - 1
    grams, lows = np.zeros((p, q, q)), np.zeros((p, q, q))
    counts = np.zeros(p)
    skipped = np.empty((2, p))
    for j in range(p):
        total = sums[:, j].copy()
        for m in range(len(anchors)):
            if skips[j, m]:
                for i in range(p):
                    skipped[0, i], skipped[1, i] = dd.two_sum(anchors[m, i], -anchors[own[j], i])
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
            if not sums[0, j, i, i] <= FAR * total[0, i, i]:
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
    all about the origin of its sums.

    With an intercept the constant regressor is swept out: G_j is centred over the samples of j. A
    variable that does not vary among them gets exact zeros.
    """
    q = sums.shape[2]
    p = q - 1
    grams, lows = np.zeros((p, p, p)), np.zeros((p, p, p))
    counts = np.zeros(p)
    means = np.zeros((p, p))
    for j in range(p):
        total = sums[:, j]
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
