"""Blocks: how long a slow variable keeps its setting, and in which order a batch is done.

A variable whose change costs something is slow. A block is a run of asks with one setting of it:
free, or set to one end. Every block lasts at least L asks, where L is the number of rounds that,
at the price of the cheapest, cost as much as one change. So two changes of a variable are at least
L asks apart, and what its changes cost is at most what the rounds cost, and one change more: with
one slow variable changes at most double the cost, with several at once each adds as much again.

When a setting may change, what the plan asks for with the present ones still comes first.

The end that a slow variable is set to is tossed once per block, and again after L asks. Order and
sets of a batch are fixed before its coins are tossed, from the choices alone: sorted by what the
coins say, anything that drifts within a batch would look like an effect of the coin.

Where one variable is set at a time, all asks of a block in which it is set are the same choice.
Where several may be, what else is set there can depend on what was told meanwhile, and by that on
the coin. The evidence of the present rules holds however actions were chosen; evidence that bets on
coins would have to fix these sets when the block begins.

Blocks go by asks, whether or not they are performed. An ask that is withdrawn stays a part of its
block, counts as one of its L and leaves its coin as it is: nobody gets another coin by withdrawing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from causalfocus.allocation.latitude import Latitude
from causalfocus.allocation.path import cheapest_path
from causalfocus.arrays import Bools
from causalfocus.system.actions import Action
from causalfocus.system.choices import Choices

Setting = tuple[bool, float | None]
"""Whether a variable is set, and to what if it is the design that says so."""

FREE: Final[Setting] = (False, None)
BY_COIN: Final[Setting] = (True, None)


@dataclass(frozen=True)
class Block:
    """The present block of a slow variable.

    Attributes
    ----------
    name : of the variable
    setting : that all asks of the block share
    coin : number of the ask for which its coin was tossed; None where there is none
    lasted : how many asks it has so far
    """

    name: str
    setting: Setting
    coin: int | None
    lasted: int

    def after(self, setting: Setting, coin: int | None) -> "Block":
        """With one ask more, or the block that begins with it."""
        is_same = (setting, coin) == (self.setting, self.coin)
        return Block(self.name, setting, coin, self.lasted + 1 if is_same else 1)


Blocks = tuple[Block, ...]
"""One for every slow variable, in their order."""

Settings = tuple[Setting, ...]
"""Of every slow variable, in their order."""


@dataclass(frozen=True)
class Blocking:
    """What blocks mean for the choices of a design.

    Attributes
    ----------
    choices : that it may choose from
    """

    choices: Choices

    @cached_property
    def stays(self) -> dict[str, int]:
        """By slow variable, how many asks a block has at least."""
        return self.choices.actions.least_stays

    def start(self) -> Blocks:
        """Before the first ask every slow variable counts as free for long enough."""
        return tuple(Block(name, FREE, None, stay) for name, stay in self.stays.items())

    @cached_property
    def settings(self) -> tuple[Settings, ...]:
        """By choice, the settings of the slow variables."""
        if self.choices.ends == "game":
            return tuple(map(self.settings_of, self.choices.actions))
        return tuple(
            tuple(BY_COIN if name in targets else FREE for name in self.stays)
            for targets in self.choices.targets
        )

    def settings_of(self, action: Action) -> Settings:
        """The settings of the slow variables under an action."""
        values = dict(action.settings)
        by_coin = self.choices.ends == "coin"
        return tuple(
            FREE if name not in values else BY_COIN if by_coin else (True, values[name])
            for name in self.stays
        )

    @cached_property
    def _masks(self) -> tuple[dict[Setting, Bools], ...]:
        """For every slow variable and setting of it, (k,), which choices have it."""
        return tuple(
            {one: np.array([other == one for other in column]) for one in set(column)}
            for column in zip(*self.settings, strict=True)
        )

    def open_choices(self, blocks: Blocks) -> Bools | None:
        """(k,), the choices that break off no block before its time; None if there are no blocks.

        If an ask from elsewhere left settings that no choice has, all are allowed.
        """
        if not blocks:
            return None
        found = np.ones(len(self.choices), dtype=np.bool_)
        for block, masks in zip(blocks, self._masks, strict=True):
            if self._is_on(block):
                found = found & masks.get(block.setting, False)
        return found if found.any() else np.ones_like(found)

    def latitude(self, blocks: Blocks) -> Latitude | None:
        """What may be chosen next; None for anything, if there are no blocks."""
        allowed = self.open_choices(blocks)
        if allowed is None:
            return None
        present = np.ones_like(allowed)
        for block, masks in zip(blocks, self._masks, strict=True):
            present = present & masks.get(block.setting, False)
        return Latitude(allowed, present)

    def _is_on(self, block: Block) -> bool:
        """Whether it has not lasted long enough."""
        return block.lasted < self.stays[block.name]

    def coins(self, blocks: Blocks, settings: Settings, number: int) -> dict[str, int]:
        """By slow variable whose end a coin picks, the number of its coin in the next ask: that of
        its block until it has lasted long enough, then the number of the ask.
        """
        found = {}
        for block, setting in zip(blocks, settings, strict=True):
            if setting == BY_COIN and self.choices.has_coin(block.name):
                old = block.coin if self._is_on(block) else None
                found[block.name] = number if old is None else old
        return found

    def after(
        self, blocks: Blocks, settings: Settings, number: int, given: Mapping[str, int]
    ) -> Blocks:
        """The blocks after one more ask.

        given : by name, numbers of coins as they are known; the others follow from the blocks
        """
        coins = {**self.coins(blocks, settings, number), **given}
        return tuple(
            block.after(setting, coins.get(block.name) if setting == BY_COIN else None)
            for block, setting in zip(blocks, settings, strict=True)
        )

    def order(self, blocks: Blocks, chosen: Sequence[int], number: int) -> list[int]:
        """Choices of a batch in the order in which they are best done.

        Those with the same slow settings stand together as they were chosen, beginning with the
        present ones, and the groups follow in the order of the cheapest path; if that breaks off a
        block before its time, of the cheapest path that ends as the choices do; if that does too,
        they stay as they were chosen.

        number : of the first ask of the batch
        """
        if not blocks or len(chosen) < 2:
            return list(chosen)
        groups: dict[Settings, list[int]] = {}
        for choice in chosen:
            groups.setdefault(self.settings[choice], []).append(choice)
        present = tuple(block.setting for block in blocks)
        first = groups.pop(present, [])
        end = self.settings[chosen[-1]]
        for last in (None, end if end in groups else None):
            found = [*first, *self._cheapest(present, groups, last)]
            if self._keeps_blocks(blocks, found, number):
                return found
        return list(chosen)

    def _cheapest(
        self, present: Settings, groups: Mapping[Settings, list[int]], end: Settings | None
    ) -> Iterable[int]:
        """The choices of all groups along the cheapest path."""
        places = list(groups)
        start = np.array([self._distance(present, place) for place in places])
        between = np.array([[self._distance(a, b) for b in places] for a in places])
        path = cheapest_path(start, between, None if end is None else places.index(end))
        return (choice for i in path for choice in groups[places[i]])

    def _distance(self, before: Settings, after: Settings) -> float:
        """What it costs to go from slow settings to others, but for ends that coins pick."""
        costs = (cost for _, cost in self.choices.actions.change_costs)
        pairs = zip(before, after, costs, strict=True)
        return float(sum(cost for one, other, cost in pairs if one != other))

    def _keeps_blocks(self, blocks: Blocks, order: Iterable[int], number: int) -> bool:
        """Whether asks in this order break off no block before its time."""
        for i, choice in enumerate(order):
            allowed = self.open_choices(blocks)
            if allowed is not None and not allowed[choice]:
                return False
            blocks = self.after(blocks, self.settings[choice], number + i, {})
        return True
