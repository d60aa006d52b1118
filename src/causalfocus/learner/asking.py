"""An ask: an action that a learner has asked for, with its number and its coins; and what it came
to, so that all of it can be repeated in the order in which it happened.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from causalfocus.system.actions import Action

if TYPE_CHECKING:
    from causalfocus.learner.protocol import Told

Tosses = tuple[tuple[str, int], ...]
"""Names, and the numbers of their coins."""


@dataclass(frozen=True)
class Ask:
    """An action that a learner has asked for.

    Attributes
    ----------
    number : from 1, in the order of asking
    action : what is to be done
    rounds : how many samples the learner had been told by then
    coins : of every node whose end a fair coin picked, its name and the number of the coin: that of
        the ask for which it was tossed; empty where the design picked the ends
    with_second : names of those that had a second coin, which picks the middle of the range or an
        end
    """

    number: int
    action: Action
    rounds: int
    coins: Tosses = ()
    with_second: tuple[str, ...] = ()


@dataclass(frozen=True)
class GivenUp:
    """An ask that will not be performed: it was withdrawn, or has lapsed.

    Attributes
    ----------
    ask : which
    rounds, issued : samples that had been told by then, and the number of the last ask
    """

    ask: Ask
    rounds: int
    issued: int


def steps_of(
    lines: Iterable["Told"], pending: Iterable[Ask] = (), given_up: Iterable[GivenUp] = ()
) -> deque[Ask | GivenUp]:
    """All asks that lines of a log answer, and some more, and what was given up of them, in the
    order in which it happened.
    """
    found = {told.asked.number: told.asked for told in lines if told.asked is not None}
    gone = tuple(given_up)
    found.update((ask.number, ask) for ask in (*pending, *(one.ask for one in gone)))
    steps: list[Ask | GivenUp] = [*found.values(), *gone]
    return deque(sorted(steps, key=_moment))


def _moment(step: Ask | GivenUp) -> tuple[int, int, int, int]:
    """An ask comes before what was given up when it was the last one."""
    if isinstance(step, Ask):
        return step.rounds, step.number, 0, 0
    return step.rounds, step.issued, 1, step.ask.number
