"""AdaHedge for gains (Eqs. adahedge_mixability and adahedge_learning_rate), in cumulative form.

Weights are proportional to exp(eta * cumulative gain) with the current learning rate, as in de
Rooij et al. (2014). Eq. adahedge_allocation multiplies the previous weights instead; with its first
learning rate, infinity, that would discard all but the first leaders for ever.
"""

import math
from dataclasses import dataclass

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.kernels.arithmetic.hedge import hedge_step


@dataclass(frozen=True)
class AdaHedge:
    """Weights over k actions that follow the gains without knowing their scale.

    It is never written to: a round's gains make another.

    Attributes
    ----------
    cumulative : (k,) sums of all gains
    gap : the cumulative mixability gap, Delta_t
    weights : (k,) the current allocation, alpha_t
    """

    cumulative: Floats
    gap: float
    weights: Floats

    @classmethod
    def start(cls, k: int) -> "AdaHedge":
        """Equal weights, before the first gains."""
        return cls(np.zeros(k), 0.0, np.full(k, 1.0 / k))

    @property
    def learning_rate(self) -> float:
        """log K / Delta_t; infinity before the first gap."""
        return math.log(len(self.weights)) / self.gap if self.gap > 0.0 else math.inf

    def after(self, gains: Floats) -> "AdaHedge":
        """The weights after one more round with these gains, one per action."""
        weights, cumulative = self.weights.copy(), self.cumulative.copy()
        gap = hedge_step(weights, cumulative, gains, self.gap)
        return AdaHedge(cumulative, gap, weights)

    def with_actions(self, k: int) -> "AdaHedge":
        """The weights over k actions, of which the last are new.

        A new action starts with the gains of the leader. It has no record of its own; with less, it
        would have to make up for rounds in which nobody could take it, and with the leader's it is
        tried at once and falls behind by itself if it is no better. That is optimistic, and moves
        the number of rounds alone.
        """
        if k == len(self.weights):
            return self
        leader = float(self.cumulative.max())
        more = np.full(k - len(self.cumulative), leader)
        cumulative = np.concatenate([self.cumulative, more])
        ahead = cumulative - leader
        if self.gap > 0.0:
            weights = np.exp(math.log(k) / self.gap * ahead)
        else:
            weights = np.where(ahead == 0.0, 1.0, 0.0)
        return AdaHedge(cumulative, self.gap, weights / weights.sum())
