"""`causalfocus plan`: how many rounds will I need, before the first one."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from causalfocus.cli.given import action_set, as_known, load_model, model_class
from causalfocus.cli.options import (
    Acyclic,
    AnyRule,
    AsJson,
    AtOnce,
    ChangeCosts,
    Costs,
    Density,
    Forbidden,
    Intercept,
    MaxEffect,
    MinEffect,
    NoiseRange,
    Outcomes,
    Ranges,
    Reach,
    Required,
    RuleName,
    Switches,
    Tiers,
)
from causalfocus.errors import InvalidInputError
from causalfocus.planning.forecast import Forecast, Outlook, drawn_forecasts, mean_share, outlook
from causalfocus.report.pictures import outlook_picture, save
from causalfocus.report.spending import by_words
from causalfocus.system.action_set import ActionSet
from causalfocus.system.drawn import random_sem
from causalfocus.system.names import default_names
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

NEVER = 1

BOUND_UP_TO = 0.4
"""The lower bound is stated for delta below 1/2; larger ones are shown at this."""


def plan(
    model: Annotated[
        Path | None, typer.Option(help="A system as JSON; else plausible systems are drawn.")
    ] = None,
    ranges: Ranges = None,
    costs: Costs = None,
    change_costs: ChangeCosts = None,
    at_once: AtOnce = 1,
    switch: Switches = None,
    rule: AnyRule = RuleName.randomized,
    epsilon: Annotated[
        list[float] | None, typer.Option(help="Accuracy of the weights; may be repeated.")
    ] = None,
    delta: Annotated[
        list[float] | None, typer.Option(help="How often it may be wrong; repeatable.")
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(min=2, help="Number of nodes, where no ranges name them.")
    ] = None,
    reach: Reach = 2.0,
    min_effect: MinEffect = 0.15,
    max_effect: MaxEffect = 1.5,
    noise: NoiseRange = (0.8, 1.2),
    intercept: Intercept = False,
    outcome: Outcomes = None,
    forbid: Forbidden = None,
    require: Required = None,
    tier: Tiers = None,
    acyclic: Acyclic = False,
    density: Density = 0.3,
    systems: Annotated[int, typer.Option(min=1, help="How many systems to draw.")] = 20,
    seed: Annotated[int, typer.Option(help="For the same draws again.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Save a picture to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Foretell the rounds, and the cost, to a certificate, and how they would be spent.

    Exit code 1 if the given system can never be certified with these actions.
    """
    bounds = min_effect, max_effect, noise
    space = model_class(
        bounds,
        intercept=intercept,
        outcomes=outcome,
        forbidden=forbid,
        required=require,
        tiers=tier,
        acyclic=acyclic,
    )
    given = [load_model(model)] if model else []
    names = given[0].names if given else _names(ranges or [], nodes)
    actions = action_set(
        names,
        ranges or [],
        costs or [],
        reach,
        at_once,
        change_costs or [],
        switches=switch,
    )
    drawn = given or _draw(names, density, seed, systems, space)
    epsilons = list(epsilon or (min_effect / 2, min_effect / 4))
    for accuracy in epsilons:
        space.checked_epsilon(accuracy)
    deltas = sorted(delta or (0.1, 0.05, 0.01), reverse=True)
    made = drawn_forecasts(drawn, actions, space, epsilons=epsilons, deltas=deltas, rule=rule.value)
    console = Console()
    watch = len(drawn) > 1 and not as_json and console.is_terminal
    rows = list(track(made, "planning", len(drawn), console=console) if watch else made)
    outlooks = [outlook(group) for group in zip(*rows, strict=True)]
    firsts = [row[0] for row in rows]
    if out is not None:
        save(outlook_picture(outlooks, mean_share(firsts), actions), out)
    if as_json:
        typer.echo(json.dumps(_facts(outlooks, firsts)))
    else:
        _show(console, outlooks, firsts, actions)
        if out is not None:
            console.print(f"Picture: {out}")
    if given and not firsts[0].complexity.is_identifiable:
        raise typer.Exit(NEVER)


def _names(ranges: list[str], nodes: int | None) -> tuple[str, ...]:
    named = tuple(text.partition("=")[0] for text in ranges)
    if nodes is None:
        return named or default_names(6)
    if named and len(set(named)) > nodes:
        raise InvalidInputError(f"There are {len(set(named))} ranges for {nodes} nodes.")
    return default_names(nodes)


def _draw(
    names: tuple[str, ...], density: float, seed: int, n: int, space: ModelClass
) -> list[LinearSEM]:
    found = []
    for i in range(n):
        source = np.random.SeedSequence([len(names), seed, i])
        system = random_sem(len(names), density=density, seed=source, space=space)
        named = LinearSEM(system.weights, system.noise_variances, system.intercepts, names=names)
        found.append(as_known(named, space))
    return found


def _facts(outlooks: list[Outlook], firsts: list[Forecast]) -> dict[str, Any]:
    return {
        "outlooks": [{k: _plain(v) for k, v in asdict(row).items()} for row in outlooks],
        "share_of_rounds": {str(action): part for action, part in mean_share(firsts).items()},
        "systems": [
            {
                "complexity": f.complexity.value,
                "upper": f.complexity.upper,
                "is_exhaustive": f.complexity.is_exhaustive,
                "lower_bound": _lower_bound(f),
                "rivals": [[rival.changes, rival.share] for rival in f.complexity.rivals],
            }
            for f in firsts
        ],
    }


def _lower_bound(forecast: Forecast) -> float | None:
    """It is known for the paper's claim alone; and JSON has no infinity."""
    game = forecast.complexity
    if not game.has_lower_bound:
        return None
    bound: float | None = _plain(game.lower_bound(min(forecast.delta, BOUND_UP_TO)))
    return bound


def _plain(value: Any) -> Any:
    """JSON has no infinity."""
    return None if isinstance(value, float) and math.isinf(value) else value


def _show(
    console: Console, outlooks: list[Outlook], firsts: list[Forecast], actions: ActionSet
) -> None:
    has_costs = bool(actions.prices or actions.change_costs)
    n = outlooks[0].n_systems
    table = Table(title=f"Rounds to a certificate ({n} system{'s' if n > 1 else ''})")
    for heading in ("epsilon", "delta", "rounds", "four runs of five", *["cost"] * has_costs):
        table.add_column(heading, justify="right")
    for row in outlooks:
        table.add_row(
            f"{row.epsilon:g}",
            f"{row.delta:g}",
            _number(row.rounds),
            "" if math.isinf(row.low) else f"{_number(row.low)} to {_number(row.high)}",
            *[_number(row.cost)] * has_costs,
        )
    console.print(table)
    spent = Table(title=f"How the rounds would be spent (epsilon {firsts[0].epsilon:g})")
    costs = {str(action): f"{actions.cost_of(action):g}" for action in mean_share(firsts)}
    has_single_costs = bool(actions.prices) and actions.at_once < 2
    for heading in ("action", "share of rounds", *["cost of one"] * has_single_costs):
        spent.add_column(heading, justify="left" if heading == "action" else "right")
    for words, part in by_words(mean_share(firsts), at_once=actions.at_once).items():
        spent.add_row(words, f"{100 * part:.1f} %", *[costs.get(words, "")] * has_single_costs)
    console.print(spent)
    if len(firsts) == 1 and firsts[0].complexity.is_identifiable:
        _show_game(console, firsts[0])
    hopeless = [f for f in firsts if not f.complexity.is_identifiable]
    if hopeless:
        changes = hopeless[0].complexity.rivals[0].changes
        unset = ", ".join(actions.unsettable) or "nothing"
        console.print(
            f"{len(hopeless)} of {len(firsts)} systems can never be certified: under every action "
            f"some other system looks the same, for example {changes}. Not settable: {unset}. "
            f"Make one of the nodes at an ambiguous edge settable.",
            style="bold red",
        )


def _show_game(console: Console, forecast: Forecast) -> None:
    game = forecast.complexity
    delta = min(forecast.delta, BOUND_UP_TO)
    console.print(
        f"C_epsilon is between {game.value:.4g} and {game.upper:.4g} nats per unit of cost (1 per "
        f"round if none is given): for small delta the rounds come to "
        f"{_number(game.first_order(delta))}."
    )
    if not game.is_exhaustive:
        console.print(
            "There are too many sets of variables to try them all: the upper bound holds over "
            "those that a search found, and no lower bound on the rounds is proven."
        )
    if game.has_lower_bound:
        console.print(
            f"No valid rule needs less than {_number(game.lower_bound(delta))} on average at "
            f"delta = {delta:g}."
        )
    rivals = Table(title="What is hardest to rule out", min_width=32)
    rivals.add_column("another system")
    rivals.add_column("share", justify="right")
    for rival in game.rivals[:8]:
        rivals.add_row(rival.changes, f"{100 * rival.share:.0f} %")
    console.print(rivals)


def _number(value: float) -> str:
    return "never" if math.isinf(value) else f"{value:,.0f}"
