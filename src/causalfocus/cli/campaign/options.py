"""Arguments that the verbs of a campaign share."""

import sys
from pathlib import Path
from typing import Annotated

import typer

File = Annotated[
    Path,
    typer.Argument(envvar="CAUSALFOCUS_CAMPAIGN", help="The campaign's file.", show_default=False),
]
Who = Annotated[
    str | None,
    typer.Option(envvar="CAUSALFOCUS_WHO", help="Who does this; by default the user's name."),
]
Note = Annotated[str, typer.Option(help="A free text, kept with it.")]


def is_at_terminal() -> bool:
    """Whether there is a person to ask."""
    return sys.stdin.isatty() and sys.stdout.isatty()
