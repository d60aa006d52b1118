"""The prior by which rows with other parents are weighed, in the units of the rows."""

import math

import numpy as np

from causalfocus.kernels.evidence.row_evidence import Prior
from causalfocus.kernels.records import Limits


def prior_of(limits: Limits, unit_effect: float) -> Prior:
    """The fixed prior of a row, from the class alone; the same for all rows.

    Where ranges of the noise differ it is as wide as the widest, and of the largest effects it has
    the middle, in logarithms. Evidence holds by any prior that is fixed beforehand.

    Parameters
    ----------
    limits : the class
    unit_effect : the size from which on an effect matters
    """
    _, largest_of_rows, lows, highs = limits.T
    known = bool((lows > 0.0).all() and np.isfinite(highs).all())
    widest = int(np.argmax(highs / lows)) if known else 0
    low, high = float(lows[widest]), float(highs[widest])
    middle = math.sqrt(low * high) if known else 1.0
    a0 = 1.0 / max(0.5 * math.log(high / low), 0.05) ** 2 if known else 0.01
    largest = float(largest_of_rows[0])
    if math.isinf(largest):
        largest = 10.0 * unit_effect
    elif (largest_of_rows != largest).any():
        largest = float(np.exp(np.log(largest_of_rows).mean()))
    return Prior(largest**2 / (3.0 * middle), a0, a0 * middle)
