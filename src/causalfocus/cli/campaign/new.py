"""`causalfocus campaign new`."""

import json
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from causalfocus.campaign import Campaign, CampaignError, Specification
from causalfocus.cli.campaign.interview import interview
from causalfocus.cli.campaign.options import File, pairs_in
from causalfocus.cli.given import (
    checked_range,
    noise_in,
    numbers_by_name,
    pairs_of_effects,
    tiers_of,
)
from causalfocus.cli.interview import is_at_terminal
from causalfocus.cli.options import (
    Acyclic,
    AsJson,
    ChangeCosts,
    Costs,
    Forbidden,
    GivenNoiseRange,
    LargestEffect,
    Matters,
    Noise,
    Outcomes,
    Required,
    SmallestEffect,
    Switches,
    Tiers,
    Widths,
)
from causalfocus.errors import CausalFocusError, InvalidInputError
from causalfocus.planning.draws import Noise as NoiseSizes
from causalfocus.planning.plan import Plan, number_in_words, plan
from causalfocus.system.sizes import GRAPH
from causalfocus.system.words import number_in

MOST_FORETOLD: Final = 8
"""Variables up to which a forecast is made here; with more it takes a while."""

N_FORETOLD: Final = 5
"""Systems that it is made for."""


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
    matters: Matters = None,
    widths: Widths = None,
    noise: Noise = None,
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
    min_effect: SmallestEffect = None,
    epsilon: Annotated[
        str | None,
        typer.Option(help="Accuracy of the weights, by default half of what matters; or graph."),
    ] = None,
    delta: Annotated[float | None, typer.Option(help="How often it may be wrong.")] = None,
    rule: Annotated[
        str | None, typer.Option(help="randomized, gaussian, or class with bounds to believe in.")
    ] = None,
    max_effect: LargestEffect = None,
    noise_variance: GivenNoiseRange = None,
    outcome: Outcomes = None,
    forbid: Forbidden = None,
    require: Required = None,
    tier: Tiers = None,
    acyclic: Acyclic = False,
    intercept: Annotated[bool, typer.Option(help="Whether equations have constants.")] = True,
    title: Annotated[str | None, typer.Option(help="What it is about.")] = None,
    as_json: AsJson = False,
) -> None:
    """Begin a campaign in a new file; what is missing is asked for, if someone is there.

    --noise is for the forecast alone.
    """
    if file.exists():
        raise CampaignError(
            f"{file} exists already and is left as it is. Choose another name, or open it with "
            f"`causalfocus campaign status`."
        )
    by_variable = {
        "cost": costs,
        "change_cost": change_costs,
        "tolerance": tolerance,
    }
    said = {
        "title": title,
        "matters": numbers_by_name(matters or [], "change", "yield=8") or None,
        "widths": numbers_by_name(widths or [], "width", "level=3") or None,
        "at_once": at_once,
        "switches": switch,
        "seed": seed,
        "min_effect": min_effect,
        "epsilon": None if epsilon is None else _accuracy(epsilon),
        "delta": delta,
        "rule": rule,
        "max_effect": max_effect,
        "noise_variance": None if noise_variance is None else list(noise_variance),
        "outcomes": outcome,
        "forbidden": pairs_of_effects(forbid or []) or None,
        "required": pairs_of_effects(require or [], "required effect", "heat=yield") or None,
        "tiers": tiers_of(tier or []) or None,
        "acyclic": acyclic or None,
        "intercept": None if intercept else False,
    }
    given: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
    variables = _variables(variable or [], unit or [], by_variable, given)
    if variables:
        given["variables"] = variables
    if spec is not None:
        if given or noise or unit or any(by_variable.values()):
            raise InvalidInputError("Give a specification's file or flags, not both.")
        _make(file, Specification.read(spec), None, as_json=as_json, confirm=False)
        return
    sizes: NoiseSizes | None = noise_in(noise or [])
    is_asked = False
    if _is_incomplete(given) or _leaves_some_out(given):
        is_asked = is_at_terminal() and not as_json
        if is_asked:
            given, sizes = interview(given, sizes)
        elif _is_incomplete(given):
            _refuse_incomplete(given)
    if given.get("at_once") == 0:
        given["at_once"] = None
    chosen = _specification_of(given, is_asked=is_asked)
    _make(file, chosen, sizes, as_json=as_json, confirm=is_asked)


def _specification_of(given: dict[str, Any], *, is_asked: bool) -> Specification:
    """The specification; if it cannot be, answers are shown, so that nobody has to type them again.

    is_asked : whether there are answers
    """
    try:
        return Specification.from_dict(given)
    except InvalidInputError:
        if is_asked:
            typer.echo("This cannot be. What was said, to be put right in a .json file for --spec:")
            typer.echo(json.dumps(given, indent=1, ensure_ascii=False))
        raise


def _make(
    file: Path,
    chosen: Specification,
    noise: NoiseSizes | None,
    *,
    as_json: bool,
    confirm: bool,
) -> None:
    """Show what was understood and what is foretold, and make the file.

    confirm : whether somebody is asked first
    """
    if confirm or (noise is not None and not as_json):
        _show(Console(), chosen, noise)
    if confirm and not typer.confirm(f"Make the campaign {file}", default=True):
        typer.echo("Nothing was made.")
        raise typer.Exit(1)
    with Campaign.create(file, chosen):
        pass
    if as_json:
        typer.echo(json.dumps({"file": str(file), "specification": chosen.to_dict()}))
        return
    for doubt in chosen.doubts():
        typer.secho(doubt, fg="yellow", err=True)
    typer.echo(f"{file} is ready, for {len(chosen.names)} variables: {', '.join(chosen.names)}.")
    typer.echo(f"What to do first: causalfocus campaign next {file}")


def _show(console: Console, chosen: Specification, noise: NoiseSizes | None) -> None:
    table = Table(title=escape(chosen.title) or None)
    headings = ("variable", "can be set", "worth knowing", "drives others", "cost")
    for heading in headings:
        table.add_column(heading)
    entries = chosen.to_dict()["variables"]
    matters, actions = dict(chosen.space.matters or ()), chosen.actions
    for name, ends, unit in zip(chosen.names, actions.ranges, chosen.units, strict=True):
        joined = " or " if name in actions.switches else " to "
        said = f"a change of {matters[name]:g}" if name in matters else "by min_effect"
        table.add_row(
            escape(f"{name} ({unit})" if unit else name),
            "no" if ends is None else joined.join(f"{end:g}" for end in ends),
            said,
            "no" if name in chosen.space.outcomes else "perhaps",
            str(entries[name].get("cost", "")),
        )
    console.print(table)
    console.print(
        f"Up to {max(actions.at_once, 1)} set in one round; rule {chosen.rule}; wrong with "
        f"probability {chosen.delta:g} at most; seed {chosen.seed}.",
        highlight=False,
    )
    console.print(_forecast_in_words(chosen, noise), highlight=False)


def _forecast_in_words(chosen: Specification, noise: NoiseSizes | None) -> str:
    """How many rounds it will take, or why that is not said."""
    if noise is None and chosen.space.noise_variance is None:
        return (
            "There is no forecast, since nobody said how much noise there is: `causalfocus plan` "
            "foretells the rounds for any."
        )
    if len(chosen.names) > MOST_FORETOLD:
        return (
            f"There is no forecast here: with {len(chosen.names)} variables it takes a while. "
            f"`causalfocus plan` makes one."
        )
    try:
        made = _foretold(chosen, noise)
    except CausalFocusError as error:
        return f"There is no forecast: {error}"
    row = made.outlooks[0]
    if row.n_hopeless:
        return f"{row.n_hopeless} of {row.n_systems} plausible systems can never be certified."
    cost = "" if row.cost == row.rounds else f", at a cost of {number_in_words(row.cost)}"
    span = f"{number_in_words(row.low)} to {number_in_words(row.high)} in four runs of five"
    rounds = f"Foretold: about {number_in_words(row.rounds)} rounds{cost} ({span})."
    return " ".join([rounds, *made.assumed])


def _foretold(chosen: Specification, noise: NoiseSizes | None) -> Plan:
    return plan(
        chosen.actions,
        chosen.space,
        noise=noise,
        epsilon=chosen.epsilon,
        delta=chosen.delta,
        rule=chosen.rule,
        n_systems=N_FORETOLD,
    )


def _is_incomplete(given: dict[str, Any]) -> bool:
    """Whether there is something that only a person can say."""
    return "variables" not in given or not ("matters" in given or "min_effect" in given)


def _leaves_some_out(given: dict[str, Any]) -> bool:
    """Whether it is said of some variables what matters, and not of others."""
    matters = given.get("matters", {})
    return "min_effect" not in given and any(name not in matters for name in given["variables"])


def _refuse_incomplete(given: dict[str, Any]) -> None:
    if "variables" not in given:
        raise InvalidInputError(
            "Give the variables, for example --variable heater=20:80 --variable yield=none, or "
            "a file with --spec."
        )
    flags = " ".join(f"--matters {name}=..." for name in given["variables"])
    raise InvalidInputError(
        f"Say which change of each variable is worth knowing: {flags}. Or give --min-effect: the "
        f"smallest effect that matters, in units of the effect per unit of its cause."
    )


def _variables(
    variables: list[str],
    units: list[str],
    more: dict[str, list[str] | None],
    given: dict[str, Any],
) -> dict[str, dict[str, Any]]:
    """The variables as a specification has them; a cost of observing goes where it belongs."""
    pairs = [_variable(text) for text in variables]
    names = [name for name, _ in pairs]
    if not _is_incomplete(given | {"variables": names}):
        _refuse_doubles(names)
    found: dict[str, dict[str, Any]] = {
        name: {} if ends.lower() == "none" else {"range": list(checked_range(name, ends))}
        for name, ends in pairs
    }
    for name, unit in (_pair(text) for text in units):
        _require_variable(name, found, "unit")
        found[name]["unit"] = unit
    for key, texts in more.items():
        said = (
            {name: number_in(text, name) for name, text in pairs_in(texts or [])}
            if key == "tolerance"
            else numbers_by_name(texts or [], key.replace("_", " "), "heater=5")
        )
        for name, value in said.items():
            if key == "cost" and name == "observe":
                given["observe_cost"] = value
                continue
            _require_variable(name, found, key.replace("_", " "))
            found[name][key] = value
    return found


def _require_variable(name: str, known: dict[str, Any], what: str) -> None:
    if name not in known:
        raise InvalidInputError(f"There is no variable {name!r} for a {what}.")


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


def _accuracy(text: str) -> float | str:
    if text.strip().lower() == GRAPH:
        return GRAPH
    try:
        return float(text)
    except ValueError:
        raise InvalidInputError(
            f"epsilon is a number, or graph for the graph alone, got {text!r}. Leave it out for "
            f"half of what matters."
        ) from None


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (sign and name):
        raise InvalidInputError(f"The unit {text!r} must look like heater=°C.")
    return name.strip(), value.strip()
