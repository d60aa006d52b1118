"""Numbers and ranges by the name of a variable, as a person gives them."""

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

from causalfocus.errors import InvalidInputError
from causalfocus.system.sizes import positive

Named = tuple[tuple[str, float], ...]
NamedRanges = tuple[tuple[str, tuple[float, float]], ...]


def is_by_name(ranges: tuple[float, float] | NamedRanges) -> TypeGuard[NamedRanges]:
    """Whether ranges of noise variances are by name; else there is one for all."""
    return not ranges or isinstance(ranges[0], tuple)


def checked_by_name(what: str, given: Any) -> Named:
    """Positive numbers by name."""
    pairs = given.items() if isinstance(given, Mapping) else given
    try:
        found = {name: positive(f"{what} of {name!r}", value) for name, value in pairs}
    except (TypeError, ValueError):
        found = {"": math.nan}
    if not all(isinstance(name, str) and name for name in found):
        raise InvalidInputError(f"{what} maps names to positive numbers, got {given!r}.")
    return tuple(found.items())


def checked_variances_by_name(given: Any) -> tuple[float, float] | NamedRanges:
    """One range for all, or ranges by name."""
    if isinstance(given, Mapping):
        return tuple(
            (name, _variance_range(f"noise_variance of {name!r}", span))
            for name, span in given.items()
        )
    if isinstance(given, tuple) and given and isinstance(given[0], tuple):
        return tuple((name, _variance_range(f"noise_variance of {name!r}", s)) for name, s in given)
    return _variance_range("noise_variance", given)


def _variance_range(what: str, given: Any) -> tuple[float, float]:
    try:
        low, high = given
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"{what} must be a pair (low, high) or None, got {given!r}."
        ) from None
    low = positive(f"The lower end of {what}", low)
    high = positive(f"The upper end of {what}", high)
    if low > high:
        raise InvalidInputError(
            f"{what} = ({low:g}, {high:g}) is empty: low must not exceed high. Swap them?"
        )
    return low, high
