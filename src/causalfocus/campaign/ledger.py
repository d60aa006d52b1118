"""The ledger of a campaign: its file, its log, and what the log amounts to; all of it or none.

One process writes at a time. What is added is played on the learner first, and nobody sees it until
it is safely on the disk; if anything fails in between, the learner is made anew from the file.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from sqlite3 import Connection
from typing import Final

from causalfocus.campaign.entry import Entry
from causalfocus.campaign.events import Event, now
from causalfocus.campaign.file import CampaignError, CampaignFile
from causalfocus.campaign.log import EventLog
from causalfocus.campaign.playback import LogError, Playback
from causalfocus.campaign.specification import Specification, is_from_before_coins
from causalfocus.learner.result import Result

CHECKPOINT_EVERY: Final = 32
"""Samples between checkpoints: opening a campaign replays about as many at most."""

FREE_TRIALS: Final = 3
"""How often something long is learned without holding the file, before it is held."""


class Ledger:
    """What is in a campaign's file.

    Parameters
    ----------
    file : of the campaign

    Attributes
    ----------
    root : digest that the chain of events begins with
    log : the events
    lock : held by the thread that is using any of it
    """

    def __init__(self, file: CampaignFile) -> None:
        rows = file.read("SELECT document, salt, made, digest FROM specification")
        if not rows:
            raise CampaignError(
                f"{file.path} holds no specification. If it was copied, the file that ends in -wal "
                f"belongs to it: put that beside it. If the program that made it was interrupted, "
                f"make the campaign again under another name."
            )
        document, salt, made, root = rows[0]
        if _root(salt, made, document) != root:
            raise LogError(
                f"The specification of {file.path} was changed by other hands. Nothing can be "
                f"certified from it; restore the file from a copy."
            )
        self.file = file
        self._is_older: Final = is_from_before_coins(document)
        self._first_specification: Final = Specification.from_stored(document)
        self.log = EventLog(file, self._first_specification)
        self.root: bytes = root
        self._playback: Playback | None = None
        self._kept_rounds = 0
        self._result: tuple[int, Result] | None = None
        self._n_holds = 0
        self.lock = threading.RLock()

    @classmethod
    def create(cls, path: Path, specification: Specification) -> "Ledger":
        """A new campaign in a new file."""
        specification.require_free_names()
        document, made = specification.to_stored(), now()
        salt = os.urandom(16)
        root = _root(salt, made, document)
        insert = "INSERT INTO specification VALUES (1, ?, ?, ?, ?)"
        file = CampaignFile.create(path, insert, (made, salt, root, document))
        try:
            ledger = cls(file)
            with ledger.transaction():
                pass  # a system of one variable is known before the first round
        except BaseException:
            file.remove()
            raise
        return ledger

    @property
    def specification(self) -> Specification:
        """What the campaign is about, as it stands by now."""
        return self.current().specification

    @property
    def last_event(self) -> int:
        """Number of the last event; while held, of the last that is looked at."""
        return self.current().seq if self._n_holds else self.log.last

    def lacks_seed(self, playback: Playback) -> bool:
        """Whether the file is from before there were coins, its rule tosses them, and it has got no
        seed since.
        """
        tosses = playback.learner.guarantee.tosses_coins
        return self._is_older and tosses and playback.specification.ends == "game"

    def result(self) -> Result:
        """What the learner has to say; computed once after every event."""
        with self.lock:
            playback = self.current()
            if self._result is None or self._result[0] != playback.seq:
                self._result = playback.seq, playback.learner.result()
            return self._result[1]

    @contextmanager
    def hold(self) -> Iterator[None]:
        """All looks meanwhile see the same; what others record is seen afterwards."""
        with self.lock:
            self.current()
            self._n_holds += 1
            try:
                yield
            finally:
                self._n_holds -= 1

    def current(self, on_learned: Callable[[int], None] = lambda _: None) -> Playback:
        """All that is in the file by now."""
        with self.lock:
            playback = self._playback
            if playback is not None and not playback.is_untouched:
                playback = None
            if playback is not None and self._n_holds:
                return playback
            self._playback = None  # should this be interrupted, it starts afresh
            if playback is None:
                playback = self.log.checkpoint()
                self._kept_rounds = 0 if playback is None else playback.learner.rounds
            if playback is None:
                playback = self.fresh()
            if not playback.n_played:
                playback.known_up_to = self.log.curve_end
            for event in self.log.after(playback.seq):
                playback.play(event)
                on_learned(playback.learner.rounds)
            self._playback = playback
            return playback

    def fresh(self) -> Playback:
        """Before the first event."""
        return Playback(self._first_specification, self.root)

    @contextmanager
    def transaction(self) -> Iterator[Entry]:
        """A transaction; what is added is kept all or not at all."""
        with self.lock:
            self.current()  # most of the catching up is done before others have to wait
            with self.file.write_transaction() as connection:
                playback = self.current()
                self._playback = None  # until all is on the disk, nobody shall see it
                entry = Entry(connection, self.log, playback)
                entry.note_stop()
                yield entry
                self._keep(connection, playback)
            self._playback = playback

    def _keep(self, connection: Connection, playback: Playback) -> None:
        """What saves time later: points of the curve, and now and then a checkpoint."""
        if playback.points:
            self.log.keep_curve(connection, playback.points)
            playback.points.clear()
        rounds = playback.learner.rounds
        if rounds - self._kept_rounds >= CHECKPOINT_EVERY or playback.has_relearned:
            self.log.keep_checkpoint(connection, playback)
            self._kept_rounds, playback.has_relearned = rounds, False

    def learn_and_write(
        self,
        events: Callable[[Playback], Sequence[Event]],
        on_learned: Callable[[int], None] = lambda _: None,
    ) -> list[Event]:
        """Add events that take long to learn from, without making others wait for it.

        They are played first, and written if nobody has written meanwhile; else all is tried again,
        at last with the file held.

        events : given all that is in the file by then, checked against it
        """
        with self.lock:
            for _ in range(FREE_TRIALS):
                playback = self.current()
                self._playback = None  # whatever happens from here on, it is not what the file says
                entry = Entry(None, self.log, playback)
                placed = entry.add_all(events(playback), on_learned)
                with self.file.write_transaction() as connection:
                    if self.log.last == entry.base:
                        entry.flush(connection)
                        self._keep(connection, playback)
                    else:
                        placed = []
                if placed:
                    self._playback = playback
                    return placed
            with self.transaction() as last:
                return last.add_all(events(last.playback), on_learned)

    def verify(self) -> int:
        """Check the chain of all events, and that the present state is what they lead to.

        Returns the number of events; raises if the log was changed by other hands. A stop that
        this version would not make is no such change: see `contradiction`.
        """
        with self.lock:
            current = self.current()
            fresh = self.fresh()
            for event in self.log.after(0):
                fresh.play(event)
                if event.seq == current.seq:
                    break
            if fresh.seq != current.seq or fresh.pack() != current.pack():
                raise CampaignError(
                    f"The state of {self.file.path} is not what its log leads to. Please report "
                    f"this; the log itself is intact."
                )
            return fresh.seq


def _root(salt: bytes, made: str, document: str) -> bytes:
    """Where the chain of digests begins: with what the campaign is about."""
    return sha256(salt + made.encode() + document.encode()).digest()
