"""Options that several commands share."""

from typing import Annotated

import typer

Ranges = Annotated[
    list[str] | None,
    typer.Option("--range", help="X1=-2:2, or X1=none if it cannot be set; repeatable."),
]
Costs = Annotated[list[str] | None, typer.Option("--cost", help="Cost: X1=5 or observe=1.")]
Reach = Annotated[float, typer.Option(help="Nodes without a range: -reach to reach.")]
MinEffect = Annotated[float, typer.Option(help="Smallest effect of the class.")]
MaxEffect = Annotated[float, typer.Option(help="Largest effect of the class.")]
NoiseRange = Annotated[tuple[float, float], typer.Option(help="Range of the noise variances.")]
Intercept = Annotated[bool, typer.Option(help="Allow constants in the equations.")]
Density = Annotated[float, typer.Option(help="Probability of an edge, to draw.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
