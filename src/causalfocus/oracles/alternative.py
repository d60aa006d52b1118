"""The closest alternative to a model (Eqs. alternative_best_response and stopping_statistic)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from causalfocus.kernels.exact import response
from causalfocus.moments.moments import weights_as_arrays
from causalfocus.moments.row_units import no_units
from causalfocus.oracles.for_kernels import limits_of, plain_model_of, plain_parents_of
from causalfocus.oracles.limits import numerical_errors, require_feasible_size
from causalfocus.system.actions import Action
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

Branch = Literal["same graph", "different graph"]


@dataclass(frozen=True)
class Alternative:
    """The alternative that the weighted actions can tell apart least.

    Attributes
    ----------
    model : the alternative; None if there is none at all (a single node has no other graph, nor has
        any other if everything is known)
    value : weighted KL divergence from the reference to it, in nats; infinity if there is none
    branch : "same graph" (a weight differs by epsilon or more) or "different graph"
    """

    model: LinearSEM | None
    value: float
    branch: Branch | None


def best_alternative(
    model: LinearSEM,
    weights: Mapping[Action, float],
    space: ModelClass,
    *,
    epsilon: float,
) -> Alternative:
    """The member of Alt_epsilon(model) with the least weighted divergence, exactly.

    Minimises ``sum_a weights[a] * KL(P_a^model || P_a^alternative)`` over all models of the class
    with another graph that agrees with what is known beforehand, or with the same graph and a
    weight that differs by epsilon or more
    (Algorithms finite_alternative_oracle, same_graph_alternative, different_graph_alternative).
    Allocations give the best response, counts give the stopping statistic d_t.

    Ties go to the same graph, then to fewer parents, then to earlier names as causes. Rows without
    weight (every weighted action sets that node) cost nothing.

    Parameters
    ----------
    model : the reference, a member of the class
    weights : non-negative weight per action
    space : the model class
    epsilon : accuracy, at most min_effect / 2

    Examples
    --------
    >>> import causalfocus as cf
    >>> model = cf.LinearSEM([[0, 0], [0.5, 0]], 1.0)
    >>> space = cf.ModelClass(min_effect=0.2, noise_variance=(0.5, 2), intercept=False)
    >>> found = cf.best_alternative(model, {cf.do("X1", 2): 1.0}, space, epsilon=0.1)
    >>> found.branch, round(found.value, 4)
    ('same graph', 0.0196)
    """
    require_feasible_size(model.p)
    space.require(model)
    space.require_uniform("The paper's alternative")
    space.checked_epsilon(epsilon)
    actions = weights_as_arrays(weights, model.names)
    with numerical_errors("alternative oracle", model):
        found = response.closest_rival(
            plain_model_of(model),
            (actions.is_set, actions.values, actions.spreads, actions.weights),
            limits_of(space, model.names),
            epsilon,
            space.intercept,
            no_units(model.p).plain,
            plain_parents_of(space, model.names),
        )
    has_none = len(found.gains) > 0 and bool(np.isinf(found.gains).all())
    if model.p == 1 or has_none:
        return Alternative(None, math.inf, None)
    value = float((found.gains * actions.weights).sum())
    closest = LinearSEM.from_fit(
        found.weights.copy(), found.variances.copy(), found.intercepts, model.names
    )
    return Alternative(closest, value, "same graph" if found.is_same else "different graph")
