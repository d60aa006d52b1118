"""The numbers that a model is given: a square matrix, and vectors with one entry for every node."""

import numpy as np
from numpy.typing import ArrayLike

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError


def checked_matrix(weights: ArrayLike) -> Floats:
    """The weights as a square matrix, or an error that says what was given."""
    matrix = _as_floats("weights", weights)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise InvalidInputError(
            f"weights must be a square matrix with one row per node, got shape {matrix.shape}."
        )
    return matrix


def checked_vector(what: str, given: ArrayLike, names: tuple[str, ...]) -> Floats:
    """One number for every node, from as many or from one for all."""
    vector = _as_floats(what, given)
    if vector.ndim == 0:
        vector = np.full(len(names), float(vector))
    if vector.shape != (len(names),):
        raise InvalidInputError(
            f"{what} must be one number or {len(names)} of them, one per node; "
            f"got shape {vector.shape}."
        )
    return vector


def checked_variances(given: ArrayLike, names: tuple[str, ...]) -> Floats:
    """The noise variances, all of them positive."""
    variances = checked_vector("noise_variances", given, names)
    for name, variance in zip(names, variances, strict=True):
        if variance <= 0:
            raise InvalidInputError(
                f"The noise variance of {name} is {variance:g}: it must be positive."
            )
    return variances


def _as_floats(what: str, given: ArrayLike) -> Floats:
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{what} must be numbers, got {given!r}.") from None
    if not np.all(np.isfinite(array)):
        where = np.argwhere(~np.isfinite(array))[0].tolist()
        raise InvalidInputError(f"{what} must be finite: the entry at {where} is not.")
    return array
