"""The Cholesky factor of a symmetric matrix and its inverse, with a word if there is none."""

import math

from causalfocus.arrays import Floats
from causalfocus.kernels.compile import kernel


@kernel
def cholesky(matrix: Floats, lower: Floats) -> float:
    """Write the lower factor of a symmetric matrix; return its log determinant, nan if it is not
    positive definite to rounding. Only the lower triangles are read and written.
    """
    s = matrix.shape[0]
    log_determinant = 0.0
    for i in range(s):
        for k in range(i + 1):
            total = matrix[i, k]
            for m in range(k):
                total -= lower[i, m] * lower[k, m]
            if i == k:
                if not total > 1e-13 * matrix[i, i]:
                    return math.nan
                lower[i, i] = math.sqrt(total)
                log_determinant += math.log(total)
            else:
                lower[i, k] = total / lower[k, k]
    return log_determinant


@kernel
def invert(matrix: Floats, result: Floats, lower: Floats) -> float:
    """Write the inverse of a symmetric matrix; return its log determinant, nan if it is not
    positive definite to rounding. `lower` is room for the factor.
    """
    s = matrix.shape[0]
    log_determinant = cholesky(matrix, lower)
    if math.isnan(log_determinant):
        return math.nan
    for column in range(s):
        for i in range(s):
            total = 1.0 if i == column else 0.0
            for m in range(column, i):
                total -= lower[i, m] * result[m, column]
            result[i, column] = total / lower[i, i] if i >= column else 0.0
        for i in range(s - 1, -1, -1):
            total = result[i, column]
            for m in range(i + 1, s):
                total -= lower[m, i] * result[m, column]
            result[i, column] = total / lower[i, i]
    return log_determinant
