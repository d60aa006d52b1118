"""A look at a campaign: what was recorded, what is known, and what it rests on."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from causalfocus.campaign.events import Event
from causalfocus.campaign.ledger import Ledger
from causalfocus.campaign.playback import Asked
from causalfocus.campaign.specification import Specification
from causalfocus.guarantees import Decision
from causalfocus.learner.focus import Focus
from causalfocus.learner.result import Result
from causalfocus.system.sem import LinearSEM


class CampaignView:
    """All that can be seen of a campaign. Nothing here writes to its file."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._log = ledger.log

    def close(self) -> None:
        """Let go of the file. Nothing is lost if this is never called."""
        self._ledger.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Campaign {self.path}, {self.rounds} rounds>"

    @property
    def path(self) -> Path:
        return self._ledger.file.path

    @property
    def read_only(self) -> bool:
        return self._ledger.file.read_only

    @property
    def specification(self) -> Specification:
        """What it is about, as it stands by now."""
        return self._ledger.specification

    @property
    def names(self) -> tuple[str, ...]:
        return self.specification.names

    @property
    def learner(self) -> Focus:
        """The learner that was told all samples recorded so far, by whomever.

        To look at. What you ask or tell it yourself is not recorded, and the next look is afresh.
        """
        return self._ledger.current().look()

    @property
    def decision(self) -> Decision:
        return self.learner.decision

    @property
    def rounds(self) -> int:
        return self.learner.rounds

    @property
    def pending(self) -> tuple[Asked, ...]:
        """Actions that were asked for and neither recorded nor rejected."""
        return tuple(self._ledger.current().pending.values())

    @property
    def stop(self) -> Event | None:
        """The event of the stop, if there was one."""
        return self._ledger.current().stopped

    @property
    def last_event(self) -> int:
        """Number of the last event: it changes whenever anything happens."""
        with self._ledger.lock:
            return self._ledger.last_event

    @property
    def contradiction(self) -> str | None:
        """Between the stop in the log and what this version makes of the same samples, in words."""
        return self._ledger.current().contradiction

    @property
    def n_replayed(self) -> int:
        """Events that were played one by one to get here; a checkpoint spares those before it."""
        return self._ledger.current().n_played

    def result(self) -> Result:
        """What was certified, or the refutation; until then the estimate."""
        return self._ledger.result()

    @contextmanager
    def hold(self) -> Iterator[Self]:
        """All looks at it meanwhile see the same; what others record is seen afterwards."""
        with self._ledger.hold():
            yield self

    def events(
        self, *, search: str = "", offset: int = 0, limit: int | None = None, newest: bool = False
    ) -> list[Event]:
        """The log, or a page of it.

        Parameters
        ----------
        search : keep events with this text in kind, person, note, target, time or round
        offset, limit : which of them
        newest : the latest first
        """
        with self._ledger.lock:
            return self._log.page(search, offset, limit, newest=newest)

    def iterate(self) -> Iterator[Event]:
        """The whole log, event by event."""
        return self._log.after(0)

    def amendments(self) -> dict[int, list[Event]]:
        """The corrections and withdrawals of every round that has some, in order."""
        with self._ledger.lock:
            return self._log.amendments(self._log.last)

    def n_events(self, search: str = "") -> int:
        """How many events there are, or match a search."""
        with self._ledger.lock:
            return self._log.count(search)

    @property
    def model(self) -> LinearSEM:
        """What was certified, or was shown when it was refuted; until then the estimate."""
        learner = self.learner
        return self.result().model if learner.has_stopped else learner.estimate

    def curve(self) -> list[tuple[int, float]]:
        """Rounds and evidence, at many rounds and, unless that is dear, at the last."""
        with self._ledger.lock:
            playback = self._ledger.current()
            points = self._log.curve() | playback.points
            if playback.learner.rounds and not playback.learner.guarantee.evidence_is_dear:
                points[playback.learner.rounds] = playback.learner.decision.evidence
            return sorted(points.items())

    def verify(self) -> int:
        """Check the chain of all events, and that the present state is what they lead to.

        Returns the number of events; raises if the log was changed by other hands.
        """
        return self._ledger.verify()

    def copy_to(self, path: str | os.PathLike[str]) -> None:
        """A consistent copy in one file, though others write meanwhile."""
        self._ledger.file.copy_to(Path(path))
