"""The moments of every node in units of its own, in which all effects on it matter alike.

In the equation of node j, x_k is measured in units of s_jk: the coefficient of x_k / s_jk is b_jk
s_jk. With s_jk = own_j / m_jk and x_j in units of own_j, it is b_jk / m_jk: an effect of the size
m_jk, which is the smallest that matters, has a coefficient of 1, whatever the units are and however
sizes differ from pair to pair. Moments are kept per row, so each row may have units of its own.

Nothing that is computed from one row depends on units but for what they are in: a likelihood ratio
of the same samples changes by nothing at all, since both densities are multiplied by the same
power of own_j. Where rows meet, in a search over graphs or over orders, only such ratios and sets
of parents do. So what is proven for the rows in these units is proven for the system.

Sums of data carry 106 bits, and so do they in other units (`kernels.sums.row_scales`): a row keeps
the digits that its evidence is trusted for. The units themselves are rounded, so that what just
matters is 1 to a few units of the sixteenth digit, which moves no evidence by as much as SAFETY.
"""

from dataclasses import dataclass, replace

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.records import PlainRow, PlainUnits, Units
from causalfocus.kernels.sums.row_scales import factors_of, scale_sums
from causalfocus.moments.views import RowMoments, Split, TimedRows


@dataclass(frozen=True)
class RowUnits:
    """Units of all rows.

    Attributes
    ----------
    effects : (p, p), row the effect and column the cause: the effect that has the coefficient 1
    own : (p,), the unit of every node in its own row
    """

    effects: Floats
    own: Floats

    @property
    def plain(self) -> PlainUnits:
        """As kernels that start from a model take them."""
        return self.effects, self.own

    def rows(self, rows: RowMoments) -> RowMoments:
        """The same moments in these units."""
        grams, lows = self._scale(rows.grams[None], rows.lows[None])
        by = factors_of(Units(self.effects, self.own))
        return replace(rows, grams=grams[0], lows=lows[0], means=rows.means * by)

    def at_all_marks(self, rows: TimedRows) -> TimedRows:
        """The same moments at all marks in these units."""
        grams, lows = self._scale(rows.grams, rows.lows)
        return TimedRows(grams, lows, rows.counts)

    def split(self, split: Split) -> Split:
        """Training and later samples in these units."""
        parts = (self.rows(part) for part in (split.training, split.later, split.estimation))
        return Split(split.number, *parts)

    def row(self, row: PlainRow) -> PlainRow:
        """The sums of one node in these units; columns beyond the nodes stay as they are."""
        high, low, j = row
        factors = self._factors(len(high))[j]
        scaled = scale_sums(high[None, None], low[None, None], factors[None])
        return scaled[0][0, 0], scaled[1][0, 0], j

    def weights_in(self, weights: Floats) -> Floats:
        """Coefficients in these units, from effects in the units of the variables."""
        found: Floats = weights / self.effects
        return found

    def weights_from(self, scaled: Floats) -> Floats:
        """Effects in the units of the variables, from coefficients in these."""
        found: Floats = scaled * self.effects
        return found

    def variances_from(self, scaled: Floats) -> Floats:
        """Noise variances in the units of the variables."""
        found: Floats = scaled * self.own**2
        return found

    def _scale(self, grams: Floats, lows: Floats) -> tuple[Floats, Floats]:
        return scale_sums(grams, lows, self._factors(grams.shape[-1]))

    def _factors(self, q: int) -> Floats:
        """(p, q), of all columns; the constant and whatever else there is have none."""
        p = len(self.own)
        found = np.ones((p, q))
        found[:, :p] = factors_of(Units(self.effects, self.own))
        return found


def no_units(p: int) -> RowUnits:
    """Those in which everything is as it was given."""
    return RowUnits(np.ones((p, p)), np.ones(p))


def even_units(smallest: Floats) -> Floats:
    """(p,), units of the nodes in which the sizes (p, p) that matter are as alike as they can be.

    They are given up to a factor for all nodes together, and their mean in logarithms is 1: sizes
    tell ratios of units alone. With log m_jk about a_j - a_k + c for all pairs, least squares gives
    a_j, the sum over the row less that over the column, over 2p. Other units of a variable change
    them by as much. All are 1 where all sizes are one number.
    """
    logs = np.log(smallest)
    np.fill_diagonal(logs, 0.0)
    found: Floats = np.exp((logs.sum(axis=1) - logs.sum(axis=0)) / (2 * len(logs)))
    return found
