"""AdaHedge for gains (Eqs. adahedge_mixability and adahedge_learning_rate), in cumulative form.

Weights are proportional to exp(eta * cumulative gain) with the current learning rate, as in de
Rooij et al. (2014). Eq. adahedge_allocation multiplies the previous weights instead; with its first
learning rate, infinity, that would discard all but the first leaders for ever.
"""

import math

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic.hedge import hedge_step


class AdaHedge:
    """Weights over k actions that follow the gains without knowing their scale.

    Attributes
    ----------
    weights : (k,) the current allocation, alpha_t
    gap : the cumulative mixability gap, Delta_t
    """

    def __init__(self, k: int) -> None:
        self._cumulative = np.zeros(k)
        self.gap = 0.0
        self.weights: Floats = np.full(k, 1.0 / k)

    def copy(self) -> "AdaHedge":
        twin = AdaHedge(len(self.weights))
        twin._cumulative, twin.gap, twin.weights = self._cumulative.copy(), self.gap, self.weights
        return twin

    @property
    def learning_rate(self) -> float:
        """log K / Delta_t; infinity before the first gap."""
        return math.log(len(self.weights)) / self.gap if self.gap > 0.0 else math.inf

    def update(self, gains: Floats) -> None:
        """Take in one round's gains, one per action."""
        weights = self.weights.copy()
        self.gap = hedge_step(weights, self._cumulative, gains, self.gap)
        self.weights = weights
