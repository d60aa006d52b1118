"""The joint maximum-likelihood estimate of graph, weights and noise (Eq. joint_mle)."""

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.kernels.exact import oracles
from causalfocus.kernels.records import Limits, PlainParents, PlainRows
from causalfocus.moments.moments import Moments
from causalfocus.moments.views import RowMoments
from causalfocus.oracles.for_kernels import (
    limits_of,
    plain_parents_of,
    plain_rows_of,
    rows_in_units,
    rows_of,
    units_of,
)
from causalfocus.oracles.limits import numerical_errors, require_feasible_size
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass


def joint_mle(moments: Moments, space: ModelClass) -> LinearSEM:
    """The model of the class under which the data are most likely: the exact global maximiser.

    All DAGs that agree with what is known beforehand compete, with all weights of min_effect <=
    \\|weight\\| <= max_effect and all noise variances in their range; where max_effect is not the
    same multiple of min_effect for all causes of a node, the largest multiple limits all of them.
    Ties (to 1e-12 of the score) go to fewer parents of a node, and between graphs to earlier names
    as causes. A node without samples of its own gets no parents but those that are required, each
    with the allowed weight nearest to zero, and the smallest noise variance, 1 if there is none (by
    what matters, that of a deviation which just matters).

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
        weights, variances = oracles.class_mle(*_in_units(rows, moments.names, space))
    return _model_of(weights, variances, rows, moments.names, space)


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
        weights, variances = oracles.probable_model(*_in_units(rows, moments.names, space))
    return _model_of(weights, variances, rows, moments.names, space)


def graph_mle(moments: Moments, parents: Ints, space: ModelClass) -> LinearSEM:
    """The most likely model of the class among those with a given, acyclic graph.

    parents : per node the set of its parents, bit k for node k; it is fitted as it is given,
        whatever is known of the graph
    """
    rows = moments.rows(intercept=space.intercept)
    with numerical_errors("fit of a graph", rows):
        scaled = rows_in_units(rows, units_of(space, moments.names))
        limits = limits_of(space, moments.names)
        weights, variances = oracles.graph_mle(rows_of(scaled), parents, limits)
    return _model_of(weights, variances, rows, moments.names, space)


def _in_units(
    rows: RowMoments, names: tuple[str, ...], space: ModelClass
) -> tuple[PlainRows, Limits, PlainParents]:
    """Rows, class and what is known of the graph as the kernels take them."""
    scaled = rows_in_units(rows, units_of(space, names))
    return plain_rows_of(scaled), limits_of(space, names), plain_parents_of(space, names)


def _model_of(
    weights: Floats, variances: Floats, rows: RowMoments, names: tuple[str, ...], space: ModelClass
) -> LinearSEM:
    """The model of fitted rows, out of their units."""
    units = units_of(space, names)
    if units is not None:
        weights, variances = units.weights_from(weights), units.variances_from(variances)
    constants = fitted_intercepts(weights, rows, space.intercept)
    return LinearSEM.from_fit(weights, variances, constants, names)


def fitted_intercepts(weights: Floats, rows: RowMoments, intercept: bool) -> Floats:
    """The constants that go with fitted weights: a node's mean less what its parents explain."""
    if not intercept:
        return np.zeros(len(rows.counts))
    own: Floats = rows.means.diagonal() - (weights * rows.means).sum(axis=1)
    return own
