"""DCDI's optimiser: RMSprop under an augmented Lagrangian, until the graph is acyclic."""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.baselines.kernels.acyclicity import is_acyclic
from causalfocus.baselines.kernels.masked_loss import (
    Data,
    Gradients,
    Penalty,
    loss_and_gradient,
    probabilities_of,
)
from causalfocus.kernels.compile import kernel

DECAY, GUARD = 0.99, 1e-8
"""Of RMSprop."""

SOLVED, SHRINK, CLOSED = 1e-4, 0.9, 1e-8
"""A sub-problem is solved when the Lagrangian moves by less per iteration; mu grows unless h falls
to this share; h counts as zero below the last."""

LOOK_EVERY = 100

GAMMA, MU, LAST, FIRST = 0, 1, 2, 3
"""Places in the array `multipliers`: gamma, mu, the h of the last solved sub-problem, and that of
the first."""


class Schedule(NamedTuple):
    """How to descend: learning rate, first mu, its factor, window, most iterations, and the share
    of the first h at which the belief is taken.
    """

    rate: float
    first_mu: float
    factor: float
    window: int
    most: int
    belief_share: float


class Descent(NamedTuple):
    """Where a descent ended: the belief and its weights, the last h, and the iterations."""

    belief: Floats
    weights: Floats
    constraint: float
    n_iterations: int


@kernel
def step(parameters: Floats, gradient: Floats, squares: Floats, rate: float) -> None:
    """Take one step of RMSprop."""
    for t in range(parameters.shape[0]):
        for j in range(parameters.shape[1]):
            g = gradient[t, j]
            squares[t, j] = DECAY * squares[t, j] + (1.0 - DECAY) * g * g
            parameters[t, j] -= rate * g / (math.sqrt(squares[t, j]) + GUARD)


@kernel
def is_solved(values: Floats, window: int) -> bool:
    """Return whether three recorded values of the Lagrangian say that the sub-problem is solved."""
    first, middle, last = values
    if not (min(first, last) < middle < max(first, last)):
        return False
    slope = (last - first) / window
    return bool(abs(slope) < SOLVED or slope > 0.0)


@kernel
def first_multipliers(mu: float) -> Floats:
    """Return the multipliers at the start, see GAMMA to FIRST."""
    return np.array([0.0, mu, math.inf, math.nan])


@kernel
def tighten(multipliers: Floats, h: float, factor: float, values: Floats) -> None:
    """Go on to the next sub-problem of the Lagrangian, with a fair start for its values."""
    gamma, mu, previous, first = multipliers
    before = gamma * h + 0.5 * mu * h * h
    gamma += mu * h
    if h > SHRINK * previous:
        mu *= factor
    multipliers[GAMMA], multipliers[MU], multipliers[LAST] = gamma, mu, h
    multipliers[FIRST] = h if math.isnan(first) else first
    values[2] += gamma * h + 0.5 * mu * h * h - before


@kernel
def descend(
    data: Data,
    weights: Floats,
    logits: Floats,
    ceiling: Floats,
    edges: float,
    schedule: Schedule,
) -> Descent:
    """Train weights and logits in place; return where the descent ended.

    The belief are the probabilities on the way to an acyclic graph, when h has fallen to a share
    of what the data alone make it: at the end there is no doubt left.

    ceiling : of the logits. RMSprop moves all of them at one speed, and the penalty on cycles
        doubles while they travel: from far above, both directions of an edge would arrive at even
        odds when the penalty is already too strong for either, and the edge would be lost. A
        ceiling of its own for each keeps both from being exactly alike
    """
    rate, window, belief_share = schedule.rate, schedule.window, schedule.belief_share
    p = weights.shape[0]
    gradients = Gradients(np.zeros((p, p)), np.zeros((p, p)))
    weight_squares, logit_squares = np.zeros((p, p)), np.zeros((p, p))
    multipliers, h = first_multipliers(schedule.first_mu), math.inf
    values = np.full(3, np.nan)
    belief, belief_weights = np.full((p, p), np.nan), np.zeros((p, p))
    n = 0
    while n < schedule.most:
        n += 1
        penalty = Penalty(edges, multipliers[GAMMA], multipliers[MU])
        total, h = loss_and_gradient(data, weights, logits, penalty, gradients)
        step(weights, gradients.weights, weight_squares, rate)
        step(logits, gradients.logits, logit_squares, rate)
        np.minimum(logits, ceiling, logits)
        if math.isnan(belief[0, 0]) and h <= belief_share * multipliers[FIRST]:
            belief[:], belief_weights[:] = probabilities_of(logits), weights
        if n % window == 0:
            values[0], values[1], values[2] = values[1], values[2], total
        if n % (2 * window) == 0 and is_solved(values, window):
            tighten(multipliers, h, schedule.factor, values)
            weight_squares[:], logit_squares[:] = 0.0, 0.0
        if n % LOOK_EVERY == 0 and h <= CLOSED and is_acyclic(probabilities_of(logits) > 0.5):
            break
    if math.isnan(belief[0, 0]):
        belief[:], belief_weights[:] = probabilities_of(logits), weights
    return Descent(belief, belief_weights, h, n)
