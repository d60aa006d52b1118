"""Models, classes and moments as the records that kernels take."""

from functools import lru_cache
from typing import Final

import numpy as np

from causalfocus.kernels.records import (
    Bounds,
    Model,
    Parameters,
    PlainBounds,
    PlainModel,
    PlainParents,
    PlainRows,
    Rows,
)
from causalfocus.moments.views import RowMoments
from causalfocus.system.graph import reach_of
from causalfocus.system.knowledge import Knowledge
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

MOST_KEPT: Final = 64
"""Classes whose parents are kept as arrays."""


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


def plain_parents_of(
    space: ModelClass, names: tuple[str, ...], *, allows_loops: bool = False
) -> PlainParents:
    """What is known of the graph: of every node the parents that it must have, and those that it
    may have, as sets of nodes (bit k for node k).

    Parameters
    ----------
    space : the class
    names : of the nodes in order
    allows_loops : whether required effects may lead back to where they begin. No graph without
        loops has all of them; so those of a loop are only possible then. Else they are an error
    """
    return _parents(space.known, names, allows_loops)


@lru_cache(MOST_KEPT)
def _parents(known: Knowledge, names: tuple[str, ...], allows_loops: bool) -> PlainParents:
    needed, bits = known.needed(names), 1 << np.arange(len(names), dtype=np.int64)
    if allows_loops:
        reach = reach_of(needed)
        return (needed & ~reach.T) @ bits, known.possible(names) @ bits
    known.require_no_loop("the exact engine knows systems without feedback alone")
    return needed @ bits, known.possible(names, acyclic=True) @ bits
