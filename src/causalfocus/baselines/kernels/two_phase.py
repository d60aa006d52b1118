"""DAGs drawn from beliefs about single edges, as AIT does: first an order, then edges along it."""

import math

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.compile import kernel


@kernel
def drawn_order(belief: Floats, temperature: float, uniforms: Floats) -> Ints:
    """Draw an order, causes first: the next node by the chance that it has no parent among
    those left, softmax.

    belief : ``[effect, cause]``
    """
    p = belief.shape[0]
    order = np.empty(p, dtype=np.int64)
    is_left = np.ones(p, dtype=np.bool_)
    share = np.empty(p)
    for n in range(p):
        highest = -math.inf
        for i in range(p):
            share[i] = -math.inf
            if is_left[i]:
                likeliest = 0.0
                for j in range(p):
                    if is_left[j] and j != i:
                        likeliest = max(likeliest, belief[i, j])
                share[i] = (1.0 - likeliest) / temperature
                highest = max(highest, share[i])
        total = 0.0
        for i in range(p):
            share[i] = math.exp(share[i] - highest) if is_left[i] else 0.0
            total += share[i]
        rest = uniforms[n] * total
        for i in range(p):
            if is_left[i]:
                order[n] = i
                rest -= share[i]
                if rest < 0.0:
                    break
        is_left[order[n]] = False
    return order


@kernel
def drawn_dags(belief: Floats, temperature: float, uniforms: Floats) -> Bools:
    """Draw (m, p, p) edges ``[effect, cause]`` of m DAGs; uniforms : (m, p + 1, p)."""
    m, p = len(uniforms), belief.shape[0]
    found = np.zeros((m, p, p), dtype=np.bool_)
    for g in range(m):
        order = drawn_order(belief, temperature, uniforms[g, p])
        for late in range(p):
            for early in range(late):
                effect, cause = order[late], order[early]
                found[g, effect, cause] = uniforms[g, effect, cause] < belief[effect, cause]
    return found
