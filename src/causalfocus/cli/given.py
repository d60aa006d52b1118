"""Actions and systems as they are given on the command line."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from causalfocus.errors import InvalidInputError
from causalfocus.system.action_set import ActionSet
from causalfocus.system.graph import reach_of
from causalfocus.system.question import Total, total
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass


def load_model(path: Path) -> LinearSEM:
    """A system from a JSON file in the form of `LinearSEM.to_dict()`."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{path} cannot be read as JSON: {error}.") from None
    return LinearSEM.from_dict(data)


def action_set(
    names: Sequence[str],
    ranges: Sequence[str],
    costs: Sequence[str],
    reach: float,
    at_once: int = 1,
    change_costs: Sequence[str] = (),
    *,
    tolerances: Mapping[str, float] | None = None,
    switches: Sequence[str] | None = None,
) -> ActionSet:
    """Actions from texts such as X1=-2:2, X2=none and, for costs and change costs, X1=5.

    Nodes without a range of their own can be set to -reach and reach. Up to `at_once` of them are
    set in one round, any number if it is 0.
    """
    spans: dict[str, tuple[float, float] | None] = dict.fromkeys(names, (-reach, reach))
    for text in ranges:
        name, value = _split(text, "range", "X1=-2:2, X1=3 or X1=none")
        spans[name] = None if value.lower() == "none" else checked_range(name, value)
    return ActionSet(
        spans,
        names,
        costs=numbers_by_name(costs, "cost", "X1=5 or observe=1"),
        at_once=at_once or None,
        change_costs=numbers_by_name(change_costs, "change cost", "X1=30"),
        tolerances=tolerances,
        switches=switches or (),
    )


def numbers_by_name(texts: Sequence[str], what: str, example: str) -> dict[str, float]:
    """Numbers by name, from texts such as X1=5."""
    found: dict[str, float] = {}
    for text in texts:
        name, value = _split(text, what, example)
        try:
            found[name] = float(value)
        except ValueError:
            raise InvalidInputError(f"The {what} {text!r} is not of the form X1=5.") from None
    return found


def noise_in(texts: Sequence[str]) -> float | dict[str, float] | None:
    """Standard deviations by name, from texts such as yield=3, or one for all; None if none."""
    if len(texts) == 1 and "=" not in texts[0]:
        try:
            return float(texts[0])
        except ValueError:
            raise InvalidInputError(f"The noise {texts[0]!r} must be yield=3, or 3.") from None
    return numbers_by_name(texts, "noise", "yield=3") or None


def model_class(
    bounds: tuple[float | None, float | None, tuple[float, float] | None],
    *,
    matters: Mapping[str, float] | None = None,
    widths: Mapping[str, float] | None = None,
    intercept: bool,
    outcomes: Sequence[str] | None,
    forbidden: Sequence[str] | None,
    required: Sequence[str] | None,
    tiers: Sequence[str] | None,
    acyclic: bool,
) -> ModelClass:
    """What matters and what is known.

    Parameters
    ----------
    bounds : smallest effect, largest effect, range of the noise variances
    matters, widths : in the units of the variables, in the place of the smallest effect
    forbidden : effects that there cannot be, as texts such as flow=heat, the cause first
    required : effects that there are for certain, likewise
    tiers : nodes that no later tier acts on, as texts such as flow,heat
    """
    return ModelClass(
        *bounds,
        intercept,
        matters=matters or None,
        widths=widths or {},
        outcomes=outcomes or (),
        forbidden=pairs_of_effects(forbidden or ()),
        required=pairs_of_effects(required or (), "required effect", "heat=yield"),
        tiers=tiers_of(tiers or ()),
        acyclic=acyclic,
    )


def pairs_of_effects(
    texts: Sequence[str], what: str = "forbidden effect", example: str = "flow=heat"
) -> list[list[str]]:
    """Pairs of a cause and an effect, from texts such as flow=heat."""
    return [list(_split(text, what, example)) for text in texts]


def tiers_of(texts: Sequence[str]) -> list[list[str]]:
    """Groups of names, from texts such as flow,heat."""
    return [[name.strip() for name in text.split(",")] for text in texts]


def about_from(texts: Sequence[str] | None) -> list[str | tuple[str, str] | Total] | None:
    """What is asked, from texts such as yield, heat=yield and total:heat=yield; None for all."""
    found: list[str | tuple[str, str] | Total] = []
    for text in texts or ():
        kind, sign, rest = text.partition(":")
        if sign and kind == "total":
            found.append(total(*_split(rest, "total effect", "total:heat=yield")))
        else:
            is_pair = "=" in text
            found.append(_split(text, "pair", "heat=yield, the cause first") if is_pair else text)
    return found or None


def as_known(drawn: LinearSEM, space: ModelClass) -> LinearSEM:
    """A drawn system made to agree with what is known: without the effects that are known not to
    exist, and those that would close a loop with required ones; a required effect that was not
    drawn has twice the size of the smallest one, or the largest size if that is less.
    """
    names = drawn.names
    if space.known.is_empty:
        return drawn
    space.known.require_no_loop("systems are drawn without feedback; give one with --model")
    needed = space.known.required_in(names)
    size = np.minimum(2.0 * space.smallest(names), space.largest(names))
    added = np.where(needed & (drawn.weights == 0.0), size, drawn.weights)
    weights, reach = np.where(needed, added, 0.0), reach_of(needed)
    for j, k in np.argwhere((drawn.weights != 0.0) & ~needed & space.unknown_effects(names)):
        if not reach[k, j]:
            weights[j, k] = drawn.weights[j, k]
            reach = reach_of(weights != 0.0)
    return LinearSEM(weights, drawn.noise_variances, drawn.intercepts, names)


def checked_range(name: str, text: str) -> tuple[float, float]:
    """Two ends, from a text such as -2:2, or one number for both."""
    ends = text.split(":")
    try:
        low, high = float(ends[0]), float(ends[-1])
    except ValueError:
        low, high = math.nan, math.nan
    if len(ends) > 2 or math.isnan(low) or math.isnan(high):
        raise InvalidInputError(f"The range '{name}={text}' is not of the form X1=-2:2 or X1=none.")
    return low, high


def _split(text: str, what: str, example: str) -> tuple[str, str]:
    name, sign, value = text.rpartition("=")
    if not (sign and name and value):
        raise InvalidInputError(f"The {what} {text!r} must look like {example}.")
    return name, value
