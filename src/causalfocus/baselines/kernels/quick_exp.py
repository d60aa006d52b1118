"""An exponential that a loop can take four at a time; the library's takes one."""

import numpy as np

from causalfocus.kernels.compile import kernel

LARGEST = 700.0

_TO_INTEGER = 1.5 * 2.0**52
"""Adding this leaves a double without digits after the point, and the integer in its last bits."""

_PER_OCTAVE = 1.4426950408889634
_OCTAVE_HIGH, _OCTAVE_LOW = 0.693147180369123816490, 1.90821492927058770002e-10


@kernel
def quick_exp(x: float) -> float:
    """Return exp(x) for \\|x\\| <= LARGEST, to about fourteen digits.

    x = n log 2 + r with \\|r\\| <= 0.35; the series of exp(r) to r^11 is off by less than 1e-14,
    and 2^n is put together from its bits.
    """
    shifted = x * _PER_OCTAVE + _TO_INTEGER
    n = shifted - _TO_INTEGER
    r = (x - n * _OCTAVE_HIGH) - n * _OCTAVE_LOW
    total = 1.0 + r * (1.0 / 11.0)
    total = 1.0 + r * (1.0 / 10.0) * total
    total = 1.0 + r * (1.0 / 9.0) * total
    total = 1.0 + r * (1.0 / 8.0) * total
    total = 1.0 + r * (1.0 / 7.0) * total
    total = 1.0 + r * (1.0 / 6.0) * total
    total = 1.0 + r * (1.0 / 5.0) * total
    total = 1.0 + r * (1.0 / 4.0) * total
    total = 1.0 + r * (1.0 / 3.0) * total
    total = 1.0 + r * (1.0 / 2.0) * total
    total = 1.0 + r * total
    bits = (np.float64(shifted).view(np.int64) + 1023) << 52
    return total * np.int64(bits).view(np.float64)
