"""What rules have in common that read the rows one by one: each in units of its own.

In these units what just matters is 1 for every pair (`moments.row_units`), so that one min_effect
and one epsilon serve all pairs, and numbers are of the size of one whatever the variables are
measured in. A class of single numbers is taken as it is.

The one epsilon is the least of all pairs, in these units. Evidence that a weight is within it is
evidence that the weight is within the epsilon of its pair, which is no smaller.
"""

from abc import ABC
from dataclasses import dataclass
from functools import cached_property

from causalfocus.arrays import Floats
from causalfocus.guarantees.guarantee import Guarantee
from causalfocus.kernels.evidence.directions import Times
from causalfocus.kernels.records import PlainUnits
from causalfocus.moments.moments import Moments
from causalfocus.moments.row_units import RowUnits, no_units
from causalfocus.moments.views import RowMoments
from causalfocus.oracles.for_kernels import (
    accuracies_in_units,
    rows_in_units,
    unit_effect,
    units_of,
)
from causalfocus.system.sizes import GRAPH


@dataclass(frozen=True)
class RowByRow(Guarantee, ABC):
    """A rule whose kernels read rows in units of their own."""

    @cached_property
    def units(self) -> RowUnits | None:
        """Of all rows; None for a class of single numbers."""
        return units_of(self.space, self.actions.names)

    @cached_property
    def plain_units(self) -> PlainUnits:
        """The same for kernels that start from a model."""
        units = self.units or no_units(len(self.actions.names))
        return units.plain

    @cached_property
    def unit_effect(self) -> float:
        """The size from which on an effect matters, in the units of the rows."""
        return unit_effect(self.space)

    @cached_property
    def accuracy(self) -> float | None:
        """The least epsilon of all pairs that there may be, in the units of the rows; None for the
        graph alone.
        """
        if self.epsilon == GRAPH:
            return None
        if isinstance(self.epsilon, float) and self.space.is_uniform:
            return self.epsilon
        names = self.actions.names
        found = accuracies_in_units(self.space, self.epsilon, names)
        may_exist = self.space.unknown_effects(names)
        return float(found[may_exist].min()) if may_exist.any() else 0.5 * self.unit_effect

    def coefficients(self, weights: Floats) -> Floats:
        """Weights in the units of the rows. Like those of a model they cannot be written to: the
        kernels have machine code for such arrays.
        """
        if self.units is None:
            return weights
        found = self.units.weights_in(weights)
        found.setflags(write=False)
        return found

    def effects_of(self, coefficients: Floats) -> Floats:
        """Weights in the units of the variables, from those in the units of the rows."""
        return coefficients if self.units is None else self.units.weights_from(coefficients)

    def rows(self, moments: Moments) -> RowMoments:
        """The rows that estimates read."""
        return rows_in_units(moments.rows(intercept=self.space.intercept), self.units)

    def evidence_rows(self, moments: Moments) -> RowMoments:
        """The rows that evidence reads."""
        return rows_in_units(moments.evidence_rows(intercept=self.space.intercept), self.units)

    def times(self, moments: Moments) -> Times:
        """The rows at every mark."""
        rows = moments.timed_rows(intercept=self.space.intercept)
        if self.units is not None:
            rows = self.units.at_all_marks(rows)
        return Times(rows.grams, rows.lows, rows.counts)
