"""The questions of `causalfocus campaign new`, one at a time; the answers are a specification as
YAML has it, so what nobody says is the same everywhere.
"""

from collections.abc import Mapping
from typing import Any, Final

import typer

from causalfocus.campaign.specification import require_free_name
from causalfocus.cli.given import checked_range
from causalfocus.cli.interview import (
    MATTERS,
    NOISE,
    WIDTH,
    ask,
    asked_for_each,
    positive_in,
    share_in,
    whole_in,
)
from causalfocus.errors import InvalidInputError
from causalfocus.planning.draws import Noise
from causalfocus.system.action_set import ActionSet

Given = dict[str, Any]

RANGE: Final = (
    "Values that {} can be set to, as low:high; low/high if there is nothing between them, as with "
    "a switch; none if it cannot be set"
)
COST: Final = "Cost of a round that sets {}, in money or hours; empty if all cost the same"
OUTCOME: Final = "{} cannot be set. Is it an outcome, something that drives none of the others"
KNOWS_NOISE: Final = "Do you know about how much noise there is? It is for the forecast alone"
AT_ONCE: Final = (
    "How many may be set in one round, 0 for any number; with more it takes fewer rounds"
)


def interview(given: Given, noise: Noise | None) -> tuple[Given, Noise | None]:
    """Ask for what is missing: the specification, and how much noise there is, if that is known.

    given, noise : what was said already
    """
    found = dict(given)
    if "variables" not in found:
        found.setdefault("title", ask("What is it about", str, default=""))
        _ask_variables(found)
    elif _says_by_name(found):
        names = found["variables"]
        found["matters"] = asked_for_each(names, MATTERS, found.get("matters", {}))
    _ask_of_stuck(found)
    settable = [name for name, entry in found["variables"].items() if "range" in entry]
    if "at_once" not in found and len(settable) > 1:
        found["at_once"] = ask(AT_ONCE, whole_in, default="1") or None
    is_said = noise is not None or "noise_variance" in found
    if not is_said and typer.confirm(KNOWS_NOISE, default=False):
        noise = asked_for_each(found["variables"], NOISE, {})
    if "delta" not in found:
        found["delta"] = ask("How often may the result be wrong", share_in, default="0.05")
    if "seed" not in found:
        seed = ask("Seed of the coins; empty to draw one", _seed_in, default="")
        found |= {} if seed is None else {"seed": seed}
    return found, noise


def _says_by_name(found: Mapping[str, Any]) -> bool:
    """Whether what matters is said for each variable."""
    return "min_effect" not in found


def _ask_variables(found: Given) -> None:
    typer.echo("The variables, one at a time; an empty name ends the list.")
    variables: dict[str, dict[str, Any]] = {}
    matters, switches = dict[str, float](), list[str]()
    while name := ask("Name", lambda text: _name_in(text, variables), default=""):
        entry: dict[str, Any] = {}
        unit = ask(f"Unit of {name}; empty if it has none", str, default="")
        entry |= {"unit": unit} if unit else {}
        span, is_switch = ask(RANGE.format(name), lambda text: _range_in(name, text))
        if span is not None:
            entry["range"] = list(span)
        if is_switch:
            switches.append(name)
        if _says_by_name(found):
            matters[name] = ask(MATTERS.format(name), positive_in)
        if span is not None:
            cost = ask(COST.format(name), _cost_in, default="")
            entry |= {} if cost is None else {"cost": cost}
        variables[name] = entry
    found["variables"] = variables
    if matters:
        found["matters"] = matters
    if switches:
        found["switches"] = [*found.get("switches", []), *switches]


def _ask_of_stuck(found: Given) -> None:
    """Which of the variables that cannot be set drive nothing, and the rule.

    There is no answer by default, since the certificate rests on it.
    """
    stuck = [name for name, entry in found["variables"].items() if "range" not in entry]
    if (
        "outcomes" in found
        or "forbidden" in found
        or "tiers" in found
        or found.get("rule", "randomized") != "randomized"
    ):
        others = [name for name in stuck if name not in found.get("outcomes", [])]
        _ask_widths(found, others)
        return
    while stuck:
        found["outcomes"] = [n for n in stuck if typer.confirm(OUTCOME.format(n), default=None)]
        others = [name for name in stuck if name not in found["outcomes"]]
        if "rule" not in found and others:
            typer.echo(
                f"Then no coin can tell what acts through {' or '.join(others)} from what acts "
                f"directly. The gaussian rule can do without, and assumes more: Gaussian noise, no "
                f"hidden common causes and no feedback."
            )
            if not typer.confirm("Take the gaussian rule", default=None):
                typer.echo("Then it has to be known of each that it drives none of the others.")
                continue
            found["rule"] = "gaussian"
        _ask_widths(found, others)
        return


def _ask_widths(found: Given, names: list[str]) -> None:
    """How far variables move that cannot be set and may drive others."""
    if names and _says_by_name(found):
        found["widths"] = asked_for_each(names, WIDTH, found.get("widths", {}))


def _name_in(text: str, known: Mapping[str, Any]) -> str:
    if not text and not known:
        raise InvalidInputError("At least one variable is needed: give its name")
    if text in known:
        raise InvalidInputError(f"There is a variable {text!r} already. Choose another name")
    if not text.isprintable():
        raise InvalidInputError(f"The name {text!r} cannot be printed")
    require_free_name(text)
    return text


def _range_in(name: str, text: str) -> tuple[tuple[float, float] | None, bool]:
    """The range of a variable, and whether there is nothing between its ends."""
    if text.lower() == "none":
        return None, False
    is_switch = "/" in text
    span = checked_range(name, "".join(text.replace("/", ":").split()))
    ActionSet({name: span}, switches=[name] if is_switch else [])
    return span, is_switch


def _cost_in(text: str) -> float | None:
    return positive_in(text) if text else None


def _seed_in(text: str) -> int | None:
    return whole_in(text) if text else None
