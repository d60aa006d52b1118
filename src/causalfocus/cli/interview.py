"""Questions to a person at a terminal: each answer is checked when it is given, and asked again."""

import sys
from collections.abc import Callable, Iterable
from typing import TypeVar

import typer

from causalfocus.errors import InvalidInputError
from causalfocus.system.words import number_in

T = TypeVar("T")


def is_at_terminal() -> bool:
    """Whether there is a person to ask."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask(question: str, understand: Callable[[str], T], *, default: str | None = None) -> T:
    """Ask until the answer can be understood; what is wrong with one is said at once."""
    while True:
        text = typer.prompt(question, default=default, show_default=bool(default))
        try:
            return understand(str(text).strip())
        except InvalidInputError as error:
            said = str(error)
            typer.secho(said if said.endswith(".") else f"{said}.", fg="red")


def plain_number_in(text: str) -> float:
    """A finite number from an answer."""
    try:
        return number_in(text, "")
    except InvalidInputError as error:
        raise InvalidInputError(str(error).replace(" for  is", " is")) from None


def positive_in(text: str) -> float:
    """A positive number from an answer."""
    value = plain_number_in(text)
    if not value > 0.0:
        raise InvalidInputError(f"A number above 0 is needed, got {text}")
    return value


def whole_in(text: str) -> int:
    """A whole number, 0 or more, from an answer."""
    if not (text.isascii() and text.isdecimal() and len(text) < 16):
        raise InvalidInputError(f"A whole number is needed, 0 or more, got {text!r}")
    return int(text)


def share_in(text: str) -> float:
    """A probability from an answer."""
    value = plain_number_in(text)
    if not 0.0 < value < 1.0:
        raise InvalidInputError(f"A probability between 0 and 1 is needed, got {text}")
    return value


def asked_for_each(
    names: Iterable[str], question: str, given: dict[str, float]
) -> dict[str, float]:
    """Positive numbers by name: those that were given, and the answers for all others.

    question : with {} for the name
    """
    return given | {
        name: ask(question.format(name), positive_in) for name in names if name not in given
    }


MATTERS = "Which change of {} is worth knowing (in its unit)"
WIDTH = "{} cannot be set. How far does it move by itself (in its unit)"
NOISE = "How much does {} vary by what the others do not cause (standard deviation)"
