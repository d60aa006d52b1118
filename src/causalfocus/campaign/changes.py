"""What may change in a campaign after it has begun: a wider range, one more variable, a seed.

The specification in the file stays as it is; an event says what is different from then on, and all
that was recorded is learned again under what holds now.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from causalfocus.campaign.events import Event
from causalfocus.campaign.specification import Specification
from causalfocus.errors import InvalidInputError
from causalfocus.system.action_set import ActionSet
from causalfocus.system.names import position
from causalfocus.system.widening import begun_with


def apply_change(specification: Specification, event: Event) -> Specification:
    """The specification after an event that changes it."""
    given, facts = specification.to_dict(), event.facts or {}
    match event.kind:
        case "seeded":
            given |= {"seed": facts["seed"], "ends": facts["ends"]}
        case "widened":
            _widen(given, facts["variable"], facts["range"], specification.actions)
        case "added":
            given["variables"][facts["variable"]] = facts["entry"]
            if facts.get("outcome"):
                given["outcomes"] = [*given.get("outcomes", ()), facts["variable"]]
            if facts.get("switch"):
                given["switches"] = [*given.get("switches", ()), facts["variable"]]
    found = Specification.from_dict(given)
    return replace(found, actions=begun_with(found.actions, specification.actions))


def _widen(given: dict[str, Any], name: str, ends: list[float], actions: ActionSet) -> None:
    """Put a wider range into a specification; what was said of an end now holds for the new one.

    A tenth of the new width is tolerated from now on, unless a tolerance was given. Which rounds of
    the past count was written down with them, and is not decided anew.
    """
    entry, before = given["variables"][name], actions.ranges[position(name, actions.names)]
    entry["range"] = ends
    if before is None:
        return
    for several in given.get("set_costs", ()):
        if name in several["set"]:
            several["set"][name] = ends[before.index(several["set"][name])]


def widened_facts(specification: Specification, name: str, low: float, high: float) -> Any:
    """What an event says of a wider range; raises if it is not one."""
    before = specification.actions.ranges[position(name, specification.names)]
    try:
        low, high = float(low) + 0.0, float(high) + 0.0
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"The ends of a range are numbers, got {low!r} and {high!r}."
        ) from None
    if before is not None and not (low <= before[0] and before[1] <= high):
        raise InvalidInputError(
            f"The range of {name} is {before[0]:g} to {before[1]:g}, and {low:g} to {high:g} does "
            f"not hold all of it. A range can be widened, not narrowed: what was done is done."
        )
    if before == (low, high):
        raise InvalidInputError(f"The range of {name} is {low:g} to {high:g} already.")
    return {"variable": name, "range": [low, high]}


def added_facts(
    specification: Specification,
    name: str,
    entry: Mapping[str, Any],
    *,
    is_outcome: bool = False,
    is_switch: bool = False,
) -> Any:
    """What an event says of one more variable.

    entry : its range, unit, cost and tolerance, as in a specification's file; empty if it cannot be
        set
    is_outcome : whether it is known to drive nothing
    is_switch : whether it has two states, the ends of its range
    """
    if name in specification.names:
        raise InvalidInputError(f"There is a variable {name!r} already.")
    specification.require_free_names([name])
    if not isinstance(specification.space.min_effect, float):
        raise InvalidInputError(
            f"{name} cannot be added: what matters is said for each variable or pair here, and was "
            f"fixed before the first round. Begin a new campaign with it, and import this one's "
            f"rounds."
        )
    if not isinstance(entry, Mapping):
        raise InvalidInputError(
            f"A variable is added with a mapping such as {{'range': [0, 1]}}, got {entry!r}."
        )
    try:
        plain = json.loads(json.dumps(dict(entry), allow_nan=False))
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"What is said of {name} must be plain numbers and texts, got {dict(entry)!r}."
        ) from None
    marks = {"outcome": is_outcome, "switch": is_switch}
    return {"variable": name, "entry": plain, **{mark: True for mark in marks if marks[mark]}}
