"""Samples in CSV files and DataFrames: reading them, with every wrong line named."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from causalfocus.campaign.settings import Details, checked_time, require_round
from causalfocus.errors import InvalidInputError
from causalfocus.moments.moments import Moments
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import OBSERVE, Action
from causalfocus.system.tables import (
    FRAME,
    OF_A_FILE,
    Source,
    Unread,
    checked_unread,
    given_in,
    texts_in,
    without_blanks,
)
from causalfocus.system.words import action_in_columns, names_in, value_in

DETAILS: Final = ("failed", "performed", "not_done")
"""What is said beside the values: settings that failed, separated by semicolons; when the round was
performed; and, in files that answer asked actions, why one was not."""

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
    rows = _rows(path, delimiter, encoding)
    if not rows:
        raise InvalidInputError(f"{path} is empty: its first line must name the columns.")
    source = Source(str(path), *OF_A_FILE)
    header = source.header(_cells_of_header(path, rows[0], delimiter), columns or {})
    _check_columns(source, header, actions.names, needs_all=all_observed)
    if by_id and "id" not in header:
        raise InvalidInputError(f"{path} has no column id, which says what each line answers.")
    if not by_id:
        source.require_actions(header, all_observed=all_observed)
    reader = _Reader(actions=actions, said=Details(as_read=as_read, force=force), by_id=by_id)
    found, errors = list[Line](), list[str]()
    for number, cells in rows[1:]:
        try:
            line = reader.line(number, given_in(header, cells))
            if line is not None:
                found.append(line)
        except InvalidInputError as error:
            errors.append(f"line {number}: {error}")
    if by_id:
        errors += _doubled_ids(found)
    source.refuse_wrong(errors, len(rows) - 1)
    if not found:
        raise InvalidInputError(f"{path} has a header and no samples{' yet' if by_id else ''}.")
    return found


def read_frame(
    frame: Any,
    actions: ActionSet,
    *,
    columns: Mapping[str, str] | None = None,
    all_observed: bool = False,
    unread: Unread | None = None,
    as_read: bool = False,
    force: str = "",
) -> list[Line]:
    """The samples of a DataFrame, by the reader of files; an error names every row that is wrong.

    Parameters
    ----------
    frame : a row for every round
    actions, columns, all_observed, as_read, force : as in `read_samples`
    unread : what an empty cell of a variable that was set means, see `Campaign.import_frame`
    """
    unread = checked_unread(unread)
    header, rows = texts_in(frame, actions.names, columns)
    _check_columns(FRAME, header, actions.names, needs_all=all_observed)
    FRAME.require_actions(header, all_observed=all_observed)
    reader = _Reader(actions=actions, said=Details(as_read=as_read, force=force))
    found, errors = list[Line](), list[str]()
    for number, (where, cells) in enumerate(rows, 1):
        try:
            given = given_in(header, cells)
            done = action_in_columns(given, actions.names) or OBSERVE
            line = reader.line(number, without_blanks(given, done, unread))
            if line is not None:
                found.append(line)
        except InvalidInputError as error:
            errors.append(f"{where}: {error}")
    FRAME.refuse_wrong(errors, len(rows))
    if not found:
        raise InvalidInputError("The DataFrame has no rows: there is nothing to take in.")
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


def _cells_of_header(path: Path, row: tuple[int, list[str]], delimiter: str) -> list[str]:
    cells = [cell.strip() for cell in row[1]]
    if len(cells) == 1:
        for other, name in SEPARATORS.items():
            if other != delimiter and other in cells[0]:
                raise InvalidInputError(
                    f"{path} seems to be separated by {name}: its first line is {cells[0]!r}. "
                    f"Give --delimiter {other!r}."
                )
    return cells


def _check_columns(
    source: Source, header: Sequence[str], names: Sequence[str], *, needs_all: bool
) -> None:
    source.require_known(header, names, DETAILS)
    missing = [name for name in names if name not in header]
    if missing and needs_all:
        raise InvalidInputError(f"{source.name} has no column for {', '.join(missing)}.")


@dataclass(frozen=True, kw_only=True)
class _Reader:
    """What understands the lines of one table.

    Attributes
    ----------
    actions : of the campaign
    said : of all lines
    by_id : whether lines answer asked actions
    """

    actions: ActionSet
    said: Details
    by_id: bool = False

    def line(self, number: int, given: Mapping[str, str]) -> Line | None:
        """What a line says; None if it is still to be filled in.

        given : its cells, by column
        """
        names = self.actions.names
        sample = {n: value_in(given[n], n) for n in names if given.get(n, "") != ""}
        action = action_in_columns(given, names)
        details = _details(given, names, self.said)
        if self.by_id:
            return self._answer(number, given, action, sample, details)
        done, failed = action or OBSERVE, details.failed
        row = Moments(names).as_row(done, sample, allow_missing=True, failed=failed)
        require_round(self.actions, done, tuple(row.tolist()), details)
        return Line(number=number, action=action, sample=sample, details=details)

    def _answer(
        self,
        number: int,
        given: Mapping[str, str],
        action: Action | None,
        sample: dict[str, float],
        details: Details,
    ) -> Line | None:
        not_done = "" if "not_done" in self.actions.names else given.get("not_done", "")
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


def _details(given: Mapping[str, str], names: Sequence[str], said: Details) -> Details:
    """What a line says beside its values. A variable of that name, in an older file, goes first."""
    failed = "" if "failed" in names else given.get("failed", "")
    performed = "" if "performed" in names else given.get("performed", "")
    return replace(said, failed=names_in(failed, names), performed=checked_time(performed))
