"""Models, classes and moments as the records that kernels take."""

from causalfocus.kernels.records import (
    Bounds,
    Model,
    Parameters,
    PlainBounds,
    PlainModel,
    PlainRows,
    Rows,
)
from causalfocus.moments.views import RowMoments
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass


def model_of(model: LinearSEM) -> Model:
    """A system with its order."""
    return Model(model.weights, model.noise_variances, model.intercepts, model.order)


def plain_model_of(model: LinearSEM) -> PlainModel:
    """The same as a plain tuple."""
    return model.weights, model.noise_variances, model.intercepts, model.order


def parameters_of(model: LinearSEM) -> Parameters:
    """A system whose order does not matter."""
    return Parameters(model.weights, model.noise_variances, model.intercepts)


def bounds_of(space: ModelClass) -> Bounds:
    """The class of models."""
    return Bounds(space.least_effect, space.effect_limit, *space.variance_limits)


def plain_bounds_of(space: ModelClass) -> PlainBounds:
    """The same as a plain tuple."""
    return space.least_effect, space.effect_limit, *space.variance_limits


def plain_rows_of(rows: RowMoments) -> PlainRows:
    """The moments of all nodes as a plain tuple."""
    return rows.grams, rows.lows, rows.counts


def rows_of(rows: RowMoments) -> Rows:
    """The moments of all nodes."""
    return Rows(rows.grams, rows.lows, rows.counts)
