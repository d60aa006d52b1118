"""What can be done in a campaign, as YAML and JSON have it, and back."""

from collections.abc import Mapping
from typing import Any, Final

from causalfocus.errors import InvalidInputError
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import OBSERVE, Action, do

VARIABLE_KEYS: Final = ("range", "cost", "unit", "tolerance", "change_cost")
SET_KEYS: Final = ("set", "cost")


def refuse_unknown(given: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    """Raise if a mapping has a key that means nothing."""
    for key in given:
        if key not in known:
            raise InvalidInputError(f"{what} has no {key!r}. It can have {', '.join(known)}.")


def unit_from(name: str, entry: Any) -> str:
    """The unit of a variable, empty if it has none."""
    unit = entry.get("unit", "") if isinstance(entry, Mapping) else ""
    if not isinstance(unit, str):
        raise InvalidInputError(f"The unit of {name} must be a text, got {unit!r}.")
    return unit


def actions_from(given: Mapping[str, Any]) -> ActionSet:
    """The actions that the keys of a specification speak of."""
    ranges: dict[str, Any] = {}
    tolerances: dict[str, Any] = {}
    change_costs: dict[str, Any] = {}
    for name, entry in given["variables"].items():
        if isinstance(entry, Mapping):
            refuse_unknown(entry, VARIABLE_KEYS, f"The variable {name}")
            if "tolerance" in entry:
                tolerances[name] = entry["tolerance"]
            if "change_cost" in entry:
                change_costs[name] = entry["change_cost"]
        ranges[name] = entry.get("range") if isinstance(entry, Mapping) else entry
    return ActionSet(
        ranges,
        costs=_costs_from(given, ActionSet(ranges)),
        at_once=given.get("at_once", 1),
        tolerances=tolerances,
        change_costs=change_costs,
        switches=given.get("switches", ()),
    )


def _costs_from(given: Mapping[str, Any], singles: ActionSet) -> dict[Action | str, float]:
    """What was said of the costs.

    singles : the actions that set one variable
    """
    costs: dict[Action | str, float] = {}
    if "observe_cost" in given:
        costs[OBSERVE] = given["observe_cost"]
    for name, ends in zip(singles.names, singles.ranges, strict=True):
        entry = given["variables"][name]
        if not isinstance(entry, Mapping) or "cost" not in entry:
            continue
        if ends is None:
            raise InvalidInputError(f"{name} has a cost but no range: it cannot be set.")
        cost = entry["cost"]
        prices = cost if isinstance(cost, list | tuple) and len(cost) == 2 else (cost, cost)
        costs |= {do(name, value): price for value, price in zip(ends, prices, strict=True)}
    several = given.get("set_costs", ())
    if not isinstance(several, list | tuple):
        raise InvalidInputError(
            f"set_costs is a list of sets with their costs, got {several!r}. For example "
            f"[{{set: {{heater: 80, flow: 1}}, cost: 7}}]."
        )
    for entry in several:
        if not isinstance(entry, Mapping) or set(entry) != set(SET_KEYS):
            raise InvalidInputError(
                f"A cost of several variables at once has the keys set and cost, got {entry!r}. "
                f"For example {{set: {{heater: 80, flow: 1}}, cost: 7}}."
            )
        if not isinstance(entry["set"], Mapping):
            raise InvalidInputError(
                f"What is set is a mapping from name to value, got {entry['set']!r}."
            )
        costs[do(entry["set"])] = entry["cost"]
    return costs


def variables_as_dict(actions: ActionSet, units: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Ranges, costs, units and tolerances by name."""
    is_priced = {action.settings[0] for action, _ in actions.prices if len(action.settings) == 1}
    is_plain = actions.at_once < 2  # there a cost of one is as if nothing had been said
    usual = ActionSet(dict(zip(actions.names, actions.ranges, strict=True))).tolerances
    slow = dict(actions.change_costs)
    found: dict[str, dict[str, Any]] = {}
    for j, (name, ends, unit) in enumerate(zip(actions.names, actions.ranges, units, strict=True)):
        entry: dict[str, Any] = {}
        if ends is not None:
            entry["range"] = list(ends)
            if is_plain or any((name, value) in is_priced for value in ends):
                own = [actions.cost_of(do(name, value)) for value in ends]
                entry["cost"] = own if own[0] != own[1] else own[0]
        if unit:
            entry["unit"] = unit
        if actions.tolerances[j] != usual[j]:
            entry["tolerance"] = actions.tolerances[j]
        if name in slow:
            entry["change_cost"] = slow[name]
        found[name] = entry
    return found


def costs_as_dict(actions: ActionSet) -> dict[str, Any]:
    """The cost of observing, and of several at once where they have a price of their own."""
    found: dict[str, Any] = {}
    if actions.at_once < 2 or any(not action.settings for action, _ in actions.prices):
        found["observe_cost"] = actions.cost_of(OBSERVE)
    several = [
        {"set": dict(action.settings), "cost": cost}
        for action, cost in actions.prices
        if len(action.settings) > 1
    ]
    return found | ({"set_costs": several} if several else {})


def switches_as_dict(actions: ActionSet) -> dict[str, Any]:
    """The variables with two states only, where there are some."""
    return {"switches": list(actions.switches)} if actions.switches else {}


def action_facts(action: Action | None) -> dict[str, Any]:
    """An action for JSON: in words, what it sets, and target and value where that is one."""
    if action is None:
        return dict.fromkeys(("action", "settings", "target", "value"))
    name, value = action.settings[0] if len(action.settings) == 1 else (None, None)
    return {
        "action": str(action),
        "settings": dict(action.settings),
        "target": name,
        "value": value,
    }
