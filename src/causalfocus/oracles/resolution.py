"""The report of the resolution rule: a graph of the effects that matter, and their weights."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from causalfocus.kernels import resolution_response
from causalfocus.moments import Moments
from causalfocus.oracles.estimate import fitted_intercepts, joint_mle
from causalfocus.oracles.limits import numerical_errors
from causalfocus.sem import LinearSEM
from causalfocus.space import ModelClass

Floats = NDArray[np.float64]


def report(moments: Moments, space: ModelClass) -> LinearSEM:
    """What the resolution rule reports: the graph of the joint maximum-likelihood estimate without
    bounds, its weights fitted on all that may influence a node.

    Other nodes may act on a node too weakly to be reported; so a weight is that of a regression on
    all nodes that come before the effect or beside it. An effect is reported if min_effect fits
    better than none at all, about from half of min_effect on: weaker ones are easier to tell from
    min_effect, stronger ones from zero. The choice moves the number of rounds alone.
    """
    graph = joint_mle(moments, _unbounded(space))
    rows = moments.rows(intercept=space.intercept)
    with numerical_errors("report", rows):
        weights = resolution_response.refitted((rows.grams, rows.lows, rows.counts), graph.weights)
    return LinearSEM._trusted(
        weights,
        graph.noise_variances,
        fitted_intercepts(weights, rows, space.intercept),
        graph.names,
    )


def reported_from(space: ModelClass) -> float:
    """The size from which on an effect of a known system would be reported."""
    return 0.5 * space.min_effect


@lru_cache(maxsize=64)
def _unbounded(space: ModelClass) -> ModelClass:
    return ModelClass(space.min_effect, intercept=space.intercept)
