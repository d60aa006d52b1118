"""Least squares of one node on every set of the other nodes, each set one step from another."""

import math

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic.sets import as_nodes, count, regressors_of
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.row_evidence import least_squares
from causalfocus.kernels.records import Row

COLLINEAR = 1e-13
"""Share of its sum of squares below which a regressor counts as a combination of the others."""


@kernel
def residuals_on_subsets(row: Row, p: int) -> tuple[Floats, Floats]:
    """Return per mask over the other nodes the least sum of squares of the row, with 53 bits, and
    the determinant of the correlations of its regressors (zero where they are collinear).

    The constant, if the moments have one, is always among the regressors. A set is its upper nodes
    and one more, so one new row of the Cholesky factor serves each.
    """
    gram, j = row.high, row.target
    q = gram.shape[0]
    size = 1 << (p - 1)
    residuals, determinants = np.empty(size), np.empty(size)
    lower, explained = np.zeros((q, q)), np.zeros(q)
    nodes = np.zeros(q, dtype=np.int64)
    rest, volume = np.empty(q + 1), np.empty(q + 1)
    rest[0], volume[0] = gram[j, j], 1.0
    base = q - p
    for mask in range(1 - base, size):
        if mask == 0:
            level, node = 0, p
        else:
            bit = 0
            while not (mask >> bit) & 1:
                bit += 1
            level, node = base + count(mask) - 1, bit if bit < j else bit + 1
        nodes[level] = node
        pivot, product = gram[node, node], gram[node, j]
        for i in range(level):
            total = gram[node, nodes[i]]
            for m in range(i):
                total -= lower[level, m] * lower[i, m]
            total = total / lower[i, i] if lower[i, i] > 0.0 else 0.0
            lower[level, i] = total
            pivot -= total * total
            product -= total * explained[i]
        if pivot > COLLINEAR * gram[node, node]:
            lower[level, level] = math.sqrt(pivot)
            explained[level] = product / lower[level, level]
            volume[level + 1] = volume[level] * (pivot / gram[node, node])
        else:
            lower[level, level], explained[level], volume[level + 1] = 0.0, 0.0, 0.0
        rest[level + 1] = rest[level] - explained[level] ** 2
        residuals[mask], determinants[mask] = rest[level + 1], volume[level + 1]
    if base == 0:
        residuals[0], determinants[0] = rest[0], 1.0
    return residuals, determinants


@kernel
def sure_residuals(row: Row, n: float, p: int) -> Floats:
    """Return the least sums of squares, none above the true one by more than 1e-6 / n of it: what
    is computed from them never flatters. Zero where even 106 bits do not tell.

    The Gram matrix that the factor belongs to differs from the true one by rounding, a few units in
    the sixteenth digit of each entry; that moves the residual by at most 1e-14 of the sum of
    squares times the variance inflation, which is below the reciprocal of the determinant.
    """
    residuals, determinants = residuals_on_subsets(row, p)
    gram, j = row.high, row.target
    for mask in range(len(residuals)):
        doubt = 1e-14 * gram[j, j] / max(determinants[mask], 1e-300)
        if doubt * n <= 1e-6 * residuals[mask]:
            residuals[mask] -= doubt
        else:
            regressors = regressors_of(as_nodes(mask, j), p, gram.shape[0])
            residual = least_squares(row, regressors, n).residual
            residuals[mask] = residual if residual > 0.0 else 0.0
    return residuals
