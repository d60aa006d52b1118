"""The moments of every node in units of its own, in which all effects on it matter alike.

In the equation of node j, x_k is measured in units of s_jk: the coefficient of x_k / s_jk is b_jk
s_jk. With s_jk = own_j / m_jk and x_j in units of own_j, it is b_jk / m_jk: an effect of the size
m_jk, which is the smallest that matters, has a coefficient of 1, whatever the units are and however
sizes differ from pair to pair. Moments are kept per row, so each row may have units of its own.
Nothing that is computed from one row depends on units but for what they are in: likelihood ratios
of the same samples change by nothing at all. Powers of two would make that so to the bit; other
units change the last bits of sums.
"""

from dataclasses import dataclass, replace

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.moments.views import RowMoments


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

    def rows(self, rows: RowMoments) -> RowMoments:
        """The same moments in these units."""
        p = len(self.own)
        by = self.effects / self.own[:, None]
        by[np.arange(p), np.arange(p)] = 1.0 / self.own
        both = by[:, :, None] * by[:, None, :]
        return replace(rows, grams=rows.grams * both, lows=rows.lows * both, means=rows.means * by)

    def weights_from(self, scaled: Floats) -> Floats:
        """Effects in the units of the variables, from coefficients in these."""
        found: Floats = scaled * self.effects
        return found

    def variances_from(self, scaled: Floats) -> Floats:
        """Noise variances in the units of the variables."""
        found: Floats = scaled * self.own**2
        return found


def units_for(smallest: Floats) -> RowUnits:
    """Units in which every effect that just matters has the coefficient 1.

    smallest : (p, p), the effects that just matter. The own unit of a row is the mean size of them,
        in logarithms, so that regressors keep about the scale that they have
    """
    p = len(smallest)
    logs = np.log(smallest)
    np.fill_diagonal(logs, 0.0)
    own = np.exp(logs.sum(axis=1) / max(p - 1, 1))
    return RowUnits(smallest, own)
