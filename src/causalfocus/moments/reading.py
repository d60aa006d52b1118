"""What is read of the randomized rule's sums, and what changes once some effects are ruled out."""

from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools
from causalfocus.kernels.randomized.records import Bets, Stakes, Sums
from causalfocus.kernels.randomized.rounds import strike
from causalfocus.kernels.randomized.stakes import next_stakes


class Reading(NamedTuple):
    """The sums of all rounds that are complete in the order of asking, and the stakes
    whose references they are about.
    """

    sums: Sums
    stakes: Stakes

    def without(self, ruled_out: Bools) -> "Reading":
        """The same about references in which the coefficients (p, p) that are certain to be zero
        are zero.
        """
        if not self.stakes.references[ruled_out].any():
            return self
        old, references = self.sums, self.stakes.references.copy()
        coins, directions = (
            Bets(*(array.copy() for array in old.coins)),
            Bets(*(array.copy() for array in old.directions)),
        )
        sums = Sums(coins, directions, old.pool)
        for j in np.flatnonzero(ruled_out.any(axis=1)):
            strike(sums, references, int(j), np.flatnonzero(ruled_out[j]))
        return Reading(sums, self.stakes._replace(references=references))


def aim_at_the_rest(
    stakes: Stakes, reading: Reading, unknown: Bools, ruled_out: Bools, growth: float
) -> None:
    """Let the directions of what is not ruled out, and the aims, tell it from the rest of that
    alone, and take what is ruled out from the references, in place.

    Directions of what is ruled out stay as they are laid for all: they would show a loop.
    """
    is_fewer = reading.stakes.is_begun & ruled_out.any(axis=1)
    rest = unknown & ~ruled_out & is_fewer[:, None]
    fewer = reading.without(ruled_out)
    aimed = next_stakes(fewer.sums, fewer.stakes, rest, growth, False)
    stakes.references[is_fewer] = aimed.references[is_fewer]
    stakes.references[ruled_out] = 0.0
    p = len(unknown)
    lengths = np.linalg.norm(stakes.directions[:, :p].astype(np.float64), axis=2)
    aimed.directions[:, :p] *= lengths.max(axis=1).reshape(-1, 1, 1)
    stakes.directions[:, :p][rest] = aimed.directions[:, :p][rest]
    stakes.directions[is_fewer, p:] = aimed.directions[is_fewer, p:]
