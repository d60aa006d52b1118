"""`causalfocus plan`: how many rounds will I need, before the first one."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.progress import Progress

from causalfocus.cli.given import (
    action_set,
    load_model,
    model_class,
    noise_in,
    numbers_by_name,
)
from causalfocus.cli.interview import MATTERS, NOISE, WIDTH, asked_for_each, is_at_terminal
from causalfocus.cli.options import (
    Acyclic,
    AnyRule,
    AsJson,
    AtOnce,
    ChangeCosts,
    Costs,
    Density,
    Forbidden,
    GivenNoiseRange,
    Intercept,
    LargestEffect,
    Matters,
    Noise,
    Outcomes,
    Ranges,
    Reach,
    Required,
    RuleName,
    SmallestEffect,
    Switches,
    Tiers,
    Widths,
)
from causalfocus.cli.plan_tables import BOUND_UP_TO, show_plan
from causalfocus.errors import InvalidInputError
from causalfocus.planning.complexity import Complexity
from causalfocus.planning.plan import N_SYSTEMS, Plan
from causalfocus.planning.plan import plan as make_plan
from causalfocus.report.pictures import outlook_picture, save
from causalfocus.system.action_set import ActionSet
from causalfocus.system.names import default_names
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

NEVER = 1


PAPER: Final = (0.15, 1.5, (0.8, 1.2))
"""Smallest and largest effect and noise variances of the paper's class, for nodes without names."""

UNNAMED: Final = 6
"""Nodes of the paper's kind if nobody says how many."""


def plan(
    model: Annotated[
        Path | None, typer.Option(help="A system as JSON; else plausible systems are drawn.")
    ] = None,
    ranges: Ranges = None,
    matters: Matters = None,
    widths: Widths = None,
    noise: Noise = None,
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
        int | None, typer.Option(min=2, help="Nodes of the paper's kind, where none are named.")
    ] = None,
    reach: Reach = 2.0,
    min_effect: SmallestEffect = None,
    max_effect: LargestEffect = None,
    noise_variance: GivenNoiseRange = None,
    intercept: Intercept = False,
    outcome: Outcomes = None,
    forbid: Forbidden = None,
    require: Required = None,
    tier: Tiers = None,
    acyclic: Acyclic = False,
    density: Density = 0.3,
    systems: Annotated[int, typer.Option(min=1, help="How many systems to draw.")] = N_SYSTEMS,
    seed: Annotated[int, typer.Option(help="For the same draws again.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Save a picture to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Foretell the rounds, and the cost, to a certificate, and how they would be spent.

    Of your own variables, named by --range, say what matters and how much noise there is; what is
    missing is asked for at a terminal. Without names the system is one of the paper's kind.
    Exit code 1 if the given system can never be certified with these actions.
    """
    given = load_model(model) if model else None
    names = given.names if given else _names(ranges or [], nodes)
    actions = action_set(
        names,
        ranges or [],
        costs or [],
        reach,
        at_once,
        change_costs or [],
        switches=switch,
    )
    own = Said(
        matters=numbers_by_name(matters or [], "change", "yield=8"),
        widths=numbers_by_name(widths or [], "width", "level=3"),
        noise=noise_in(noise or []),
        bounds=(min_effect, max_effect, noise_variance),
    )
    if given is None and ranges and nodes is None:
        own = own.complete(actions, outcome or [], may_ask=is_at_terminal() and not as_json)
    else:
        own = own.with_paper()
    space = model_class(
        own.bounds,
        matters=own.matters,
        widths=own.widths,
        intercept=intercept,
        outcomes=outcome,
        forbidden=forbid,
        required=require,
        tiers=tier,
        acyclic=acyclic,
    )
    made = _run_plan(
        given,
        (actions, space),
        own.noise,
        epsilons=epsilon or _epsilons(space),
        deltas=sorted(delta or (0.1, 0.05, 0.01), reverse=True),
        drawn=(density, systems, seed),
        rule=rule.value,
        watch=not as_json,
    )
    if out is not None:
        save(outlook_picture(made.outlooks, made.share, actions), out)
    if as_json:
        typer.echo(json.dumps(_facts(made)))
    else:
        show_plan(Console(), made, out)
    if given and made.n_hopeless:
        raise typer.Exit(NEVER)


@dataclass(frozen=True, kw_only=True)
class Said:
    """What was said of effects and noise.

    Attributes
    ----------
    matters, widths : in the units of the variables
    noise : standard deviations
    bounds : smallest effect, largest effect, range of the noise variances
    """

    matters: dict[str, float]
    widths: dict[str, float]
    noise: float | dict[str, float] | None
    bounds: tuple[float | None, float | None, tuple[float, float] | None]

    def with_paper(self) -> "Said":
        """With the paper's class in the place of what was not said."""
        low, high, variances = self.bounds
        if self.matters:
            return self
        if self.noise is None:
            variances = variances or PAPER[2]
        return replace(self, bounds=(low or PAPER[0], high or PAPER[1], variances))

    def complete(self, actions: ActionSet, outcomes: Sequence[str], *, may_ask: bool) -> "Said":
        """With what is missing asked for; if nobody can be asked, an error that says how to say it.

        may_ask : whether there is a person
        """
        names, found = actions.names, self
        lacks_matters = [] if self.bounds[0] is not None else _missing_names(names, self.matters)
        stuck = [name for name in actions.unsettable if name not in outcomes]
        lacks_width = [] if self.bounds[0] is not None else _missing_names(stuck, self.widths)
        lacks_noise = [] if self.bounds[2] is not None else _missing_names(names, self.noise)
        if not may_ask:
            _refuse_lacking(lacks_matters, lacks_noise)
            return self
        if lacks_matters or lacks_width:
            found = replace(
                found,
                matters=asked_for_each(names, MATTERS, self.matters),
                widths=asked_for_each(stuck, WIDTH, self.widths),
            )
        if lacks_noise:
            known = self.noise if isinstance(self.noise, dict) else {}
            found = replace(found, noise=asked_for_each(names, NOISE, known))
        return found


def _missing_names(names: Iterable[str], given: float | dict[str, float] | None) -> list[str]:
    """The names of which nothing was said; a number is for all."""
    if isinstance(given, float):
        return []
    return [name for name in names if name not in (given or {})]


def _refuse_lacking(lacks_matters: list[str], lacks_noise: list[str]) -> None:
    if lacks_matters:
        flags = " ".join(f"--matters {name}=..." for name in lacks_matters)
        raise InvalidInputError(
            f"Say which change of each variable is worth knowing: {flags}. Or the smallest effect "
            f"that matters, per unit of its cause: --min-effect."
        )
    if lacks_noise:
        flags = " ".join(f"--noise {name}=..." for name in lacks_noise)
        raise InvalidInputError(
            f"Say how much each variable varies by what the others do not cause, as a standard "
            f"deviation: {flags}. Or one for all, --noise 1, or --noise-variance LOW HIGH."
        )


def _names(ranges: list[str], nodes: int | None) -> tuple[str, ...]:
    named = tuple(text.partition("=")[0] for text in ranges)
    if nodes is None:
        return named or default_names(UNNAMED)
    if named and len(set(named)) > nodes:
        raise InvalidInputError(f"There are {len(set(named))} ranges for {nodes} nodes.")
    return default_names(nodes)


def _epsilons(space: ModelClass) -> list[Any]:
    """Half and a quarter of what matters, or, where that differs from pair to pair, half of it."""
    smallest = space.min_effect
    return [smallest / 2, smallest / 4] if isinstance(smallest, float) else [None]


def _run_plan(
    given: LinearSEM | None,
    problem: tuple[ActionSet, ModelClass],
    noise: float | dict[str, float] | None,
    *,
    epsilons: list[Any],
    deltas: list[float],
    drawn: tuple[float, int, int],
    rule: str,
    watch: bool,
) -> Plan:
    """The plan, with a bar where somebody watches.

    drawn : density, number and seed of the systems that are drawn
    """
    density, n_systems, seed = drawn
    console = Console()
    hide = given is not None or not watch or not console.is_terminal
    with Progress(console=console, disable=hide, transient=True) as bar:
        task = bar.add_task("planning", total=n_systems)
        return make_plan(
            *problem,
            model=given,
            noise=None if given is not None else noise,
            epsilon=epsilons,
            delta=deltas,
            rule=rule,
            density=density,
            n_systems=n_systems,
            seed=seed,
            on_system=lambda n: bar.update(task, completed=n),
        )


def _facts(made: Plan) -> dict[str, Any]:
    return {
        "outlooks": [{k: _plain(v) for k, v in asdict(row).items()} for row in made.outlooks],
        "share_of_rounds": {str(action): part for action, part in made.share.items()},
        "pairs": [{k: _plain(v) for k, v in asdict(pair).items()} for pair in made.pairs],
        "assumed": list(made.assumed),
        "systems": [
            {
                "complexity": game.value,
                "upper": game.upper,
                "is_exhaustive": game.is_exhaustive,
                "lower_bound": _lower_bound(game, made.outlooks[0].delta),
                "rivals": [[rival.changes, rival.share] for rival in game.rivals],
            }
            for game in made.complexities
        ],
    }


def _lower_bound(game: Complexity, delta: float) -> float | None:
    """It is known for the paper's claim alone; and JSON has no infinity."""
    if not game.has_lower_bound:
        return None
    bound: float | None = _plain(game.lower_bound(min(delta, BOUND_UP_TO)))
    return bound


def _plain(value: Any) -> Any:
    """JSON has no infinity."""
    return None if isinstance(value, float) and math.isinf(value) else value
