"""The errors this package raises: one root, one class per kind of trouble."""

from collections.abc import Iterable


class CausalFocusError(Exception):
    """Root of every error that the package raises on purpose."""


class InvalidInputError(CausalFocusError, ValueError):
    """Something given to the package is not allowed; the message says what is and what to do."""


class UnidentifiableError(InvalidInputError):
    """A rule could never tell some effects apart, whatever is done; raised before the first round.

    Attributes
    ----------
    variables : of which no coin picks a value
    """

    def __init__(self, message: str, variables: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.variables = tuple(variables)


class NumericalError(CausalFocusError, ArithmeticError):
    """A computation could not reach the accuracy it promises; the message carries its numbers."""


class AlreadyStoppedError(CausalFocusError, RuntimeError):
    """A learner that has stopped was asked again without being told to continue."""


class MissingExtraError(CausalFocusError, ImportError):
    """An optional dependency is needed and not installed; the message names the extra."""


class UnidentifiableWarning(UserWarning):
    """With these actions something may never be certified, however many samples there are."""
