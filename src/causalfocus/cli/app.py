"""The command `causalfocus` and its verbs.

Exit codes: 0 done, 1 failure, 2 usage, 3 not stopped yet.
"""

import importlib
import sys
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup
from typer.main import get_command

from causalfocus.errors import CausalFocusError, InvalidInputError
from causalfocus.version import __version__

VERBS: Final = (
    "demo",
    "simulate",
    "plan",
    "campaign",
    "serve",
    "reproduce",
    "benchmark",
)
"""In the order of the help; each is a function, or a group of verbs, in the module of its name."""


class LateVerbs(TyperGroup):
    """Loads a verb when it is used: who records a sample does not wait for the benchmarks."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        found = getattr(importlib.import_module(f"causalfocus.cli.{cmd_name}"), cmd_name)
        if isinstance(found, typer.Typer):
            command: Any = get_command(found)
        else:
            single = typer.Typer(add_completion=False)
            single.command(cmd_name)(found)
            command = get_command(single)
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=LateVerbs,
    help="Which intervention next, and when is the evidence sufficient to stop?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Options before the verb."""


def main() -> None:
    """Run the command line; errors of the package become a message and an exit code."""
    try:
        app()
    except InvalidInputError as error:
        sys.stderr.write(f"causalfocus: {error}\n")
        sys.exit(2)
    except CausalFocusError as error:
        sys.stderr.write(f"causalfocus: {error}\n")
        sys.exit(1)
