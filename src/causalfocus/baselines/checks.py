"""Checks of the options that several baselines share."""

import math

import numpy as np

from causalfocus.errors import InvalidInputError


def require_at_least(name: str, given: int, least: int) -> None:
    """Raise if a number of something is too small."""
    if not isinstance(given, int | np.integer) or isinstance(given, bool) or given < least:
        raise InvalidInputError(f"{name} must be a whole number, {least} or more, got {given!r}.")


def require_number(name: str, given: float, *, least: float) -> None:
    """Raise if it is no finite number, or too small."""
    if not isinstance(given, int | float) or not least <= given < math.inf:
        raise InvalidInputError(f"{name} must be a number, {least:g} or more, got {given!r}.")
