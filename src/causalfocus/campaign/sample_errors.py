"""Failures of the arithmetic, told in the words of whoever recorded a sample."""

from collections.abc import Iterator
from contextlib import contextmanager

from causalfocus.errors import CausalFocusError, InvalidInputError
from causalfocus.learner.protocol import Told


@contextmanager
def sample_errors(told: Told | None = None) -> Iterator[None]:
    """Turn a failure of the arithmetic into an error that says what was given."""
    try:
        yield
    except CausalFocusError:
        raise
    except (ArithmeticError, ValueError, SystemError) as error:
        which = "the log" if told is None else f"the sample {told.sample.tolist()} of {told.action}"
        raise InvalidInputError(
            f"Nothing can be learned from {which}: {error}. It was not recorded. Are its values in "
            f"the right units?"
        ) from error
