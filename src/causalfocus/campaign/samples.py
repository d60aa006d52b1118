"""Samples in CSV files: reading them, with every wrong line named, and writing them."""

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from causalfocus.campaign.settings import Details, checked_time, require_round
from causalfocus.errors import InvalidInputError
from causalfocus.moments.moments import Moments
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import OBSERVE, Action, do

ACTION_COLUMNS: Final = ("action", "target", "value")
"""What was done: in one column, `observe` or `X1=2`, or in two, the second empty or a number."""

IGNORED: Final = ("round", "seq", "at", "who", "note", "id", "kind")
"""Columns of our own exports that are not samples."""

DETAILS: Final = ("failed", "performed", "not_done")
"""What is said beside the values: settings that failed, separated by semicolons; when the round was
performed; and, in files that answer asked actions, why one was not."""

NOT_MEASURED: Final = ("na", "n/a", "nan")
"""What is written for a value that could not be measured, in small letters or large."""

MOST_ERRORS: Final = 20
"""Wrong lines that are listed one by one."""

SEPARATORS: Final = {";": "semicolons", "\t": "tabs", "|": "bars"}


NOTHING_MORE: Final = Details()


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of a file that was understood.

    Attributes
    ----------
    number : of the line
    action : what was done, if the file says it
    sample : values by name; nan for what could not be measured
    id : of the asked action, in files that answer several at once
    details : what is said beside the values
    not_done : why an asked action was not performed; empty if it was
    """

    number: int
    action: Action | None
    sample: dict[str, float]
    id: int | None = None
    details: Details = NOTHING_MORE
    not_done: str = ""


def read_samples(
    path: Path,
    actions: ActionSet,
    *,
    columns: Mapping[str, str] | None = None,
    delimiter: str = ",",
    encoding: str = "utf-8-sig",
    all_observed: bool = False,
    by_id: bool = False,
    as_read: bool = False,
    force: str = "",
) -> list[Line]:
    """The samples of a CSV file; an error names every line that is wrong, and why.

    Parameters
    ----------
    path : of the file
    actions : of the campaign, with its variables
    columns : from a column's name in the file to a variable, or to `action`, `target` or `value`
    delimiter, encoding : of the file
    all_observed : the file has no actions: every line was observed without setting anything
    by_id : lines answer asked actions by the column `id`, and need no action of their own; those
        without any value, and without a reason in `not_done`, are left out: they are still to do
    as_read, force : as in `Campaign.record`, for all lines
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
    said = Details(as_read=as_read, force=force)
    for number, cells in rows[1:]:
        try:
            line = _line(number, header, cells, actions, said, by_id=by_id)
            if line is not None:
                found.append(line)
        except InvalidInputError as error:
            errors.append(f"line {number}: {error}")
    if by_id:
        errors += _doubled_ids(found)
    if errors:
        shown = "\n".join(f"  {text}" for text in errors[:MOST_ERRORS])
        more = f"\n  and {len(errors) - MOST_ERRORS} more" if len(errors) > MOST_ERRORS else ""
        raise InvalidInputError(
            f"{len(errors)} of {len(rows) - 1} lines of {path} cannot be used, so none was "
            f"taken:\n{shown}{more}"
        )
    if not found:
        raise InvalidInputError(f"{path} has a header and no samples{' yet' if by_id else ''}.")
    return found


def _doubled_ids(lines: Sequence[Line]) -> list[str]:
    """What is wrong with lines that answer the same action."""
    first: dict[int | None, int] = {}
    for line in lines:
        first.setdefault(line.id, line.number)
    return [
        f"line {line.number}: {line.id} was answered in line {first[line.id]} already"
        for line in lines
        if first[line.id] != line.number
    ]


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
    known = {*names, *ACTION_COLUMNS, *IGNORED, *DETAILS}
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
    said: Details,
    *,
    by_id: bool,
) -> Line | None:
    """What a line says; None if it is still to be filled in."""
    if len(cells) != len(header):
        raise InvalidInputError(f"{len(cells)} cells where the header has {len(header)}")
    names = actions.names
    given = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}
    sample = {name: value_in(given[name], name) for name in names if given.get(name, "") != ""}
    action = _action(given, names)
    details = _details(given, names, said)
    if by_id:
        not_done = "" if "not_done" in names else given.get("not_done", "")
        if not re.fullmatch(r"[0-9]{1,18}", given["id"]):
            raise InvalidInputError(f"the id {given['id']!r} is no number of an asked action")
        if not_done and sample:
            raise InvalidInputError("it has values, and says that it was not done")
        if not (sample or not_done):
            return None
        return Line(
            number=number,
            action=action,
            sample=sample,
            id=int(given["id"]),
            details=details,
            not_done=not_done,
        )
    checker, failed = Moments(names), details.failed
    row = checker.as_row(action or OBSERVE, sample, allow_missing=True, failed=failed)
    require_round(actions, action or OBSERVE, tuple(row.tolist()), details)
    return Line(number=number, action=action, sample=sample, details=details)


def _details(given: Mapping[str, str], names: Sequence[str], said: Details) -> Details:
    """What a line says beside its values. A variable of that name, in an older file, goes first."""
    failed = "" if "failed" in names else given.get("failed", "")
    performed = "" if "performed" in names else given.get("performed", "")
    wrong = tuple(name.strip() for name in failed.split(";") if name.strip())
    for name in wrong:
        if name not in names:
            raise InvalidInputError(f"failed: {name!r} is no variable")
    return replace(said, failed=wrong, performed=checked_time(performed))


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
