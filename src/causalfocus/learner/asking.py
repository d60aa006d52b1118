"""An ask: an action that a learner has asked for, with its number and its coins."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from causalfocus.system.actions import Action

if TYPE_CHECKING:
    from causalfocus.learner.protocol import Told


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
    """

    number: int
    action: Action
    rounds: int
    coins: tuple[tuple[str, int], ...] = ()


def asks_of(lines: Iterable["Told"], pending: Iterable[Ask] = ()) -> deque[Ask]:
    """All asks that lines of a log answer, and some more, in the order of asking."""
    found = {told.asked.number: told.asked for told in lines if told.asked is not None}
    found.update((ask.number, ask) for ask in pending)
    return deque(found[number] for number in sorted(found))
