"""Options that several measurements share."""

from pathlib import Path
from typing import Annotated

import typer

Out = Annotated[Path | None, typer.Option(help="Folder for benchmark.json and benchmark.md.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Nodes = Annotated[int, typer.Option(min=1, help="Nodes of the systems.")]
Systems = Annotated[int, typer.Option(min=1, help="How many systems.")]
FirstSeed = Annotated[int, typer.Option(min=0, help="Seed of the first system.")]
Runs = Annotated[int, typer.Option(min=1, help="Runs of each kind.")]
Worlds = Annotated[
    list[str] | None, typer.Option(help="A world; give it again for more. All by default.")
]
