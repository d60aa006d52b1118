"""All that asking and telling change, in one frozen object.

A learner holds one state and its log. A round makes another state and puts it in place in one step,
so a sample is taken in whole or not at all. What a state holds is never written to; nothing that
grows with the rounds is copied.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError
from causalfocus.learner.asking import Ask, GivenUp
from causalfocus.learner.blocks import Blocks
from causalfocus.moments.coin_record import CoinRecord
from causalfocus.moments.state import State as MomentState
from causalfocus.system.actions import Action

MOST_PENDING: Final = 1000
"""Asks that are remembered while nobody answers them."""


@dataclass(frozen=True)
class Asks:
    """What was asked for.

    Attributes
    ----------
    issued : how many asks there ever were
    pending : those that were neither answered nor withdrawn, in the order of asking; of more than
        `MOST_PENDING` the oldest lapse
    blocks : of the slow variables, after the last ask
    given_up : those that will not be performed, in the order of giving up: what was lost is
        evidence too, and must be there when all is learned again
    """

    issued: int = 0
    pending: tuple[Ask, ...] = ()
    blocks: Blocks = ()
    given_up: tuple[GivenUp, ...] = ()

    def since(self, rounds: int) -> list[Action]:
        """Pending actions that were asked for after so many rounds, and no more."""
        return [ask.action for ask in self.pending if ask.rounds == rounds]

    def issue(self, more: Sequence[Ask], blocks: Blocks) -> "Asks":
        """With some more, whose numbers follow, and the blocks after them."""
        issued, pending = self.issued + len(more), (*self.pending, *more)
        n_gone = max(len(pending) - MOST_PENDING, 0)
        gone = tuple(GivenUp(ask, more[-1].rounds, issued) for ask in pending[:n_gone])
        return Asks(issued, pending[n_gone:], blocks, self.given_up + gone)

    def put(self, ask: Ask, blocks: Blocks) -> "Asks":
        """With an ask that was issued elsewhere, under its number, and the blocks after it."""
        kept = tuple(one for one in self.pending if one.number != ask.number)
        return Asks(max(self.issued, ask.number), (*kept, ask), blocks, self.given_up)

    def find(self, action: Action, number: int | None = None) -> Ask | None:
        """The first pending ask for an action, None if there is none; or that of a number."""
        if number is None:
            return next((ask for ask in self.pending if ask.action == action), None)
        found = self.require(number)
        if found.action != action:
            raise InvalidInputError(
                f"Number {number} asks for {found.action}, and the sample is of {action}. Tell "
                f"what was done without a number if nobody had asked for it."
            )
        return found

    def get(self, number: int) -> Ask | None:
        """The pending ask of a number; None if there is none."""
        return next((ask for ask in self.pending if ask.number == number), None)

    def require(self, number: int) -> Ask:
        """The pending ask of a number."""
        found = self.get(number)
        if found is None:
            raise InvalidInputError(f"There is no pending ask with the number {number!r}.")
        return found

    def settle(self, number: int | None) -> "Asks":
        """Without an ask that was answered; None settles none."""
        if number is None:
            return self
        if len(self.pending) == 1 and self.pending[0].number == number:
            return Asks(self.issued, (), self.blocks, self.given_up)
        kept = tuple(ask for ask in self.pending if ask.number != number)
        return Asks(max(self.issued, number), kept, self.blocks, self.given_up)

    def give_up(self, number: int, rounds: int) -> "Asks":
        """Without a pending ask that was withdrawn after so many rounds."""
        gone = GivenUp(self.require(number), rounds, self.issued)
        return replace(self.settle(number), given_up=(*self.given_up, gone))


@dataclass(frozen=True, kw_only=True)
class LearnerState:
    """What every learner keeps. Those that keep more have a state that holds more.

    Attributes
    ----------
    rounds : samples that were told
    moments : their sums
    counts : (k,), how often each choice of the design was taken
    tallies : how often each action of the set was taken; those that never were may be left out
    losses : of these, rounds in which a value could not be measured
    asks : what was asked for
    last : the last action of the set that was told, where changes cost something
    other_cost : of actions that are not in the set, and of the changes from one action of it to the
        next
    coins : what a rule by coins remembers of the rounds; None under all others
    """

    rounds: int
    moments: MomentState
    counts: Floats
    tallies: Mapping[Action, int]
    losses: Mapping[Action, int]
    asks: Asks
    last: Action | None = None
    other_cost: float = 0.0
    coins: CoinRecord | None = None

    def change(self, **parts: Any) -> Self:
        """The same with other parts: `dataclasses.replace` would take a tenth of a round."""
        if not parts.keys() <= self.__dict__.keys():
            raise TypeError(f"{type(self).__name__} has no {sorted(parts.keys() - vars(self))}.")
        state = object.__new__(type(self))
        state.__dict__.update(self.__dict__, **parts)
        return state
