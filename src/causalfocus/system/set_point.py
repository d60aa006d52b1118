"""Which settings bring means to wished values: the least change that does, within the ranges.

Variables that are used are all set, each to z half ranges from the middle of its range, and
everything else is free. Means are linear in z, m = m_0 + M z. Sought is the shortest z with -1 <= z
<= 1 and M z = wished - m_0; if there is none, the shortest of those that come nearest. Both are one
least-squares problem with bounds, in which a miss weighs far more than length. A switch stands at
one of its ends; all ways to throw the switches are tried.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations, product
from typing import Any, Final

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError
from causalfocus.system.action_set import ActionSet
from causalfocus.system.names import position
from causalfocus.system.sem import LinearSEM

WEIGHT_OF_A_MISS: Final = 1e5
"""Beside a half range. A miss of the whole way that the ranges lead weighs so much; so wishes that
can be met are met to a ten thousand millionth of that way."""

NEAR: Final = 1e-6
"""Of the way that the ranges lead: within it a wish is met."""

MOST_SWITCHES: Final = 10
MOST_TRIED: Final = 8
"""Variables of which all sets are tried if to set them all does not reach what is wished."""


@dataclass(frozen=True, kw_only=True)
class SetPoint:
    """Settings that bring means to wished values, or as near as the ranges allow.

    Attributes
    ----------
    settings : value of every variable that is set, by name
    wished : what was asked for, by name
    means : what is expected of every variable, by name
    is_reached : whether all wishes are met
    size : the largest move from the middle of a range, in half ranges: 1 is at an end
    """

    settings: dict[str, float]
    wished: dict[str, float]
    means: dict[str, float]
    is_reached: bool
    size: float

    @property
    def words(self) -> str:
        """In one line."""
        how = ", ".join(f"{name} = {value:.6g}" for name, value in self.settings.items())
        if self.is_reached:
            what = ", ".join(f"{name} to {value:.6g}" for name, value in self.wished.items())
            return f"{how} should bring {what}."
        missed = [
            f"{name} comes to {self.means[name]:.6g} at the nearest, and not to {value:.6g}"
            for name, value in self.wished.items()
        ]
        return f"Out of reach within the ranges: {'; '.join(missed)}, with {how}."

    def to_dict(self) -> dict[str, Any]:
        """A form for JSON."""
        return asdict(self)


def set_point(
    model: LinearSEM,
    wished: Mapping[str, float],
    actions: ActionSet,
    using: Iterable[str] | None = None,
) -> SetPoint:
    """Return the settings of the least change that bring means to wished values.

    Parameters
    ----------
    model : tells what follows from settings
    wished : means, by name, of variables that are not set
    actions : the ranges of the settings
    using : variables that are set. By default all that have a range and no wish, or, if that is too
        many to reach what is wished (what is set hides its causes), those of them that come nearest
    """
    names = model.names
    if actions.names != names:
        raise InvalidInputError(
            f"The actions are of {', '.join(actions.names)} and the model of {', '.join(names)}. "
            f"Give those of the same variables in the same order."
        )
    goals = _checked_wishes(wished, names)
    chosen = _checked_using(using, actions, goals)
    found = _of_all(model, goals, actions, chosen)
    if using is None and not found.is_reached and 1 < len(chosen) <= MOST_TRIED:
        others = [
            _of_all(model, goals, actions, list(some))
            for n in range(len(chosen) - 1, 0, -1)
            for some in combinations(chosen, n)
        ]
        reached = [one for one in others if one.is_reached]
        found = min(reached, key=lambda one: one.size, default=None) or min(
            [found, *others], key=lambda one: _miss(one, found)
        )
    return found


def _miss(one: SetPoint, other: SetPoint) -> float:
    """How far the means are from the wishes, in units of how far another set point is."""
    return sum(
        abs(one.means[name] - value) / max(abs(other.means[name] - value), 1e-300)
        for name, value in one.wished.items()
    )


def _of_all(
    model: LinearSEM, goals: dict[str, float], actions: ActionSet, chosen: list[str]
) -> SetPoint:
    """The set point that sets all of some variables."""
    names = model.names
    spans = [_span(name, actions) for name in chosen]
    middles = np.array([0.5 * (low + high) for low, high in spans])
    halves = np.array([0.5 * (high - low) for low, high in spans])
    at = [position(name, names) for name in goals]
    base = _means(model, chosen, middles)
    ways = [_means(model, chosen, middles + halves * unit) - base for unit in np.eye(len(chosen))]
    needed = np.array(list(goals.values())) - base[at]
    is_switch = np.array([name in actions.switches for name in chosen])
    z, is_reached = _shortest(np.column_stack(ways)[at], needed, is_switch)
    values = np.clip(middles + halves * z, *np.array(spans).T)
    means = _means(model, chosen, values)
    return SetPoint(
        settings=dict(zip(chosen, values.tolist(), strict=True)),
        wished=goals,
        means=dict(zip(names, means.tolist(), strict=True)),
        is_reached=is_reached,
        size=float(np.abs(z).max()),
    )


def _shortest(matrix: Floats, needed: Floats, is_switch: Any) -> tuple[Floats, bool]:
    """Return z, and whether every wish is met.

    matrix : (wishes, variables), what half ranges do
    is_switch : (variables,), which may be -1 or 1 alone
    """
    scale = np.abs(matrix).sum(axis=1)
    scale = np.where(scale > 0.0, scale, np.maximum(np.abs(needed), 1.0))
    rows, goals = matrix / scale[:, None], needed / scale
    best, least = np.zeros(matrix.shape[1]), (math.inf, math.inf)
    for ends in product((-1.0, 1.0), repeat=int(is_switch.sum())):
        z = np.zeros(matrix.shape[1])
        z[is_switch] = ends
        z[~is_switch] = _least_squares(rows[:, ~is_switch], goals - rows @ z)
        miss = float(np.abs(rows @ z - goals).max())
        found = 0.0 if miss <= NEAR else float(np.sum((rows @ z - goals) ** 2)), float(z @ z)
        if found[0] < least[0] * (1.0 - NEAR) or (
            found[0] <= least[0] and found[1] < least[1] * (1.0 - NEAR)
        ):
            best, least = z, found
    return best, least[0] == 0.0


def _least_squares(rows: Floats, goals: Floats) -> Floats:
    from scipy.optimize import lsq_linear

    n = rows.shape[1]
    if n == 0:
        return np.zeros(0)
    system = np.vstack([WEIGHT_OF_A_MISS * rows, np.eye(n)])
    aims = np.concatenate([WEIGHT_OF_A_MISS * goals, np.zeros(n)])
    found: Floats = lsq_linear(system, aims, bounds=(-1.0, 1.0), method="bvls", tol=1e-14).x
    return np.clip(found, -1.0, 1.0)


def _means(model: LinearSEM, chosen: list[str], values: Floats) -> Floats:
    means = model.predict(dict(zip(chosen, values.tolist(), strict=True)))
    return np.array([means[name] for name in model.names])


def _checked_wishes(wished: Mapping[str, float], names: tuple[str, ...]) -> dict[str, float]:
    if not isinstance(wished, Mapping) or not wished:
        raise InvalidInputError(
            f'Wishes are values by name, such as {{"{names[-1]}": 60}}; got {wished!r}.'
        )
    for name, value in wished.items():
        position(name, names)
        is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not (is_number and math.isfinite(value)):
            raise InvalidInputError(f"The wish for {name} is a number, got {value!r}.")
    return {name: float(value) for name, value in wished.items()}


def _checked_using(
    using: Iterable[str] | None, actions: ActionSet, goals: Mapping[str, float]
) -> list[str]:
    pairs = zip(actions.names, actions.ranges, strict=True)
    settable = [name for name, span in pairs if span is not None and name not in goals]
    if using is None:
        chosen = settable
    elif isinstance(using, str):
        raise InvalidInputError(f"using is a list of names, got {using!r}.")
    else:
        given = set(using)
        for name in given:
            position(name, actions.names)
            if name not in settable:
                why = "it has a wish" if name in goals else "it has no range"
                raise InvalidInputError(
                    f"{name} cannot be used: {why}. What can be used is "
                    f"{', '.join(settable) or 'nothing'}."
                )
        chosen = [name for name in settable if name in given]
    if not chosen:
        raise InvalidInputError(
            "Nothing is left to be set: every variable has a wish or no range. Leave out a wish, "
            "or give ranges."
        )
    if sum(name in actions.switches for name in chosen) > MOST_SWITCHES:
        raise InvalidInputError(
            f"More than {MOST_SWITCHES} switches have too many settings. Say with using=[...] "
            f"which to throw."
        )
    return chosen


def _span(name: str, actions: ActionSet) -> tuple[float, float]:
    span = actions.ranges[position(name, actions.names)]
    if span is None:
        raise InvalidInputError(f"{name} has no range, and cannot be set.")
    return span
