"""DCDI's own objective: a mask drawn for every sample, by Gumbel-softmax, straight through.

The forward value of a mask is 0 or 1; backwards it counts as the logistic function of logit plus
noise. Kept for comparison with the closed form of `masked_loss`.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.baselines.kernels.acyclicity import acyclicity, is_acyclic
from causalfocus.baselines.kernels.descent import (
    CLOSED,
    FIRST,
    GAMMA,
    LOOK_EVERY,
    MU,
    Descent,
    Schedule,
    first_multipliers,
    is_solved,
    step,
    tighten,
)
from causalfocus.baselines.kernels.masked_loss import Penalty, probabilities_of
from causalfocus.kernels.compile import kernel

BATCH = 64
"""Samples per step; all, if there are fewer."""


class Samples(NamedTuple):
    """Values (n, p) and the node that was set, -1 for none (n,)."""

    values: Floats
    targets: Ints


class Parameters(NamedTuple):
    """Weights and logits (p, p), and (2, p): constants and logarithms of noise deviations."""

    weights: Floats
    logits: Floats
    others: Floats


@kernel
def logistic_noise(rng: np.random.Generator, n: int, p: int) -> Floats:
    """Draw the noise of the masks: (n, p, p)."""
    found = np.empty((n, p, p))
    for i in range(n):
        for t in range(p):
            for j in range(p):
                u = min(max(rng.random(), 1e-300), 1.0 - 1e-16)
                found[i, t, j] = math.log(u) - math.log1p(-u)
    return found


@kernel
def sampled_loss(
    samples: Samples,
    rows: Ints,
    parameters: Parameters,
    noise: Floats,
    gradients: Parameters,
) -> float:
    """Return the negative log-likelihood of some samples, per sample and node; write the gradients.

    rows : which samples
    noise : (len(rows), p, p)
    """
    values, targets = samples.values, samples.targets
    weights, logits, others = parameters.weights, parameters.logits, parameters.others
    by_weight, by_logit, by_other = gradients.weights, gradients.logits, gradients.others
    p = values.shape[1]
    by_weight[:], by_logit[:], by_other[:] = 0.0, 0.0, 0.0
    scale = 1.0 / (len(rows) * p)
    total = 0.0
    soft, mask = np.empty(p), np.empty(p)
    for n in range(len(rows)):
        x = values[rows[n]]
        for t in range(p):
            if targets[rows[n]] == t:
                continue
            residual = x[t] - others[0, t]
            for j in range(p):
                soft[j], mask[j] = 0.0, 0.0
                if j != t:
                    soft[j] = 1.0 / (1.0 + math.exp(-(logits[t, j] + noise[n, t, j])))
                    mask[j] = 1.0 if soft[j] > 0.5 else 0.0
                    residual -= weights[t, j] * mask[j] * x[j]
            pull = residual * math.exp(-2.0 * others[1, t])
            total += scale * (0.5 * pull * residual + others[1, t] + 0.5 * math.log(2.0 * math.pi))
            by_other[0, t] -= scale * pull
            by_other[1, t] += scale * (1.0 - pull * residual)
            for j in range(p):
                by_weight[t, j] -= scale * pull * mask[j] * x[j]
                slope = soft[j] * (1.0 - soft[j])
                by_logit[t, j] -= scale * pull * weights[t, j] * x[j] * slope
    return total


@kernel
def add_penalty(logits: Floats, penalty: Penalty, by_logit: Floats) -> tuple[float, float]:
    """Return the penalties on edges and cycles, and h; add their gradient to that of the logits."""
    edges, gamma, mu = penalty.edges, penalty.gamma, penalty.mu
    p = logits.shape[0]
    chance = probabilities_of(logits)
    h, h_gradient = acyclicity(chance)
    total = gamma * h + 0.5 * mu * h * h
    for t in range(p):
        for j in range(p):
            s = chance[t, j]
            total += edges / p**2 * s
            own = edges / p**2 + (gamma + mu * h) * h_gradient[t, j]
            by_logit[t, j] += own * s * (1.0 - s)
    return total, h


@kernel
def _no_parameters(p: int) -> Parameters:
    """Return room for parameters, all zero."""
    return Parameters(np.zeros((p, p)), np.zeros((p, p)), np.zeros((2, p)))


@kernel
def _shuffle(rng: np.random.Generator, rows: Ints, n: int) -> None:
    """Bring n of the rows, drawn without replacement, to the front."""
    for i in range(n):
        other = i + int(rng.random() * (len(rows) - i))
        rows[i], rows[other] = rows[other], rows[i]


@kernel
def descend_by_masks(
    samples: Samples,
    parameters: Parameters,
    edges: float,
    schedule: Schedule,
    intercept: bool,
    rng: np.random.Generator,
) -> Descent:
    """Train in place on four fifths of the samples; the rest tells when a sub-problem is solved.
    Return where the descent ended.
    """
    rate, window, belief_share = schedule.rate, schedule.window, schedule.belief_share
    weights, logits = parameters.weights, parameters.logits
    n_samples, p = samples.values.shape
    rows = np.arange(n_samples)
    _shuffle(rng, rows, n_samples)
    n_train = max(1, (4 * n_samples) // 5)
    training, validation = rows[:n_train].copy(), rows[n_train:].copy()
    if len(validation) == 0:
        validation = training.copy()
    batch = min(BATCH, n_train)
    gradients, unused, squares = _no_parameters(p), _no_parameters(p), _no_parameters(p)
    multipliers, h = first_multipliers(schedule.first_mu), math.inf
    values = np.full(3, np.nan)
    belief, belief_weights = np.full((p, p), np.nan), np.zeros((p, p))
    n = 0
    while n < schedule.most:
        n += 1
        _shuffle(rng, training, batch)
        noise = logistic_noise(rng, batch, p)
        sampled_loss(samples, training[:batch], parameters, noise, gradients)
        penalty = Penalty(edges, multipliers[GAMMA], multipliers[MU])
        _, h = add_penalty(logits, penalty, gradients.logits)
        if not intercept:
            gradients.others[0] = 0.0
        step(weights, gradients.weights, squares.weights, rate)
        step(logits, gradients.logits, squares.logits, rate)
        step(parameters.others, gradients.others, squares.others, rate)
        if math.isnan(belief[0, 0]) and h <= belief_share * multipliers[FIRST]:
            belief[:], belief_weights[:] = probabilities_of(logits), weights
        if n % window == 0:
            noise = logistic_noise(rng, len(validation), p)
            total = sampled_loss(samples, validation, parameters, noise, unused)
            lagrangian, _ = add_penalty(logits, penalty, unused.logits)
            total += lagrangian
            values[0], values[1], values[2] = values[1], values[2], total
        if n % (2 * window) == 0 and is_solved(values, window):
            tighten(multipliers, h, schedule.factor, values)
            squares.weights[:], squares.logits[:], squares.others[:] = 0.0, 0.0, 0.0
        if n % LOOK_EVERY == 0 and h <= CLOSED and is_acyclic(probabilities_of(logits) > 0.5):
            break
    if math.isnan(belief[0, 0]):
        belief[:], belief_weights[:] = probabilities_of(logits), weights
    return Descent(belief, belief_weights, h, n)
