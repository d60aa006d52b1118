"""What an outcome tells about the graph alone: its parameters are integrated out.

Given a graph the prediction of a node from its parents is Student's t. Graphs of an ensemble share
most of their families, so each family's density is computed once per outcome.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.baselines.kernels.information_gain import causal_orders, exp_sum, outcome
from causalfocus.baselines.kernels.local_scores import Prior, family_posterior
from causalfocus.baselines.kernels.records import Models
from causalfocus.kernels.compile import kernel


class Predictions(NamedTuple):
    """The predictive densities of f families.

    Attributes
    ----------
    shapes : (f, 2 + q), node, size and regressors
    means : (f, q)
    inverses : (f, q, q), of the Cholesky factors
    scales : (f, 3), degrees of freedom, squared scale and log constant
    """

    shapes: Ints
    means: Floats
    inverses: Floats
    scales: Floats


@kernel
def distinct_families(parents: Ints) -> tuple[Ints, Ints]:
    """Return (f, 2) nodes and parents of all families in some graphs; (m, p) which each uses."""
    m, p = parents.shape
    families, used = np.empty((m * p, 2), dtype=np.int64), np.empty((m, p), dtype=np.int64)
    n = 0
    for i in range(m):
        for j in range(p):
            at = -1
            for f in range(n):
                if families[f, 0] == j and families[f, 1] == parents[i, j]:
                    at = f
                    break
            if at < 0:
                families[n, 0], families[n, 1] = j, parents[i, j]
                at = n
                n += 1
            used[i, j] = at
    return families[:n], used


@kernel
def predictions(grams: Floats, counts: Floats, families: Ints, prior: Prior) -> Predictions:
    """Return all that the predictive densities of some families need."""
    p, q = grams.shape[0], grams.shape[1]
    n = len(families)
    shapes = np.zeros((n, 2 + q), dtype=np.int64)
    means, inverses, scales = np.zeros((n, q)), np.zeros((n, q, q)), np.empty((n, 3))
    for f in range(n):
        j = families[f, 0]
        found = family_posterior(grams[j], j, families[f, 1], counts[j], prior, p)
        regressors, lower, mean = found.regressors, found.lower, found.mean
        a, b = found.shape, found.scale
        s = len(regressors)
        shapes[f, 0], shapes[f, 1] = j, s
        for i in range(s):
            shapes[f, 2 + i] = regressors[i]
            means[f, i] = mean[i]
            inverses[f, i, i] = 1.0 / lower[i, i]
            for k in range(i):
                total = 0.0
                for m in range(k, i):
                    total -= lower[i, m] * inverses[f, m, k]
                inverses[f, i, k] = total / lower[i, i]
        scales[f, 0], scales[f, 1] = 2.0 * a, b / a
        scales[f, 2] = math.lgamma(a + 0.5) - math.lgamma(a) - 0.5 * math.log(2.0 * math.pi * b)
    return Predictions(shapes, means, inverses, scales)


@kernel
def log_prediction(found: Predictions, f: int, y: Floats) -> float:
    """Return the log density of a family's node given the others: Student's t."""
    shapes, means, inverses = found.shapes, found.means, found.inverses
    p = len(y)
    off, leverage = y[shapes[f, 0]], 1.0
    for i in range(shapes[f, 1]):
        k = shapes[f, 2 + i]
        z = y[k] if k < p else 1.0
        off -= means[f, i] * z
        total = 0.0
        for m in range(i + 1):
            r = shapes[f, 2 + m]
            total += inverses[f, i, m] * (y[r] if r < p else 1.0)
        leverage += total * total
    freedom, scale, constant = found.scales[f]
    tail = math.log1p(off * off / (freedom * scale * leverage))
    return constant - 0.5 * math.log(leverage) - 0.5 * (freedom + 1.0) * tail


@kernel
def graph_gains(
    models: Models,
    found: Predictions,
    used: Ints,
    targets: Ints,
    values: Floats,
    noise: Floats,
) -> Floats:
    """Return the nested Monte-Carlo information of every action about the graph, in nats.

    models : draw the outcomes
    used : (m, p), the families of every graph
    noise : (m, s, p) standard normals
    """
    n_models, n_draws, p = noise.shape
    orders = causal_orders(models.weights)
    gains = np.empty(len(targets))
    y, densities, own = np.empty(p), np.empty(n_models), np.empty(len(found.scales))
    for a in range(len(targets)):
        total = 0.0
        for m in range(n_models):
            for s in range(n_draws):
                outcome(models, m, orders[m], (targets[a], values[a]), noise[m, s], y)
                for f in range(len(own)):
                    own[f] = 0.0
                    if found.shapes[f, 0] != targets[a]:
                        own[f] = log_prediction(found, f, y)
                for i in range(n_models):
                    densities[i] = 0.0
                    for j in range(p):
                        densities[i] += own[used[i, j]]
                total -= math.log(exp_sum(densities, densities[m]) / n_models)
        gains[a] = total / (n_models * n_draws)
    return gains
