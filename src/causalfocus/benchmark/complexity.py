"""C_epsilon of Eq. finite_information_complexity, by cutting planes."""

import numpy as np
from scipy.optimize import linprog

from causalfocus.actions import ActionSet, actions_as_arrays
from causalfocus.kernels import response
from causalfocus.sem import LinearSEM
from causalfocus.space import ModelClass

RELATIVE_GAP = 1e-3


def information_complexity(
    model: LinearSEM, actions: ActionSet, space: ModelClass, epsilon: float
) -> float:
    """The information per round that the best design guarantees, from below, to 0.1 percent.

    A linear program over allocations against the alternatives found so far gives an upper value
    and a design; the exact closest alternative to that design gives a lower value and a cut.
    """
    space.require(model)
    reference = (model.weights, model.noise_variances, model.intercepts, model.order)
    targets, values = actions_as_arrays(actions, model.names)
    k = len(actions)
    allocation, lower, cuts = np.full(k, 1.0 / k), 0.0, []
    for _ in range(1000):
        gains, *_ = response.alternative(
            reference,
            (targets, values, allocation),
            (space.min_effect, space.effect_limit),
            space.variance_limits,
            epsilon,
            space.intercept,
        )
        lower = max(lower, float(gains @ allocation))
        cuts.append(gains)
        table = np.hstack([-np.array(cuts), np.ones((len(cuts), 1))])
        solved = linprog(
            np.append(np.zeros(k), -1.0),
            A_ub=table,
            b_ub=np.zeros(len(cuts)),
            A_eq=[[1.0] * k + [0.0]],
            b_eq=[1.0],
            bounds=[(0, None)] * k + [(None, None)],
        )
        if -solved.fun - lower <= RELATIVE_GAP * lower:
            break
        allocation = np.maximum(solved.x[:k], 0.0)
        allocation /= allocation.sum()
    return lower
