"""The set of actions that a learner may choose from, what they and changes between them cost, and
how far they may miss.

Implements the endpoints of Eq. finite_intervention_set, for one variable or several at once.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError
from causalfocus.system.actions import OBSERVE, Action, do
from causalfocus.system.names import checked_names, position
from causalfocus.system.switches import checked_switches

Range = float | Sequence[float] | None

TOLERATED: Final = 0.1
"""Of the width of a range: how far a setting may miss where nothing is said."""

LARGEST_VALUE: Final = 1e100
"""Values beyond this would overflow when squared and summed; no measurement is that large."""

MOST_ACTIONS: Final = 100_000
"""Sets that are larger cannot be listed."""

LONGEST_STAY: Final = 1_000_000_000
"""Rounds beyond which a setting is for ever."""


@dataclass(frozen=True, init=False, kw_only=True)
class ActionSet:
    """Passive observation, and both ends of the range of every node that can be set, alone or
    several at once.

    The order is fixed: OBSERVE first, then what sets one node, node by node in the order of the
    names, the lower end before the upper one; then what sets two, and so on. It is also the order
    in which ties between actions are broken.

    Parameters
    ----------
    ranges : mapping from a node's name to its range (low, high). The two may be equal, a single
        number means just that value, None means that the node cannot be set.
    names : all nodes in order, when some of them cannot be set and are left out of `ranges`.
        By default the keys of `ranges`.
    costs : what a round of each action costs, in money or hours; 1 where nothing is said. Keys are
        actions, names of nodes (for all that set them) or "observe". What sets several nodes costs
        the sum of what it costs to set each, unless it is named itself; without costs every round
        costs 1.
    at_once : how many nodes may be set in one round; None for any number. At least one stays free:
        with all of them set there is nothing to see
    tolerances : by name, how far what a setting achieved may be from what was asked for and still
        count as a miss of the actuator; a tenth of the width of its range where nothing is said
    change_costs : by name, what another setting of a slow node costs between one round and the
        next, in the unit of the costs: from free to set, from set to free, or to another value;
        nothing where nothing is said
    switches : names of nodes with two states, the ends of their range: no coin asks for the middle

    Examples
    --------
    >>> actions = ActionSet({"heat": (20, 80), "flow": 1.5, "yield": None})
    >>> [str(action) for action in actions]
    ['observe', 'do(heat = 20)', 'do(heat = 80)', 'do(flow = 1.5)']
    >>> ActionSet({"heat": (20, 80), "flow": 1.5}, costs={"heat": 5}).costs
    (1.0, 5.0, 5.0, 1.0)
    >>> len(ActionSet({"heat": (20, 80), "flow": (1, 2), "yield": None}, at_once=2))
    9
    >>> slow = ActionSet({"heat": (20, 80), "flow": (1, 2)}, change_costs={"heat": 30})
    >>> slow.change_cost(do("heat", 20), do("heat", 80)), slow.change_cost(do("flow", 1), OBSERVE)
    (30.0, 0.0)
    """

    names: tuple[str, ...]
    ranges: tuple[tuple[float, float] | None, ...]
    at_once: int
    prices: tuple[tuple[Action, float], ...]
    tolerances: tuple[float, ...]
    change_costs: tuple[tuple[str, float], ...]
    switches: tuple[str, ...]
    first_ranges: tuple[tuple[float, float] | None, ...]  # see `system.widening`

    def __init__(
        self,
        ranges: Mapping[str, Range],
        names: Iterable[str] | None = None,
        *,
        costs: Mapping[Any, float] | None = None,
        at_once: int | None = 1,
        tolerances: Mapping[str, float] | None = None,
        change_costs: Mapping[str, float] | None = None,
        switches: Iterable[str] = (),
    ) -> None:
        if not isinstance(ranges, Mapping):
            raise InvalidInputError(
                f"The ranges must map names to (low, high), got {type(ranges).__name__}. "
                'For example ActionSet({"X1": (-2, 2), "X2": (-2, 2)}).'
            )
        ordered = checked_names(ranges.keys() if names is None else names)
        for name in ranges:
            position(name, ordered)
        checked = tuple(_checked_range(name, ranges.get(name)) for name in ordered)
        object.__setattr__(self, "names", ordered)
        object.__setattr__(self, "ranges", checked)
        object.__setattr__(self, "first_ranges", checked)
        object.__setattr__(self, "at_once", _checked_number(at_once, checked))
        object.__setattr__(self, "prices", _checked_prices(self, costs or {}))
        object.__setattr__(self, "tolerances", _checked_tolerances(self, tolerances or {}))
        changes = {} if change_costs is None else change_costs
        object.__setattr__(self, "change_costs", _checked_changes(self, changes))
        object.__setattr__(self, "switches", checked_switches(switches, ordered, checked))

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """All of them, in order."""
        n = self.n_actions
        if n > MOST_ACTIONS:
            raise InvalidInputError(
                f"There are {n:,} actions that set up to {self.at_once} variables at once: they "
                f"cannot be listed. Allow fewer at once, for example at_once=2."
            )
        return tuple(
            Action(settings) for group in self._groups() for settings in itertools.product(*group)
        )

    @property
    def n_actions(self) -> int:
        """How many there are, without listing them."""
        ways = [1] + [0] * self.at_once  # by the number of nodes that are set
        for span in self.ranges:
            if span is not None:
                ends = len(set(span))
                for n in range(self.at_once, 0, -1):
                    ways[n] += ends * ways[n - 1]
        return sum(ways)

    def _groups(self) -> Iterator[tuple[list[tuple[str, float]], ...]]:
        """For every set of nodes that may be set at once, the settings of each of them."""
        ends = [
            [(name, value) for value in sorted(set(span))]
            for name, span in zip(self.names, self.ranges, strict=True)
            if span is not None
        ]
        for n in range(self.at_once + 1):
            yield from itertools.combinations(ends, n)

    @cached_property
    def costs(self) -> tuple[float, ...]:
        """Of all actions, in order."""
        return tuple(map(self.cost_of, self.actions))

    @cached_property
    def _price(self) -> dict[Action, float]:
        return dict(self.prices)

    def cost_of(self, action: Action) -> float:
        """Of one action; 1 if no costs were given. A value other than the ends of its range costs
        what these cost on average, and what cannot be set at all costs 1.
        """
        if not self.prices:
            return 1.0
        price = self._price.get(action)
        if price is not None:
            return price
        return sum(self._single_price(name, value) for name, value in action.settings) or 1.0

    def _single_price(self, name: str, value: float) -> float:
        """Of setting one node."""
        ends = self._ends.get(name, ())
        if value in ends or not ends:
            return self._price.get(do(name, value), 1.0)
        return sum(self._price.get(do(name, end), 1.0) for end in ends) / len(ends)

    def change_cost(self, before: Action, after: Action) -> float:
        """What it costs to go from one round's action to that of the next, beside the rounds: the
        sum over the slow nodes whose setting differs.
        """
        if not self.change_costs or before == after:
            return 0.0
        old, new = dict(before.settings), dict(after.settings)
        return float(
            sum(cost for name, cost in self.change_costs if old.get(name) != new.get(name))
        )

    @property
    def cheapest_round(self) -> float:
        """What the cheapest action costs, without listing them all."""
        named = [action for action, _ in self.prices]
        return min(map(self.cost_of, [OBSERVE, *_singles(self), *named]))

    @cached_property
    def least_stays(self) -> dict[str, int]:
        """By slow node, after how many rounds even the cheapest have cost as much as a change of
        its setting; a design keeps every setting for so long.
        """
        cheapest = self.cheapest_round
        return {
            name: math.ceil(min(cost / cheapest, LONGEST_STAY)) for name, cost in self.change_costs
        }

    @cached_property
    def amortised_costs(self) -> tuple[float, ...]:
        """(p,), what a round that sets a node costs beside its own price if a change of its setting
        is spread over its least stay: about the price of the cheapest round; 0 if it is not slow.
        """
        slow, stays = dict(self.change_costs), self.least_stays
        return tuple(slow[name] / stays[name] if name in slow else 0.0 for name in self.names)

    def amortised_cost(self, targets: Iterable[str]) -> float:
        """The same for a round that sets several nodes."""
        return float(sum(self.amortised_costs[position(name, self.names)] for name in targets))

    def __len__(self) -> int:
        return self.n_actions

    def __iter__(self) -> Iterator[Action]:
        return iter(self.actions)

    def __contains__(self, action: object) -> bool:
        if not isinstance(action, Action) or len(action.settings) > self.at_once:
            return False
        return all(
            name in self._ends and value in self._ends[name] for name, value in action.settings
        )

    @cached_property
    def _ends(self) -> dict[str, tuple[float, float]]:
        named = zip(self.names, self.ranges, strict=True)
        return {name: span for name, span in named if span is not None}

    def __getitem__(self, index: int) -> Action:
        return self.actions[index]

    def index(self, action: Action) -> int:
        """Position of an action in the fixed order."""
        if action not in self:
            raise InvalidInputError(
                f"{action} is not in the action set. It holds: {_in_words(self)}."
            )
        return self.actions.index(action)

    def misses(self, action: Action, row: Floats) -> tuple[str, ...]:
        """Nodes that were set and achieved something further from what was asked than is tolerated.

        row : (p,), the sample
        """
        found = []
        for name, value in action.settings:
            j = position(name, self.names)
            if not abs(row[j] - value) <= self.tolerances[j]:
                found.append(name)
        return tuple(found)

    @property
    def unsettable(self) -> tuple[str, ...]:
        """The nodes that no action sets."""
        return tuple(n for n, r in zip(self.names, self.ranges, strict=True) if r is None)


def _checked_number(given: int | None, ranges: tuple[tuple[float, float] | None, ...]) -> int:
    settable = sum(span is not None for span in ranges)
    most = min(settable, max(len(ranges) - 1, 1))
    if given is None:
        return most
    if not isinstance(given, int | np.integer) or isinstance(given, bool) or given < 1:
        raise InvalidInputError(
            f"at_once is how many variables may be set in one round, 1 or more, or None for any "
            f"number; got {given!r}."
        )
    return min(int(given), most)


def _singles(actions: ActionSet) -> list[Action]:
    """The actions that set one node."""
    return [
        do(name, value)
        for name, span in zip(actions.names, actions.ranges, strict=True)
        if span is not None
        for value in sorted(set(span))
    ]


def _in_words(actions: ActionSet) -> str:
    several = "" if actions.at_once < 2 else f", and up to {actions.at_once} of these at once"
    return ", ".join(map(str, [OBSERVE, *_singles(actions)])) + several


def _checked_prices(
    actions: ActionSet, given: Mapping[Action | str, float]
) -> tuple[tuple[Action, float], ...]:
    """What was said of the costs, by action: of observing, of setting one node, and of others that
    were named.
    """
    if not isinstance(given, Mapping):
        raise InvalidInputError(
            f"costs must map actions or names to numbers, got {type(given).__name__}. "
            f'For example {{"observe": 1, {actions.names[0]!r}: 5}}.'
        )
    result: dict[Action, float] = {}
    singles = _singles(actions)
    named = sorted(given.items(), key=lambda item: isinstance(item[0], Action))
    for key, cost in named:  # names first, so that a single action may differ from its node
        try:
            value = float(cost)
        except (TypeError, ValueError):
            raise InvalidInputError(f"The cost of {key} must be a number, got {cost!r}.") from None
        if not (math.isfinite(value) and value > 0):
            raise InvalidInputError(
                f"The cost of {key} is {value:g}: costs must be positive and finite. "
                f"For what is free give a small cost, small against the others."
            )
        if isinstance(key, Action):
            meant = [key] if key in actions else []
        elif key == "observe" and key not in actions.names:
            meant = [OBSERVE]
        else:
            meant = [action for action in singles if action.target == key]
        if not meant:
            raise InvalidInputError(
                f"There is no action {key} to put a cost on. The actions are {_in_words(actions)}."
            )
        result.update(dict.fromkeys(meant, value))
    if actions.at_once < 2:  # a cost of one is as if nothing had been said
        result = {action: cost for action, cost in result.items() if cost != 1.0}
    return tuple(sorted(result.items(), key=lambda item: str(item[0])))


def _checked_tolerances(actions: ActionSet, given: Mapping[str, float]) -> tuple[float, ...]:
    found = [TOLERATED * (span[1] - span[0]) if span else 0.0 for span in actions.ranges]
    for name, tolerance in given.items():
        at = position(name, actions.names)
        try:
            found[at] = float(tolerance)
        except (TypeError, ValueError):
            found[at] = math.nan
        if not found[at] >= 0.0:
            raise InvalidInputError(
                f"The tolerance of {name} must be a number, 0 or more, got {tolerance!r}."
            )
    return tuple(found)


def _checked_changes(
    actions: ActionSet, given: Mapping[str, float]
) -> tuple[tuple[str, float], ...]:
    """What was said of changes, in the order of the nodes; a change that costs nothing is as if
    nothing had been said.
    """
    if not isinstance(given, Mapping):
        raise InvalidInputError(
            f"change_costs must map names to numbers, got {type(given).__name__}. "
            f"For example {{{actions.names[0]!r}: 30}}."
        )
    found = dict.fromkeys(actions.names, 0.0)
    for name, cost in given.items():
        at = position(name, actions.names)
        if actions.ranges[at] is None:
            raise InvalidInputError(
                f"{name} has a change cost but no range: it cannot be set. Leave its change cost "
                f"out, or give it a range."
            )
        try:
            found[name] = float(cost)
        except (TypeError, ValueError):
            found[name] = math.nan
        if not 0.0 <= found[name] < math.inf:
            raise InvalidInputError(
                f"The change cost of {name} must be a finite number, 0 or more, got {cost!r}."
            )
    return tuple((name, cost) for name, cost in found.items() if cost > 0.0)


def _checked_range(name: str, given: Range) -> tuple[float, float] | None:
    if given is None:
        return None
    allowed = f"The range of {name!r} must be (low, high) with low <= high, a number, or None"
    try:
        ends = given if isinstance(given, Iterable) and not isinstance(given, str) else [given] * 2
        low, high = (float(end) for end in ends)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{allowed}; got {given!r}.") from None
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InvalidInputError(f"{allowed}, and finite; got ({low}, {high}).")
    if low > high:
        raise InvalidInputError(f"{allowed}; got the empty range ({low:g}, {high:g}). Swap them?")
    if max(abs(low), abs(high)) > LARGEST_VALUE:
        raise InvalidInputError(
            f"{allowed}, of size at most {LARGEST_VALUE:g}; got ({low:g}, {high:g})."
        )
    return low + 0.0, high + 0.0  # zero has no sign
