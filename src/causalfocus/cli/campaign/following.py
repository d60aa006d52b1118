"""`causalfocus campaign predict` and `reach`: what follows from the evidence so far."""

import json
import math
from collections.abc import Sequence
from typing import Annotated

import typer

from causalfocus.campaign import Campaign
from causalfocus.cli.campaign.options import File, pairs_in
from causalfocus.cli.options import AsJson
from causalfocus.errors import InvalidInputError

NOT_REACHED = 3


def predict(
    file: File,
    settings: Annotated[
        list[str], typer.Argument(help="NAME=VALUE of every variable that is set.")
    ],
    start: Annotated[
        list[str] | None,
        typer.Option(
            "--from", help="NAME=VALUE, repeatable: by how much all moves from these on, instead."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What every other variable will be on average, with an interval that rests on the evidence.

    With --from: by how much it moves from there, of the same variables.
    """
    given = _numbers(settings)
    with Campaign.open(file, read_only=True) as campaign:
        known = campaign.learner.consequences
    if not start:
        found = known.predict(given)
        facts = {"settings": given, "predictions": found.to_dict(), "says": found.says}
        typer.echo(json.dumps(facts) if as_json else str(found))
        return
    moved = known.change(_numbers(start), given)
    facts = {"from": _numbers(start), "to": given, "changes": moved.to_dict(), "says": moved.says}
    typer.echo(json.dumps(facts) if as_json else str(moved))


def reach(
    file: File,
    wished: Annotated[list[str], typer.Argument(help="NAME=VALUE of every mean that is wished.")],
    using: Annotated[
        list[str] | None,
        typer.Option(help="A variable to set; again for more. By default all that can be."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Which settings bring means to wished values, by the least change within the ranges.

    Exit code 3 if they are out of reach: then it says how near one gets.
    """
    with Campaign.open(file, read_only=True) as campaign:
        found = campaign.learner.settings_for(_numbers(wished), using)
    typer.echo(json.dumps(found.to_dict()) if as_json else str(found))
    if not found.point.is_reached:
        raise typer.Exit(NOT_REACHED)


def _numbers(texts: Sequence[str]) -> dict[str, float]:
    """Numbers by name."""
    found = {}
    for name, text in pairs_in(list(texts)):
        try:
            found[name] = float(text)
        except ValueError:
            found[name] = math.nan
        if not math.isfinite(found[name]):
            raise InvalidInputError(f"{name}={text}: the value must be a number.")
    return found
