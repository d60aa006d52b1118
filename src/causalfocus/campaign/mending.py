"""Putting right what is in the log of a campaign, and what it is about: by one more event each.

Nothing is ever taken out. What was wrong stays, with the reason, and all is learned again as it
should have been. Evidence is computed from what the log then amounts to, so it is as good as if it
had always said so; the actions in between were chosen on something else, but still without seeing
their own outcomes, which is all that it asks of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from causalfocus.campaign.changes import added_facts, apply_change, widened_facts
from causalfocus.campaign.entry import as_text, by_whom
from causalfocus.campaign.events import Event, Kind
from causalfocus.campaign.matching import LARGEST_NUMBER, pending_action
from causalfocus.campaign.playback import amend, as_told
from causalfocus.campaign.settings import Details, require_round
from causalfocus.campaign.view import CampaignView
from causalfocus.errors import InvalidInputError
from causalfocus.learner.protocol import Told
from causalfocus.system.actions import Action
from causalfocus.system.names import position


class Mending(CampaignView):
    """Corrects and withdraws rounds, takes back asks, widens ranges and adds variables."""

    def correct(
        self,
        number: int,
        values: Mapping[str, float] | None = None,
        reason: str = "",
        *,
        action: Action | None = None,
        failed: Iterable[str] | None = None,
        as_read: bool = False,
        force: str = "",
        who: str | None = None,
    ) -> Event:
        """Put right what was recorded of a round: a slip of the pen, a unit mixed up, another
        action than was written down. A round that was withdrawn counts again.

        The log keeps both, and all is learned again with what is right; a certificate that rested
        on what was wrong is gone, and a new one is noted if there is one. Correct what was not what
        the rig did, and nothing else: to change a true outcome would bias what is learned.

        Parameters
        ----------
        number : of the round
        values : of the variables that were wrong
        reason : what went wrong
        action : what was really done, if that was wrong
        failed : all settings that failed, if that was wrong
        as_read, force : as in `Campaign.record`
        who : by default the user's name
        """
        if not reason.strip():
            raise InvalidInputError("Say what was wrong: a reason is needed.")
        given = dict(values or {})
        if not given and action is None and failed is None:
            raise InvalidInputError(
                "Give the variables that were wrong with their true values, the action that was "
                "really taken, or the settings that failed."
            )
        told = self._line(number)
        done = told.action if action is None else action
        for name in given:
            position(name, self.names)
        before = dict(zip(self.names, told.sample.tolist(), strict=True))
        if action is not None:
            for name in {*told.action.targets, *action.targets} - given.keys():
                before.pop(name)  # it was the value of another action
        playback = self._ledger.current()
        row = playback.as_row(done, before | given)
        details = Details(
            failed=told.failed if failed is None else tuple(failed), as_read=as_read, force=force
        )
        require_round(self.specification.actions, done, row, details)
        event = Event(
            kind="corrected",
            who=by_whom(who),
            note=as_text(reason),
            round=number,
            action=done,
            sample=row,
            failed=details.failed,
            reason=as_text(force) or None,
        )
        if _is_equal(amend(told, event, len(row)), told):
            raise InvalidInputError(f"Round {number} says this already.")
        return self._ledger.learn_and_write(lambda _: [event])[0]

    def withdraw(self, number: int, reason: str, *, who: str | None = None) -> Event:
        """Take a round out of all that is learned; it stays in the log, with the reason.

        For what was no round of this campaign: recorded twice, of another rig, a test of the
        plumbing. To withdraw a round for its outcome would bias what is learned.

        Parameters
        ----------
        number : of the round
        reason : why it is none
        who : by default the user's name
        """
        if not reason.strip():
            raise InvalidInputError("Say why the round does not count: a reason is needed.")
        if self._line(number).withdrawn:
            raise InvalidInputError(f"Round {number} is withdrawn already.")
        event = Event(kind="withdrawn", who=by_whom(who), note=as_text(reason), round=number)
        return self._ledger.learn_and_write(lambda _: [event])[0]

    def take_back(self, id: int, reason: str, *, who: str | None = None) -> Event:  # noqa: A002
        """Take back an ask that was made by accident; its number and its coin are used up.

        What was asked for and could not be done is rejected instead.

        Parameters
        ----------
        id : of the pending action
        reason : how it came about
        who : by default the user's name
        """
        if not reason.strip():
            raise InvalidInputError("Say how the ask came about: a reason is needed.")
        with self._ledger.transaction() as entry:
            asked = pending_action(entry.playback, self._log, id)
            return entry.add(
                Event(
                    kind="withdrawn",
                    who=by_whom(who),
                    note=as_text(reason),
                    ask=asked.id,
                    action=asked.action,
                )
            )

    def widen(
        self, name: str, low: float, high: float, reason: str = "", *, who: str | None = None
    ) -> Event:
        """Let a variable be set over a wider range from now on, or at all.

        What was done at the old ends counts for the evidence as before; for the design it is
        something else than the new ends.

        Parameters
        ----------
        name : of the variable
        low, high : the new range, which holds the old one
        reason : for people
        who : by default the user's name
        """
        facts = widened_facts(self.specification, name, float(low), float(high))
        return self._change("widened", facts, reason, who)

    def add_variable(
        self,
        name: str,
        entry: Mapping[str, Any] | None = None,
        reason: str = "",
        *,
        who: str | None = None,
    ) -> Event:
        """Learn about one more variable from now on.

        The rounds so far lack its value, so they stay in the log and count for no evidence until
        somebody corrects them: what was certified was another question.

        Parameters
        ----------
        name : of the variable
        entry : its range, unit, cost and tolerance, as in a specification's file; nothing if it
            cannot be set
        reason : for people
        who : by default the user's name
        """
        facts = added_facts(self.specification, name, entry or {})
        return self._change("added", facts, reason, who)

    def _change(
        self, kind: Kind, facts: dict[str, Any], reason: str, who: str | None = None
    ) -> Event:
        event = Event(kind=kind, who=by_whom(who), note=as_text(reason), facts=facts)
        apply_change(self.specification, event)  # what it refuses is refused before it is written
        return self._ledger.learn_and_write(lambda _: [event])[0]

    def _line(self, number: int) -> Told:
        """A round as it stands, or stood before it was withdrawn."""
        if not isinstance(number, int) or not 0 < number < LARGEST_NUMBER:
            raise InvalidInputError(f"{number!r} is no number of a round.")
        with self._ledger.lock:
            playback, first = self._ledger.current(), self._log.sample(number)
            if first is None:
                raise InvalidInputError(
                    f"There is no round {number}; the campaign has {playback.n_samples} rounds."
                )
            told = as_told(first, len(self.names))
            for event in self._log.amendments_of(number, playback.seq):
                told = amend(told, event, len(self.names))
            return told


def _is_equal(one: Told, other: Told) -> bool:
    same = replace(one, sample=other.sample) == other
    return same and np.array_equal(one.sample, other.sample, equal_nan=True)
