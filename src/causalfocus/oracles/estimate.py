"""The joint maximum-likelihood estimate of graph, weights and noise (Eq. joint_mle)."""

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.exact import oracles
from causalfocus.moments.moments import Moments
from causalfocus.moments.views import RowMoments
from causalfocus.oracles.for_kernels import (
    bounds_of,
    plain_bounds_of,
    plain_parents_of,
    plain_rows_of,
    rows_of,
)
from causalfocus.oracles.limits import numerical_errors, require_feasible_size
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass


def joint_mle(moments: Moments, space: ModelClass) -> LinearSEM:
    """The model of the class under which the data are most likely: the exact global maximiser.

    All DAGs that agree with what is known beforehand compete, with all weights of min_effect <=
    \\|weight\\| <= max_effect and all noise variances in their range. Ties (to 1e-12 of the score)
    go to fewer parents of a node, and between graphs to earlier names as causes. A node without
    samples of its own gets no parents but those that are required, each with the allowed weight
    nearest to zero, and the smallest noise variance, 1 if there is no smallest.

    Parameters
    ----------
    moments : of the data
    space : the model class

    Examples
    --------
    >>> import causalfocus as cf
    >>> truth = cf.LinearSEM([[0, 0], [0.5, 0]], 1.0)
    >>> moments = cf.Moments.expected(truth, {cf.OBSERVE: 50, cf.do("X1", 2): 50})
    >>> cf.joint_mle(moments, cf.ModelClass(min_effect=0.1)).edges
    (('X1', 'X2', 0.5),)
    """
    require_feasible_size(len(moments.names))
    rows = moments.rows(intercept=space.intercept)
    with numerical_errors("joint MLE", rows):
        weights, variances = oracles.class_mle(
            plain_rows_of(rows), plain_bounds_of(space), plain_parents_of(space, moments.names)
        )
    return LinearSEM.from_fit(
        weights, variances, fitted_intercepts(weights, rows, space.intercept), moments.names
    )


def probable_model(moments: Moments, space: ModelClass) -> LinearSEM:
    """The most likely model of the class with the most probable graph: the best guess.

    The joint MLE pays nothing for an edge, so that it reports many that chance has made. Here every
    set of parents has its probability, which is the likelihood of the row averaged over the
    coefficients that the class allows; a node is as likely to have any number of parents as any
    other. The product over all nodes is maximised, exactly, over all DAGs that agree with what is
    known beforehand. The averages are exact
    for one parent; for more, what falls outside the class is taken coefficient by coefficient.
    Ties as in `joint_mle`.

    Parameters
    ----------
    moments : of the data
    space : the model class

    Examples
    --------
    >>> import causalfocus as cf
    >>> truth = cf.LinearSEM([[0, 0], [0.5, 0]], 1.0)
    >>> moments = cf.Moments.expected(truth, {cf.OBSERVE: 50, cf.do("X1", 2): 50})
    >>> cf.probable_model(moments, cf.ModelClass(min_effect=0.1)).edges
    (('X1', 'X2', 0.5),)
    """
    require_feasible_size(len(moments.names))
    rows = moments.rows(intercept=space.intercept)
    with numerical_errors("most probable model", rows):
        weights, variances = oracles.probable_model(
            plain_rows_of(rows), plain_bounds_of(space), plain_parents_of(space, moments.names)
        )
    return LinearSEM.from_fit(
        weights, variances, fitted_intercepts(weights, rows, space.intercept), moments.names
    )


def graph_mle(moments: Moments, parents: Ints, space: ModelClass) -> LinearSEM:
    """The most likely model of the class among those with a given, acyclic graph.

    parents : per node the set of its parents, bit k for node k; it is fitted as it is given,
        whatever is known of the graph
    """
    rows = moments.rows(intercept=space.intercept)
    with numerical_errors("fit of a graph", rows):
        weights, variances = oracles.graph_mle(rows_of(rows), parents, bounds_of(space))
    return LinearSEM.from_fit(
        weights, variances, fitted_intercepts(weights, rows, space.intercept), moments.names
    )


def fitted_intercepts(weights: Floats, rows: RowMoments, intercept: bool) -> Floats:
    """The constants that go with fitted weights: a node's mean less what its parents explain."""
    if not intercept:
        return np.zeros(len(rows.counts))
    own: Floats = rows.means.diagonal() - (weights * rows.means).sum(axis=1)
    return own
