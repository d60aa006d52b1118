"""GIT's score: how hard imagined outcomes of an action would pull at the logits of the edges."""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.baselines.kernels.masked_loss import mean_square
from causalfocus.baselines.kernels.records import Models
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.records import PlainSettings
from causalfocus.kernels.sums.population import (
    action_covariance,
    action_mean,
    causal_order,
    total_effects,
)


class Belief(NamedTuple):
    """What the learner believes: weights and probabilities of the edges (p, p), noise variances."""

    weights: Floats
    probabilities: Floats
    variances: Floats


@kernel
def gradient_norms(
    models: Models, belief: Belief, centre: Floats, actions: PlainSettings
) -> Floats:
    """Return the mean over the imagined models of the norm of the gradient of DCDI's loss by the
    logits.

    The loss of one sample at the learner's noise variances, its expectation under model and masks
    in closed form; so nothing is drawn but the models.

    Parameters
    ----------
    models : that imagine the outcomes
    belief : of the learner
    centre : (p, p), what row t's regressors and node are counted from; zero without intercepts
    """
    weights, chance, variances = belief.weights, belief.probabilities, belief.variances
    is_set, values, spreads = actions
    p = len(variances)
    norms = np.zeros(len(is_set))
    gram = np.empty((p, p))
    for g in range(len(models.weights)):
        order = causal_order(models.weights[g])
        for a in range(len(is_set)):
            effects = total_effects(models.weights[g], order, is_set[a])
            mean = action_mean(effects, models.constants[g], is_set[a], values[a])
            covariance = action_covariance(effects, models.variances[g], is_set[a], spreads[a])
            total = 0.0
            for t in range(p):
                if is_set[a, t]:
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
    return norms / max(len(models.weights), 1)
