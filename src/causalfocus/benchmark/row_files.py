"""Rows of a measurement in a CSV file, so that an interrupted one goes on where it was.

Rows are frozen dataclasses of text and numbers. Every line holds the version that made it; lines of
other versions are not read. Whoever changes the code between versions deletes the file.
"""

import csv
import io
from collections.abc import Iterable
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any, Final, TypeVar, get_type_hints

from causalfocus.experiments.whole_files import write_whole
from causalfocus.version import __version__

VERSION: Final = "causalfocus"
"""Name of the column."""

Row = TypeVar("Row")


def read_rows(path: Path, kind: type[Row]) -> list[Row]:
    """Return the rows of a file that this version wrote; none if there is no such file."""
    if not path.exists():
        return []
    types = get_type_hints(kind)
    with path.open(newline="", encoding="utf-8") as file:
        return [
            kind(**{name: types[name](line[name]) for name in types})
            for line in csv.DictReader(file)
            if line[VERSION] == __version__
        ]


def write_rows(path: Path, kind: type[Any], rows: Iterable[Any]) -> None:
    """Write a file of rows whole, in place of what was there."""
    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow([VERSION, *(one.name for one in fields(kind))])
    lines.writerows([__version__, *astuple(row)] for row in rows)
    write_whole(path, text.getvalue().encode())
