"""Samples in CSV files: reading them, with every wrong line named, and writing them."""

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from causalfocus.campaign.settings import require_near
from causalfocus.errors import InvalidInputError
from causalfocus.moments.moments import Moments
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import OBSERVE, Action, do

ACTION_COLUMNS: Final = ("action", "target", "value")
"""What was done: in one column, `observe` or `X1=2`, or in two, the second empty or a number."""

IGNORED: Final = ("round", "seq", "at", "who", "note", "id", "kind")
"""Columns of our own exports that are not samples."""

MOST_ERRORS: Final = 20
"""Wrong lines that are listed one by one."""

SEPARATORS: Final = {";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True)
class Line:
    """A line of a file that was understood.

    id : of the asked action, in files that answer several at once
    """

    number: int
    action: Action | None
    sample: dict[str, float]
    id: int | None = None


def read_samples(
    path: Path,
    actions: ActionSet,
    *,
    columns: Mapping[str, str] | None = None,
    delimiter: str = ",",
    encoding: str = "utf-8-sig",
    all_observed: bool = False,
    by_id: bool = False,
) -> list[Line]:
    """The samples of a CSV file; an error names every line that is wrong, and why.

    Parameters
    ----------
    path : of the file
    actions : of the campaign, with its variables
    columns : from a column's name in the file to a variable, or to `action`, `target` or `value`
    delimiter, encoding : of the file
    all_observed : the file has no actions: every line was observed without setting anything
    by_id : lines answer asked actions by the column `id`, and need no action of their own
    """
    rows, names = _rows(path, delimiter, encoding), actions.names
    if not rows:
        raise InvalidInputError(f"{path} is empty: its first line must name the columns.")
    header = _header(path, rows[0], delimiter, columns or {})
    _check_columns(path, header, names, has_actions=not (all_observed or by_id), by_id=by_id)
    if all_observed and (given := [name for name in header if name in ACTION_COLUMNS]):
        raise InvalidInputError(
            f"{path} has the column {given[0]}, so it says itself what was done: leave out "
            f"--all-observed."
        )
    found, errors = list[Line](), list[str]()
    checker = Moments(names)
    for number, cells in rows[1:]:
        try:
            found.append(_line(number, header, cells, actions, checker, by_id=by_id))
        except InvalidInputError as error:
            errors.append(f"line {number}: {error}")
    if errors:
        shown = "\n".join(f"  {text}" for text in errors[:MOST_ERRORS])
        more = f"\n  and {len(errors) - MOST_ERRORS} more" if len(errors) > MOST_ERRORS else ""
        raise InvalidInputError(
            f"{len(errors)} of {len(rows) - 1} lines of {path} cannot be used, so none was "
            f"taken:\n{shown}{more}"
        )
    if not found:
        raise InvalidInputError(f"{path} has a header and no samples.")
    return found


def _rows(path: Path, delimiter: str, encoding: str) -> list[tuple[int, list[str]]]:
    """Lines that are not blank, with their numbers."""
    if len(delimiter) != 1:
        raise InvalidInputError(f"A delimiter is one character, got {delimiter!r}.")
    try:
        text = path.read_text(encoding=encoding)
    except LookupError:
        raise InvalidInputError(f"There is no encoding {encoding!r}; try latin-1.") from None
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{path} is not written in {encoding} (byte {error.start}). Give its encoding, for "
            f"example --encoding latin-1, or save it as UTF-8."
        ) from None
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}.") from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [(reader.line_num, cells) for cells in reader if any(c.strip() for c in cells)]
    except csv.Error as error:
        raise InvalidInputError(f"{path}, line {reader.line_num}: {error}.") from None


def _header(
    path: Path, row: tuple[int, list[str]], delimiter: str, columns: Mapping[str, str]
) -> list[str]:
    cells = [cell.strip() for cell in row[1]]
    if len(cells) == 1:
        for other, name in SEPARATORS.items():
            if other != delimiter and other in cells[0]:
                raise InvalidInputError(
                    f"{path} seems to be separated by {name}: its first line is {cells[0]!r}. "
                    f"Give --delimiter {other!r}."
                )
    for column in columns:
        if column not in cells:
            raise InvalidInputError(
                f"{path} has no column {column!r} to map. It has {', '.join(cells)}."
            )
    header = [columns.get(cell, cell) for cell in cells]
    for name in header:
        if header.count(name) > 1 and name not in IGNORED:
            raise InvalidInputError(f"{path} has more than one column for {name!r}.")
    return header


def _check_columns(
    path: Path, header: Sequence[str], names: Sequence[str], *, has_actions: bool, by_id: bool
) -> None:
    known = {*names, *ACTION_COLUMNS, *IGNORED}
    unknown = [name for name in header if name not in known]
    if unknown:
        raise InvalidInputError(
            f"{path} has columns that are no variables: {', '.join(map(repr, unknown))}. The "
            f"variables are {', '.join(names)}. Map a column with --map COLUMN=VARIABLE, or leave "
            f"it out of the file."
        )
    if by_id and "id" not in header:
        raise InvalidInputError(f"{path} has no column id, which says what each line answers.")
    if has_actions and "action" not in header and "target" not in header:
        raise InvalidInputError(
            f"{path} does not say what was done: it needs a column action (observe, or X1=2), or "
            f"the columns target and value. Give --all-observed if nothing was ever set."
        )
    missing = [name for name in names if name not in header]
    if missing and not (by_id or has_actions):
        raise InvalidInputError(f"{path} has no column for {', '.join(missing)}.")


def _line(
    number: int,
    header: Sequence[str],
    cells: Sequence[str],
    actions: ActionSet,
    checker: Moments,
    *,
    by_id: bool,
) -> Line:
    if len(cells) != len(header):
        raise InvalidInputError(f"{len(cells)} cells where the header has {len(header)}")
    names = actions.names
    given = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}
    sample = {name: number_in(given[name], name) for name in names if given.get(name, "") != ""}
    action = _action(given, names)
    if by_id:
        if not re.fullmatch(r"[0-9]{1,18}", given["id"]):
            raise InvalidInputError(f"the id {given['id']!r} is no number of an asked action")
        return Line(number, action, sample, int(given["id"]))
    row = checker.as_row(action or OBSERVE, sample)
    require_near(actions, action or OBSERVE, row)
    return Line(number, action, sample)


def _action(given: Mapping[str, str], names: Sequence[str]) -> Action | None:
    """What a line says was done; None if the file does not say."""
    found = []
    if "action" in given:
        if not given["action"]:
            raise InvalidInputError("what was done? The cell action is empty; write observe")
        found.append(action_in(given["action"], names))
    if "target" in given:
        found.append(_set_action(given, names))
    elif "value" in given:
        raise InvalidInputError("there is a column value and none that says of what: target")
    if len(found) == 2 and found[0] != found[1]:
        raise InvalidInputError(f"action says {found[0]}, target and value say {found[1]}")
    return found[0] if found else None


def _set_action(given: Mapping[str, str], names: Sequence[str]) -> Action:
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
    """An action from a text: `observe`, `X1=2` or `do(X1 = 2)`."""
    plain = text.strip()
    if plain.lower() == "observe":
        return OBSERVE
    inside = re.fullmatch(r"do\((.*)\)", plain)
    name, sign, value = (inside[1] if inside else plain).rpartition("=")
    if not sign or name.strip() not in names:
        raise InvalidInputError(
            f"{text!r} is no action: write observe, or VARIABLE=NUMBER with one of "
            f"{', '.join(names)}"
        )
    return do(name.strip(), number_in(value, name.strip()))


def number_in(text: str, name: str) -> float:
    """A finite number from a text."""
    try:
        value = float(text.strip().replace("_", "?"))  # 1_000 is a number to Python alone
    except ValueError:
        hint = "; decimals take a point" if re.fullmatch(r"\s*[-+]?\d+,\d+\s*", text) else ""
        raise InvalidInputError(f"{text.strip()!r} for {name} is not a number{hint}") from None
    if not math.isfinite(value):
        raise InvalidInputError(
            f"{text.strip()!r} for {name} is not a finite number; leave the sample out if it was "
            f"not measured"
        )
    return value
