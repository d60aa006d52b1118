"""Arithmetic on unevaluated sums of two doubles, about 106 bits.

Sums kept this way do not depend on the order in which samples arrive (beyond the last bit, and
hardly ever that), and second moments can be centred without losing the spread of a variable whose
mean is large: a temperature of 300 K that varies by 0.001 K keeps its digits.
"""

from causalfocus.kernels.compile import kernel

_SPLITTER = 134217729.0  # 2**27 + 1 cuts a double into two halves whose products are exact


@kernel
def two_sum(a: float, b: float) -> tuple[float, float]:
    """a + b and its rounding error, exactly."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@kernel
def two_product(a: float, b: float) -> tuple[float, float]:
    """a * b and its rounding error, exactly (barring overflow and underflow)."""
    product = a * b
    scaled = _SPLITTER * a
    a_high = scaled - (scaled - a)
    a_low = a - a_high
    scaled = _SPLITTER * b
    b_high = scaled - (scaled - b)
    b_low = b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


@kernel
def add(a: float, a_low: float, b: float, b_low: float) -> tuple[float, float]:
    high, error = two_sum(a, b)
    low, error_low = two_sum(a_low, b_low)
    high, error = two_sum(high, error + low)
    return two_sum(high, error + error_low)


@kernel
def multiply(a: float, a_low: float, b: float, b_low: float) -> tuple[float, float]:
    high, low = two_product(a, b)
    return two_sum(high, low + (a * b_low + a_low * b))


@kernel
def divide(a: float, a_low: float, b: float, b_low: float) -> tuple[float, float]:
    quotient = a / b
    product, product_low = multiply(b, b_low, quotient, 0.0)
    rest, rest_low = add(a, a_low, -product, -product_low)
    return two_sum(quotient, (rest + rest_low) / b)
