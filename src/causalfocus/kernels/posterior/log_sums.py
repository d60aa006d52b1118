"""Sums of numbers that are known by their logarithms, and draws in proportion to them."""

import math

from causalfocus.arrays import Floats
from causalfocus.kernels.compile import kernel


@kernel
def log_add(a: float, b: float) -> float:
    """Return log(e^a + e^b)."""
    high, low = (a, b) if a >= b else (b, a)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


@kernel
def log_sum(terms: Floats, n: int) -> float:
    """Return the log of the sum of the exponentials of the first n terms."""
    highest = -math.inf
    for i in range(n):
        highest = max(highest, terms[i])
    if highest == -math.inf:
        return highest
    total = 0.0
    for i in range(n):
        total += math.exp(terms[i] - highest)
    return highest + math.log(total)


@kernel
def draw_index(terms: Floats, n: int, u: float) -> int:
    """Return the index of one of the first n terms, drawn in proportion to its exponential.

    u : uniform on [0, 1). A term of no weight is never drawn.
    """
    rest = u
    total = log_sum(terms, n)
    last = -1
    for i in range(n):
        if terms[i] == -math.inf:
            continue
        last = i
        rest -= math.exp(terms[i] - total)
        if rest < 0.0:
            break
    return last
