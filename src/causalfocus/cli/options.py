"""Options that several commands share."""

from enum import StrEnum
from typing import Annotated

import typer


class RuleName(StrEnum):
    """The rules, from those that assume less to those that assume more."""

    randomized = "randomized"
    gaussian = "gaussian"
    class_ = "class"
    paper = "paper"


Ranges = Annotated[
    list[str] | None,
    typer.Option("--range", help="X1=-2:2, or X1=none if it cannot be set; repeatable."),
]
Costs = Annotated[list[str] | None, typer.Option("--cost", help="Cost: X1=5 or observe=1.")]
ChangeCosts = Annotated[
    list[str] | None,
    typer.Option("--change-cost", help="Of another setting of a slow node: X1=30; repeatable."),
]
AtOnce = Annotated[
    int, typer.Option(min=0, help="How many nodes may be set in one round; 0 for any number.")
]
Switches = Annotated[
    list[str] | None,
    typer.Option("--switch", help="A node with two states only: pump; repeatable."),
]
Reach = Annotated[float, typer.Option(help="Nodes without a range: -reach to reach.")]
MinEffect = Annotated[float, typer.Option(help="Smallest effect of the class.")]
MaxEffect = Annotated[float, typer.Option(help="Largest effect of the class.")]
NoiseRange = Annotated[
    tuple[float, float], typer.Option("--noise-variance", help="Range of the noise variances.")
]
GivenNoiseRange = Annotated[
    tuple[float, float] | None,
    typer.Option("--noise-variance", help="Range of the noise variances, of the class."),
]
SmallestEffect = Annotated[
    float | None,
    typer.Option("--min-effect", help="Smallest effect that matters, per unit of its cause."),
]
LargestEffect = Annotated[
    float | None, typer.Option("--max-effect", help="Largest effect of the class.")
]
Matters = Annotated[
    list[str] | None,
    typer.Option(help="Change of a variable that is worth knowing: yield=8; repeatable."),
]
Widths = Annotated[
    list[str] | None,
    typer.Option("--width", help="How far what cannot be set moves: level=3; repeatable."),
]
Noise = Annotated[
    list[str] | None,
    typer.Option(help="Standard deviation of what others do not cause: yield=3, or 3 for all."),
]
Intercept = Annotated[bool, typer.Option(help="Allow constants in the equations.")]
Density = Annotated[float, typer.Option(help="Probability of an edge, to draw.")]
AnyRule = Annotated[RuleName, typer.Option("--rule", help="Which rule stops.")]
RuleOfPolicy = Annotated[
    RuleName | None,
    typer.Option("--rule", help="Which rule stops; by default randomized, gaussian for baselines."),
]
Outcomes = Annotated[
    list[str] | None,
    typer.Option("--outcome", help="A node that drives nothing: yield; repeatable."),
]
Forbidden = Annotated[
    list[str] | None,
    typer.Option("--forbid", help="An effect that there cannot be: flow=heat, cause first."),
]
Required = Annotated[
    list[str] | None,
    typer.Option("--require", help="An effect that there is for certain: heat=yield, cause first."),
]
Tiers = Annotated[
    list[str] | None,
    typer.Option("--tier", help="Nodes, as a,b, that no later tier acts on; repeated in order."),
]
Acyclic = Annotated[bool, typer.Option("--acyclic", help="There is no feedback.")]
AboutFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--about",
        help="What is asked: yield, for effects on it; heat=yield, cause first; total:heat=yield.",
    ),
]
BudgetFlag = Annotated[
    int | None, typer.Option("--budget", min=1, help="How many rounds there will be.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
