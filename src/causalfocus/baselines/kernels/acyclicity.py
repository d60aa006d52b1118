"""The matrix-exponential constraint of DCDI: zero on a DAG, one on the complete graph."""

import math

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.kernels.compile import kernel

NEGLIGIBLE = 1e-17
"""Terms of the exponential series below this share of its sum end it."""


@kernel
def exponential(matrix: Floats) -> tuple[Floats, float]:
    """Return exp(S) of a matrix without negative entries, and tr exp(S) - p.

    The plain series: nothing cancels, and on a DAG it ends by itself. The trace is summed without
    its first p, so that a small one keeps its digits.
    """
    p = matrix.shape[0]
    total, term, product = np.eye(p), np.eye(p), np.empty((p, p))
    trace, n = 0.0, 0
    largest = math.inf
    while largest > NEGLIGIBLE:
        n += 1
        largest = 0.0
        for i in range(p):
            for j in range(p):
                product[i, j] = 0.0
            for k in range(p):
                factor = term[i, k] / n
                if factor != 0.0:
                    for j in range(p):
                        product[i, j] += factor * matrix[k, j]
            for j in range(p):
                total[i, j] += product[i, j]
                largest = max(largest, product[i, j] / total[i, j] if product[i, j] > 0.0 else 0.0)
            trace += product[i, i]
        term, product = product, term
    return total, trace


@kernel
def largest_trace(p: int) -> float:
    """Return tr exp(S) - p of the complete graph, whose eigenvalues are p - 1 and -1: h's unit."""
    return math.exp(p - 1.0) + (p - 1.0) * math.exp(-1.0) - p


@kernel
def acyclicity(probabilities: Floats) -> tuple[float, Floats]:
    """Return h in [0, 1] and its gradient."""
    p = probabilities.shape[0]
    if p < 2:
        return 0.0, np.zeros((p, p))
    power, trace = exponential(probabilities)
    scale = largest_trace(p)
    return trace / scale, power.T / scale


@kernel
def is_acyclic(has_edge: Bools) -> bool:
    """Return whether nodes can be removed one by one, each without parents among those left."""
    p = has_edge.shape[0]
    is_left = np.ones(p, dtype=np.bool_)
    for _ in range(p):
        for j in range(p):
            is_free = is_left[j]
            for k in range(p):
                if is_left[k] and has_edge[j, k]:
                    is_free = False
            if is_free:
                is_left[j] = False
                break
        else:
            return False
    return True
