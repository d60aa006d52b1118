"""What the kernels of several baselines pass to each other, by name."""

from typing import NamedTuple

from causalfocus.arrays import Floats


class Models(NamedTuple):
    """Several linear systems: weights (m, p, p), ``[effect, cause]``, noise variances and constants
    (m, p).
    """

    weights: Floats
    variances: Floats
    constants: Floats
