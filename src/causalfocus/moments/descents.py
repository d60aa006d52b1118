"""What each coin moves of every other variable, for rules that ask who descends from whom.

A round counts for a variable that was not asked to be set, once its row is tested, and for every
coin of that round.
"""

from dataclasses import dataclass

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.kernels.randomized.records import Stakes


@dataclass(frozen=True, kw_only=True)
class Descents:
    """Sums over the rounds so far. Never written to.

    Attributes
    ----------
    moved, squares : (p, p), for the variable that is free and the one whose coin it is: the sum of
        coin times value less the centre, and that of its squares
    certain : (p, p), which variables certainly descend from which, row and cause, at one level and
        by all looks so far or because it is known beforehand
    """

    moved: Floats
    squares: Floats
    certain: Bools

    @classmethod
    def empty(cls, p: int, known: Bools | None = None) -> "Descents":
        """Before the first round.

        known : (p, p), descents that are certain already; None for none
        """
        none, certain = np.zeros((p, p)), np.zeros((p, p), dtype=np.bool_)
        return cls(moved=none, squares=none, certain=certain if known is None else certain | known)

    def count(self, asked: Bools, signs: Floats, row: Floats, stakes: Stakes) -> "Descents":
        """With a round that is complete.

        asked, signs, row : (p,), which variables were to be set, their coins, and all values
        stakes : of the round, for its centres
        """
        free = np.where(stakes.is_begun & ~asked, row - np.diag(stakes.centres), 0.0)
        return Descents(
            moved=self.moved + np.outer(free, signs),
            squares=self.squares + np.outer(free**2, np.abs(signs)),
            certain=self.certain,
        )
