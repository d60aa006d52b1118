"""Which asked action a sample answers, and whether it is in the log already."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from causalfocus.campaign.events import Event
from causalfocus.campaign.log import EventLog
from causalfocus.campaign.playback import Asked, Playback
from causalfocus.errors import InvalidInputError
from causalfocus.learner.protocol import Told
from causalfocus.system.actions import Action

LARGEST_NUMBER: Final = 2**62
"""Of rounds and asked actions: SQLite knows no larger integers."""


def match_action(
    playback: Playback, log: EventLog, number: int | None, action: Action | None
) -> tuple[Action, int | None]:
    """The action that a sample is of, and its number if it was asked for.

    Parameters
    ----------
    playback, log : of the campaign
    number : of a pending action, if one was given
    action : what was done, if that was said
    """
    if number is not None:
        asked = pending_action(playback, log, number)
        if action is not None and action != asked.action:
            raise InvalidInputError(
                f"Number {number} asks for {asked.action}, and the sample is of {action}. Give one "
                f"of the two; what was not asked for is recorded without a number."
            )
        return asked.action, asked.id
    if action is not None:
        return action, None
    if len(playback.pending) == 1:
        (asked,) = playback.pending.values()
        return asked.action, asked.id
    if not playback.pending:
        raise InvalidInputError(
            "Nothing is pending. Ask for an action first, or say which action was performed."
        )
    raise InvalidInputError(
        f"{len(playback.pending)} actions are pending; say by its number which one was "
        f"performed: {_list_asked(playback.pending.values())}."
    )


def pending_action(playback: Playback, log: EventLog, number: int) -> Asked:
    """A pending action by its number; else an error that says what became of it."""
    if not isinstance(number, int) or not 0 < number < LARGEST_NUMBER:
        raise InvalidInputError(f"{number!r} is no number of an asked action.")
    if number in playback.pending:
        return playback.pending[number]
    waiting = _list_asked(playback.pending.values()) or "nothing"
    outcome = log.outcome(number)
    if outcome is None:
        raise InvalidInputError(
            f"There is no asked action with the number {number}. Pending: {waiting}."
        )
    done = {"told": "recorded", "withdrawn": "taken back"}.get(outcome.kind, "rejected")
    raise InvalidInputError(
        f"Number {number} was {done} already, at {outcome.at} by {outcome.who or 'somebody'}: "
        f"nothing was changed. Pending: {waiting}."
    )


def refuse_known(events: Sequence[Event], playback: Playback, log: EventLog) -> None:
    """Raise if any of the samples is in the log, to the last digit, as it was recorded or as it
    stands now; or twice among them.

    To count samples twice would certify what is not certain, so one match is enough: measured
    values that agree in all variables are rare, but for coarse instruments, whose users say so.
    """
    lines = playback.learner.log
    standing = {
        _key(told.action, told.sample.tolist()): number
        for number, told in enumerate(lines, 1)
        if not told.withdrawn
    }
    known, twice, seen = list[int](), 0, set[object]()
    for event in events:
        key = _key(event.action, event.sample or ())
        number = standing.get(key) or _earlier_round(event, lines, log)
        if number is not None:
            known.append(number)
        twice += key in seen
        seen.add(key)
    if known or twice:
        shown = ", ".join(map(str, known[:5])) + (", ..." if len(known) > 5 else "")
        where = f"in the campaign already, to the last digit (rounds {shown})"
        raise InvalidInputError(
            f"{len(known) or twice} of {len(events)} samples are "
            f"{where if known else 'given more than once, to the last digit'}: nothing was "
            f"imported. To count samples twice would certify what is not certain. If they were "
            f"really measured twice, say so with again=True, or --again on the command line."
        )


def _earlier_round(event: Event, lines: Sequence[Told], log: EventLog) -> int | None:
    """The round that was recorded with these values, though it was corrected since."""
    found = log.rounds_with(event.sample or ())
    return next(
        (n for n in found if lines[n - 1].action == event.action and not lines[n - 1].withdrawn),
        None,
    )


def _key(action: Action | None, sample: Iterable[float]) -> object:
    """By which samples are compared: zero has no sign, and what is missing is missing."""
    return action, tuple(None if math.isnan(value) else value + 0.0 for value in sample)


def _list_asked(pending: Iterable[Asked]) -> str:
    return ", ".join(f"{asked.id} ({asked.action})" for asked in pending)
