"""The estimate of the gaussian rule: a graph of the effects that matter, and their weights."""

from causalfocus.arrays import Floats
from causalfocus.kernels.gaussian import response
from causalfocus.moments.moments import Moments
from causalfocus.oracles.estimate import fitted_intercepts
from causalfocus.oracles.for_kernels import (
    plain_parents_of,
    plain_rows_of,
    rows_in_units,
    unit_effect,
    units_of,
)
from causalfocus.oracles.limits import numerical_errors, require_feasible_size
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass


def gaussian_estimate(moments: Moments, space: ModelClass) -> LinearSEM:
    """What the gaussian rule shows: the graph of the effects that matter, and of slighter ones
    that are plain to see, with weights fitted on all that may influence a node.

    The graph is that of the joint maximum-likelihood estimate with effects of size min_effect or
    more, and of any size at 12 nats each. So an effect is reported if min_effect fits better
    than none at all, about from half of min_effect on: weaker ones are easier to tell from
    min_effect, stronger ones from zero. A weaker one is reported once nothing else explains the
    data; without it they would speak for wrong directions. The choice moves the number of rounds
    alone. Other nodes may act on a node too weakly to be reported; so a weight is that of a
    regression on all nodes that come before the effect or beside it.

    What is known beforehand is in every graph that is considered. Required effects are shown
    whatever their size, with the weight of the regression; of those that lead back to where they
    begin, which only a rule that allows feedback can be told, none is asked for.
    """
    require_feasible_size(len(moments.names))
    rows = moments.rows(intercept=space.intercept)
    units = units_of(space, moments.names)
    scaled = plain_rows_of(rows_in_units(rows, units))
    with numerical_errors("estimate", rows):
        known = plain_parents_of(space, moments.names, allows_loops=True)
        weights, variances = response.gaussian_estimate(scaled, unit_effect(space), known)
    if units is not None:
        weights, variances = units.weights_from(weights), units.variances_from(variances)
    return LinearSEM.from_fit(
        weights, variances, fitted_intercepts(weights, rows, space.intercept), moments.names
    )


def shown_from(space: ModelClass, names: tuple[str, ...]) -> Floats:
    """(p, p), row the effect and column the cause: the size from which on an effect of a known
    system would be shown.
    """
    found: Floats = 0.5 * space.smallest(names)
    return found
