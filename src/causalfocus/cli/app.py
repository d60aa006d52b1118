"""The command `causalfocus` and its verbs.

Exit codes: 0 done, 1 failure, 2 usage, 3 not stopped yet.
"""

import sys
from typing import Annotated

import typer

from causalfocus.cli.benchmark import benchmark
from causalfocus.cli.demo import demo
from causalfocus.cli.plan import plan
from causalfocus.cli.reproduce import reproduce
from causalfocus.cli.simulate import simulate
from causalfocus.errors import CausalFocusError, InvalidInputError
from causalfocus.version import __version__

app = typer.Typer(
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


app.command()(demo)
app.command()(simulate)
app.command()(plan)
app.command()(reproduce)
app.command()(benchmark)


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
