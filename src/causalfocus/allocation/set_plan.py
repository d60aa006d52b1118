"""Plans that say which variables to set, and how often, for the rounds until the next plan."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from causalfocus.allocation.latitude import Latitude, most
from causalfocus.arrays import Bools, Floats, Ints


class SetPlan(NamedTuple):
    """Sets of variables (m, p), no two of them alike, and their shares of the rounds (m,)."""

    sets: Bools
    shares: Floats


class Course(NamedTuple):
    """What was planned last, None if nothing was, what was done, sets and rounds of each, and how
    many rounds are left; None without a budget.
    """

    last: SetPlan | None
    done: SetPlan
    left: float | None = None


@dataclass(frozen=True)
class Shares:
    """Shares of some choices, from some round on.

    Attributes
    ----------
    at : (m,), which choices
    shares : (m,), of the rounds, together 1
    before : (m,), how often each had been taken when the plan was made
    """

    at: Ints
    shares: Floats
    before: Floats

    def next_index(self, counts: Floats, latitude: Latitude | None = None) -> int:
        """The choice that is furthest behind its share of the rounds since; ties go to the first.

        counts : (k,), how often every choice was taken
        latitude : which choices may be taken; None for all
        """
        taken = np.maximum(counts[self.at] - self.before, 0.0)
        behind = self.shares * (taken.sum() + 1.0) - taken
        if latitude is None:
            return int(self.at[np.argmax(behind)])
        worth = np.zeros(len(counts))
        worth[self.at] = np.maximum(behind - behind.min(), 0.0) + 1.0
        return most(worth, latitude)
