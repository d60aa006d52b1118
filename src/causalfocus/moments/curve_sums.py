"""What is remembered of rounds with second coins, to see whether responses curve.

A second coin of variable k says whether it was to be set to the middle of its range, g = 1 - c, or
to an end, g = -c, with c the chance of the middle; y = g / sqrt(PROXY). Of every row j and variable
k there are sums over the rounds in which k had one and j was free and watched. With x the values
less a centre, and q = (1, -b) for row b, x_j first,

    S(b) = sum_t y_t q . x_t  =  q . moved,      V(b) = sum_t (q . x_t)^2  =  q' forms q,

exactly, for every row. That these are fair bets is proved in `guarantees.curvature`. The centre of
a round is the mean over those before it, drawn a little to the centre under which it was asked for:
a constant is no evidence, but it adds to V.

With up to fourteen variables all are watched for every row, p^4 numbers; with more the four of the
largest effects on it, chosen once from what was known before, 4 p^3.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.randomized.records import Stakes
from causalfocus.system.coins import CHANCE_OF_MIDDLE

PRIOR: Final = 4.0
"""Rounds that the centre under which a round was asked for counts as, in the mean of those before
it."""

PROXY: Final = (1.0 - 2.0 * CHANCE_OF_MIDDLE) / (2.0 * math.log(1.0 / CHANCE_OF_MIDDLE - 1.0))
"""The least v with E exp(l g) <= exp(v l^2 / 2) for all l: `guarantees.curvature`."""

AT_MIDDLE: Final = (1.0 - CHANCE_OF_MIDDLE) / math.sqrt(PROXY)
AT_END: Final = -CHANCE_OF_MIDDLE / math.sqrt(PROXY)
"""y of a variable that is to be set to the middle, and to an end."""


class CurveSums(NamedTuple):
    """Sums over the rounds in which a variable had a second coin and the row was free.

    causes : (p, m), of every row the variables whose second coins are watched; -1 where none is
        chosen yet. m is 0 before the first of them
    rounds : (p, m), how many
    totals : (p, m, p), of values
    moved : (p, m, p), of y times the values less their centre
    forms : (p, m, p, p), of products of values less their centre
    """

    causes: Ints
    rounds: Floats
    totals: Floats
    moved: Floats
    forms: Floats

    def add(self, probes: Floats, watched: Bools, row: Floats, stakes: Stakes) -> "CurveSums":
        """With a round.

        probes : (p,), its second coins: 1 for an end, -1 for the middle, 0 for none
        watched : (p,), which rows count it
        row : (p,), what came of it
        stakes : those under which it was asked for
        """
        y = np.where(probes < 0.0, AT_MIDDLE, np.where(probes > 0.0, AT_END, 0.0))
        coins = np.where(self.causes >= 0, y[self.causes], 0.0)
        at, test = np.nonzero(coins * watched[:, None])
        if not len(at):
            return self
        sums = CurveSums(self.causes, *(array.copy() for array in self[1:]))
        before = sums.rounds[at, test][:, None]
        centres = (PRIOR * stakes.centres[at] + sums.totals[at, test]) / (PRIOR + before)
        x = row - centres
        sums.rounds[at, test] += 1.0
        sums.totals[at, test] += row
        sums.moved[at, test] += coins[at, test][:, None] * x
        sums.forms[at, test] += x[:, :, None] * x[:, None, :]
        return sums


def no_curves(causes: Ints) -> CurveSums:
    """Return sums of no rounds, for some variables of every row."""
    p, m = causes.shape
    nothing = np.zeros((p, m, p))
    return CurveSums(causes, np.zeros((p, m)), nothing, nothing, np.zeros((p, m, p, p)))
