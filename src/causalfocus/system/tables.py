"""Tables of samples, a line each: what their columns may be, and every wrong line named.

One convention for CSV files and DataFrames. What was done stands in a column `action` (`observe`,
`flow=3`, `flow=3; heater=20`) or in `target` and `value`; every variable has a column of its name.
The cells of a DataFrame are written down as they would be in a file, and read by the same reader.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from numbers import Real
from typing import Any, Final, Literal

from causalfocus.errors import InvalidInputError
from causalfocus.system.actions import Action
from causalfocus.system.words import ACTION_COLUMNS, action_text

IGNORED: Final = ("round", "seq", "at", "who", "note", "id", "kind")
"""Columns of our own exports that are not samples."""

MOST_ERRORS: Final = 20
"""Wrong lines that are listed one by one."""

BLANK: Final = "nan"
"""How a cell is written that pandas calls missing, in the column of a variable."""

MISSING: Final = ("<NA>", "NaT")
"""What pandas shows for what is missing, beside nan."""

Unread = Literal["nominal", "lost"]
"""What an empty cell of a variable that was set means: that it is as it was asked for, or that what
it achieved could not be measured."""


@dataclass(frozen=True)
class Source:
    """Where lines come from, and the words for what to do about it.

    Attributes
    ----------
    name : of the file, or of a DataFrame
    lines : what its lines are called, in the plural
    how_to_map : how a column is said to be a variable
    all_observed : how it is said that nothing was ever set
    """

    name: str
    lines: str
    how_to_map: str
    all_observed: str

    def refuse_wrong(self, errors: Sequence[str], n_lines: int) -> None:
        """Raise if there are errors, with what is wrong with every line."""
        if not errors:
            return
        shown = "\n".join(f"  {text}" for text in errors[:MOST_ERRORS])
        more = f"\n  and {len(errors) - MOST_ERRORS} more" if len(errors) > MOST_ERRORS else ""
        raise InvalidInputError(
            f"{len(errors)} of {n_lines} {self.lines} of {self.name} cannot be used, so none was "
            f"taken:\n{shown}{more}"
        )

    def header(self, cells: Sequence[str], columns: Mapping[str, str]) -> list[str]:
        """The columns by what they are, each once.

        columns : from a column's name to what it is, where that differs
        """
        for column in columns:
            if column not in cells:
                raise InvalidInputError(
                    f"{self.name} has no column {column!r} to map. It has {', '.join(cells)}."
                )
        header = [columns.get(cell, cell) for cell in cells]
        for name in header:
            if header.count(name) > 1 and name not in IGNORED:
                raise InvalidInputError(f"{self.name} has more than one column for {name!r}.")
        return header

    def require_known(
        self, header: Sequence[str], names: Sequence[str], more: Sequence[str]
    ) -> None:
        """Raise if some column is none of the variables and means nothing else.

        more : columns that mean something beside what was done
        """
        known = {*names, *ACTION_COLUMNS, *IGNORED, *more}
        unknown = [name for name in header if name not in known]
        if unknown:
            raise InvalidInputError(
                f"{self.name} has columns that are no variables: {', '.join(map(repr, unknown))}. "
                f"The variables are {', '.join(names)}. {self.how_to_map}, or leave it out."
            )

    def require_actions(self, header: Sequence[str], *, all_observed: bool) -> None:
        """Raise unless it says what was done, in one way."""
        given = [name for name in header if name in ACTION_COLUMNS]
        if all_observed and given:
            raise InvalidInputError(
                f"{self.name} has the column {given[0]}, so it says itself what was done: leave "
                f"out {self.all_observed}."
            )
        if not all_observed and "action" not in header and "target" not in header:
            raise InvalidInputError(
                f"{self.name} does not say what was done: it needs a column action (observe, or "
                f"X1=2), or the columns target and value. Give {self.all_observed} if nothing was "
                f"ever set."
            )


OF_A_FILE: Final = ("lines", "Map a column with --map COLUMN=VARIABLE", "--all-observed")
FRAME: Final = Source(
    "the DataFrame",
    "rows",
    "Say what a column is with columns={'column': 'variable'}",
    "all_observed=True",
)


def texts_in(
    frame: Any, names: Sequence[str], columns: Mapping[str, str] | None = None
) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """What the columns of a DataFrame are, and its rows by their labels, as a file would have them.

    names : of columns in which what is missing was not measured; elsewhere it is an empty cell
    columns : from a column's name to what it is, where that differs
    """
    if not (hasattr(frame, "columns") and hasattr(frame, "itertuples")):
        raise InvalidInputError(
            f"This takes a pandas DataFrame, a row for every round, got {type(frame).__name__}."
        )
    header = FRAME.header([str(column) for column in frame.columns], columns or {})
    blanks = [BLANK if name in names else "" for name in header]
    rows = [
        (f"row {label}", [_text(*both) for both in zip(cells, blanks, strict=True)])
        for label, *cells in frame.itertuples(name=None)
    ]
    return header, rows


def _text(cell: Any, blank: str) -> str:
    """A cell as a file would have it: numbers to the last digit."""
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, Action):
        return action_text(cell)
    if cell is None or str(cell) in MISSING:
        return blank
    if isinstance(cell, Real) and not isinstance(cell, bool):
        return blank if math.isnan(cell) else repr(float(cell))
    return cell.isoformat() if isinstance(cell, date) else str(cell)


def without_blanks(
    given: Mapping[str, str], action: Action, unread: Unread | None
) -> dict[str, str]:
    """The cells of a row of a DataFrame, in which those of variables that were set are understood.

    A file tells an empty cell from NA; a DataFrame has one word for both. To take what could not be
    read for what was asked for would make evidence of a round that is none, so that has to be said.

    unread : what it was said to mean; None for nothing
    """
    found = dict(given)
    for name, value in action.settings:
        if found.get(name) != BLANK or unread == "lost":
            continue
        if unread is None:
            raise InvalidInputError(
                f"{name} was set to {value:g} and its cell is empty: fill in what it achieved, or "
                f"say what empty cells of set variables mean, unread='nominal' (as they were asked "
                f"for) or unread='lost' (could not be measured)"
            )
        found[name] = ""
    return found


def checked_unread(given: Any) -> Unread | None:
    """One of the two, or nothing."""
    if given not in (None, "nominal", "lost"):
        raise InvalidInputError(f"unread is 'nominal' or 'lost', or left out, got {given!r}.")
    found: Unread | None = given
    return found


def given_in(header: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    """The cells of a line by their columns."""
    if len(cells) != len(header):
        raise InvalidInputError(f"{len(cells)} cells where the header has {len(header)}")
    return {name: cell.strip() for name, cell in zip(header, cells, strict=True)}


def ask_number_in(text: str) -> int | None:
    """The number of an ask, which pandas writes as 3.0 where some are missing; None if empty."""
    plain = text.removesuffix(".0")
    if plain and not (plain.isascii() and plain.isdecimal() and len(plain) < 18):
        raise InvalidInputError(f"ask: {text!r} is no number of an ask")
    return int(plain) if plain else None
