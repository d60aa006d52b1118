"""Actions and values as people write them down: in files, in tables and on the command line."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

from causalfocus.errors import InvalidInputError
from causalfocus.system.actions import OBSERVE, Action, do

ACTION_COLUMNS: Final = ("action", "target", "value")
"""What was done: in one column, `observe` or `X1=2`, or in two, the second empty or a number."""

NOT_MEASURED: Final = ("na", "n/a", "nan")
"""What is written for a value that could not be measured, in small letters or large."""


def action_in_columns(given: Mapping[str, str], names: Sequence[str]) -> Action | None:
    """What the cells of a line say was done, by column; None if there is no such column."""
    found = []
    if "action" in given:
        if not given["action"]:
            raise InvalidInputError("what was done? The cell action is empty; write observe")
        found.append(action_in(given["action"], names))
    if "target" in given:
        found.append(_action_of_target(given, names))
    elif "value" in given:
        raise InvalidInputError("there is a column value and none that says of what: target")
    if len(found) == 2 and found[0] != found[1]:
        raise InvalidInputError(f"action says {found[0]}, target and value say {found[1]}")
    return found[0] if found else None


def _action_of_target(given: Mapping[str, str], names: Sequence[str]) -> Action:
    """From the columns target and value."""
    target = given.get("target", "")
    if not target or target.lower() == "observe":
        if given.get("value"):
            raise InvalidInputError(f"a value {given['value']} and no target that was set to it")
        return OBSERVE
    if target not in names:
        raise InvalidInputError(f"{target!r} is no variable")
    if not given.get("value"):
        raise InvalidInputError(f"{target} was set, but to what? The value is missing")
    return do(target, number_in(given["value"], "value"))


def action_in(text: str, names: Sequence[str]) -> Action:
    """An action from a text: `observe`, `X1=2`, `X1=2; X3=-2` or `do(X1 = 2, X3 = -2)`."""
    plain = text.strip()
    if plain.lower() == "observe":
        return OBSERVE
    inside = re.fullmatch(r"do\((.*)\)", plain)
    settings: list[tuple[str, float]] = []
    for part in _settings_in(inside[1] if inside else plain, names):
        name, sign, value = part.rpartition("=")
        if not sign or name.strip() not in names:
            raise InvalidInputError(
                f"{text!r} is no action: write observe, or VARIABLE=NUMBER with one of "
                f"{', '.join(names)}; several are separated by semicolons"
            )
        settings.append((name.strip(), number_in(value, name.strip())))
    if len({name for name, _ in settings}) < len(settings):
        raise InvalidInputError(f"{text!r} sets a variable twice")
    return Action(tuple(settings))


def _settings_in(text: str, names: Sequence[str]) -> list[str]:
    """The settings in a text. A comma or semicolon separates them only before a variable's name and
    an equals sign: names may hold either.
    """
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.split(rf"[;,]\s*(?=(?:{known})\s*=)", text)


def action_text(action: Action) -> str:
    """An action as `action_in` reads it, to the last digit."""
    return "; ".join(f"{name}={value!r}" for name, value in action.settings) or "observe"


def value_in(text: str, name: str) -> float:
    """A finite number from a text; nan for what is said not to be measured."""
    return math.nan if text.strip().lower() in NOT_MEASURED else number_in(text, name)


def number_in(text: str, name: str) -> float:
    """A finite number from a text."""
    try:
        value = float(text.strip().replace("_", "?"))  # 1_000 is a number to Python alone
    except ValueError:
        hint = "; decimals take a point" if re.fullmatch(r"\s*[-+]?\d+,\d+\s*", text) else ""
        raise InvalidInputError(f"{text.strip()!r} for {name} is not a number{hint}") from None
    if not math.isfinite(value):
        raise InvalidInputError(
            f"{text.strip()!r} for {name} is not a finite number; write NA if it was not measured"
        )
    return value


def names_in(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """The variables whose settings failed, from a text that separates them by semicolons."""
    found = tuple(name.strip() for name in text.split(";") if name.strip())
    for name in found:
        if name not in names:
            raise InvalidInputError(f"failed: {name!r} is no variable")
    return found
