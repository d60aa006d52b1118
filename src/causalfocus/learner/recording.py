"""What every learner does alike: ask, and take in a sample whole or not at all."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np

from causalfocus.allocation.latitude import Latitude
from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError
from causalfocus.learner.asking import Ask, GivenUp, Tosses, steps_of
from causalfocus.learner.blocks import Blocking, Blocks
from causalfocus.learner.protocol import Sample, Told, checked_failures
from causalfocus.learner.seed import checked_seed
from causalfocus.learner.state import Asks, LearnerState
from causalfocus.learner.tallies import cost_of, tally
from causalfocus.learner.telling import Telling
from causalfocus.moments.coin_record import CoinRecord
from causalfocus.moments.moments import Moments
from causalfocus.moments.state import State as MomentState
from causalfocus.system.actions import Action
from causalfocus.system.choices import Choices

S = TypeVar("S", bound=LearnerState)


class Recording(Telling, ABC, Generic[S]):
    """A learner's log, and its state after it.

    Parameters
    ----------
    choices : what can be chosen, from which actions
    seed : of all that it draws; drawn itself if there is none
    """

    _state: S
    _keeps_moments = True

    def __init__(self, choices: Choices, seed: int | None) -> None:
        self.actions, self._choices = choices.actions, choices
        self.seed = checked_seed(seed)
        self._kept_rules = Blocking(choices)
        self._log: MutableSequence[Told] = []

    def _blank_state(self) -> LearnerState:
        """What every learner starts with."""
        keeps, p = self._keeps_moments, len(self.names)
        return LearnerState(
            rounds=0,
            moments=MomentState.empty(p) if keeps else MomentState.bare(),
            counts=np.zeros(len(self._choices)),
            tallies={},
            losses={},
            asks=Asks(blocks=self._kept_rules.start()),
        )

    @property
    def names(self) -> tuple[str, ...]:
        return self.actions.names

    @property
    def choices(self) -> Choices:
        """What the next action is chosen from."""
        return self._choices

    @property
    def _block_rules(self) -> Blocking:
        """What blocks mean for the present choices; made anew when there are more."""
        if self._kept_rules.choices is not self.choices:
            self._kept_rules = Blocking(self.choices)
        return self._kept_rules

    @property
    def log(self) -> Sequence[Told]:
        """All that was told, in order."""
        return tuple(self._log[: self.rounds])

    @property
    def state(self) -> S:
        """All that asking and telling have changed; frozen."""
        return self._state

    @property
    def rounds(self) -> int:
        return self._state.rounds

    @property
    def moments(self) -> Moments:
        """Of all samples so far. A copy: what is added to it changes nothing here."""
        return Moments.from_state(self.names, self._state.moments, self._state.coins)

    @property
    def counts(self) -> dict[Action, int]:
        """How often each action of the set was taken; those that never were are left out where
        several variables may be set at once.
        """
        return tally(self.actions, self._state.tallies)

    @property
    def cost(self) -> float:
        """What the rounds so far have cost, and the changes between them in the order of telling. A
        value other than the ends of its range costs what these cost on average; a change to it, or
        from it, is passed over.
        """
        return cost_of(self.actions, self._state.tallies) + self._state.other_cost

    @property
    def pending(self) -> tuple[Ask, ...]:
        """Asks that were neither answered nor withdrawn, in the order of asking."""
        return self._state.asks.pending

    def ask(self) -> Action:
        """The action to perform next; the same until something is told."""
        return self.ask_batch(1)[0]

    def ask_batch(self, n: int, pending: Sequence[Action] = ()) -> list[Action]:
        """The next n actions, if nothing were learned in between.

        Each is an ask with a number, pending until it is told or withdrawn. Without `pending`, what
        was asked since the last sample comes first: asking again changes nothing. Where changes
        cost something, they are in the order in which to perform them: see `blocks`.

        Parameters
        ----------
        n : how many
        pending : actions that are being performed elsewhere; they count as done
        """
        if n < 1:
            raise InvalidInputError(f"A batch has at least one action, got n = {n}.")
        state = self._state
        known = [] if pending or not state.asks.pending else state.asks.since(state.rounds)[:n]
        if len(known) == n:
            self._require_asking()
            return known
        more = self.next_asks(n - len(known), (*pending, *known))
        if self._state.moments is not state.moments:  # told meanwhile: all is chosen again
            return self.ask_batch(n, pending)
        asks = self._state.asks.issue(more, self._blocks_after(more))
        self._state = self._state.change(asks=asks, coins=self._coins_of(asks, more))
        return known + [ask.action for ask in more]

    def choose(self, n: int, pending: Sequence[Action] = ()) -> list[Action]:
        """What the next n asks would ask for. Nothing is asked by this.

        pending : actions that are being performed; they count as done
        """
        return [ask.action for ask in self.next_asks(n, pending)]

    def next_asks(self, n: int, pending: Sequence[Action] = ()) -> list[Ask]:
        """The next n asks, with their numbers and coins. Nothing is asked by this.

        pending : actions that are being performed; they count as done
        """
        self._require_asking(len(pending) + n)
        counts, t = self._state.counts.copy(), self._state.rounds + len(pending)
        for action in pending:
            at = self.choices.index(action)
            if at is not None:
                counts[at] += 1
        number, blocks = self._state.asks.issued + 1, self._state.asks.blocks
        chosen = self._choose_in_blocks(n, counts, t)
        asks, shared, choices = [], dict[str, int](), self.choices
        for i, at in enumerate(
            self._block_rules.order(blocks, chosen, number) if blocks else chosen
        ):
            if blocks:
                settings = self._block_rules.settings[at]
                shared = self._block_rules.coins(blocks, settings, number + i)
                blocks = self._block_rules.after(blocks, settings, number + i, shared)
            action = choices.draw(at, self.seed, number + i, shared)
            coins = tuple((name, shared.get(name, number + i)) for name in choices.coin_names(at))
            with_second = choices.with_second(at, self.seed, number + i)
            asks.append(Ask(number + i, action, self._state.rounds, coins, with_second))
        return asks

    def _choose_in_blocks(self, n: int, counts: Floats, t: int) -> list[int]:
        """The next n choices, such that every block of a slow variable lasts long enough."""
        number, blocks = self._state.asks.issued + 1, self._state.asks.blocks
        chosen: list[int] = []
        for i in range(n):
            if not blocks:
                at = self.next_index(counts, t + i)
            else:
                at = self.next_index(counts, t + i, self._block_rules.latitude(blocks))
                settings = self._block_rules.settings[at]
                blocks = self._block_rules.after(blocks, settings, number + i, {})
            counts[at] += 1
            chosen.append(at)
        return chosen

    def _blocks_after(self, asks: Iterable[Ask]) -> Blocks:
        """The blocks after some more asks; those with known numbers change nothing."""
        blocks, issued = self._state.asks.blocks, self._state.asks.issued
        for ask in asks:
            if blocks and ask.number > issued:
                settings = self._block_rules.settings_of(ask.action)
                blocks = self._block_rules.after(blocks, settings, ask.number, dict(ask.coins))
        return blocks

    def put_ask(
        self, number: int, action: Action, coins: Tosses = (), with_second: tuple[str, ...] = ()
    ) -> None:
        """Take over an ask that was issued elsewhere, under its number and with its coins.

        Put in the order of their numbers, asks lead to the same blocks again.
        """
        self._put(Ask(number, action, self.rounds, coins, with_second))

    def _put(self, ask: Ask) -> None:
        asks = self._state.asks.put(ask, self._blocks_after([ask]))
        self._state = self._state.change(asks=asks, coins=self._coins_of(asks, [ask]))

    def withdraw(self, number: int) -> None:
        """Give up a pending ask: it will not be performed. Blocks and their coins stay as they are:
        they go by what was asked for.
        """
        asks = self._state.asks.give_up(number, self.rounds)
        self._state = self._state.change(asks=asks, coins=self._coins_of(asks))

    def _coins_of(self, asks: Asks, more: Sequence[Ask] = ()) -> CoinRecord | None:
        """What a rule by coins remembers once some more was asked for.

        asks : as they are then; those that are no longer among them were given up
        """
        del asks, more
        return self._state.coins

    def _coins_after(self, told: Told) -> CoinRecord | None:
        """What a rule by coins remembers after a line of the log."""
        del told
        return self._state.coins

    def _require_asking(self, ahead: int = 1) -> None:
        """Raise if there is nothing more to ask; ahead: rounds under way and asked for."""

    @abstractmethod
    def next_index(self, counts: Floats, t: int, latitude: Latitude | None = None) -> int:
        """Index of the next choice, after t rounds with these counts.

        latitude : which choices may be taken; None for all
        """

    def tell(
        self, action: Action, sample: Sample, *, failed: Iterable[str] = (), ask: int | None = None
    ) -> None:
        """Take in one sample, asked for or not.

        It answers the first pending ask for its action, if there is one, so what was asked for more
        than once is to be told in the order of asking; or the ask that is named. The value of a
        node that was set is what the setting achieved; left out of a mapping, what was asked for.
        One that is further away than is tolerated stays in the log, and the round counts for no
        evidence: to decide by the value whether the setting worked would be to select on it.

        Parameters
        ----------
        action : what was asked of the system
        sample : what came of it: a mapping from name to value, a pandas Series by its labels, or p
            numbers in order; None or nan for what could not be measured: the round then stays in
            the log and counts for no evidence
        failed : nodes of the action of which the rig, or you, know without looking at the values
            that they were not set: they count as free, and their values must be given
        ask : number of the pending ask that it answers
        """
        given, asks = checked_failures(action, failed), self._state.asks
        row = self.moments.as_row(action, sample, allow_missing=True, failed=given)
        asked = asks.find(action, ask) if asks.pending or ask is not None else None
        number = None if asked is None else asked.number
        told = Told(action, _freeze(row), number, given, asked=asked)
        self._take(told if told.is_complete else replace(told, mark="lost"))

    def take(self, told: Told) -> None:
        """Take in a line of a log, which says itself which ask it answers."""
        row = self.moments.as_row(told.action, told.sample, allow_missing=True)
        asked = told.asked
        if asked is None and told.ask is not None:
            asked = self._state.asks.get(told.ask)
        self._take(replace(told, sample=_freeze(row), asked=asked))

    def take_again(
        self, lines: Sequence[Told], pending: Sequence[Ask] = (), given_up: Sequence[GivenUp] = ()
    ) -> Iterator[Told]:
        """Take in a log from the start, line by line, each after what had been asked for and given
        up before it.

        pending, given_up : asks that no line answers
        """
        due = steps_of(lines, pending, given_up)
        for told in lines:
            while due and due[0].rounds <= self.rounds:
                self._repeat(due.popleft())
            self.take(told)
            yield told
        while due:
            self._repeat(due.popleft())

    def _repeat(self, step: Ask | GivenUp) -> None:
        if isinstance(step, Ask):
            self._put(step)
        else:
            self.withdraw(step.ask.number)

    def _take(self, told: Told) -> None:
        asks, state = self._state.asks, self.after(told)
        if len(self._log) >= state.rounds:
            del self._log[state.rounds - 1 :]  # of a round that was interrupted
        self._log.append(told)
        if self._state.asks is not asks:  # somebody asked while this was being learned
            coins = self._coins_after(told)
            state = state.change(asks=self._state.asks.settle(told.ask), coins=coins)
        self._state = state  # until here nothing has happened, and from here on everything has

    @abstractmethod
    def after(self, told: Told) -> S:
        """The state after one more line of the log; nothing here changes."""

    def _write_down(self, told: Told) -> S:
        """The present state with a sample written down and nothing learned from it."""
        moments, counts, tallies = self.moments, self._state.counts, self._state.tallies
        is_evidence = self.is_evidence(told)
        if is_evidence and self._keeps_moments:
            moments.add_row(told.effective_action, told.sample)
        elif is_evidence:
            moments.count_row()
        at, losses = self.choices.index(told.action), self._state.losses
        if at is not None and not told.withdrawn:
            counts = counts.copy()
            counts[at] += 1
        is_listed = at is not None or told.action in self.actions  # if in no column
        if is_listed and not told.withdrawn:
            tallies = {**tallies, told.action: tallies.get(told.action, 0) + 1}
            if told.mark == "lost":
                losses = {**losses, told.action: losses.get(told.action, 0) + 1}
        return self._state.change(
            rounds=self.rounds + 1,
            moments=moments.state,
            counts=counts,
            tallies=tallies,
            losses=losses,
            asks=self._asks_after(told),
            coins=self._coins_after(told),
            **({} if told.withdrawn else self._other_cost_of(told.action, is_listed=is_listed)),
        )

    def _asks_after(self, told: Told) -> Asks:
        """The asks without the one that was answered; if nobody had heard of it, the blocks go on
        with it.
        """
        asks = self._state.asks
        if asks.blocks and told.ask is not None and told.ask > asks.issued:
            ask = Ask(told.ask, told.action, self.rounds)
            asks = asks.put(ask, self._blocks_after([ask]))
        return asks.settle(told.ask)

    def _other_cost_of(self, action: Action, *, is_listed: bool) -> dict[str, Any]:
        """What becomes of the costs that are not tallied when an action is told."""
        if is_listed and not self.actions.change_costs:
            return {}
        last, spent = self._state.last, self._state.other_cost
        if not is_listed:
            return {"other_cost": spent + self.actions.cost_of(action)}
        more = 0.0 if last is None else self.actions.change_cost(last, action)
        return {"last": action, "other_cost": spent + more}

    def is_evidence(self, told: Told) -> bool:
        """Whether a line of the log counts for anything but itself: not if it was withdrawn, if a
        value is missing, or if a node that was set achieved something further from what was asked
        than is tolerated, and nobody said that the setting had failed.

        The last two leave a round out for its outcome. That is harmless where a miss is the
        actuator's own error, and where values go missing without regard to what they would have
        been; else the rounds that are left are a selection, and the guarantee is lost. A loss that
        depends on the action can be seen, and is an alarm (`guarantees.losses`).
        """
        if told.mark or not told.is_complete:
            return False
        return not self.actions.misses(told.effective_action, told.sample)

    def adopt_asks(self, asks: Asks) -> None:
        """Go on with the asks of a learner that may have had other slow variables: blocks of those
        that are still slow go on.
        """
        known = {block.name: block for block in asks.blocks}
        blocks = tuple(known.get(block.name, block) for block in self._block_rules.start())
        self._state = self._state.change(asks=replace(asks, blocks=blocks))

    def adopt(self, state: S) -> None:
        """Go on from another state after the same log."""
        self._state = state

    def restore(self, state: S, log: MutableSequence[Told]) -> None:
        """Go on from a state of a learner of the same specification, and the log that led to it."""
        self._log, self._state = log, state


def _freeze(row: Floats) -> Floats:
    row.setflags(write=False)
    return row
