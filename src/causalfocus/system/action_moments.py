"""The first two moments of a system under an action."""

from dataclasses import dataclass

import numpy as np

from causalfocus.arrays import Floats


@dataclass(frozen=True)
class ActionMoments:
    """Mean and covariance of all nodes under one action; a node that is set has no variance."""

    mean: Floats
    covariance: Floats

    @property
    def second_moment(self) -> Floats:
        """E[X X'], Eq. reference_action_moments."""
        return self.covariance + np.outer(self.mean, self.mean)
