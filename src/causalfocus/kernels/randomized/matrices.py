"""Small dense algebra in loops of its own, so that no library and no thread changes a bit.

Inner loops run along rows and add to independent numbers: compilers may take several at once
without changing the order of any sum.
"""

import math

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.compile import kernel

LEAST_PIVOT = 1e-13
"""A matrix with a smaller pivot, as a share of its diagonal, is not positive definite to
rounding."""

POWERS = 16
"""Steps of the guess of an eigenvalue."""

TRIES = 300
"""How often a bound of an eigenvalue is raised, at most."""


@kernel
def dot(one: Floats, other: Floats) -> float:
    """Return the inner product of two vectors."""
    total = 0.0
    for r in range(len(one)):
        total += one[r] * other[r]
    return total


@kernel
def add_scaled(to: Floats, by: float, what: Floats) -> None:
    """Add a multiple of a vector to another, in place."""
    for r in range(len(to)):
        to[r] += by * what[r]


@kernel
def apply(matrix: Floats, vector: Floats) -> Floats:
    """Return matrix @ vector."""
    found = np.empty(len(matrix))
    for r in range(len(matrix)):
        found[r] = dot(matrix[r], vector)
    return found


@kernel
def apply_transposed(matrix: Floats, vector: Floats) -> Floats:
    """Return matrix.T @ vector."""
    found = np.zeros(matrix.shape[1])
    for r in range(len(matrix)):
        if vector[r] != 0.0:
            add_scaled(found, vector[r], matrix[r])
    return found


@kernel
def multiply(one: Floats, other: Floats) -> Floats:
    """Return one @ other; zeros of the first cost nothing."""
    found = np.zeros((one.shape[0], other.shape[1]))
    for r in range(one.shape[0]):
        for k in range(one.shape[1]):
            if one[r, k] != 0.0:
                add_scaled(found[r], one[r, k], other[k])
    return found


@kernel
def weighed_products(rows: Floats, weights: Floats) -> Floats:
    """Return sum_i weights_i rows_i rows_i'."""
    u = rows.shape[1]
    found = np.zeros((u, u))
    for i in range(len(rows)):
        for r in range(u):
            if rows[i, r] != 0.0:
                add_scaled(found[r], weights[i] * rows[i, r], rows[i])
    return found


@kernel
def factor(matrix: Floats, upper: Floats) -> bool:
    """Write U with U'U the matrix, which is symmetric; return False if there is none to rounding.
    Only the upper triangle is read.
    """
    u = len(matrix)
    for r in range(u):
        for s in range(u):
            upper[r, s] = matrix[r, s] if s >= r else 0.0
    for r in range(u):
        if not upper[r, r] > LEAST_PIVOT * abs(matrix[r, r]):
            return False
        root = math.sqrt(upper[r, r])
        for s in range(r, u):
            upper[r, s] /= root
        for s in range(r + 1, u):
            by = upper[r, s]
            if by != 0.0:
                for q in range(s, u):
                    upper[s, q] -= by * upper[r, q]
    return True


@kernel
def divide(upper: Floats, columns: Floats) -> None:
    """Put U'^-1 columns in the place of columns (u, m)."""
    u = len(upper)
    for r in range(u):
        by = 1.0 / upper[r, r]
        for a in range(columns.shape[1]):
            columns[r, a] *= by
        for s in range(r + 1, u):
            if upper[r, s] != 0.0:
                add_scaled(columns[s], -upper[r, s], columns[r])


@kernel
def divide_back(upper: Floats, columns: Floats) -> None:
    """Put U^-1 columns in the place of columns (u, m)."""
    u = len(upper)
    for r in range(u - 1, -1, -1):
        for s in range(r + 1, u):
            if upper[r, s] != 0.0:
                add_scaled(columns[r], -upper[r, s], columns[s])
        by = 1.0 / upper[r, r]
        for a in range(columns.shape[1]):
            columns[r, a] *= by


@kernel
def divide_vector(upper: Floats, vector: Floats) -> None:
    """Put U'^-1 vector in the place of a vector."""
    for r in range(len(upper)):
        vector[r] /= upper[r, r]
        by = vector[r]
        for s in range(r + 1, len(upper)):
            vector[s] -= by * upper[r, s]


@kernel
def divide_vector_back(upper: Floats, vector: Floats) -> None:
    """Put U^-1 vector in the place of a vector."""
    for r in range(len(upper) - 1, -1, -1):
        total = vector[r]
        for s in range(r + 1, len(upper)):
            total -= upper[r, s] * vector[s]
        vector[r] = total / upper[r, r]


@kernel
def solve(upper: Floats, vector: Floats) -> Floats:
    """Return (U'U)^-1 vector."""
    found = vector.copy()
    divide_vector(upper, found)
    divide_vector_back(upper, found)
    return found


@kernel
def lengths_of_columns(columns: Floats) -> Floats:
    """Return the length of every column."""
    found = np.zeros(columns.shape[1])
    for r in range(columns.shape[0]):
        for a in range(columns.shape[1]):
            found[a] += columns[r, a] * columns[r, a]
    return np.sqrt(found)


@kernel
def dual_lengths(upper: Floats, rows: Floats) -> Floats:
    """Return for every row a the largest a . y over y'U'U y <= 1."""
    columns = np.ascontiguousarray(rows.T)
    divide(upper, columns)
    return lengths_of_columns(columns)


@kernel
def dual_length(upper: Floats, row: Floats) -> float:
    """Return the largest row . y over y'U'U y <= 1."""
    found = row.copy()
    divide_vector(upper, found)
    return math.sqrt(dot(found, found))


@kernel
def largest_share(form: Floats, upper: Floats, matrix: Floats) -> float:
    """Return some number k, close to the least, with y' matrix y <= k y' form y for all y, form =
    U'U; infinity if none is found.

    A guess by powers is raised until k form - matrix has a factor, which proves it.
    """
    u = len(form)
    v = np.empty(u)
    for r in range(u):
        v[r] = matrix[r, r] / form[r, r] ** 1.5
    guess, room = 0.0, np.empty((u, u))
    for step in range(POWERS):
        if step > 0:
            divide_vector_back(upper, v)
        size = math.sqrt(dot(v, apply(form, v)))
        if not size > 0.0:
            break
        v /= size
        turned = apply(matrix, v)
        guess = dot(v, turned)
        v = turned
        divide_vector(upper, v)
    k = 1.02 * guess if guess > 0.0 else 1e-300
    for _ in range(TRIES):
        if factor(k * form - matrix, room):
            return k
        k *= 1.06 if guess > 0.0 else 1e3
    return math.inf


@kernel
def invert_any(matrix: Floats, result: Floats) -> bool:
    """Write the inverse of a square matrix, by elimination with exchange of rows; return False if
    it has none.
    """
    u = len(matrix)
    left = matrix.copy()
    result[:] = 0.0
    for r in range(u):
        result[r, r] = 1.0
    for r in range(u):
        at = r
        for s in range(r + 1, u):
            if abs(left[s, r]) > abs(left[at, r]):
                at = s
        pivot = left[at, r]
        if not abs(pivot) > 0.0:
            return False
        for q in range(u):
            left[r, q], left[at, q] = left[at, q], left[r, q]
            result[r, q], result[at, q] = result[at, q], result[r, q]
        left[r] /= pivot
        result[r] /= pivot
        for s in range(u):
            by = left[s, r]
            if s != r and by != 0.0:
                add_scaled(left[s], -by, left[r])
                add_scaled(result[s], -by, result[r])
    return bool(np.isfinite(result).all())
