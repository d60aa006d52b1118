"""Which actions may be taken now, where slow settings are kept for a while."""

from dataclasses import dataclass

import numpy as np

from causalfocus.arrays import Bools, Floats


@dataclass(frozen=True)
class Latitude:
    """What a design may choose between in one round.

    Attributes
    ----------
    allowed : (k,), the actions that may be taken; at least one
    present : (k,), those that keep all slow settings as they are
    """

    allowed: Bools
    present: Bools

    def narrow(self, planned: Floats) -> Bools:
        """(k,), the actions to choose from: what a plan asks for with the present slow settings is
        done before they change. The order of a plan is free, and every change has its price.
        """
        at_once = self.allowed & self.present
        return at_once if (planned[at_once] > 0.0).any() else self.allowed


def least(amounts: Floats, latitude: Latitude | None = None) -> int:
    """Index of the smallest amount among the actions that may be taken; all of them if None."""
    if latitude is None:
        return int(amounts.argmin())
    return int(np.where(latitude.allowed, amounts, np.inf).argmin())


def most(amounts: Floats, latitude: Latitude | None = None) -> int:
    """Index of the largest amount among the actions that may be taken; all of them if None."""
    if latitude is None:
        return int(amounts.argmax())
    return int(np.where(latitude.allowed, amounts, -np.inf).argmax())
