"""GIT's score: how hard imagined outcomes of an action would pull at the logits of the edges."""

import math

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.baselines.kernels.masked_loss import mean_square
from causalfocus.baselines.kernels.variance_ratio import Models
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.sums.population import (
    action_covariance,
    action_mean,
    causal_order,
    total_effects,
)


@kernel
def gradient_norms(
    models: Models,
    learner: tuple[Floats, Floats, Floats],
    centre: Floats,
    targets: Ints,
    values: Floats,
) -> Floats:
    """Mean over the imagined models of the norm of the gradient of DCDI's loss by the logits.

    The loss of one sample at the learner's noise variances, its expectation under model and masks
    in closed form; so nothing is drawn but the models.

    Parameters
    ----------
    models : that imagine the outcomes
    learner : weights, probabilities and noise variances
    centre : (p, p), what row t's regressors and node are counted from; zero without intercepts
    """
    weights, chance, variances = learner
    p = len(variances)
    norms = np.zeros(len(targets))
    gram = np.empty((p, p))
    for g in range(len(models[0])):
        order = causal_order(models[0][g])
        for a in range(len(targets)):
            effects = total_effects(models[0][g], order, targets[a])
            mean = action_mean(effects, models[2][g], targets[a], values[a])
            covariance = action_covariance(effects, models[1][g], targets[a])
            total = 0.0
            for t in range(p):
                if t == targets[a]:
                    continue
                for j in range(p):
                    for k in range(p):
                        off = (mean[j] - centre[t, j]) * (mean[k] - centre[t, k])
                        gram[j, k] = covariance[j, k] + off
                _, pull = mean_square(gram, t, weights[t], chance[t])
                for j in range(p):
                    s, w = chance[t, j], weights[t, j]
                    slope = w * (2.0 * pull[j] + (1.0 - 2.0 * s) * w * gram[j, j])
                    slope *= s * (1.0 - s) / (2.0 * variances[t] * p)
                    total += slope * slope
            norms[a] += math.sqrt(total)
    return norms / max(len(models[0]), 1)
