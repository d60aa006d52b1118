"""All that the randomized rule remembers: sums of rounds by their coins, in the order of asking.

What counts is the intention. An ask says which variables are to be set and what their coins say;
row j counts the rounds in which j was not asked to be set, and the instruments of a round are the
coins that were tossed for it. The values are those that were achieved, those of settings that
failed included. Samples that nobody asked for have no coin and never come here.

**In the order of asking.** A round enters the sums when it and all that were asked for before it
are answered or withdrawn, whatever the order of telling. So the sums are, at every moment, those of
the first n asks, and there is no way to read others. Let F_n be all that is known of the first n
asks, outcomes included. What is asked for next is chosen from outcomes of asks before it, and its
tests from those that were complete, both before its coins are tossed: given F_n and the residual of
ask n + 1, its coins are fair. So every test is a supermartingale in n (`kernels.randomized`),
Ville's inequality holds for all n at once, and it does not matter which n are read, or who decided
that; a batch may be read before all of it is told. Were sums taken in the order of telling, one
could tell first what pleases.

**Second coins.** In some asks a variable has a second coin, which picks the middle of its range or
the end that the first one says (`system.coins`). Which asks is decided by seed and number alone. So
given F_n, which they are and the second coins, the first ones are fair and independent, also of the
residual of the true row, for no coin of the round moves that: in the bound E
exp(l r sum w z - l^2 r^2 sum w^2 / 2) <= 1 one may take the sums over those first coins that the
second ones leave, since it holds given these. A variable that goes to an end is an instrument as in
any other ask. One that goes to the middle is asked for, so its own row does not count the round,
and its first coin is none, 0: it moves nothing, and would add to V alone. Other variables are as
ever. Second coins are instruments of no test here; `guard_sums` bets on them.

**Coins of a block.** A slow variable keeps one coin for several asks. It is an instrument in the
ask for which it was tossed and in no other: there it is fair given F_n. In later asks of the block
it is part of F_n, and the values of the variable are values like any other. So its evidence is that
of one round per block; to count the sum of a block's residuals the sets of the block would have to
be fixed when it begins.

**What must not be.** A round must not be withdrawn, or lost, because of its coin or its outcome.
Nor may an outcome be told as that of another ask because of what it is: where several asks for one
action are open, those who tell by the action alone must do so in the order of asking.

**Memory.** About six arrays of p^3 numbers; where few of few variables are set at once, two of p^4
(`keeps_grams`). A state is frozen: rounds are kept as they are until
there are `max(p, 16)` of them, and then another state holds their sums; with many variables they
are kept so until their epoch is over, because they need less room than their sums. So nothing of
that size is copied per round, copies of a state are free, and the sums do not depend on when they
were read.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from causalfocus.arrays import Bools, Floats
from causalfocus.errors import InvalidInputError
from causalfocus.kernels.randomized.records import Bets, Bids, Epoch, Pool, Stakes, Sums
from causalfocus.kernels.randomized.rounds import add_rounds, close_epoch, no_epoch, no_sums
from causalfocus.kernels.randomized.stakes import no_stakes
from causalfocus.moments.reading import Reading
from causalfocus.moments.second_coins import require_second_coins
from causalfocus.moments.stakes_ahead import LEAST_EPOCH, lay_stakes
from causalfocus.system.action_set import LARGEST_VALUE
from causalfocus.system.coins import coins_of

FIRST_ROUNDS: Final = 8
"""Rounds from which the first centres are taken; they count for nothing else."""

MOST_ADDED_UP: Final = 40
"""Variables, at most, with which rounds of the present epoch are added up before it is over."""


FEW: Final = 8
"""Variables up to which each test keeps grams of its own."""

FEW_AT_ONCE: Final = 3
MOST_WITH_GRAMS: Final = 24
"""Where at most so many are set in a round, it does with up to so many variables: p^4 numbers, five
megabytes then."""


class Intent(NamedTuple):
    """What was asked for in a round.

    number : of the ask
    asked : (p,), which variables were to be set
    signs : (p,), their coins: 1 for the high end, -1 for the low one, 0 for none of this round, and
        where the middle is to be set
    probes : (p,), their second coins: 1 for an end, -1 for the middle, 0 for none; None for none
        of all variables
    """

    number: int
    asked: Bools
    signs: Floats
    probes: Floats | None = None


class Pending(NamedTuple):
    """An ask in its turn; `row` is what came of it, (p,), None as long as nothing did.

    epoch : the number of the epoch in which it was asked for
    """

    intent: Intent
    epoch: int
    row: Floats | None = None
    is_withdrawn: bool = False

    @property
    def is_complete(self) -> bool:
        return self.is_withdrawn or self.row is not None


Change = Callable[[Pending], Pending]


@dataclass(frozen=True, kw_only=True)
class RandomizedSums:
    """The sums after some asks and answers. Never written to.

    Attributes
    ----------
    unknown : (p, p), which coefficients are unknown, row and cause; the others are zero
    large : (p, p), sizes from which on a coefficient has a large share in the tests of its row
        (`kernels.randomized.box`); infinite for equal shares
    bids : of the directions, (p, p) each
    asked, asked_totals : (p, p), the direct effects that are asked for, and the total effects
    n : rounds with a coin that are complete
    issued : number of the last ask
    stakes : by epoch, those that are needed still; the last are those of the next ask
    until : rounds at which there will be others
    sums, epoch, epoch_number : of earlier epochs, and of the one whose rounds are being added up,
        None as long as none is
    tail : rounds that are complete and not yet added up
    pending : asks whose turn has not come, in the order of asking
    """

    unknown: Bools
    large: Floats
    bids: Bids
    asked: Bools
    asked_totals: Bools
    n: int
    issued: int
    stakes: dict[int, Stakes]
    until: int
    sums: Sums
    epoch: Epoch | None
    epoch_number: int
    tail: tuple[tuple[Intent, Floats], ...] = ()
    pending: tuple[Pending, ...] = ()

    @classmethod
    def empty(
        cls,
        unknown: ArrayLike,
        large: ArrayLike = np.inf,
        *,
        bids: Bids | None = None,
        asked: Bools | None = None,
        asked_totals: Bools | None = None,
        at_once: int | None = None,
    ) -> "RandomizedSums":
        """Before the first ask.

        unknown : (p, p), which coefficients are unknown; the diagonal must not be. Leave out the
            columns of outcomes, which drive nothing, and effects that are known not to exist
        large : (p, p) or one for all, positive: sizes of coefficients that matter
        bids : of the directions; None for none
        asked, asked_totals : (p, p), the direct effects that are asked for, None for all, and the
            total effects, None for none
        at_once : how many variables will be set in a round, at most; None for any number. Where
            these are few of many, more is remembered (`keeps_grams`)
        """
        mask = np.array(unknown, dtype=np.bool_)
        if mask.ndim != 2 or mask.shape[0] != mask.shape[1] or mask.diagonal().any():
            raise InvalidInputError(
                f"unknown is a square table of True and False with False on its diagonal; got "
                f"shape {mask.shape}. Give everything but the diagonal if nothing is known."
            )
        p = len(mask)
        sizes = np.broadcast_to(np.asarray(large, dtype=np.float64), (p, p)).copy()
        if not (sizes > 0.0).all():
            raise InvalidInputError(
                f"large holds positive sizes of coefficients; got {sizes.tolist()}. Leave it out "
                f"if none matters more than others."
            )
        return cls(
            unknown=mask,
            large=sizes,
            bids=Bids(np.zeros((p, p)), np.zeros((p, p))) if bids is None else bids,
            asked=mask if asked is None else asked,
            asked_totals=np.zeros_like(mask) if asked_totals is None else asked_totals,
            n=0,
            issued=0,
            stakes={0: no_stakes(p)},
            until=FIRST_ROUNDS,
            sums=no_sums(p, keeps_grams(p, at_once)),
            epoch=None,
            epoch_number=0,
        )

    @property
    def p(self) -> int:
        return len(self.unknown)

    @property
    def is_begun(self) -> Bools:
        """(p,), which rows are tested."""
        return self.stakes[self.epoch_number].is_begun

    @property
    def coverage(self) -> Floats:
        """(p, p), rounds that count for the row of the first variable in which the coin of the
        second was tossed; of an epoch that is not closed yet as well.
        """
        found: Floats = self.read().sums.pool.counts
        return found

    def issue(
        self,
        number: int,
        asked: ArrayLike,
        signs: ArrayLike,
        probes: ArrayLike | None = None,
        ruled_out: Bools | None = None,
    ) -> "RandomizedSums":
        """With one more ask; its tests are fixed now.

        number : of the ask, above those of all before it
        asked : (p,), which variables are to be set
        signs : (p,), see `signs_of`
        probes : (p,), see `probes_of`; None for no second coins
        ruled_out : (p, p), coefficients that rounds before this ask have shown to be zero; None for
            none. New tests need not tell the others from them
        """
        second = None if probes is None else np.array(probes, np.float64)
        intent = Intent(number, np.array(asked, np.bool_), np.array(signs, np.float64), second)
        self._require(intent)
        state = lay_stakes(self, ruled_out) if self.n >= self.until else self
        waiting = Pending(intent, max(state.stakes))
        return replace(state, issued=number, pending=(*state.pending, waiting))

    def _require(self, intent: Intent) -> None:
        if intent.number <= self.issued:
            raise InvalidInputError(
                f"Asks come with rising numbers; got {intent.number} after {self.issued}."
            )
        shape = (self.p,)
        if intent.asked.shape != shape or intent.signs.shape != shape:
            raise InvalidInputError(
                f"asked and signs have one entry for each of {self.p} variables; got shapes "
                f"{intent.asked.shape} and {intent.signs.shape}."
            )
        if not np.isin(intent.signs, (-1.0, 0.0, 1.0)).all() or intent.signs[~intent.asked].any():
            raise InvalidInputError(
                f"A coin is 1 or -1, and 0 where there is none or the variable is not asked to be "
                f"set; got {intent.signs.tolist()} with asked {intent.asked.tolist()}."
            )
        if intent.probes is not None:
            require_second_coins(asked=intent.asked, signs=intent.signs, probes=intent.probes)

    def answer(self, number: int, row: ArrayLike, until: int | None = None) -> "RandomizedSums":
        """With the values that came of a pending ask, (p,), those that were achieved.

        until : as for `catch_up`
        """
        values = np.array(row, dtype=np.float64)
        if values.shape != (self.p,) or not (np.abs(values) <= LARGEST_VALUE).all():
            raise InvalidInputError(
                f"An answer is {self.p} finite numbers; got {values.tolist()}. Withdraw the ask "
                f"if something could not be measured."
            )
        return self._settle(number, lambda one: one._replace(row=values)).catch_up(until)

    def is_open(self, number: int) -> bool:
        """Whether an ask is neither answered nor withdrawn."""
        return any(one.intent.number == number and not one.is_complete for one in self.pending)

    def withdraw(self, number: int, until: int | None = None) -> "RandomizedSums":
        """Without a pending ask. The reason must be neither its coin nor its outcome.

        until : as for `catch_up`
        """
        return self._settle(number, lambda one: one._replace(is_withdrawn=True)).catch_up(until)

    def catch_up(self, until: int | None = None) -> "RandomizedSums":
        """With all rounds whose turn has come among those that count, up to so many in all."""
        return advance(self, until)

    def _settle(self, number: int, change: Change) -> "RandomizedSums":
        at = next((a for a, one in enumerate(self.pending) if one.intent.number == number), None)
        if at is None or self.pending[at].is_complete:
            open_asks = [one.intent.number for one in self.pending if not one.is_complete]
            raise InvalidInputError(
                f"Ask {number} is not open; open are {open_asks or 'none'}. Only what was issued "
                f"can be answered or withdrawn, and only once."
            )
        pending = list(self.pending)
        pending[at] = change(pending[at])
        return replace(self, pending=tuple(pending))

    def read(self) -> Reading:
        """The sums of all rounds that are complete in the order of asking."""
        stakes = self.stakes[self.epoch_number]
        return Reading(close(self, stakes), stakes)


def keeps_grams(p: int, at_once: int | None) -> bool:
    """Return whether each test keeps grams of its own (`kernels.randomized.records`): where there
    is room for them, and where there would be no bounds for long without.

    at_once : how many variables are set in a round, at most; None for any number
    """
    return p <= FEW or (at_once is not None and at_once <= FEW_AT_ONCE and p <= MOST_WITH_GRAMS)


def advance(state: RandomizedSums, until: int | None) -> RandomizedSums:
    """Return a state with all rounds whose turn has come among those that count, up to so many."""
    done = 0
    for one in state.pending:
        if not one.is_complete or (until is not None and state.n >= until):
            break
        done += 1
        if one.row is not None and one.intent.signs.any():
            state = turn_to(state, one.epoch)
            state = replace(state, n=state.n + 1, tail=(*state.tail, (one.intent, one.row)))
            is_long = len(state.tail) >= max(state.p, LEAST_EPOCH)
            if state.epoch_number > 0 and is_long and state.p <= MOST_ADDED_UP:
                state = fold(state)
    return replace(state, pending=state.pending[done:]) if done else state


def turn_to(state: RandomizedSums, epoch: int) -> RandomizedSums:
    """Return a state that is ready for rounds of an epoch: earlier ones are closed."""
    while state.epoch_number < epoch:
        following = state.epoch_number + 1
        state = replace(
            state,
            sums=close(state, state.stakes[following]),
            epoch=None,
            epoch_number=following,
            stakes={number: one for number, one in state.stakes.items() if number >= following},
            tail=(),
        )
    return state


def fold(state: RandomizedSums) -> RandomizedSums:
    """Return a state with its tail added up."""
    return replace(state, epoch=epoch_with_tail(state), tail=())


def epoch_with_tail(state: RandomizedSums) -> Epoch:
    """Return the sums of the epoch whose turn it is. Of the first there are none, for it has no
    centre.
    """
    old = state.epoch
    if old is None:
        epoch = no_epoch(state.p, state.sums.coins.has_grams)
    else:
        epoch = Epoch(Bets(*_copies(old.coins)), Pool(*_copies(old.pool)))
    if state.tail and state.epoch_number > 0:
        asked = np.array([intent.asked for intent, _ in state.tail])
        signs = np.array([intent.signs for intent, _ in state.tail])
        rows = np.array([row for _, row in state.tail])
        add_rounds(epoch, state.stakes[state.epoch_number], asked, signs, rows)
    return epoch


def close(state: RandomizedSums, following: Stakes) -> Sums:
    """Return the sums of all that is complete, about the references of other stakes."""
    old = state.sums
    sums = Sums(Bets(*_copies(old.coins)), Bets(*_copies(old.directions)), Pool(*_copies(old.pool)))
    close_epoch(sums, epoch_with_tail(state), state.stakes[state.epoch_number], following)
    return sums


def _copies(arrays: Iterable[Floats]) -> list[Floats]:
    return [array.copy() for array in arrays]


def signs_of(
    seed: int, number: int, coins: Iterable[tuple[str, int]], names: tuple[str, ...]
) -> Floats:
    """(p,), the coins of an ask that were tossed for it: 1 for the high end, -1 for the low one.

    Those that were tossed for an earlier ask, in blocks of slow variables, are left out: 0.

    Parameters
    ----------
    seed : of the learner
    number : of the ask
    coins : by name, the number of the ask for which each coin was tossed, as in `Ask.coins`
    names : of all variables, in order
    """
    tossed = np.where(coins_of(seed, number, len(names)), 1.0, -1.0)
    own = {name for name, coin in coins if coin == number}
    return np.where([name in own for name in names], tossed, 0.0)
