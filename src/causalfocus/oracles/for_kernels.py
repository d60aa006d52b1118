"""Models, classes and moments as the records that kernels take."""

import math
from functools import lru_cache
from typing import Final

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError
from causalfocus.kernels.records import (
    Limits,
    Model,
    Parameters,
    PlainModel,
    PlainParents,
    PlainRows,
    Rows,
)
from causalfocus.moments.row_units import RowUnits, even_units
from causalfocus.moments.views import RowMoments
from causalfocus.system.graph import reach_of
from causalfocus.system.knowledge import Knowledge
from causalfocus.system.sem import LinearSEM
from causalfocus.system.sizes import GRAPH, Accuracy, table_of
from causalfocus.system.space import RELATIVE_SLACK, ModelClass

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


@lru_cache(maxsize=64)
def units_of(space: ModelClass, names: tuple[str, ...]) -> RowUnits | None:
    """Units of all rows in which what just matters is 1; None for a class of single numbers, which
    is taken as it is.

    The own unit of a node is the middle of its noise's standard deviations, in logarithms, if a
    range of them is known: ranges of the same ratio are then the same range. Else it is the change
    that matters. Any would do: it decides what the fixed prior of the class rule calls usual noise,
    and rounding.
    """
    if space.is_uniform:
        return None
    smallest, spans = space.smallest(names), space.variances(names)
    own = even_units(smallest)
    if space.matters is not None:
        changes = dict(space.widths) | dict(space.matters)
        own = np.array([changes.get(name, 1.0) for name in names])
    is_known = (spans[:, 0] > 0.0) & np.isfinite(spans[:, 1])
    own[is_known] = (spans[is_known, 0] * spans[is_known, 1]) ** 0.25
    return RowUnits(smallest, own)


def unit_effect(space: ModelClass) -> float:
    """The size from which on an effect matters, in the units of the rows."""
    return space.least_effect if space.is_uniform else 1.0


@lru_cache(maxsize=64)
def limits_of(space: ModelClass, names: tuple[str, ...]) -> Limits:
    """The class of models in the units of the rows, see `Limits`.

    Noise has the limits of its node. The largest size of an effect on a node is that of all its
    possible causes, in these units: where max_effect is not the same multiple of min_effect for all
    of them, the class is wider than the one that was given. That is conservative: it holds every
    system of the given class, and evidence against all systems of a wider class is evidence against
    those.
    """
    p, units = len(names), units_of(space, names)
    found = np.empty((p, 4))
    if units is None:
        found[:] = space.least_effect, space.effect_limit, *space.variance_limits
        return found
    found[:, 0], found[:, 1] = 1.0, math.inf
    if space.max_effect is not None:
        ratios = space.largest(names) / units.effects
        found[:, 1] = np.where(space.unknown_effects(names), ratios, 1.0).max(axis=1)
    found[:, 2:] = space.variances(names) / units.own[:, None] ** 2
    return found


def accuracies_in_units(
    space: ModelClass, epsilon: Accuracy | None, names: tuple[str, ...]
) -> Floats:
    """(p, p), how far weights may be off, in the units of the rows.

    epsilon : not for the graph alone
    """
    if epsilon is None:
        return np.full((len(names), len(names)), 0.5)
    if isinstance(epsilon, str):
        raise InvalidInputError("There is no accuracy for the graph alone.")
    found = table_of(epsilon, names, space.unknown_effects(names))
    units = units_of(space, names)
    return found if units is None else units.weights_in(found)


def is_exact(space: ModelClass, epsilon: Accuracy | None, names: tuple[str, ...]) -> bool:
    """Whether class and accuracy are the given ones, although kernels have one largest effect for
    all causes of a node and one accuracy for all pairs; else the class is wider, or the accuracy
    finer.
    """
    may_exist = space.unknown_effects(names)
    if space.max_effect is not None:
        ratios = space.largest(names) / space.smallest(names)
        if not all(_is_even(ratios[j][may_exist[j]]) for j in range(len(names))):
            return False
    return epsilon == GRAPH or _is_even(accuracies_in_units(space, epsilon, names)[may_exist])


def _is_even(sizes: Floats) -> bool:
    """Whether all are one number."""
    return not len(sizes) or bool(sizes.max() <= sizes.min() * (1.0 + RELATIVE_SLACK))


def rows_in_units(rows: RowMoments, units: RowUnits | None) -> RowMoments:
    """The same rows; the given ones without units."""
    return rows if units is None else units.rows(rows)


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
    needed, bits = known.required_in(names), 1 << np.arange(len(names), dtype=np.int64)
    if allows_loops:
        reach = reach_of(needed)
        return (needed & ~reach.T) @ bits, known.possible(names) @ bits
    known.require_no_loop("the exact engine knows systems without feedback alone")
    return needed @ bits, known.possible(names, acyclic=True) @ bits
