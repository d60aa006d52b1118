"""From the log of a campaign to its learner, event by event."""

from collections.abc import Callable, Collection, Iterable, Iterator, MutableSequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Final, overload

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.campaign.changes import apply_change
from causalfocus.campaign.checkpoint import pack, unpack
from causalfocus.campaign.events import Event, Toss
from causalfocus.campaign.sample_errors import sample_errors
from causalfocus.campaign.specification import Specification
from causalfocus.campaign.stop_facts import contradiction
from causalfocus.errors import CausalFocusError
from causalfocus.learner.asking import Ask
from causalfocus.learner.focus import Focus
from causalfocus.learner.protocol import Sample, Told
from causalfocus.system.actions import OBSERVE, Action

POINTS_PER_DOUBLING: Final = 32
"""So often the evidence is noted for the curve while the rounds double."""


class LogError(CausalFocusError):
    """The log of a campaign contradicts itself: it was changed by other hands."""


@dataclass(frozen=True)
class Asked:
    """An action that someone has been asked to perform, and nothing came of it yet."""

    id: int
    action: Action
    at: str
    who: str
    note: str


class LateLog(MutableSequence[Told]):
    """A learner's log of which the beginning is fetched when someone looks at it.

    Parameters
    ----------
    n_before : how many lines are to be fetched
    fetch : gives them
    """

    def __init__(self, n_before: int, fetch: Callable[[], Iterable[Told]]) -> None:
        self._n_before = n_before
        self._fetch = fetch
        self._lines: list[Told] = []

    def _all(self) -> list[Told]:
        if self._n_before:
            early = list(self._fetch())
            if len(early) != self._n_before:
                raise LogError(
                    f"The log holds {len(early)} of the {self._n_before} samples it began with."
                )
            self._lines[:0] = early
            self._n_before = 0
        return self._lines

    def __len__(self) -> int:
        return self._n_before + len(self._lines)

    def __iter__(self) -> Iterator[Told]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Told: ...
    @overload
    def __getitem__(self, index: slice) -> list[Told]: ...
    def __getitem__(self, index: int | slice) -> Told | list[Told]:
        return self._all()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._all()[index] = value

    def __delitem__(self, index: int | slice) -> None:
        if isinstance(index, slice) and index.stop is None and (index.start or 0) >= self._n_before:
            del self._lines[(index.start or 0) - self._n_before :]
        else:
            del self._all()[index]

    def insert(self, index: int, value: Told) -> None:
        if index == len(self):
            self._lines.append(value)
        else:
            self._all().insert(index, value)


class Playback:
    """What the events so far amount to.

    Attributes
    ----------
    specification : of the campaign, as it is now
    learner : that was told all samples
    seq, digest : of the last event
    pending : asked and not answered, by number; the learner knows of the same
    stopped : the event of the stop; None before, and after all was learned anew
    points : evidence at some rounds, for the curve
    known_up_to : up to this round the curve is kept elsewhere; it is dear, and not computed again
    has_relearned : whether all was learned anew, which is worth a checkpoint: it takes long
    n_played : events that were played one by one
    n_samples : how many samples the log has
    contradiction : between the stop in the log and what this code makes of it, in words
    """

    def __init__(self, specification: Specification, digest: bytes) -> None:
        self.specification = specification
        self.learner: Focus = specification.learner()
        self.seq = 0
        self.digest = digest
        self.pending: dict[int, Asked] = {}
        self.stopped: Event | None = None
        self.points: dict[int, float] = {}
        self.known_up_to = 0
        self.has_relearned = False
        self.n_played = 0
        self.n_samples = 0
        self.contradiction: str | None = None
        self._left_at = self.learner.state

    def play(self, event: Event) -> None:
        """Take in the next event."""
        if event.seq != self.seq + 1 or event.digest_after(self.digest) != event.digest:
            raise LogError(
                f"Event {event.seq} does not follow from those before it: the log was changed by "
                f"other hands. Nothing can be certified from it; restore the file from a copy."
            )
        handler = self._handlers.get(event.kind)
        if handler is not None:
            handler(event)
        self._left_at = self.learner.state
        self.seq, self.digest = event.seq, event.digest
        self.n_played += 1

    @property
    def is_untouched(self) -> bool:
        """Whether nobody has told or asked the learner anything but what the log says."""
        return self.learner.state is self._left_at

    def look(self) -> Focus:
        """The learner for somebody to look at: what it is asked and told there stays there."""
        learner, rounds = self.learner, self.learner.rounds
        twin = copy(learner)
        twin.restore(learner.state, LateLog(rounds, lambda: learner.log[:rounds]))
        return twin

    @property
    def n_asked(self) -> int:
        """How many actions were ever asked for."""
        return self.learner.state.asks.issued

    def _take(self, told: Told) -> None:
        with sample_errors(told):
            self.learner.take(told)
        self._note_point()

    def _note_point(self) -> None:
        """Of the curve, after a round."""
        self.n_samples = self.learner.rounds
        rounds = self.learner.rounds
        if rounds > self.known_up_to and is_noted(rounds):
            self.points[rounds] = self.learner.decision.evidence

    @property
    def _handlers(self) -> dict[str, Callable[[Event], None]]:
        """What each kind of event does; a note does nothing."""
        return {
            "asked": self._ask,
            "rejected": self._settle,
            "told": self._tell,
            "imported": self._tell,
            "corrected": self._amend,
            "withdrawn": self._withdraw,
            "widened": self._change,
            "added": self._change,
            "seeded": self._change,
            "stopped": self._stop,
            "continued": self._continue,
        }

    def _ask(self, event: Event) -> None:
        """An ask with its coins, which must be what the seed gives."""
        number, action = event.ask or 0, event.action or OBSERVE
        settings, value_of = dict(action.settings), self.learner.choices.value_of
        for name, toss in (event.coins or {}).items():
            if settings.get(name) != value_of(name, self.learner.seed, toss.coin, toss.has_second):
                raise LogError(
                    f"The coin of {name} in event {event.seq} is not the one that the seed gives: "
                    f"the log was changed by other hands. Restore the file from a copy."
                )
        self.pending[number] = Asked(number, action, event.at, event.who, event.note)
        self.learner.put_ask(number, action, event.tosses, event.with_second)

    def _settle(self, event: Event) -> None:
        """Without an ask that will not be performed."""
        number = event.ask or 0
        self.pending.pop(number, None)
        self.learner.withdraw(number)

    def _tell(self, event: Event) -> None:
        self._take(as_told(event, len(self.learner.names)))
        self.pending.pop(event.ask or 0, None)

    def _withdraw(self, event: Event) -> None:
        """A round, or an ask that nobody meant."""
        if event.round is None:
            self._settle(event)
        else:
            self._amend(event)

    def _amend(self, event: Event) -> None:
        """Learn all again with another line for one round."""
        lines, number = list(self.learner.log), event.round or 0
        lines[number - 1] = amend(lines[number - 1], event, len(self.learner.names))
        self._learn_again(lines, number)

    def _change(self, event: Event) -> None:
        """Learn all again under what holds from now on. With one more variable it is another
        question; else the samples are the same, and a stop that was noted stands.
        """
        lines, stopped = list(self.learner.log), self.stopped
        self.specification = apply_change(self.specification, event)
        p = len(self.specification.names)
        self._learn_again([replace(told, sample=pad_row(told.sample, p)) for told in lines], 1)
        if stopped is not None and event.kind != "added":
            self._stop(stopped)

    def _stop(self, event: Event) -> None:
        if self.stopped is None:
            self.stopped = event
            self.contradiction = contradiction(event.facts or {}, self.learner.result())

    def _continue(self, event: Event) -> None:
        del event
        self.learner.continue_after_stop()

    def _learn_again(self, lines: Iterable[Told], first: int) -> None:
        """From the first line on.

        first : number of the first round that differs from what was learned
        """
        earlier = self.learner
        self.learner, self.stopped = self.specification.learner(), None
        self.contradiction = None
        self.known_up_to = min(self.known_up_to, first - 1)
        self.has_relearned = True
        with sample_errors():
            asks = earlier.state.asks
            for _ in self.learner.take_again(tuple(lines), asks.pending, asks.given_up):
                self._note_point()
                for _ in range(earlier.continued_at.count(self.learner.rounds)):
                    self.learner.continue_after_stop()
        self.learner.adopt_asks(earlier.state.asks)

    def as_row(
        self, action: Action, sample: Sample, failed: Collection[str] = ()
    ) -> tuple[float, ...]:
        """A sample as one number per variable, checked, without taking it in."""
        row = self.learner.moments.as_row(action, sample, allow_missing=True, failed=failed)
        return tuple(row.tolist())

    def next_asks(self, n: int) -> list[Ask]:
        """What to ask next, given that the pending actions are being done."""
        return self.learner.next_asks(n, [asked.action for asked in self.pending.values()])

    def tosses(self, ask: Ask) -> dict[str, Toss] | None:
        """The coins of an ask with their law, for the log; None if there are none."""
        law = self.learner.choices.law
        return {
            name: Toss(coin=coin, law=law(name, name in ask.with_second))
            for name, coin in ask.coins
        } or None

    def pack(self) -> bytes:
        """All of it but the curve, as bytes."""
        waiting = [
            [a.id, [list(setting) for setting in a.action.settings], a.at, a.who, a.note]
            for a in self.pending.values()
        ]
        stopped = None if self.stopped is None else self.stopped.seq
        more = {"pending": waiting, "stopped": stopped, "contradiction": self.contradiction}
        return pack(self.learner, more)

    @classmethod
    def unpack(
        cls,
        specification: Specification,
        place: tuple[int, bytes],
        contents: bytes,
        fetch: Callable[[int, int], Iterable[Told]],
        event: Callable[[int], Event],
    ) -> "Playback":
        """As it was when it was packed.

        place : number and digest of the last event then
        fetch : gives the first samples, as they stood after an event, for whoever looks at the
            learner's log
        event : gives an event by its number
        """
        found = cls(specification, place[1])
        state, more = unpack(contents, found.learner)
        log = LateLog(state.rounds, lambda: fetch(state.rounds, place[0]))
        found.learner.restore(state, log)
        found._left_at = found.learner.state
        found.seq = place[0]
        found.pending = {
            line[0]: Asked(line[0], Action(tuple(map(tuple, line[1]))), *line[2:])
            for line in more["pending"]
        }
        found.n_samples = state.rounds
        found.contradiction = more["contradiction"]
        found.stopped = None if more["stopped"] is None else event(more["stopped"])
        return found


def is_noted(rounds: int) -> bool:
    """Whether the evidence after so many rounds is kept for the curve."""
    apart = max(1, (1 << rounds.bit_length() - 1) // POINTS_PER_DOUBLING)
    return rounds % apart == 0


def as_told(event: Event, p: int) -> Told:
    """A line of a learner's log, from the event that brought a sample.

    p : number of variables by now; those that there were none of then are missing
    """
    if event.action is None:
        raise LogError(f"Event {event.seq} brings a sample of no action.")
    return Told(
        event.action,
        pad_row(event.row, p),
        event.ask,
        event.failed,
        "lost" if np.isnan(event.row).any() else "far" if (event.facts or {}).get("far") else "",
    )


def amend(told: Told, by: Event, p: int) -> Told:
    """A line of a learner's log as a later event leaves it."""
    if by.kind == "withdrawn":
        return replace(told, mark="withdrawn")
    action = told.action if by.action is None else by.action
    return replace(as_told(replace(by, action=action), p), ask=told.ask, asked=told.asked)


def pad_row(row: Floats, p: int) -> Floats:
    """A sample with one number per variable, nan for those that came later.."""
    found = np.full(p, np.nan)
    found[: len(row)] = row
    found.setflags(write=False)
    return found
