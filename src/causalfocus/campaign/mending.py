"""Putting right what is in the log of a campaign, and what it is about: by one more event each.

Nothing is ever taken out. What was wrong stays, with the reason, and all is learned again as it
should have been. Evidence is computed from what the log then amounts to, so it is as good as if it
had always said so; the actions in between were chosen on something else, but still without seeing
their own outcomes, which is all that it asks of them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from causalfocus.campaign.changes import added_facts, apply_change, widened_facts
from causalfocus.campaign.entry import as_text, by_whom
from causalfocus.campaign.events import Event, Kind
from causalfocus.campaign.matching import LARGEST_NUMBER, pending_action
from causalfocus.campaign.playback import Playback, amend
from causalfocus.campaign.settings import Details, far_facts, require_round
from causalfocus.campaign.specification import Specification
from causalfocus.campaign.view import CampaignView
from causalfocus.errors import InvalidInputError
from causalfocus.learner.protocol import Told
from causalfocus.moments.labels import by_label
from causalfocus.system.actions import Action
from causalfocus.system.names import position


class Mending(CampaignView):
    """Corrects and withdraws rounds, takes back asks, widens ranges and adds variables."""

    def correct(
        self,
        number: int,
        values: Mapping[str, float | None] | None = None,
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
        values : of the variables that were wrong, by name: a mapping or a pandas Series
        reason : what went wrong
        action : what was really done, if that was wrong
        failed : all settings that failed, if that was wrong
        as_read, force : as in `Campaign.record`
        who : by default the user's name
        """
        if not reason.strip():
            raise InvalidInputError("Say what was wrong: a reason is needed.")
        given = {} if values is None else dict(by_label(values))
        if not given and action is None and failed is None:
            raise InvalidInputError(
                "Give the variables that were wrong with their true values, the action that was "
                "really taken, or the settings that failed."
            )
        if isinstance(failed, str):
            failed = [failed]
        by, about, word = by_whom(who), as_text(reason), as_text(force.strip()) or None
        change = Correction(number, given, action, None if failed is None else tuple(failed))

        def events(playback: Playback) -> list[Event]:
            told = line_of(playback, number)
            event = change.event(playback, told, as_read=as_read, force=force)
            if are_equal(amend(told, event, len(told.sample)), told):
                raise InvalidInputError(f"Round {number} says this already.")
            return [replace(event, who=by, note=about, reason=word)]

        return self._ledger.learn_and_write(events)[0]

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
        event = Event(kind="withdrawn", who=by_whom(who), note=as_text(reason), round=number)

        def events(playback: Playback) -> list[Event]:
            if line_of(playback, number).withdrawn:
                raise InvalidInputError(f"Round {number} is withdrawn already.")
            return [event]

        return self._ledger.learn_and_write(events)[0]

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
        return self._change("widened", lambda now: widened_facts(now, name, low, high), reason, who)

    def add_variable(
        self,
        name: str,
        entry: Mapping[str, Any] | None = None,
        reason: str = "",
        *,
        is_outcome: bool = False,
        is_switch: bool = False,
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
        is_outcome : whether it is known to drive nothing; what cannot be set must be, for the
            randomized rule
        is_switch : whether it has two states only, the ends of its range
        who : by default the user's name
        """

        def facts(now: Specification) -> dict[str, Any]:
            found: dict[str, Any] = added_facts(
                now, name, entry or {}, is_outcome=is_outcome, is_switch=is_switch
            )
            return found

        return self._change("added", facts, reason, who)

    def _change(
        self,
        kind: Kind,
        facts: Callable[[Specification], dict[str, Any]],
        reason: str,
        who: str | None,
    ) -> Event:
        by, about = by_whom(who), as_text(reason)

        def events(playback: Playback) -> list[Event]:
            now = playback.specification
            event = Event(kind=kind, who=by, note=about, facts=facts(now))
            apply_change(now, event)  # what it refuses is refused before it is written
            return [event]

        return self._ledger.learn_and_write(events)[0]


@dataclass(frozen=True)
class Correction:
    """What is right of a round.

    Attributes
    ----------
    number : of the round
    values : of the variables that were wrong
    action : what was really done; None if that was right
    failed : all settings that failed; None if that was right
    """

    number: int
    values: Mapping[str, float | None]
    action: Action | None
    failed: tuple[str, ...] | None

    def event(self, playback: Playback, told: Told, *, as_read: bool, force: str) -> Event:
        """What the log says of it, checked; what was taken before is not asked about again."""
        actions = playback.specification.actions
        done = told.action if self.action is None else self.action
        failed = told.failed if self.failed is None else self.failed
        row = playback.as_row(done, self._sample(told, done, failed, actions.names), failed)
        before = Details(
            failed=failed,
            as_read=as_read or (told.mark == "far" and self.action is None),
            force=force or ("as before" if self.action is None else ""),
        )
        require_round(actions, done, row, before)
        return Event(
            kind="corrected",
            round=self.number,
            action=done,
            sample=row,
            facts=far_facts(actions, done, row, failed) or self._kept_far(told, done, failed),
            failed=failed,
        )

    def _kept_far(
        self, told: Told, done: Action, failed: tuple[str, ...]
    ) -> dict[str, list[str]] | None:
        """A round that was too far off stays so unless what was set is corrected itself: else to
        correct something else would decide anew, with what is tolerated by now.
        """
        is_same = done == told.action and failed == told.failed
        is_touched = any(name in self.values for name in done.targets)
        return (
            {"far": list(done.targets)}
            if told.mark == "far" and is_same and not is_touched
            else None
        )

    def _sample(
        self, told: Told, done: Action, failed: tuple[str, ...], names: tuple[str, ...]
    ) -> dict[str, float | None]:
        """The values that stand, without those that were never measured: of another action, or
        filled in for a setting that failed.
        """
        for name in self.values:
            position(name, names)
        kept: dict[str, float | None] = dict(zip(names, told.sample.tolist(), strict=True))
        meant = dict(told.action.settings)
        gone = {n for n in failed if n not in told.failed and kept.get(n) == meant.get(n)}
        if done != told.action:
            gone |= {*told.action.targets, *done.targets}
        return {name: value for name, value in kept.items() if name not in gone} | dict(self.values)


def line_of(playback: Playback, number: int) -> Told:
    """A round as it stands, or stood before it was withdrawn."""
    if not isinstance(number, int) or not 0 < number < LARGEST_NUMBER:
        raise InvalidInputError(f"{number!r} is no number of a round.")
    if number > playback.n_samples:
        raise InvalidInputError(
            f"There is no round {number}; the campaign has {playback.n_samples} rounds."
        )
    return playback.learner.log[number - 1]


def are_equal(one: Told, other: Told) -> bool:
    """Whether two lines say the same."""
    same = replace(one, sample=other.sample) == other
    return same and np.array_equal(one.sample, other.sample, equal_nan=True)
