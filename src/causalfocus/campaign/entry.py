"""Events on their way into a campaign's file, and the free texts they carry."""

import getpass
import os
from collections.abc import Callable, Sequence
from sqlite3 import Connection

from causalfocus.campaign.events import Event
from causalfocus.campaign.log import EventLog
from causalfocus.campaign.playback import Playback
from causalfocus.campaign.stop_facts import stop_facts
from causalfocus.errors import InvalidInputError


class Entry:
    """Events on their way into the file.

    Attributes
    ----------
    playback : what all events so far amount to
    base : number of the last event in the file
    """

    def __init__(self, connection: Connection | None, log: EventLog, playback: Playback) -> None:
        self.playback = playback
        self.base = playback.seq
        self._connection = connection
        self._log = log
        self._waiting: list[Event] = []

    def add(self, event: Event) -> Event:
        """Play an event and write it; if it makes the learner stop, note that too."""
        placed = event.after(self.playback.seq, self.playback.digest)
        self.playback.play(placed)
        self._waiting.append(placed)
        self.note_stop(placed.who)
        if self._connection is not None:
            self.flush(self._connection)
        return placed

    def add_all(self, events: Sequence[Event], on_learned: Callable[[int], None]) -> list[Event]:
        """One after the other. A stop is noted after the last of them."""
        placed = []
        for event in events:
            placed.append(event.after(self.playback.seq, self.playback.digest))
            self.playback.play(placed[-1])
            on_learned(self.playback.n_samples)
        self._waiting += placed
        self.note_stop(placed[-1].who if placed else "")
        if self._connection is not None:
            self.flush(self._connection)
        return placed

    def flush(self, connection: Connection) -> None:
        """Write what waits."""
        for event in self._waiting:
            self._log.add(connection, event)
        self._waiting = []

    def note_stop(self, who: str = "") -> None:
        """Once, and once more after a correction.

        who : brought the last sample
        """
        learner = self.playback.learner
        if learner.has_stopped and self.playback.stopped is None:
            stop = Event(kind="stopped", who=who, facts=stop_facts(learner.result()))
            placed = stop.after(self.playback.seq, self.playback.digest)
            self.playback.play(placed)
            self._waiting.append(placed)
            if self._connection is not None:
                self.flush(self._connection)


def as_text(given: str) -> str:
    """A free text as it can be kept."""
    try:
        given.encode()
    except UnicodeEncodeError:
        raise InvalidInputError(
            f"{given!r} holds bytes that are no text. Is your terminal set to UTF-8?"
        ) from None
    return given


def by_whom(given: str | None) -> str:
    if given is not None:
        return as_text(given)
    try:
        return os.environ.get("CAUSALFOCUS_WHO") or getpass.getuser()
    except (OSError, KeyError):
        return ""
