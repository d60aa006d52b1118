"""How probable every edge is: beliefs beside the guess, never a part of a certificate."""

from typing import Final

from causalfocus.arrays import Floats
from causalfocus.kernels.posterior import edges
from causalfocus.moments.moments import Moments
from causalfocus.oracles.for_kernels import (
    limits_of,
    plain_parents_of,
    plain_rows_of,
    rows_in_units,
    units_of,
)
from causalfocus.oracles.limits import numerical_errors, require_feasible_size
from causalfocus.system.space import ModelClass

ALL_DAGS_UP_TO: Final = 7
"""Nodes up to which the sums are over all DAGs; above, they are over all orders of the nodes."""


def edge_probabilities(moments: Moments, space: ModelClass) -> Floats:
    """The probability of every edge, ``[effect, cause]``, given the data and the class.

    Every set of parents has the weight that `probable_model` gives it. Up to seven nodes the sum is
    over all DAGs, exactly; above, over all orders of the nodes, by which a graph counts once for
    every order that it agrees with. Graphs that disagree with what is known do not count. These are
    beliefs under a prior: they help to look ahead, and certify nothing.

    Parameters
    ----------
    moments : of the data
    space : the model class

    Examples
    --------
    >>> import causalfocus as cf
    >>> truth = cf.LinearSEM([[0, 0], [0.5, 0]], 1.0)
    >>> moments = cf.Moments.expected(truth, {cf.OBSERVE: 50, cf.do("X1", 2): 50})
    >>> found = cf.edge_probabilities(moments, cf.ModelClass(min_effect=0.1))
    >>> bool(found[1, 0] > 0.99 and found[0, 1] < 0.01)
    True
    """
    p = len(moments.names)
    require_feasible_size(p)
    rows = moments.rows(intercept=space.intercept)
    scaled = rows_in_units(rows, units_of(space, moments.names))
    with numerical_errors("sum over graphs", rows):
        return edges.edge_probabilities(
            plain_rows_of(scaled),
            limits_of(space, moments.names),
            plain_parents_of(space, moments.names),
            p <= ALL_DAGS_UP_TO,
        )
