"""What a design chooses between: which variables to set, and by what law their ends are picked.

With the coin a choice is a set of variables: each of them goes to an end of its range by a fair
coin of its own. With fixed ends every action is a choice by itself. Where there are too many sets
to list, the choices are some of them, the columns, and there may be other choices with more.

Where choices are probed, a second coin now and then (`coins.is_probe`) picks the middle of a range
or an end. Slow nodes are left out, whose coins last for a block; so are switches, ranges of one
value, and all nodes where there are more than `MOST_PROBED`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Final, Literal

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.errors import InvalidInputError
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import OBSERVE, Action, actions_as_arrays, do
from causalfocus.system.coins import CHANCE_OF_MIDDLE, Coins, is_middle, is_probe
from causalfocus.system.columns import (
    Columns,
    every_column,
    first_columns,
    n_sets,
    rows_of,
    settable,
)

Ends = Literal["coin", "game"]
"""Who picks the end of a range: a fair coin, or the game that chooses the actions."""

ENDS: Final = ("coin", "game")

MOST_CHOICES: Final = 4096
"""Sets of variables that are listed and compared one by one: all of twelve variables. Where there
are more, columns are made on demand."""


MOST_SPREAD: Final = 1024
"""Actions over which the share of one set of variables is spread."""

MOST_PROBED: Final = 40
"""Variables, at most, with which middles are asked for: with more of them, what the rounds leave
open of the other effects hides any curve (`guarantees.curvature`)."""

DIGITS: Final = 12
"""Of the middle of a range, so that it reads well."""


@dataclass(frozen=True)
class Choices:
    """All that a design can choose.

    Attributes
    ----------
    actions : the set that it chooses from
    ends : who picks the ends
    columns : the sets of variables that are compared, OBSERVE first; empty where all are listed. If
        none are given and there are too many to list, the first ones
    is_probed : whether second coins are tossed, see above
    """

    actions: ActionSet
    ends: Ends
    columns: Columns = ()
    is_probed: bool = False

    def __post_init__(self) -> None:
        if self.ends not in ENDS:
            raise InvalidInputError(f"ends must be 'coin' or 'game', got {self.ends!r}.")
        if self.ends == "game":
            self._require_few()
        elif self.columns:
            self._require_sets()
        elif n_sets(self.actions) > MOST_CHOICES:
            object.__setattr__(self, "columns", first_columns(self.actions))

    def _require_few(self) -> None:
        """Fixed ends are chosen from a list."""
        if self.columns:
            raise InvalidInputError(
                f"With ends='game' every action is a choice by itself; got {len(self.columns)} "
                f"sets of variables. Leave columns out, or give ends='coin'."
            )
        n_nodes, most = len(settable(self.actions)), self.actions.at_once
        n = sum(math.comb(n_nodes, m) * 2.0**m for m in range(most + 1))
        if n > MOST_CHOICES:
            raise InvalidInputError(
                f"There are {n:,.0f} ways to set up to {most} of {n_nodes} variables at once; at "
                f"most {MOST_CHOICES:,} are compared. Allow fewer at once, for example at_once=2, "
                f"or let a coin pick the ends, ends='coin'."
            )

    def _require_sets(self) -> None:
        nodes, most = set(settable(self.actions)), self.actions.at_once
        if self.columns[0] or len({frozenset(column) for column in self.columns}) < len(self):
            raise InvalidInputError(
                "The first column sets nothing, and no two set the same variables; got "
                f"{self.columns[:3]}... Take those of another Choices, or first_columns(actions)."
            )
        for column in self.columns:
            if len(set(column)) < len(column) or len(column) > most or not nodes.issuperset(column):
                raise InvalidInputError(
                    f"The column {column} is not a set of up to {most} of the variables "
                    f"{', '.join(sorted(nodes))}."
                )

    @property
    def is_whole(self) -> bool:
        """Whether everything that can be chosen is listed."""
        return not self.columns

    @cached_property
    def targets(self) -> Columns:
        """(k,), which nodes each of them sets, in the order of the actions."""
        if self.ends == "game":
            return tuple(action.targets for action in self.actions)
        return self.columns or every_column(self.actions)

    def __len__(self) -> int:
        return len(self.targets)

    @cached_property
    def _index(self) -> dict[object, int]:
        if self.ends == "game":
            return {action: i for i, action in enumerate(self.actions)}
        return {frozenset(targets): i for i, targets in enumerate(self.targets)}

    def index(self, action: Action) -> int | None:
        """Which of them an action belongs to; None if it is not in the set, or in no column."""
        if self.ends == "game":
            return self._index.get(action)
        is_known = action in self.actions or self._has_middles(action)
        return self._index.get(frozenset(action.targets)) if is_known else None

    def _has_middles(self, action: Action) -> bool:
        """Whether an action is one of a probe."""
        return all(
            value == self.middles.get(name) or value in self._ends.get(name, ())
            for name, value in action.settings
        )

    @cached_property
    def _ends(self) -> dict[str, tuple[float, ...]]:
        named = zip(self.actions.names, self.actions.ranges, strict=True)
        return {name: tuple(sorted(set(span))) for name, span in named if span is not None}

    def actions_of(self, index: int, most: int | None = None) -> tuple[Action, ...]:
        """The actions that may be drawn, all equally likely; only the first if they are more than
        `most`.
        """
        if self.ends == "game":
            return (self.actions[index],)
        targets = self.targets[index]
        if most is not None and math.prod(len(self._ends[name]) for name in targets) > most:
            return (Action(tuple((name, self._ends[name][0]) for name in targets)),)
        return tuple(
            Action(tuple(zip(targets, values, strict=True)))
            for values in product(*(self._ends[name] for name in targets))
        )

    def draw(
        self, index: int, seed: int, number: int, coins: Mapping[str, int] | None = None
    ) -> Action:
        """The action of an ask: its coins follow from the seed and the number of the ask alone.

        coins : by name, numbers of coins that were tossed for an earlier ask and still hold
        """
        if self.ends == "game":
            return self.actions[index]
        if self.middles and is_probe(seed, number):
            return self._draw_probe(index, seed, number, coins or {})
        at, own = self._position, Coins(seed, number)
        if coins:
            tossed = {n: Coins(seed, n) for n in set(coins.values())}
            heads = tuple(
                (tossed[coins[name]] if name in coins else own).is_head(at[name])
                for name in self.targets[index]
            )
        else:
            heads = tuple(own.is_head(at[name]) for name in self.targets[index])
        action = self._actions_by_coin.get((index, heads))
        if action is None:
            ends = zip(self.targets[index], heads, strict=True)
            action = Action(tuple((name, self._ends[name][-1 if up else 0]) for name, up in ends))
            self._actions_by_coin[index, heads] = action
        return action

    def _draw_probe(self, index: int, seed: int, number: int, coins: Mapping[str, int]) -> Action:
        """The action of an ask with second coins."""
        targets, with_second = self.targets[index], self.with_second(index, seed, number)
        ends = (
            (n, self.value_of(n, seed, coins.get(n, number), n in with_second)) for n in targets
        )
        return Action(tuple((n, self._ends[n][0] if end is None else end) for n, end in ends))

    def with_second(self, index: int, seed: int, number: int) -> tuple[str, ...]:
        """The nodes of a choice that have a second coin in an ask."""
        if not self.middles or not is_probe(seed, number):
            return ()
        return tuple(name for name in self.targets[index] if name in self.middles)

    @cached_property
    def middles(self) -> dict[str, float]:
        """The nodes that are set to the middle of their range now and then, and this value."""
        if not self.is_probed or self.ends == "game" or len(self.actions.names) > MOST_PROBED:
            return {}
        without = {*dict(self.actions.change_costs), *self.actions.switches}
        found = {name: _middle_of(ends) for name, ends in self._ends.items() if name not in without}
        return {name: middle for name, middle in found.items() if middle is not None}

    @cached_property
    def _actions_by_coin(self) -> dict[tuple[int, tuple[bool, ...]], Action]:
        """Actions that were drawn before, by choice and coins: they need not be made again."""
        return {}

    def value_of(self, name: str, seed: int, number: int, has_second: bool = False) -> float | None:
        """The value that the coins of an ask give to a node; None if no coin picks its ends.

        has_second : whether it has a second coin there
        """
        values = self._ends.get(name, ())
        if self.ends == "game" or len(values) < 2:
            return None
        at = self._position[name]
        if has_second and is_middle(seed, number, at):
            return _middle_of(values)
        return values[1 if Coins(seed, number).is_head(at) else 0]

    def law(self, name: str, has_second: bool = False) -> tuple[tuple[float, float], ...]:
        """The values that coins may give to a node, each with its probability.

        has_second : whether it has a second coin
        """
        values, middle = self._ends[name], _middle_of(self._ends[name])
        if not has_second or middle is None:
            return tuple((value, 1.0 / len(values)) for value in values)
        (low, high), at_end = values, 0.5 * (1.0 - CHANCE_OF_MIDDLE)
        return (low, at_end), (middle, CHANCE_OF_MIDDLE), (high, at_end)

    def coin_names(self, index: int) -> tuple[str, ...]:
        """Nodes whose end a coin picks in a choice; none for those whose range is one value."""
        return self._coin_names[index]

    @cached_property
    def _coin_names(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(filter(self.has_coin, targets)) for targets in self.targets)

    def has_coin(self, name: str) -> bool:
        """Whether a coin picks the end of a node where it is set."""
        return self.ends == "coin" and len(self._ends[name]) > 1

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.actions.names)}

    @cached_property
    def arrays(self) -> tuple[Bools, Floats, Floats]:
        """For the kernels, (k, p) each: which nodes are set, the mean of the values that each is
        set to, and their variance; 0 where none is set.
        """
        names = self.actions.names
        if self.ends == "game":
            return actions_as_arrays(self.actions, names)
        return self.settings_of(rows_of(self.targets, names))

    def settings_of(self, is_set: Bools) -> tuple[Bools, Floats, Floats]:
        """The same for any sets of nodes, by coin.

        is_set : (n, p), which nodes each of them sets
        """
        spans = np.array([(0.0, 0.0) if span is None else span for span in self.actions.ranges])
        middle, half = spans.mean(axis=1), 0.5 * (spans[:, 1] - spans[:, 0])
        return is_set, np.where(is_set, middle, 0.0), np.where(is_set, half**2, 0.0)

    @cached_property
    def costs(self) -> Floats:
        """(k,), of a round: the mean over the actions that may be drawn, and for every slow node
        that is set its change cost, spread over its least stay.
        """
        return self._with_changes(self._round_costs, rows_of(self.targets, self.actions.names))

    def _with_changes(self, costs: Floats, is_set: Bools) -> Floats:
        """Costs of rounds with those of changes, spread over the least stays.

        is_set : (n, p), which nodes each round sets
        """
        if not self.actions.change_costs:
            return costs
        found: Floats = costs + is_set @ np.array(self.actions.amortised_costs)
        return found

    @cached_property
    def _round_costs(self) -> Floats:
        """(k,), the same without what changes cost."""
        if not self.actions.prices:
            return np.ones(len(self))
        if self.ends == "game":
            return np.array(self.actions.costs)
        if not self.is_whole:
            return self._round_costs_of(rows_of(self.targets, self.actions.names))
        if any(len(action.settings) > 1 for action, _ in self.actions.prices):
            return np.array([self._mean_cost(self.actions_of(i)) for i in range(len(self))])
        single, nothing = self._single_costs, self.actions.cost_of(OBSERVE)
        return np.array([sum(single[name] for name in t) if t else nothing for t in self.targets])

    def costs_of(self, is_set: Bools) -> Floats:
        """(n,), the costs of any sets of nodes, without a list of the actions that may be drawn.

        is_set : (n, p), which nodes each of them sets
        """
        return self._with_changes(self._round_costs_of(is_set), is_set)

    def _round_costs_of(self, is_set: Bools) -> Floats:
        """(n,), the same without what changes cost."""
        if not self.actions.prices:
            return np.ones(len(is_set))
        parts = np.array([self._single_costs.get(name, 0.0) for name in self.actions.names])
        found: Floats = np.where(is_set.any(axis=1), is_set @ parts, self.actions.cost_of(OBSERVE))
        for action, price in self.actions.prices:
            if len(action.settings) > 1:
                own = np.isin(self.actions.names, action.targets)
                added = sum(
                    self.actions.cost_of(do(name, value)) for name, value in action.settings
                )
                n_ends = math.prod(len(self._ends[name]) for name in action.targets)
                found[(is_set == own).all(axis=1)] += (price - added) / n_ends
        return found

    @cached_property
    def _single_costs(self) -> dict[str, float]:
        return {
            name: self._mean_cost([do(name, value) for value in values])
            for name, values in self._ends.items()
        }

    def _mean_cost(self, drawn: Sequence[Action]) -> float:
        return float(np.mean([self.actions.cost_of(action) for action in drawn]))

    @cached_property
    def relative_costs(self) -> Floats:
        """(k,), in units of the cheapest; exactly 1 where they are equal."""
        found: Floats = self.costs / self.costs.min()
        return found

    @cached_property
    def sizes(self) -> Floats:
        """(k,), how many actions may be drawn."""
        if self.ends == "game":
            return np.ones(len(self))
        counts = {name: len(values) for name, values in self._ends.items()}
        return np.array([float(math.prod(counts[n] for n in t)) for t in self.targets])

    @cached_property
    def covers(self) -> Bools:
        """(p * p, k), whether node i is set and node j free: row i * p + j. What keeps occurring
        under every design, so that no effect of i on j stays unknown.
        """
        is_set, _, _ = self.arrays
        pairs = is_set[:, :, None] & ~is_set[:, None, :]
        flat: Bools = pairs.reshape(len(self), -1).T
        return flat[flat.any(axis=1)]

    def spread(self, shares: Iterable[float]) -> dict[Action, float]:
        """Shares of the choices as shares of their actions; those that get nothing are left out
        where several nodes may be set at once. Where more than `MOST_SPREAD` actions set the same
        nodes, the one with all low ends stands for them.
        """
        found = {}
        for i, share in enumerate(shares):
            if share > 0.0 or self.actions.at_once < 2:
                drawn = self.actions_of(i, MOST_SPREAD)
                found.update(dict.fromkeys(drawn, float(share) / len(drawn)))
        return found


def _middle_of(ends: tuple[float, ...]) -> float | None:
    """The middle of a range; None if there is nothing between its ends."""
    middle = float(f"{0.5 * ends[0] + 0.5 * ends[-1]:.{DIGITS}g}") + 0.0
    return middle if ends[0] < middle < ends[-1] else None
