"""Actions: observe, or set one variable to a value; and the finite set a learner may choose from.

Implements the action space of Eq. continuous_action_space reduced to its endpoints,
Eq. finite_intervention_set.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from causalfocus.arrays import Floats, Ints
from causalfocus.errors import InvalidInputError
from causalfocus.system.names import checked_names, position

Range = float | Sequence[float] | None


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do in a round. Make it with :data:`OBSERVE` or :func:`do`.

    Attributes
    ----------
    target : the name of the node that is set, None for passive observation
    value : what it is set to, None for passive observation
    """

    target: str | None = None
    value: float | None = None

    def __post_init__(self) -> None:
        if (self.target is None) != (self.value is None):
            raise InvalidInputError(
                f"An action has a target and a value, or neither: got target={self.target!r}, "
                f"value={self.value!r}. Use cf.OBSERVE or cf.do(name, value)."
            )
        if self.target is None or self.value is None:
            return
        checked_names([self.target])
        try:
            value = float(self.value)
        except (TypeError, ValueError):
            raise InvalidInputError(
                f"do({self.target} = {self.value!r}) is not possible: the value must be a number."
            ) from None
        if not math.isfinite(value):
            raise InvalidInputError(
                f"do({self.target} = {value}) is not possible: the value must be finite."
            )
        object.__setattr__(self, "value", value)

    @property
    def is_observation(self) -> bool:
        return self.target is None

    def __str__(self) -> str:
        if self.target is None:
            return "observe"
        return f"do({self.target} = {self.value:g})"


OBSERVE: Final = Action()
"""The action of changing nothing and looking."""


def do(target: str, value: float) -> Action:
    """The perfect intervention that sets one node to a value.

    Examples
    --------
    >>> print(do("X3", 2.0))
    do(X3 = 2)
    """
    return Action(target, value)


def target_index(action: Action, names: Sequence[str]) -> int:
    """Position of the action's target in the names; -1 for passive observation."""
    if not isinstance(action, Action):
        raise InvalidInputError(
            f"{action!r} is not an action. Use cf.OBSERVE or cf.do(name, value)."
        )
    return -1 if action.target is None else position(action.target, names)


def actions_as_arrays(actions: Iterable[Action], names: Sequence[str]) -> tuple[Ints, Floats]:
    """Targets (-1 for passive observation) and values (0 there) for the kernels."""
    index: dict[str | None, int] = {name: j for j, name in enumerate(names)}
    index[None] = -1
    taken = list(actions)
    try:
        targets = [index[action.target] for action in taken]
    except (KeyError, AttributeError):
        targets = [target_index(action, names) for action in taken]  # raises and names the culprit
    values = [action.value or 0.0 for action in taken]
    return np.array(targets, dtype=np.int64), np.array(values, dtype=np.float64)


@dataclass(frozen=True, init=False)
class ActionSet:
    """Passive observation and both ends of the range of every node that can be set.

    The order is fixed: OBSERVE first, then node by node in the order of the names, the lower end
    before the upper one. It is also the order in which ties between actions are broken.

    Parameters
    ----------
    ranges : mapping from a node's name to its range (low, high). The two may be equal, a single
        number means just that value, None means that the node cannot be set.
    names : all nodes in order, when some of them cannot be set and are left out of `ranges`.
        By default the keys of `ranges`.
    costs : what a round of each action costs, in money or hours; 1 where nothing is said. Keys are
        actions, names of nodes (for all that set them) or "observe".

    Examples
    --------
    >>> actions = ActionSet({"heat": (20, 80), "flow": 1.5, "yield": None})
    >>> [str(action) for action in actions]
    ['observe', 'do(heat = 20)', 'do(heat = 80)', 'do(flow = 1.5)']
    >>> ActionSet({"heat": (20, 80), "flow": 1.5}, costs={"heat": 5}).costs
    (1.0, 5.0, 5.0, 1.0)
    """

    names: tuple[str, ...]
    ranges: tuple[tuple[float, float] | None, ...]
    actions: tuple[Action, ...]
    costs: tuple[float, ...]

    def __init__(
        self,
        ranges: Mapping[str, Range],
        names: Iterable[str] | None = None,
        *,
        costs: Mapping[Any, float] | None = None,
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
        object.__setattr__(self, "actions", _endpoint_actions(ordered, checked))
        object.__setattr__(self, "costs", _checked_costs(self.actions, ordered, costs or {}))

    def __len__(self) -> int:
        return len(self.actions)

    def __iter__(self) -> Iterator[Action]:
        return iter(self.actions)

    def __contains__(self, action: object) -> bool:
        return action in self.actions

    def __getitem__(self, index: int) -> Action:
        return self.actions[index]

    def index(self, action: Action) -> int:
        """Position of an action in the fixed order."""
        if action not in self.actions:
            raise InvalidInputError(
                f"{action} is not in the action set. It holds: {', '.join(map(str, self.actions))}."
            )
        return self.actions.index(action)

    @property
    def unsettable(self) -> tuple[str, ...]:
        """The nodes that no action sets."""
        return tuple(n for n, r in zip(self.names, self.ranges, strict=True) if r is None)


def _endpoint_actions(
    names: tuple[str, ...], ranges: tuple[tuple[float, float] | None, ...]
) -> tuple[Action, ...]:
    actions = [OBSERVE]
    for name, ends in zip(names, ranges, strict=True):
        if ends is not None:
            actions.extend(do(name, value) for value in sorted(set(ends)))
    return tuple(actions)


def _checked_costs(
    actions: tuple[Action, ...], names: tuple[str, ...], given: Mapping[Action | str, float]
) -> tuple[float, ...]:
    if not isinstance(given, Mapping):
        raise InvalidInputError(
            f"costs must map actions or names to numbers, got {type(given).__name__}. "
            f'For example {{"observe": 1, {names[0]!r}: 5}}.'
        )
    result = dict.fromkeys(actions, 1.0)
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
            meant = [key] if key in result else []
        elif key == "observe" and key not in names:
            meant = [OBSERVE]
        else:
            meant = [action for action in actions if action.target == key]
        if not meant:
            raise InvalidInputError(
                f"There is no action {key} to put a cost on. The actions are "
                f"{', '.join(map(str, actions))}."
            )
        result.update(dict.fromkeys(meant, value))
    return tuple(result.values())


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
    return low, high
