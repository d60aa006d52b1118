"""How a rival departs from the estimate under the gaussian rule: one coefficient, or some rows."""

import math
from dataclasses import dataclass

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.arithmetic.sets import may_act
from causalfocus.kernels.gaussian import resolution, response
from causalfocus.kernels.records import Parents
from causalfocus.moments.moments import Moments
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass


@dataclass(frozen=True)
class Move:
    """A departure that moves one coefficient: its effect, its cause, and the set of the effect's
    parents (bit k for node k).
    """

    effect: int
    cause: int
    parents: int

    def rival(self, estimate: LinearSEM, moments: Moments, space: ModelClass) -> LinearSEM:
        """The estimate with the coefficient moved and the others along, as the data let them."""
        rows = moments.rows(intercept=space.intercept)
        weights = estimate.weights.copy()
        weights[self.effect] += response.move_row(
            rows.grams[self.effect],
            self.effect,
            self.cause,
            self.parents,
            float(space.smallest(estimate.names)[self.effect, self.cause]),
        )
        return _with_rows(estimate, weights, estimate.noise_variances.copy(), moments, space)

    def wait_in_words(self, estimate: LinearSEM, smallest: Floats) -> str:
        """What the stop waits for.

        smallest : (p, p), from which size on effects matter
        """
        edge = f"{estimate.names[self.cause]} -> {estimate.names[self.effect]}"
        if estimate.weights[self.effect, self.cause] != 0.0:
            return f"The weight of {edge} is not yet certain enough."
        size = smallest[self.effect, self.cause]
        return f"An effect {edge} of size {size:g} or more is not yet ruled out."


@dataclass(frozen=True)
class Reorder:
    """A departure that has other rows for some nodes: each on the nodes before it, as sets."""

    before: Ints
    is_swapped: Bools

    def rival(self, estimate: LinearSEM, moments: Moments, space: ModelClass) -> LinearSEM:
        """The estimate with the best rows that another order leaves to these nodes."""
        rows = moments.rows(intercept=space.intercept)
        weights, variances = estimate.weights.copy(), estimate.noise_variances.copy()
        for j in np.flatnonzero(self.is_swapped):
            weights[j], residual = response.fit_row_on(rows.grams[j], int(j), int(self.before[j]))
            if residual > 0.0:
                variances[j] = residual / rows.counts[j]
        return _with_rows(estimate, weights, variances, moments, space)


@dataclass(frozen=True)
class Survey:
    """What a look at all rivals gave.

    Attributes
    ----------
    rejects_all : whether every one of them is rejected at the threshold
    departure : how the rival with the least evidence against it departs from the estimate, of the
        kind that was looked at last; None if none lags
    """

    rejects_all: bool
    departure: Move | Reorder | None


def least_move(tables: Floats, families: Ints, weights: Floats) -> Move | None:
    """The edge with the least evidence, each with its share."""
    p, n_reported = len(weights), max(int(np.count_nonzero(weights)), 1)
    more = math.log(resolution.W_WEAK / (0.5 * p * (p - 1)) * n_reported / resolution.W_EDGE)
    weak = np.where(weights != 0.0, tables[1] + more, math.inf)
    least = np.minimum(tables[0], weak)
    j, k = np.unravel_index(int(least.argmin()), least.shape)
    return Move(int(j), int(k), int(families[j, k])) if families[j, k] else None


def least_removal(missing: Floats, weights: Floats, parents: Parents) -> Reorder:
    """The rows without the reported edge that has the least evidence."""
    j, k = np.unravel_index(int(missing.argmin()), missing.shape)
    before = may_act(weights, parents)
    before[j] &= ~(1 << int(k))
    return Reorder(before, np.arange(len(weights)) == j)


def _with_rows(
    estimate: LinearSEM, weights: Floats, variances: Floats, moments: Moments, space: ModelClass
) -> LinearSEM:
    """A model with these rows, its constants such that it keeps the means of the data."""
    intercepts = estimate.intercepts.copy()
    if space.intercept:
        means = moments.rows(intercept=True).means
        intercepts -= ((weights - estimate.weights) * means).sum(axis=1)
    return LinearSEM.from_fit(weights, variances, intercepts, estimate.names)
