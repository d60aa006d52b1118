"""A campaign: a learner whose samples come over days, by several hands, kept in one file."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from causalfocus.campaign.entry import as_text, by_whom
from causalfocus.campaign.events import Event
from causalfocus.campaign.file import PATIENCE, CampaignFile
from causalfocus.campaign.ledger import Ledger
from causalfocus.campaign.matching import LARGEST_NUMBER, match_action, pending_action, refuse_known
from causalfocus.campaign.playback import Asked, Playback
from causalfocus.campaign.specification import Specification
from causalfocus.campaign.view import CampaignView
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees import DEFAULT_RULE
from causalfocus.learner.protocol import Sample
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import Action
from causalfocus.system.names import position
from causalfocus.system.space import ModelClass

MOST_ASKED: Final = 1000
"""Actions that may be out at once."""


class Campaign(CampaignView):
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
    ...     cf.ModelClass(min_effect=0.2), epsilon=0.1)
    >>> asked, = campaign.next()
    >>> print(asked.id, asked.action)
    1 observe
    >>> campaign.record({"heat": 51.2, "yield": 7.3}, id=asked.id).round
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
        epsilon: float | None = None,
        delta: float = 0.05,
        rule: str = DEFAULT_RULE,
        title: str = "",
        units: Mapping[str, str] | None = None,
    ) -> Self:
        """A new campaign in a new file.

        Parameters
        ----------
        path : of a file that does not exist yet
        actions, space, epsilon, delta, rule : as for `Focus`; or a whole `Specification`
        title, units : for people
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

    def next(self, n: int = 1, *, who: str | None = None, note: str = "") -> tuple[Asked, ...]:
        """Ask for n actions; each stays pending until it is recorded or rejected.

        Actions that are already out are counted as being done.
        """
        if not 1 <= n <= MOST_ASKED:
            raise InvalidInputError(f"Between 1 and {MOST_ASKED} actions can be asked, got {n}.")
        with self._ledger.transaction() as entry:
            pending, first = entry.playback.pending, entry.playback.n_asked + 1
            if len(pending) + n > MOST_ASKED:
                raise InvalidInputError(
                    f"{len(pending)} actions are out and {MOST_ASKED} may be at once: record or "
                    f"reject some first."
                )
            for i, action in enumerate(entry.playback.choose(n)):
                entry.add(
                    Event(
                        kind="asked",
                        who=by_whom(who),
                        note=as_text(note),
                        ask=first + i,
                        action=action,
                    )
                )
            return tuple(pending[first + i] for i in range(n))

    def record(
        self,
        sample: Sample,
        *,
        id: int | None = None,  # noqa: A002
        action: Action | None = None,
        who: str | None = None,
        note: str = "",
    ) -> Event:
        """Keep one sample; once this returns it is on the disk.

        Parameters
        ----------
        sample : a mapping from name to value, or one number per variable in their order
        id : of the pending action that was performed
        action : what was done, if it was not asked for. Without both, the one pending action
        who, note : free texts; `who` is by default the user's name
        """
        with self._ledger.transaction() as entry:
            done, ask = match_action(entry.playback, self._log, id, action)
            return entry.add(self._told_event(entry.playback, done, sample, ask, who, note))

    def record_many(
        self,
        samples: Sequence[tuple[int, Action | None, Sample]],
        *,
        who: str | None = None,
        note: str = "",
    ) -> list[Event]:
        """Keep the samples of several pending actions: all or none.

        samples : number of the action; what was done, if the source says it; and what came of it
        """
        with self._ledger.transaction() as entry:
            found = []
            for id_, action, sample in samples:
                asked = pending_action(entry.playback, self._log, id_)
                if action is not None and action != asked.action:
                    raise InvalidInputError(
                        f"Number {id_} asks for {asked.action}, and the sample is of {action}: "
                        f"nothing was recorded."
                    )
                try:
                    event = self._told_event(entry.playback, asked.action, sample, id_, who, note)
                except InvalidInputError as error:
                    raise InvalidInputError(f"Number {id_}: {error}") from None
                found.append(entry.add(event))
            return found

    @staticmethod
    def _told_event(
        playback: Playback,
        action: Action,
        sample: Sample,
        ask: int | None,
        who: str | None,
        note: str,
    ) -> Event:
        row, number = playback.as_row(action, sample), playback.learner.rounds + 1
        return Event(
            kind="told",
            who=by_whom(who),
            note=as_text(note),
            ask=ask,
            round=number,
            action=action,
            sample=row,
        )

    def reject(self, id: int, reason: str, *, who: str | None = None) -> Event:  # noqa: A002
        """Give up an asked action that cannot be performed.

        Reject for what was known before the outcome: to throw away an outcome that one does not
        like would bias what is learned.
        """
        if not reason.strip():
            raise InvalidInputError("Say why the action was not performed: a reason is needed.")
        with self._ledger.transaction() as entry:
            asked = pending_action(entry.playback, self._log, id)
            return entry.add(
                Event(
                    kind="rejected",
                    who=by_whom(who),
                    note=as_text(reason),
                    ask=asked.id,
                    action=asked.action,
                )
            )

    def correct(
        self,
        number: int,
        values: Mapping[str, float],
        reason: str,
        *,
        who: str | None = None,
    ) -> Event:
        """Put right what was recorded of a round: a slip of the pen, a unit mixed up.

        The log keeps both, and all is learned again with the right values; a certificate that
        rested on the wrong ones is gone, and a new one is noted if there is one. Correct what was
        not what the rig did, and nothing else: to change a true outcome would bias what is learned.

        The evidence is that of the corrected log alone. Later actions were chosen on the wrong
        value, but still without seeing their own outcomes, which is all that it asks of them.

        Parameters
        ----------
        number : of the round
        values : of the variables that were wrong
        reason : why they were
        who : by default the user's name
        """
        if not reason.strip():
            raise InvalidInputError("Say what was wrong: a reason is needed.")
        if not isinstance(number, int) or not 0 < number < LARGEST_NUMBER:
            raise InvalidInputError(f"{number!r} is no number of a round.")
        if not values:
            raise InvalidInputError("Give the variables that were wrong, with their true values.")
        with self._ledger.lock:
            playback, first = self._ledger.current(), self._log.sample(number)
            if first is None or first.action is None or first.sample is None:
                raise InvalidInputError(
                    f"There is no round {number} to correct; the campaign has "
                    f"{playback.n_samples} rounds."
                )
            before = self._log.corrections(playback.seq).get(number, first.sample)
        for name in values:
            position(name, self.names)
        sample = dict(zip(self.names, before, strict=True)) | dict(values)
        row, done = playback.as_row(first.action, sample), first.action
        if row == before:
            raise InvalidInputError(f"Round {number} has these values already.")
        event = Event(
            kind="corrected",
            who=by_whom(who),
            note=as_text(reason),
            round=number,
            action=done,
            sample=row,
        )
        return self._ledger.learn_and_write(lambda _: [event])[0]

    def import_samples(
        self,
        samples: Sequence[tuple[Action, Sample]],
        *,
        who: str | None = None,
        note: str = "",
        again: bool = False,
        on_learned: Callable[[int], None] = lambda _: None,
    ) -> int:
        """Keep past samples with the actions that they came from: all of them, or none.

        They count in the given order, which should be that of their collection. They are learned
        from before they are written, so an interruption leaves nothing behind.

        Parameters
        ----------
        samples : actions and what came of them
        who, note : free texts
        again : take them although some are in the log already, to the last digit; without it they
            are refused. To count samples twice would certify what is not certain
        on_learned : called with the rounds so far while the learner takes them in
        """
        rows = []
        playback = self._ledger.current()
        for number, (action, sample) in enumerate(samples, 1):
            try:
                rows.append((action, playback.as_row(action, sample)))
            except InvalidInputError as error:
                raise InvalidInputError(f"Sample {number}: {error}") from None
        if not again:
            with self._ledger.lock:
                refuse_known(rows, self._log)
        by, about = by_whom(who), as_text(note)

        def events(first: int) -> list[Event]:
            return [
                Event(kind="imported", who=by, note=about, round=number, action=action, sample=row)
                for number, (action, row) in enumerate(rows, first)
            ]

        return len(self._ledger.learn_and_write(events, on_learned))

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
