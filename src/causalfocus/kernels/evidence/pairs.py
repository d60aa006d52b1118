"""How far the certificate is with every pair of variables, and what every action tells of it.

Against a pair stand alternatives that move one coefficient of one row by a distance d along its
direction u (`direction_evidence`). With a step h and information I = n / (R (G^-1)_kk), their
evidence is about h (d - h/2) I. Where the estimate is right, a round of an action adds
h (D - h/2) E(u.x)^2 / v to it, D the distance from the estimate itself: what chance has put between
estimate and fit does not grow with the samples. Here the noise and the direction are taken as
known. What follows decides where to look and what to do next, and nothing else.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.arithmetic.sets import (
    may_act,
    parents_of,
    position,
    regressors_of,
)
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.evidence.row_evidence import least_squares
from causalfocus.kernels.records import (
    Model,
    PlainModel,
    PlainParents,
    PlainRows,
    PlainSettings,
    as_model,
    as_parents,
    as_rows,
    row_of,
)
from causalfocus.kernels.sums.population import action_covariance, action_mean, total_effects

UNKNOWN = 0.0
"""Nats of evidence on a pair whose row the samples do not determine yet."""


PlainPairScale = tuple[float, float, float, float, float, bool]
"""What a rule asks of pairs, in this order:

- epsilon, the distance of the alternatives to a reported effect; infinity to ask nothing of them;
- min_effect, the size of the alternatives to an effect that is not reported;
- step and stride, by which the rows of the one and of the other are moved;
- fine, the mixing of every single coefficient, as a share of these;
- whether other effects that are not reported may be in a row too.
"""


class Pairs(NamedTuple):
    """Evidence on pairs, one row each.

    Attributes
    ----------
    effects, causes : (m,), the nodes
    evidence : (m,), in nats, without what the weight of its term costs
    directions : (m, p), how the row of the effect moves
    unit : (m,), evidence for a unit of (u.x)^2 over the noise variance
    """

    effects: Ints
    causes: Ints
    evidence: Floats
    directions: Floats
    unit: Floats


@kernel
def pair_evidence(
    plain: PlainRows, weights: Floats, scale: PlainPairScale, known: PlainParents
) -> Pairs:
    """Return the evidence on every pair of an effect and a node that may act on it (`may_act`).

    weights : of the estimate
    """
    rows = as_rows(plain)
    epsilon, min_effect, step, stride, fine, is_wide = scale
    p, q = len(rows.counts), rows.grams.shape[1]
    nd = may_act(weights, as_parents(known))
    most = p * (p - 1)
    effects, causes = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    evidence, directions, unit = np.empty(most), np.zeros((most, p)), np.empty(most)
    m = 0
    for j in range(p):
        own, n = parents_of(weights, j), rows.counts[j]
        regressors = regressors_of(nd[j] if is_wide else own, p, q)
        fit = least_squares(row_of(rows, j), regressors, n)
        for k in range(p):
            is_reported = weights[j, k] != 0.0
            if not (nd[j] >> k) & 1 or (is_reported and epsilon == math.inf):
                continue
            if not is_wide and not is_reported:
                regressors = regressors_of(own | (1 << k), p, q)
                fit = least_squares(row_of(rows, j), regressors, n)
            elif not is_wide:
                regressors = regressors_of(own, p, q)
                fit = least_squares(row_of(rows, j), regressors, n)
            h = step if is_reported else stride
            far = epsilon if is_reported else min_effect
            effects[m], causes[m], evidence[m] = j, k, UNKNOWN
            unit[m] = h * (far - 0.5 * h)
            directions[m, k] = 1.0
            if fit.residual > 0.0:
                i = position(k, regressors)
                b = fit.coefficients[i]
                d = far - (abs(b - weights[j, k]) if is_reported else abs(b))
                evidence[m] = h * (d - 0.5 * h) * n / (fit.residual * fit.inverse[i, i])
                for r in range(len(regressors)):
                    mixed = (fine * h) ** 2 * fit.gram[r, r] * n / fit.residual
                    evidence[m] -= 0.5 * math.log1p(mixed)
                    if regressors[r] < p:
                        directions[m, regressors[r]] = fit.inverse[r, i] / fit.inverse[i, i]
            m += 1
    return Pairs(effects[:m], causes[:m], evidence[:m], directions[:m], unit[:m])


@kernel
def least_evidence(
    plain: PlainRows, weights: Floats, scale: PlainPairScale, known: PlainParents
) -> float:
    """Return the least evidence on any pair; infinity if there is none."""
    found = pair_evidence(plain, weights, scale, known).evidence
    return found.min() if len(found) else math.inf


@kernel
def pair_gains(pairs: Pairs, estimate: PlainModel, means: Floats, actions: PlainSettings) -> Floats:
    """Return (m, k): what one round of every action adds to the evidence on every pair, if the
    estimate is right.

    means : (p, p), of all nodes over the samples of each row, which its constant takes up; zeros
        without constants
    actions : which nodes are set, mean and variance of the values
    """
    model: Model = as_model(estimate)
    is_set, values, spreads = actions
    p, m, k = len(model.variances), len(pairs.effects), len(is_set)
    gains = np.zeros((m, k))
    for a in range(k):
        effects = total_effects(model.weights, model.order, is_set[a])
        mean = action_mean(effects, model.intercepts, is_set[a], values[a])
        covariance = action_covariance(effects, model.variances, is_set[a], spreads[a])
        for i in range(m):
            j = pairs.effects[i]
            if is_set[a, j]:
                continue
            u, shift, spread = pairs.directions[i], 0.0, 0.0
            for r in range(p):
                if u[r] != 0.0:
                    shift += u[r] * (mean[r] - means[j, r])
                    for s in range(p):
                        spread += u[r] * covariance[r, s] * u[s]
            gains[i, a] = pairs.unit[i] * (spread + shift * shift) / model.variances[j]
    return gains
