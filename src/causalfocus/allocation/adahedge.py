"""AdaHedge for gains (Eqs. adahedge_mixability and adahedge_learning_rate), in cumulative form.

Weights are proportional to exp(eta * cumulative gain) with the current learning rate, as in de
Rooij et al. (2014). Eq. adahedge_allocation multiplies the previous weights instead; with its first
learning rate, infinity, that would discard all but the first leaders for ever.
"""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class AdaHedge:
    """Weights over k actions that follow the gains without knowing their scale.

    Attributes
    ----------
    weights : (k,) the current allocation, alpha_t
    gap : the cumulative mixability gap, Delta_t
    """

    def __init__(self, k: int) -> None:
        self._log_k = math.log(k) if k > 1 else 0.0
        self._cumulative = np.zeros(k)
        self.gap = 0.0
        self.weights: Floats = np.full(k, 1.0 / k)

    @property
    def learning_rate(self) -> float:
        """log K / Delta_t; infinity before the first gap."""
        return self._log_k / self.gap if self.gap > 0.0 else math.inf

    def update(self, gains: Floats) -> None:
        """Take in one round's gains, one per action."""
        earned = float(self.weights @ gains)
        self.gap += max(self._mix(gains) - earned, 0.0)
        self._cumulative += gains
        ahead = self._cumulative - self._cumulative.max()
        rate = self.learning_rate
        raw = (ahead == 0.0).astype(np.float64) if math.isinf(rate) else np.exp(rate * ahead)
        self.weights = raw / raw.sum()

    def _mix(self, gains: Floats) -> float:
        """log of the weighted mean of exp(eta * gain), over eta; the leaders' best at infinity."""
        rate = self.learning_rate
        highest = float(gains[self.weights > 0.0].max())
        if math.isinf(rate):
            return highest
        return highest + math.log(float(self.weights @ np.exp(rate * (gains - highest)))) / rate
