"""Actions: observe, or set one variable or several to values (Eq. continuous_action_space)."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.errors import InvalidInputError
from causalfocus.system.names import checked_names, position


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do in a round. Make it with :data:`OBSERVE` or :func:`do`.

    Attributes
    ----------
    settings : name and value of every node that is set, in the order of the names, X2 before X10;
        empty for passive observation
    """

    settings: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        if self.settings:
            object.__setattr__(self, "settings", _checked_settings(self.settings))

    @property
    def is_observation(self) -> bool:
        return not self.settings

    @property
    def targets(self) -> tuple[str, ...]:
        """The nodes that are set."""
        return tuple(name for name, _ in self.settings)

    @property
    def target(self) -> str | None:
        """The one node that is set, None for passive observation."""
        return None if self.is_observation else self._only[0]

    @property
    def value(self) -> float | None:
        """What the one node is set to, None for passive observation."""
        return None if self.is_observation else self._only[1]

    @property
    def _only(self) -> tuple[str, float]:
        if len(self.settings) > 1:
            raise InvalidInputError(
                f"{self} sets {len(self.settings)} variables at once; here an action sets one. "
                f"Use its `settings`."
            )
        return self.settings[0]

    def __str__(self) -> str:
        if self.is_observation:
            return "observe"
        return f"do({', '.join(f'{name} = {value:g}' for name, value in self.settings)})"


OBSERVE: Final = Action()
"""The action of changing nothing and looking."""


def do(target: str | Mapping[str, float], value: float | None = None) -> Action:
    """The perfect intervention that sets one node to a value, or several at once.

    Examples
    --------
    >>> print(do("X3", 2.0))
    do(X3 = 2)
    >>> print(do({"X3": -2, "X1": 2}))
    do(X1 = 2, X3 = -2)
    """
    if isinstance(target, Mapping):
        if value is not None:
            raise InvalidInputError(
                f"do() takes a name and a value, or one mapping; got {dict(target)!r} and "
                f"{value!r}."
            )
        return Action(tuple(target.items()))
    if value is None:
        raise InvalidInputError(
            f"do({target!r}) lacks the value: use cf.do(name, value), or cf.OBSERVE to set nothing."
        )
    return Action(((target, value),))


def action_of(target: str | None, value: float | None) -> Action:
    """The action with at most one target, None or empty for passive observation."""
    if not target:
        return OBSERVE
    return do(target, value)


def _checked_settings(given: Any) -> tuple[tuple[str, float], ...]:
    if not isinstance(given, tuple) or any(
        not isinstance(pair, tuple) or len(pair) != 2 for pair in given
    ):
        raise InvalidInputError(
            f"The settings of an action are pairs of a name and a value, got {given!r}. Use "
            f"cf.do(name, value), or cf.do({{name: value, ...}}) for several."
        )
    names = checked_names([name for name, _ in given])
    settings = []
    for name, (_, value) in zip(names, given, strict=True):
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise InvalidInputError(
                f"do({name} = {value!r}) is not possible: the value must be a number."
            ) from None
        if not math.isfinite(number):
            raise InvalidInputError(
                f"do({name} = {number}) is not possible: the value must be finite."
            )
        settings.append((name, number + 0.0))  # zero has no sign
    if len(settings) > 1:
        settings.sort(key=lambda setting: _in_order(setting[0]))
    return tuple(settings)


@lru_cache(maxsize=4096)
def _in_order(name: str) -> tuple[Any, ...]:
    """X2 before X10."""
    parts = re.split(r"([0-9]+)", name)
    return tuple(
        (0, len(part.lstrip("0")), part.lstrip("0")) if part.isdecimal() else (1, 0, part)
        for part in parts
    ), name


def require_action(action: Action) -> None:
    """Raise unless it is one."""
    if not isinstance(action, Action):
        raise InvalidInputError(
            f"{action!r} is not an action. Use cf.OBSERVE or cf.do(name, value)."
        )


def actions_as_arrays(
    actions: Iterable[Action], names: Sequence[str]
) -> tuple[Bools, Floats, Floats]:
    """For the kernels, (k, p) each: which nodes every action sets, the values, 0 where none is set,
    and the variance of these, which is none.
    """
    taken = list(actions)
    index = {name: j for j, name in enumerate(names)}
    is_set = np.zeros((len(taken), len(names)), dtype=np.bool_)
    values = np.zeros((len(taken), len(names)))
    for a, action in enumerate(taken):
        require_action(action)
        for name, value in action.settings:
            j = index[name] if name in index else position(name, names)
            is_set[a, j], values[a, j] = True, value
    return is_set, values, np.zeros_like(values)


@lru_cache(maxsize=1024)
def action_as_arrays(action: Action, names: tuple[str, ...]) -> tuple[Bools, Floats, Floats]:
    """The same for one action, remembered: these arrays must not be written to."""
    return actions_as_arrays([action], names)


def single_targets(actions: Iterable[Action], names: Sequence[str]) -> tuple[Ints, Floats]:
    """Targets (-1 for passive observation) and values (0 there) of actions that set one node each,
    for methods that know no others.
    """
    taken = list(actions)
    targets = [-1 if a.target is None else position(a.target, names) for a in taken]
    values = [a.value or 0.0 for a in taken]
    return np.array(targets, dtype=np.int64), np.array(values)
