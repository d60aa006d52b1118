"""DCDI's own objective: a mask drawn for every sample, by Gumbel-softmax, straight through.

The forward value of a mask is 0 or 1; backwards it counts as the logistic function of logit plus
noise. Kept for comparison with the closed form of `masked_loss`.
"""

import math

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.baselines.kernels.acyclicity import acyclicity, is_acyclic
from causalfocus.baselines.kernels.descent import (
    CLOSED,
    LOOK_EVERY,
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

Samples = tuple[Floats, Ints]
"""Values (n, p) and the node that was set, -1 for none (n,)."""

Parameters = tuple[Floats, Floats, Floats]
"""Weights and logits (p, p), and (2, p): constants and logarithms of noise deviations."""


@kernel
def logistic_noise(rng: np.random.Generator, n: int, p: int) -> Floats:
    """Noise of the masks: (n, p, p)."""
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
    """Negative log-likelihood of some samples, per sample and node. Gradients are written.

    rows : which samples
    noise : (len(rows), p, p)
    """
    values, targets = samples
    weights, logits, others = parameters
    by_weight, by_logit, by_other = gradients
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
def penalised(logits: Floats, penalty: Penalty, by_logit: Floats) -> tuple[float, float]:
    """The penalties on edges and cycles, and h; their gradient is added to that of the logits."""
    edges, gamma, mu = penalty
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
) -> tuple[Floats, Floats, float, int]:
    """Train in place on four fifths of the samples; the rest tells when a sub-problem is solved.

    Returns belief, its weights, the last h and the iterations, as `descent.descend`.
    """
    rate, mu, factor, window, most, belief_share = schedule
    weights, logits, others = parameters
    n_samples, p = samples[0].shape
    rows = np.arange(n_samples)
    _shuffle(rng, rows, n_samples)
    n_train = max(1, (4 * n_samples) // 5)
    training, validation = rows[:n_train].copy(), rows[n_train:].copy()
    if len(validation) == 0:
        validation = training.copy()
    batch = min(BATCH, n_train)
    gradients = (np.zeros((p, p)), np.zeros((p, p)), np.zeros((2, p)))
    unused = (np.zeros((p, p)), np.zeros((p, p)), np.zeros((2, p)))
    squares = (np.zeros((p, p)), np.zeros((p, p)), np.zeros((2, p)))
    multipliers, h = first_multipliers(mu), math.inf
    values = np.full(3, np.nan)
    belief, belief_weights = np.full((p, p), np.nan), np.zeros((p, p))
    n = 0
    while n < most:
        n += 1
        _shuffle(rng, training, batch)
        noise = logistic_noise(rng, batch, p)
        sampled_loss(samples, training[:batch], parameters, noise, gradients)
        _, h = penalised(logits, (edges, multipliers[0], multipliers[1]), gradients[1])
        if not intercept:
            gradients[2][0] = 0.0
        step(weights, gradients[0], squares[0], rate)
        step(logits, gradients[1], squares[1], rate)
        step(others, gradients[2], squares[2], rate)
        if math.isnan(belief[0, 0]) and h <= belief_share * multipliers[3]:
            belief[:], belief_weights[:] = probabilities_of(logits), weights
        if n % window == 0:
            noise = logistic_noise(rng, len(validation), p)
            total = sampled_loss(samples, validation, parameters, noise, unused)
            total += penalised(logits, (edges, multipliers[0], multipliers[1]), unused[1])[0]
            values[0], values[1], values[2] = values[1], values[2], total
        if n % (2 * window) == 0 and is_solved(values, window):
            tighten(multipliers, h, factor, values)
            for part in squares:
                part[:] = 0.0
        if n % LOOK_EVERY == 0 and h <= CLOSED and is_acyclic(probabilities_of(logits) > 0.5):
            break
    if math.isnan(belief[0, 0]):
        belief[:], belief_weights[:] = probabilities_of(logits), weights
    return belief, belief_weights, h, n
