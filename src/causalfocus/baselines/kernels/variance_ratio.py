"""AIT's score: variance between the graphs' predictions over variance within, in closed form.

For an action and models g = 1, ..., Q with means mu_g and covariances C_g of all nodes,

    D = sum over g of |mu_g - mean mu|^2  /  sum over g of tr C_g.

The node that is set adds nothing to either sum.
"""

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.baselines.kernels.records import Models
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.records import PlainSettings
from causalfocus.kernels.sums.population import (
    action_covariance,
    action_mean,
    causal_order,
    total_effects,
)


@kernel
def variance_ratios(models: Models, actions: PlainSettings) -> Floats:
    """Return D of every action; zero where nothing varies within or between."""
    weights, variances, constants = models.weights, models.variances, models.constants
    is_set, values, spreads = actions
    m, p = variances.shape
    ratios = np.zeros(len(is_set))
    means = np.empty((m, p))
    orders = np.empty((m, p), dtype=np.int64)
    for g in range(m):
        orders[g] = causal_order(weights[g])
    for a in range(len(is_set)):
        within = 0.0
        for g in range(m):
            effects = total_effects(weights[g], orders[g], is_set[a])
            means[g] = action_mean(effects, constants[g], is_set[a], values[a])
            covariance = action_covariance(effects, variances[g], is_set[a], spreads[a])
            for j in range(p):
                within += covariance[j, j]
        between = 0.0
        for j in range(p):
            centre = means[:, j].mean()
            for g in range(m):
                between += (means[g, j] - centre) ** 2
        if within > 0.0:
            ratios[a] = between / within
    return ratios
