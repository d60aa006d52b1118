"""What the exact engine can take on, and how its numerical failures are reported."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from causalfocus.errors import InvalidInputError, NumericalError
from causalfocus.moments.views import RowMoments
from causalfocus.system.sem import LinearSEM

LARGEST_P: Final = 22
"""At 22 nodes the table of families takes 22 * 2**21 doubles, 370 MB; time runs out before that."""


def require_feasible_size(p: int) -> None:
    if p > LARGEST_P:
        raise InvalidInputError(
            f"{p} nodes are too many for the exact engine, which handles up to {LARGEST_P} "
            f"(comfortably 14). Learn a part of the system at a time."
        )


@contextmanager
def numerical_errors(what: str, given: RowMoments | LinearSEM) -> Iterator[None]:
    """Turn a failure inside a kernel into an error that carries its numbers."""
    try:
        yield
    except ArithmeticError as error:
        numbers = (
            given.to_dict()
            if isinstance(given, LinearSEM)
            else {"counts": given.counts.tolist(), "grams": given.grams.tolist()}
        )
        raise NumericalError(
            f"The {what} failed: {error}. It was given {numbers}. "
            f"Please report this; rescaling the variables may avoid it."
        ) from error
