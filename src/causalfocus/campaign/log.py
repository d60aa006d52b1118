"""The log of a campaign in its file: events in and out, and what is kept to save time."""

import json
import math
from collections.abc import Iterator
from hashlib import sha256
from sqlite3 import Connection
from typing import Final

from causalfocus.campaign.checkpoint import CODE_IN_USE
from causalfocus.campaign.events import COLUMNS, Event
from causalfocus.campaign.file import CampaignError, CampaignFile
from causalfocus.campaign.playback import Playback, as_told
from causalfocus.campaign.specification import Specification
from causalfocus.learner.protocol import Told
from causalfocus.system.actions import Action, action_of

ALL: Final = "SELECT " + ", ".join(COLUMNS) + " FROM events"  # noqa: S608
INSERT: Final = "INSERT INTO events VALUES (" + ", ".join("?" * len(COLUMNS)) + ")"  # noqa: S608
PAGE: Final = 2000
"""Events that are read at once."""

SEARCHED: Final = ("kind", "who", "note", "target", "at", "round")


class EventLog:
    """The events of a file.

    Parameters
    ----------
    file : of the campaign
    """

    def __init__(self, file: CampaignFile) -> None:
        self._file = file

    @property
    def last(self) -> int:
        """Number of the last event, 0 if there is none."""
        ((seq,),) = self._file.read("SELECT COALESCE(MAX(seq), 0) FROM events")
        return int(seq)

    def event(self, seq: int) -> Event:
        (row,) = self._file.read(ALL + " WHERE seq = ?", (seq,))
        return Event.from_row(row)

    def after(self, seq: int) -> Iterator[Event]:
        """All events behind one, in order; a page at a time, so that nobody waits for a reader."""
        while rows := self._file.read(ALL + " WHERE seq > ? ORDER BY seq LIMIT ?", (seq, PAGE)):
            for row in rows:
                yield Event.from_row(row)
            seq = rows[-1][0]

    def page(self, search: str, offset: int, limit: int | None, *, newest: bool) -> list[Event]:
        """Events that hold a text, some of them."""
        where, values = _condition(search)
        order = " ORDER BY seq DESC" if newest else " ORDER BY seq"
        rows = self._file.read(
            ALL + where + order + " LIMIT ? OFFSET ?",
            (*values, -1 if limit is None else limit, offset),
        )
        return [Event.from_row(row) for row in rows]

    def count(self, search: str) -> int:
        """How many events hold a text."""
        where, values = _condition(search)
        ((n,),) = self._file.read("SELECT COUNT(*) FROM events" + where, values)  # noqa: S608
        return int(n)

    def outcome(self, ask: int) -> Event | None:
        """What became of an asked action."""
        rows = self._file.read(
            ALL + " WHERE ask = ? AND kind IN ('told', 'rejected') AND ask IS NOT NULL", (ask,)
        )
        return Event.from_row(rows[0]) if rows else None

    def told_lines(self, most: int, seq: int) -> Iterator[Told]:
        """The first samples, so many at most, with the corrections up to an event."""
        corrected = self.corrections(seq)
        query = (
            "SELECT round, target, value, sample, ask FROM events "
            "WHERE kind IN ('told', 'imported') AND round <= ? ORDER BY round"
        )
        for number, target, value, sample, ask in self._file.read(query, (most,)):
            row = corrected.get(number) or tuple(json.loads(sample))
            yield as_told(action_of(target, value), row, ask)

    def corrections(self, seq: int) -> dict[int, tuple[float, ...]]:
        """The last correction of each round that has one, up to an event."""
        query = (
            "SELECT round, sample FROM events WHERE kind = 'corrected' AND seq <= ? ORDER BY seq"
        )
        return {number: tuple(json.loads(text)) for number, text in self._file.read(query, (seq,))}

    def sample(self, number: int) -> Event | None:
        """The event that brought the sample of a round."""
        rows = self._file.read(ALL + " WHERE round = ? AND kind IN ('told', 'imported')", (number,))
        return Event.from_row(rows[0]) if rows else None

    def add(self, connection: Connection, event: Event) -> None:
        """Write an event; what does not read back as it was meant is not kept."""
        connection.execute(INSERT, event.to_row())
        row = connection.execute(ALL + " WHERE seq = ?", (event.seq,)).fetchone()
        if Event.from_row(row).columns() != event.columns():
            raise CampaignError(f"{event} does not read back as it was written; it was not kept.")

    def has_sample(self, action: Action, sample: tuple[float, ...]) -> int | None:
        """The round in which exactly this came of this action, if it ever did."""
        value = None if action.value is None else action.value + 0.0
        rows = self._file.read(
            "SELECT round FROM events INDEXED BY samples WHERE sample = ? AND target = ? "
            "AND value IS ? AND kind IN ('told', 'imported') LIMIT 1",
            (json.dumps(sample), action.target or "", value),
        )
        return int(rows[0][0]) if rows else None

    def checkpoint(self, specification: Specification) -> Playback | None:
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
