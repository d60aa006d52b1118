"""A campaign: a learner whose samples come over days, by several hands, kept in one file."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Self

from causalfocus.campaign.entry import Entry, as_text, by_whom
from causalfocus.campaign.events import Event
from causalfocus.campaign.file import PATIENCE, CampaignFile
from causalfocus.campaign.ledger import Ledger
from causalfocus.campaign.matching import match_action, pending_action
from causalfocus.campaign.playback import Asked
from causalfocus.campaign.requests import checked_key, require_same
from causalfocus.campaign.rounds import told_event
from causalfocus.campaign.settings import Details
from causalfocus.campaign.specification import Specification
from causalfocus.campaign.tables import Tables
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees import DEFAULT_RULE
from causalfocus.learner.protocol import Sample
from causalfocus.learner.seed import checked_seed
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import OBSERVE, Action
from causalfocus.system.choices import Ends
from causalfocus.system.question import About, Question
from causalfocus.system.sizes import Accuracy
from causalfocus.system.space import ModelClass

SEEDED: Final = (
    "This file is from before there were coins. From here on a fair coin picks the end of each "
    "range, by the seed in this event; all that was recorded is learned again."
)

MOST_ASKED: Final = 1000
"""Actions that may be out at once."""


class Campaign(Tables):
    """A durable run of FOCUS: ask, record, stop with a certificate; the file holds every step.

    Make one with `create` or `open`. Several processes may have the same file open: each sees what
    the others have recorded, and one writes at a time. What `record` has returned from survives a
    crash of the program or the machine.

    Examples
    --------
    >>> import tempfile, causalfocus as cf
    >>> folder = tempfile.TemporaryDirectory()
    >>> campaign = Campaign.create(
    ...     f"{folder.name}/rig.campaign", cf.ActionSet({"heat": (20, 80), "yield": (0, 9)}),
    ...     cf.ModelClass(min_effect=0.2), epsilon=0.1, seed=1)
    >>> asked, = campaign.next()
    >>> print(asked.id, asked.action)
    1 do(heat = 20)
    >>> campaign.record({"heat": 20.0, "yield": 4.1}, id=asked.id).round
    1
    >>> campaign.close(); folder.cleanup()
    """

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        actions: ActionSet | Specification,
        space: ModelClass | None = None,
        *,
        epsilon: Accuracy | None = None,
        delta: float = 0.05,
        rule: str = DEFAULT_RULE,
        title: str = "",
        units: Mapping[str, str] | None = None,
        seed: int | None = None,
        ends: Ends | None = None,
        about: About | None = None,
        budget: int | None = None,
    ) -> Self:
        """A new campaign in a new file.

        Parameters
        ----------
        path : of a file that does not exist yet
        actions, space, epsilon, delta, rule : as for `Focus`; or a whole `Specification`
        title, units : for people
        seed, ends, about, budget : as for `Focus`; the seed is kept in the file
        """
        if isinstance(actions, Specification):
            specification = actions
        elif space is None:
            raise InvalidInputError("A campaign needs a ModelClass, for its min_effect.")
        else:
            given = tuple((units or {}).get(name, "") for name in actions.names)
            specification = Specification(
                title=title,
                actions=actions,
                units=given,
                space=space,
                epsilon=epsilon,
                delta=delta,
                rule=rule,
                seed=seed,
                ends=ends,
                about=Question.of(about, actions.names),
                budget=budget,
            )
        return cls(Ledger.create(Path(path), specification))

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        patience: float = PATIENCE,
    ) -> Self:
        """A campaign that exists.

        Parameters
        ----------
        path : its file
        read_only : to look and never to write
        patience : seconds to wait for another writer
        """
        return cls(Ledger(CampaignFile(Path(path), read_only=read_only, patience=patience)))

    def next(
        self, n: int = 1, *, who: str | None = None, note: str = "", key: str | None = None
    ) -> tuple[Asked, ...]:
        """Ask for n actions; each stays pending until it is recorded or rejected.

        Actions that are already out are counted as being done. The end of every range is picked by
        a fair coin, which is kept with the ask. A file from before there were coins gets a seed
        now, as an event of its own.

        Parameters
        ----------
        n : how many
        who, note : free texts; `who` is by default the user's name
        key : of the request; the same again asks for nothing new
        """
        if not isinstance(n, int) or not 1 <= n <= MOST_ASKED:
            raise InvalidInputError(f"Between 1 and {MOST_ASKED} actions can be asked, got {n}.")
        key = checked_key(key)
        with self._ledger.transaction() as entry:
            known = self._log.done_before("asked", key)
            if known and len(known) != n:
                raise InvalidInputError(
                    f"The key {key!r} was used to ask for {len(known)}, not {n}: nothing was "
                    f"asked. Give every request a key of its own."
                )
            if known:
                return tuple(as_asked(event) for event in known)
            pending = entry.playback.pending
            if len(pending) + n > MOST_ASKED:
                raise InvalidInputError(
                    f"{len(pending)} actions are out and {MOST_ASKED} may be at once: record or "
                    f"reject some first."
                )
            by = by_whom(who)
            if self._ledger.lacks_seed(entry.playback):
                entry.add(Event(kind="seeded", who=by, note=SEEDED, facts=new_seed()))
            asks = entry.playback.next_asks(n)
            for ask in asks:
                entry.add(
                    Event(
                        kind="asked",
                        who=by,
                        note=as_text(note),
                        ask=ask.number,
                        action=ask.action,
                        coins=entry.playback.tosses(ask),
                        key=key,
                    )
                )
            pending = entry.playback.pending
            return tuple(pending[ask.number] for ask in asks)

    def record(
        self,
        sample: Sample,
        *,
        id: int | None = None,  # noqa: A002
        action: Action | None = None,
        failed: Iterable[str] = (),
        as_read: bool = False,
        force: str = "",
        performed: str | None = None,
        who: str | None = None,
        note: str = "",
        key: str | None = None,
    ) -> Event:
        """Keep one sample; once this returns it is on the disk.

        Parameters
        ----------
        sample : a mapping from name to value, a pandas Series by its labels, or one number per
            variable in their order; None for what could not be measured. Of a variable that was
            set, what it achieved; what was asked for if it is left out
        id : of the pending action that was performed
        action : what was done, if it was not asked for. Without both, the one pending action
        failed : variables that were to be set and, as you know without looking at their values,
            were not
        as_read : whether a value that is further from what was asked than is tolerated is as it was
            read; without it, it is refused. It counts for no evidence
        force : the word for an action on a variable that cannot be set, or outside of its range
        performed : when, as ISO 8601 has it
        who, note : free texts; `who` is by default the user's name
        key : of the request; the same again is not recorded again
        """
        details = Details(
            failed=(failed,) if isinstance(failed, str) else tuple(failed),
            as_read=as_read,
            force=force,
            performed=performed,
            key=checked_key(key),
        )
        with self._ledger.transaction() as entry:
            known = self._log.done_before("told", details.key)
            if known:
                require_same(known[0], sample, id, action, details, self.names)
                return known[0]
            done, ask = match_action(entry.playback, self._log, id, action)
            event = told_event(entry.playback, done, sample, details)
            return entry.add(replace(event, ask=ask, who=by_whom(who), note=as_text(note)))

    def record_many(
        self,
        samples: Sequence[tuple[int, Action | None, Sample, Details]],
        *,
        rejections: Mapping[int, str] | None = None,
        who: str | None = None,
        note: str = "",
    ) -> list[Event]:
        """Keep the samples of several pending actions: all or none.

        Parameters
        ----------
        samples : number of the action; what was done, if the source says it; what came of it; and
            what is said beside
        rejections : by number, why an action was not performed
        who, note : free texts
        """
        with self._ledger.transaction() as entry:
            found = []
            for id_, action, sample, details in samples:
                asked = pending_action(entry.playback, self._log, id_)
                if action is not None and action != asked.action:
                    raise InvalidInputError(
                        f"Number {id_} asks for {asked.action}, and the sample is of {action}: "
                        f"nothing was recorded."
                    )
                try:
                    event = told_event(entry.playback, asked.action, sample, details)
                except InvalidInputError as error:
                    raise InvalidInputError(f"Number {id_}: {error}") from None
                found.append(
                    entry.add(replace(event, ask=id_, who=by_whom(who), note=as_text(note)))
                )
            for id_, reason in (rejections or {}).items():
                found.append(self._reject(entry, id_, reason, who))
            return found

    def reject(self, id: int, reason: str, *, who: str | None = None) -> Event:  # noqa: A002
        """Give up an asked action that cannot be performed.

        Reject for what was known before the outcome: to throw away an outcome that one does not
        like would bias what is learned.
        """
        with self._ledger.transaction() as entry:
            return self._reject(entry, id, reason, who)

    def _reject(self, entry: Entry, number: int, reason: str, who: str | None) -> Event:
        if not reason.strip():
            raise InvalidInputError("Say why the action was not performed: a reason is needed.")
        asked = pending_action(entry.playback, self._log, number)
        return entry.add(
            Event(
                kind="rejected",
                who=by_whom(who),
                note=as_text(reason),
                ask=asked.id,
                action=asked.action,
            )
        )

    def note(self, text: str, *, who: str | None = None) -> Event:
        """Write something down."""
        if not text.strip():
            raise InvalidInputError("There is nothing to note: give a text.")
        with self._ledger.transaction() as entry:
            return entry.add(Event(kind="noted", who=by_whom(who), note=as_text(text)))

    def continue_after_stop(self, *, who: str | None = None, note: str = "") -> Event:
        """Go on asking after the stop. The certificate stays as it is."""
        with self._ledger.transaction() as entry:
            if not entry.playback.learner.has_stopped:
                raise InvalidInputError("The campaign has not stopped: there is nothing to resume.")
            return entry.add(Event(kind="continued", who=by_whom(who), note=as_text(note)))


def as_asked(event: Event) -> Asked:
    """What an event has asked for."""
    return Asked(event.ask or 0, event.action or OBSERVE, event.at, event.who, event.note)


def new_seed() -> dict[str, Any]:
    """What an event says of the seed that an older file gets."""
    return {"seed": checked_seed(None), "ends": "coin"}
