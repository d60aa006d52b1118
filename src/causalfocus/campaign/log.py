"""The log of a campaign in its file: events in and out, and what is kept to save time."""

import math
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from sqlite3 import Connection
from typing import Any, Final

from causalfocus.campaign.changes import apply_change
from causalfocus.campaign.checkpoint import CODE_IN_USE
from causalfocus.campaign.events import (
    COLUMNS,
    FIRST_COLUMNS,
    Event,
    Kind,
    sample_text,
)
from causalfocus.campaign.file import CampaignError, CampaignFile
from causalfocus.campaign.playback import Playback, amend, as_told
from causalfocus.campaign.schema import LATER_COLUMNS, LATER_COLUMNS_SINCE
from causalfocus.campaign.specification import Specification
from causalfocus.learner.asking import Ask
from causalfocus.learner.protocol import Told

ALL: Final = "SELECT " + ", ".join(COLUMNS) + " FROM events"  # noqa: S608
NO_LATER: Final = tuple(f"NULL AS {name}" for name in LATER_COLUMNS)
ALL_EARLIER: Final = "SELECT " + ", ".join((*FIRST_COLUMNS, *NO_LATER)) + " FROM events"  # noqa: S608
"""The same of a file that nobody has written to since there are more columns."""

INSERT: Final = (
    f"INSERT INTO events ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608
)
PAGE: Final = 2000
"""Events that are read at once."""

SEARCHED: Final = ("kind", "who", "note", "target", "at", "round")


class EventLog:
    """The events of a file.

    Parameters
    ----------
    file : of the campaign
    specification : that it began with
    """

    def __init__(self, file: CampaignFile, specification: Specification) -> None:
        self._file = file
        self._first = specification

    def _specification_at(self, seq: int) -> Specification:
        """As it stands after an event."""
        found = self._first
        for event in self.changes(seq):
            found = apply_change(found, event)
        return found

    @property
    def last(self) -> int:
        """Number of the last event, 0 if there is none."""
        ((seq,),) = self._file.read("SELECT COALESCE(MAX(seq), 0) FROM events")
        return int(seq)

    @property
    def _has_later_columns(self) -> bool:
        return self._file.version >= LATER_COLUMNS_SINCE

    def _events(self, rest: str, values: tuple[Any, ...]) -> list[Event]:
        """Events that a condition picks."""
        while True:
            before = self._has_later_columns
            rows = self._file.read((ALL if before else ALL_EARLIER) + rest, values)
            if self._has_later_columns == before:  # else somebody brought it up to date meanwhile
                return [Event.from_row(row) for row in rows]

    def event(self, seq: int) -> Event:
        (found,) = self._events(" WHERE seq = ?", (seq,))
        return found

    def after(self, seq: int) -> Iterator[Event]:
        """All events behind one, in order; a page at a time, so that nobody waits for a reader."""
        while found := self._events(" WHERE seq > ? ORDER BY seq LIMIT ?", (seq, PAGE)):
            yield from found
            seq = found[-1].seq

    def page(self, search: str, offset: int, limit: int | None, *, newest: bool) -> list[Event]:
        """Events that hold a text, some of them."""
        where, values = _condition(search)
        order = " ORDER BY seq DESC" if newest else " ORDER BY seq"
        return self._events(
            where + order + " LIMIT ? OFFSET ?", (*values, -1 if limit is None else limit, offset)
        )

    def count(self, search: str) -> int:
        """How many events hold a text."""
        where, values = _condition(search)
        ((n,),) = self._file.read("SELECT COUNT(*) FROM events" + where, values)  # noqa: S608
        return int(n)

    def outcome(self, ask: int) -> Event | None:
        """What became of an asked action."""
        found = self._events(
            " WHERE ask = ? AND kind IN ('told', 'rejected', 'withdrawn') ORDER BY seq", (ask,)
        )
        return found[0] if found else None

    def done_before(self, kind: Kind, key: str | None) -> list[Event]:
        """What a request with this key has led to already, if it came before."""
        if key is None or not self._has_later_columns:
            return []
        return self._events(" WHERE kind = ? AND key = ? ORDER BY seq", (kind, key))

    def told_lines(self, most: int, seq: int) -> Iterator[Told]:
        """The first samples, so many at most, as they stand after an event."""
        amended, p = self.amendments(seq), len(self._specification_at(seq).names)
        asks = self.asks(most)
        for event in self._events(
            " WHERE kind IN ('told', 'imported') AND round <= ? ORDER BY round", (most,)
        ):
            told = replace(as_told(event, p), asked=asks.get(event.ask or 0))
            for by in amended.get(event.round or 0, ()):
                told = amend(told, by, p)
            yield told

    def asks(self, most: int) -> dict[int, Ask]:
        """All asks before some round, by their numbers, as a learner knows them."""
        found, rounds = dict[int, Ask](), 0
        for event in self._events(
            " WHERE kind = 'asked' OR (kind IN ('told', 'imported') AND round <= ?) ORDER BY seq",
            (most,),
        ):
            if event.kind != "asked":
                rounds += 1
            elif event.ask is not None and event.action is not None:
                found[event.ask] = Ask(
                    event.ask, event.action, rounds, event.tosses, event.with_second
                )
        return found

    def amendments(self, seq: int) -> dict[int, list[Event]]:
        """The corrections and withdrawals of each round that has some, in order, up to an event."""
        found: dict[int, list[Event]] = {}
        for event in self._events(
            " WHERE kind IN ('corrected', 'withdrawn') AND round IS NOT NULL AND seq <= ? "
            "ORDER BY seq",
            (seq,),
        ):
            found.setdefault(event.round or 0, []).append(event)
        return found

    def changes(self, seq: int) -> list[Event]:
        """The events that changed the specification, up to one."""
        return self._events(
            " WHERE kind IN ('widened', 'added', 'seeded') AND seq <= ? ORDER BY seq", (seq,)
        )

    def sample(self, number: int) -> Event | None:
        """The event that brought the sample of a round."""
        found = self._events(" WHERE round = ? AND kind IN ('told', 'imported')", (number,))
        return found[0] if found else None

    def add(self, connection: Connection, event: Event) -> None:
        """Write an event; what does not read back as it was meant is not kept."""
        connection.execute(INSERT, event.to_row())
        row = connection.execute(ALL + " WHERE seq = ?", (event.seq,)).fetchone()
        if Event.from_row(row).columns() != event.columns():
            raise CampaignError(f"{event} does not read back as it was written; it was not kept.")

    def rounds_with(self, sample: tuple[float, ...]) -> list[int]:
        """The rounds of which exactly these values were recorded, whatever became of them since."""
        query = (
            "SELECT round FROM events INDEXED BY samples WHERE sample = ? "
            "AND kind IN ('told', 'imported')"
        )
        return [int(number) for (number,) in self._file.read(query, (sample_text(sample),))]

    def checkpoint(self) -> Playback | None:
        """What was kept of the state, if it can be trusted."""
        rows = self._file.read("SELECT seq, chain, code, contents, digest FROM checkpoint")
        if not rows:
            return None
        seq, chain, code, contents, digest = rows[0]
        found = self._file.read("SELECT digest FROM events WHERE seq = ?", (seq,))
        is_whole = sha256(contents).digest() == digest
        if code != CODE_IN_USE or not is_whole or found != [(chain,)]:
            return None
        try:
            specification = self._specification_at(seq)
            return Playback.unpack(
                specification, (seq, chain), contents, self.told_lines, self.event
            )
        except Exception:  # whatever is wrong with it, the log is the truth
            return None

    def keep_checkpoint(self, connection: Connection, playback: Playback) -> None:
        contents = playback.pack()
        connection.execute(
            "INSERT OR REPLACE INTO checkpoint VALUES (1, ?, ?, ?, ?, ?)",
            (playback.seq, playback.digest, CODE_IN_USE, contents, sha256(contents).digest()),
        )

    def curve(self) -> dict[int, float]:
        """Evidence by round, as far as it was kept."""
        rows = self._file.read("SELECT round, evidence FROM curve WHERE code = ?", (CODE_IN_USE,))
        return {number: -math.inf if value is None else value for number, value in rows}

    @property
    def curve_end(self) -> int:
        """The last round of the curve that was kept; points come without gaps up to there."""
        query = "SELECT round FROM curve WHERE code = ? ORDER BY round DESC LIMIT 1"
        rows = self._file.read(query, (CODE_IN_USE,))
        return int(rows[0][0]) if rows else 0

    def keep_curve(self, connection: Connection, points: dict[int, float]) -> None:
        rows = [
            (n, value if math.isfinite(value) else None, CODE_IN_USE) for n, value in points.items()
        ]
        connection.executemany("INSERT OR REPLACE INTO curve VALUES (?, ?, ?)", rows)


def _condition(text: str) -> tuple[str, tuple[str, ...]]:
    """For events that hold a text somewhere."""
    if not text:
        return "", ()
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    tests = " OR ".join(column + " LIKE ? ESCAPE '\\'" for column in SEARCHED)
    return " WHERE " + tests, (f"%{escaped}%",) * len(SEARCHED)
