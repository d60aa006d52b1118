"""What the training foresees: the split of the samples, its share, and an estimate of its own."""

import math
from dataclasses import dataclass

import numpy as np

from causalfocus.arrays import Ints
from causalfocus.kernels.arithmetic.sets import parents_of
from causalfocus.kernels.gaussian import resolution
from causalfocus.kernels.gaussian.response import gaussian_estimate
from causalfocus.kernels.records import Rows
from causalfocus.moments.moments import Moments
from causalfocus.oracles.for_kernels import (
    plain_parents_of,
    plain_rows_of,
    rows_of,
    unit_effect,
    units_of,
)
from causalfocus.system.space import ModelClass


@dataclass(frozen=True)
class Foresight:
    """Training and later samples.

    Attributes
    ----------
    training, later : the rows of both, in the units of the rows
    log_share : of this training in the mixture over all marks
    parents : of every node in the training's own estimate, as sets of nodes
    """

    training: Rows
    later: Rows
    log_share: float
    parents: Ints

    @property
    def split(self) -> resolution.Split:
        return resolution.Split(self.training, self.later, self.log_share, self.parents)


def foresight(moments: Moments, space: ModelClass) -> Foresight | None:
    """The split of the data at the latest mark that leaves enough of them; None if there is none.

    Everything here is known before the first of the later samples.
    """
    found = moments.split(intercept=space.intercept)
    if found is None:
        return None
    p = len(moments.names)
    units, known = units_of(space, moments.names), plain_parents_of(space, moments.names)
    if units is not None:
        found = units.split(found)
    weights, _ = gaussian_estimate(plain_rows_of(found.estimation), unit_effect(space), known)
    parents = np.array([parents_of(weights, j) for j in range(p)])
    log_share = -math.log((found.number + 1) * (found.number + 2))  # the shares sum to one
    return Foresight(rows_of(found.training), rows_of(found.later), log_share, parents)
