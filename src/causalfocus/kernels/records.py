"""What the kernels pass to each other, by name.

A record is a tuple to the machine code: naming its parts costs nothing there. Where Python calls a
kernel each record costs about two microseconds, so few of them cross that line.
"""

from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.compile import kernel


class Row(NamedTuple):
    """The moments of one node: high and low parts of its Gram matrix (q, q), and its index."""

    high: Floats
    low: Floats
    target: int


class Rows(NamedTuple):
    """The moments of all nodes: Gram matrices (p, q, q), high and low parts, and the number of
    samples of each (p,).
    """

    grams: Floats
    lows: Floats
    counts: Floats


class Model(NamedTuple):
    """A linear system: weights (p, p), noise variances and intercepts (p,), topological order."""

    weights: Floats
    variances: Floats
    intercepts: Floats
    order: Ints


class Parameters(NamedTuple):
    """A linear system whose order does not matter: weights, noise variances, intercepts."""

    weights: Floats
    variances: Floats
    intercepts: Floats


class Actions(NamedTuple):
    """Actions as parallel arrays, one row each: which nodes are set, mean and variance of the
    values that they are set to (k, p); and how often each action is taken (k,).
    """

    is_set: Bools
    values: Floats
    spreads: Floats
    weights: Floats


class Bounds(NamedTuple):
    """The class of models as the row of one node knows it: smallest and largest size of an effect,
    lowest and highest noise variance.
    """

    smallest: float
    largest: float
    lowest: float
    highest: float


class Units(NamedTuple):
    """Units of all rows: (p, p), row the effect and column the cause, the effect that has the
    coefficient 1; and (p,), the unit of every node in its own row. All are ones where a class has
    single numbers. See `moments.row_units`.
    """

    effects: Floats
    own: Floats


class Parents(NamedTuple):
    """What is known of the graph beforehand: for every node the set of nodes that are certainly
    among its parents, and the set of those that may be (p,). Bits that belong to no other node mean
    nothing.
    """

    needed: Ints
    possible: Ints


class Families(NamedTuple):
    """Which sets of parents a node may have, as masks over its candidates.

    Attributes
    ----------
    needed : is in every one of them
    possible : holds all of them; -1 for no bound
    excluded : is none of them; -1 for none
    """

    needed: int
    possible: int
    excluded: int


class Span(NamedTuple):
    """A range of numbers."""

    low: float
    high: float


PlainRow = tuple[Floats, Floats, int]
PlainRows = tuple[Floats, Floats, Floats]
PlainModel = tuple[Floats, Floats, Floats, Ints]
PlainSettings = tuple[Bools, Floats, Floats]
PlainActions = tuple[Bools, Floats, Floats, Floats]
PlainUnits = tuple[Floats, Floats]
PlainParents = tuple[Ints, Ints]
PlainFits = tuple[Ints, Floats, Floats]
"""The same as plain tuples, in the order of the fields: where Python calls a kernel these cost a
fifth of a record. The kernels that every round calls take them, and name their parts first. Fits
are rows as they were fitted at some time: parents as sets (p,), coefficients of (x, 1) (p, p + 1),
and noise standard deviations (p,), zero where the samples did not determine a row."""

Limits = Floats
"""The class of models: (p, 4), for every node the fields of its `Bounds`."""


@kernel
def as_rows(plain: PlainRows) -> Rows:
    """Return the moments of all nodes by their names."""
    grams, lows, counts = plain
    return Rows(grams, lows, counts)


@kernel
def as_model(plain: PlainModel) -> Model:
    """Return a linear system by its names."""
    weights, variances, intercepts, order = plain
    return Model(weights, variances, intercepts, order)


@kernel
def as_actions(plain: PlainActions) -> Actions:
    """Return actions by their names."""
    is_set, values, spreads, weights = plain
    return Actions(is_set, values, spreads, weights)


@kernel
def as_units(plain: PlainUnits) -> Units:
    """Return units by their names."""
    effects, own = plain
    return Units(effects, own)


@kernel
def bounds_at(limits: Limits, j: int) -> Bounds:
    """Return the class of models as the row of one node knows it."""
    return Bounds(limits[j, 0], limits[j, 1], limits[j, 2], limits[j, 3])


@kernel
def as_parents(plain: PlainParents) -> Parents:
    """Return what is known of the graph by its names."""
    needed, possible = plain
    return Parents(needed, possible)


@kernel
def any_parents(p: int) -> Parents:
    """Return that nothing is known of the graph."""
    return Parents(np.zeros(p, dtype=np.int64), np.full(p, -1))


@kernel
def row_of(rows: Rows, j: int) -> Row:
    """Return the moments of one node out of those of all."""
    return Row(rows.grams[j], rows.lows[j], j)
