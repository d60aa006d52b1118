"""DCDI's loss for linear-Gaussian systems, with the expectation over masks in closed form.

Every edge is there with its probability s, independently; s is the logistic function of a logit.
For given weights the mean square of a node's residual over masks and samples is a polynomial in s,
and the noise variance that minimises the loss is that mean square, so it needs no parameter.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.baselines.kernels.acyclicity import acyclicity
from causalfocus.kernels.compile import kernel

TINY = 1e-12
"""Mean squares below this share of the node's own count as it: a perfect fit has no limit."""


class Data(NamedTuple):
    """Gram matrices (p, p, p) and counts (p,) of the nodes, and the number of samples."""

    grams: Floats
    counts: Floats
    n: float


class Penalty(NamedTuple):
    """The penalty on edges, and gamma and mu of the constraint."""

    edges: float
    gamma: float
    mu: float


class Gradients(NamedTuple):
    """Room for the gradients by weights and logits, (p, p) each."""

    weights: Floats
    logits: Floats


@kernel
def probabilities_of(logits: Floats) -> Floats:
    """Return the edge probabilities ``[effect, cause]``; none from a node to itself."""
    p = logits.shape[0]
    found = np.zeros((p, p))
    for t in range(p):
        for j in range(p):
            if j != t:
                found[t, j] = 1.0 / (1.0 + math.exp(-logits[t, j]))
    return found


@kernel
def mean_square(gram: Floats, t: int, weights: Floats, chance: Floats) -> tuple[float, Floats]:
    """Return the sum over samples of node t's expected squared residual, and G u - g, with
    u = weights * chance.
    """
    p = len(weights)
    pull = np.empty(p)
    total = gram[t, t]
    for j in range(p):
        along = -gram[j, t]
        for k in range(p):
            along += gram[j, k] * (weights[k] * chance[k])
        pull[j] = along
        u = weights[j] * chance[j]
        total += u * (along - gram[j, t])
        total += weights[j] ** 2 * chance[j] * (1.0 - chance[j]) * gram[j, j]
    return total, pull


@kernel
def loss_and_gradient(
    data: Data, weights: Floats, logits: Floats, penalty: Penalty, gradients: Gradients
) -> tuple[float, float]:
    """Return the augmented Lagrangian and h; write the gradients by weights and logits.

    Scaled as in DCDI: the likelihood per sample and per node, the penalty on edges per pair.
    """
    grams, counts, n = data.grams, data.counts, data.n
    by_weight, by_logit = gradients.weights, gradients.logits
    edges, gamma, mu = penalty.edges, penalty.gamma, penalty.mu
    p = len(counts)
    chance = probabilities_of(logits)
    h, h_gradient = acyclicity(chance)
    total = gamma * h + 0.5 * mu * h * h
    for t in range(p):
        square, pull = mean_square(grams[t], t, weights[t], chance[t])
        rate = 0.0
        if counts[t] > 0.0 and grams[t, t, t] > 0.0:
            share = counts[t] / (2.0 * n * p)
            lowest = TINY * grams[t, t, t]
            total += share * math.log(max(square, lowest) / counts[t])
            rate = share / square if square > lowest else 0.0
        for j in range(p):
            s, w = chance[t, j], weights[t, j]
            slope = s * (1.0 - s)
            own = w * grams[t, j, j]
            by_weight[t, j] = 2.0 * rate * (s * pull[j] + slope * own)
            by_chance = rate * w * (2.0 * pull[j] + (1.0 - 2.0 * s) * own)
            by_chance += edges / p**2 + (gamma + mu * h) * h_gradient[t, j]
            by_logit[t, j] = by_chance * slope
            total += edges / p**2 * s
    return total, h
