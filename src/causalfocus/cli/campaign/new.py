"""`causalfocus campaign new`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from causalfocus.campaign import Campaign, CampaignError, Specification
from causalfocus.campaign.samples import number_in
from causalfocus.cli.campaign.options import File, is_at_terminal, pairs_in
from causalfocus.cli.given import action_set, model_class
from causalfocus.cli.options import (
    Acyclic,
    AsJson,
    ChangeCosts,
    Costs,
    Forbidden,
    Outcomes,
    Required,
    Switches,
    Tiers,
)
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees import DEFAULT_RULE


def new(
    file: File,
    spec: Annotated[
        Path | None, typer.Option(help="A YAML or JSON file that says everything.")
    ] = None,
    variable: Annotated[
        list[str] | None,
        typer.Option(help="heater=20:80, or yield=none if it cannot be set; repeatable."),
    ] = None,
    unit: Annotated[list[str] | None, typer.Option(help="heater=°C; repeatable.")] = None,
    costs: Costs = None,
    change_costs: ChangeCosts = None,
    at_once: Annotated[
        int | None, typer.Option(min=0, help="Variables set in one round; 0 for any number.")
    ] = None,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(help="heater=2: how far a setting may miss; repeatable."),
    ] = None,
    switch: Switches = None,
    seed: Annotated[int | None, typer.Option(help="Of the coins; drawn if there is none.")] = None,
    min_effect: Annotated[
        float | None, typer.Option(help="The smallest effect that matters.")
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(help="Accuracy of the weights, by default half of that; or none."),
    ] = None,
    delta: Annotated[float | None, typer.Option(help="How often it may be wrong.")] = None,
    rule: Annotated[
        str | None, typer.Option(help="randomized, gaussian, or class with bounds to believe in.")
    ] = None,
    max_effect: Annotated[float | None, typer.Option(help="For the class rule.")] = None,
    noise: Annotated[
        tuple[float, float] | None, typer.Option(help="Range of noise variances, likewise.")
    ] = None,
    outcome: Outcomes = None,
    forbid: Forbidden = None,
    require: Required = None,
    tier: Tiers = None,
    acyclic: Acyclic = False,
    intercept: Annotated[bool, typer.Option(help="Whether equations have constants.")] = True,
    title: Annotated[str | None, typer.Option(help="What it is about.")] = None,
    as_json: AsJson = False,
) -> None:
    """Begin a campaign in a new file; what is missing is asked for, if someone is there."""
    if file.exists():
        raise CampaignError(
            f"{file} exists already and is left as it is. Choose another name, or open it with "
            f"`causalfocus campaign status`."
        )
    if spec is not None:
        flags = (variable, unit, costs, min_effect, epsilon, delta, rule, max_effect, noise)
        more = (change_costs, at_once, tolerance, switch, seed, title)
        known = (outcome, forbid, require, tier)
        if any(given is not None for given in (*flags, *more, *known)) or not intercept or acyclic:
            raise InvalidInputError("Give a specification's file or flags, not both.")
        chosen = Specification.read(spec)
    else:
        ask = is_at_terminal() and not as_json
        title = title if title is not None else _ask_for(ask, "What is it about", "")
        variables = variable or (_asked_variables() if ask else [])
        if not variables:
            raise InvalidInputError(
                "Give the variables, for example --variable heater=20:80 --variable yield=none, or "
                "a file with --spec."
            )
        smallest = min_effect if min_effect is not None else _number(ask, "min-effect", SMALLEST)
        accuracy = epsilon if epsilon is not None else _ask_for(ask, ACCURACY, f"{smallest / 2:g}")
        pairs = [_variable(text) for text in variables]
        names = [name for name, _ in pairs]
        _refuse_doubles(names)
        if ask:
            at_once = _asked_at_once(pairs, at_once)
            outcome, rule = _asked_outcomes(pairs, (outcome, rule), knows_more=bool(forbid or tier))
            switch = _asked_switches(pairs, switch, rule)
        units = _units_of(unit or [], names)
        ranges = [f"{name}={ends}" for name, ends in pairs]
        tolerances = {name: number_in(text, name) for name, text in pairs_in(tolerance or [])}
        chosen = Specification(
            title=title,
            actions=action_set(
                names,
                ranges,
                costs or [],
                1.0,
                1 if at_once is None else at_once,
                change_costs or [],
                tolerances=tolerances,
                switches=switch,
            ),
            units=tuple(units.get(name, "") for name in names),
            space=model_class(
                (smallest, max_effect, noise),
                intercept=intercept,
                outcomes=outcome,
                forbidden=forbid,
                required=require,
                tiers=tier,
                acyclic=acyclic,
            ),
            epsilon=_accuracy(accuracy),
            delta=delta if delta is not None else 0.05,
            rule=rule or DEFAULT_RULE,
            seed=seed,
        )
    with Campaign.create(file, chosen):
        pass
    facts: dict[str, Any] = {"file": str(file), "specification": chosen.to_dict()}
    if as_json:
        typer.echo(json.dumps(facts))
        return
    for doubt in chosen.doubts():
        typer.secho(doubt, fg="yellow", err=True)
    typer.echo(f"{file} is ready, for {len(chosen.names)} variables: {', '.join(chosen.names)}.")
    typer.echo(f"What to do first: causalfocus campaign next {file}")


SMALLEST = "The smallest effect that matters (units of effect per unit of cause)"
AT_ONCE = "How many may be set in one round, 0 for any number; with more it takes fewer rounds"
SWITCHES = "Variables with two states only, such as switches (names, with commas, or none)"
ACCURACY = "Accuracy of the weights, at most half of that; none for the graph alone"


def _ask_for(ask: bool, what: str, default: str) -> str:
    return str(typer.prompt(what, default=default, show_default=bool(default))) if ask else default


def _number(ask: bool, flag: str, what: str) -> float:
    if not ask:
        raise InvalidInputError(f"Give --{flag}: {what[0].lower()}{what[1:]}.")
    return float(typer.prompt(what, type=float))


def _asked_variables() -> list[str]:
    typer.echo("The variables, one at a time; an empty name ends the list.")
    found: list[str] = []
    while True:
        name = typer.prompt("Name", default="", show_default=False).strip()
        if not name:
            return found
        ends = typer.prompt(
            f"Values that {name} can be set to, as low:high, or none", default="none"
        ).strip()
        found.append(f"{name}={ends}")


def _asked_at_once(pairs: list[tuple[str, str]], given: int | None) -> int | None:
    """How many variables may be set at once, if there is a choice and nobody said."""
    if given is not None or len(pairs) - len(_stuck(pairs)) < 2:
        return given
    return int(typer.prompt(AT_ONCE, default=1, type=int))


def _asked_outcomes(
    pairs: list[tuple[str, str]],
    given: tuple[list[str] | None, str | None],
    *,
    knows_more: bool,
) -> tuple[list[str] | None, str | None]:
    """Which of the variables that cannot be set drive nothing, and the rule.

    There is no answer by default, since the certificate rests on it.

    given : outcomes and rule, as far as they were said
    knows_more : whether effects were named that there cannot be, so that nobody needs to be asked
    """
    outcome, rule = given
    if outcome is not None or knows_more or rule not in (None, "randomized"):
        return given
    words = "{} cannot be set. Is it an outcome, something that drives none of the others"
    stuck = _stuck(pairs)
    found = [name for name in stuck if typer.confirm(words.format(name), default=None)]
    others = [name for name in stuck if name not in found]
    if rule is not None or not others:
        return found, rule
    typer.echo(
        f"Then no coin can tell what acts through {' or '.join(others)} from what acts directly. "
        f"The gaussian rule can do without, and assumes more: Gaussian noise, no hidden common "
        f"causes and no feedback."
    )
    return found, "gaussian" if typer.confirm("Take the gaussian rule", default=None) else None


def _asked_switches(
    pairs: list[tuple[str, str]], given: list[str] | None, rule: str | None
) -> list[str] | None:
    """The variables without anything between the ends of their range, if nobody said and the rule
    sets variables to the middle.
    """
    if given is not None or rule not in (None, "randomized") or len(_stuck(pairs)) == len(pairs):
        return given
    text = str(typer.prompt(SWITCHES, default="none"))
    found = [name.strip() for name in text.split(",")]
    return [name for name in found if name not in ("", "none")]


def _stuck(pairs: list[tuple[str, str]]) -> list[str]:
    """The variables that cannot be set."""
    return [name for name, ends in pairs if ends.lower() == "none"]


def _variable(text: str) -> tuple[str, str]:
    """A name and the values that it can be set to."""
    name, sign, ends = text.rpartition("=")
    if not (sign and name.strip() and ends.strip()):
        raise InvalidInputError(f"The variable {text!r} must look like heater=20:80 or yield=none.")
    return name.strip(), "".join(ends.split())


def _refuse_doubles(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InvalidInputError(f"The variable {name!r} is given more than once.")


def _units_of(texts: list[str], names: list[str]) -> dict[str, str]:
    """Units by name."""
    units = dict(_pair(text) for text in texts)
    for name in units:
        if name not in names:
            raise InvalidInputError(f"There is no variable {name!r} for a unit.")
    return units


def _accuracy(text: str) -> float | None:
    if text.strip().lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise InvalidInputError(f"epsilon is a number or none, got {text!r}.") from None


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (sign and name):
        raise InvalidInputError(f"The unit {text!r} must look like heater=°C.")
    return name.strip(), value.strip()
