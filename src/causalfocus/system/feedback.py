"""Systems with feedback: what they settle to under an action, and whether they settle at all.

Let f be the nodes that are free under an action and s those that are set. The equations of the free
ones, x_f = A_ff x_f + A_fs x_s + c_f + noise_f, have the solution

    x_f = (I - A_ff)^-1 (A_fs x_s + c_f + noise_f).

A system gets there from any start, its effects acting step by step while the noise stays, if and
only if the spectral radius of A_ff is below 1. If it is not, there is nothing to sample: the
solution may exist, and the system never comes to it. What settles when it is observed may not
settle when a node is set that held the rest back, and the other way round; so the question is one
of an action. Without loops the radius is 0 and every system settles.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.errors import InvalidInputError
from causalfocus.system.graph import loop_in_words, loops_of, reach_of

if TYPE_CHECKING:
    from causalfocus.kernels.records import Parameters
    from causalfocus.system.actions import Action
    from causalfocus.system.sem import LinearSEM


def spectral_radius(weights: Floats, is_set: Bools) -> float:
    """Return the largest size of an eigenvalue of the free part of the weights, 0 without loops.

    Taken loop by loop: the eigenvalues of a triangular matrix of blocks are those of its blocks. In
    one piece those of nodes on no loop, which are 0, would come out as large as 1e-16 ** (1/p).
    """
    free = np.flatnonzero(~is_set)
    part = weights[np.ix_(free, free)]
    radii = [
        np.abs(np.linalg.eigvals(part[np.ix_(loop, loop)])).max() for loop in loops_of(part != 0)
    ]
    return float(max(radii, default=0.0))


def require_settling(
    weights: Floats, is_set: Bools, names: tuple[str, ...], action: Action
) -> None:
    """Raise unless the system settles under an action, which sets what is said to be set."""
    radius = spectral_radius(weights, is_set)
    if radius < 1.0:
        return
    free = np.flatnonzero(~is_set)
    part = weights[np.ix_(free, free)]
    nodes = [names[free[i]] for loop in loops_of(part != 0) for i in loop]
    raise InvalidInputError(
        f"The system does not settle under {action}: its loops, among {', '.join(nodes)}, have the "
        f"spectral radius {radius:.6g}, and only what is below 1 dies away. Weaken an effect on a "
        f"loop, or set one of these nodes."
    )


def require_no_loops(model: LinearSEM, who: str) -> None:
    """Raise if a model has loops, in the name of who assumes that there are none."""
    if model.has_loops:
        raise InvalidInputError(
            f"The model has the loop {loop_in_words(model.weights, model.names)}, and {who} "
            f"assumes that there is none. Remove one of these effects, or use the randomized rule, "
            f"which allows feedback."
        )


def settle(weights: Floats, inputs: Floats, is_set: Bools) -> Floats:
    """Return what the system settles to, (n, p).

    inputs : (n, p), the value of a node that is set, and constant plus noise of one that is free
    """
    free = np.flatnonzero(~is_set)
    settled = inputs.copy()
    pushed = inputs[:, free] + inputs[:, is_set] @ weights[np.ix_(free, is_set)].T
    settled[:, free] = np.linalg.solve(_own(weights, is_set), pushed.T).T
    return settled


def settled_effects(weights: Floats, is_set: Bools) -> Floats:
    """Return T = (I - A')^-1 where A' is A with the rows of the nodes that are set removed.

    T[k, j] is what a unit of noise, or of the value that is set, in j does to k when all has
    settled. It is exactly zero where j does not act on k.
    """
    p = len(weights)
    acting = np.where(is_set[:, None], 0.0, weights)
    effects = settle(weights, np.eye(p), is_set).T
    return np.where(reach_of(acting != 0) | np.eye(p, dtype=np.bool_), effects, 0.0)


def log_density_factor(weights: Floats, is_set: Bools) -> float:
    """Return log |det(I - A_ff)|, by which the density of x_f differs from that of its noise."""
    return float(np.linalg.slogdet(_own(weights, is_set))[1])


def divergence(
    one: Parameters, other: Parameters, is_set: Bools, mean: Floats, covariance: Floats
) -> float:
    """Return KL(P || Q) under one action in nats, where P is of `one` and Q of `other`.

    The density of x_f is |det(I - A_ff)| times the product over the free rows j of the density of
    x_j - A_j x - c_j. So the divergence is the difference of the logarithms of the determinants,
    plus, row by row, what it is without loops: with d = A_j - B_j, the residual of row j of Q is
    noise_j + d x + c_j - c'_j, and E(residual^2) is v + 2 d Cov(x, noise_j) + d'Vd + (its mean)^2.
    Every term vanishes where the models agree.

    mean, covariance : of all nodes under P
    """
    effects = settled_effects(one.weights, is_set)
    total = log_density_factor(one.weights, is_set) - log_density_factor(other.weights, is_set)
    for j in np.flatnonzero(~is_set):
        d = one.weights[j] - other.weights[j]
        shift = one.intercepts[j] - other.intercepts[j] + d @ mean
        spread = 2.0 * (d @ effects[:, j]) * one.variances[j] + d @ covariance @ d
        ratio = one.variances[j] / other.variances[j] - 1.0
        excess = (spread + shift * shift) / other.variances[j]
        total += 0.5 * float(ratio - math.log1p(ratio) + excess)
    return total


def _own(weights: Floats, is_set: Bools) -> Floats:
    """I - A_ff."""
    free = np.flatnonzero(~is_set)
    return np.eye(len(free)) - weights[np.ix_(free, free)]
