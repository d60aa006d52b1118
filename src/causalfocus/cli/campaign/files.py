"""`causalfocus campaign import | export | verify`."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from causalfocus.campaign import Campaign
from causalfocus.campaign.export import samples_csv, whole_json
from causalfocus.campaign.samples import read_samples
from causalfocus.cli.campaign.options import AsRead, File, Force, Note, Who, delimiter_of, write_to
from causalfocus.cli.options import AsJson
from causalfocus.errors import InvalidInputError
from causalfocus.system.actions import OBSERVE


def import_(
    file: File,
    csv: Annotated[Path, typer.Argument(help="Past samples, a line each.")],
    columns: Annotated[
        list[str] | None,
        typer.Option("--map", help="COLUMN=VARIABLE, or =action, =target, =value; repeatable."),
    ] = None,
    all_observed: Annotated[
        bool, typer.Option("--all-observed", help="Nothing was ever set in these samples.")
    ] = False,
    delimiter: Annotated[str, typer.Option(help="Between the columns.")] = ",",
    encoding: Annotated[str, typer.Option(help="Of the file.")] = "utf-8-sig",
    again: Annotated[
        bool, typer.Option("--again", help="Even if they are in the campaign already.")
    ] = False,
    as_read: AsRead = False,
    force: Force = "",
    who: Who = None,
    note: Note = "",
    as_json: AsJson = False,
) -> None:
    """Take in past samples with their actions, all or none; wrong lines are listed."""
    with Campaign.open(file) as campaign:
        lines = read_samples(
            csv,
            campaign.specification.actions,
            columns=dict(_column_map(text) for text in columns or []),
            delimiter=delimiter_of(delimiter),
            encoding=encoding,
            all_observed=all_observed,
            as_read=as_read,
            force=force,
        )
        samples = [(line.action or OBSERVE, line.sample, line.details) for line in lines]
        console = Console(stderr=True)
        with Progress(console=console, disable=not console.is_terminal, transient=True) as bar:
            first = campaign.rounds
            task = bar.add_task("learning", total=len(samples))
            n = campaign.import_samples(
                samples,
                who=who,
                note=note or csv.name,
                again=again,
                force=force,
                on_learned=lambda rounds: bar.update(task, completed=rounds - first),
            )
        if as_json:
            typer.echo(json.dumps({"imported": n, "rounds": campaign.rounds}))
        else:
            typer.echo(f"{n:,} samples are imported; the campaign has {campaign.rounds:,} rounds.")


def export(
    file: File,
    out: Annotated[
        Path, typer.Argument(help="Ends in .csv (samples), .json (all) or .campaign (a copy).")
    ],
) -> None:
    """Write samples or everything for other programs; - writes CSV to the terminal."""
    with Campaign.open(file, read_only=True) as campaign:
        if str(out) == "-":
            for line in samples_csv(campaign):
                sys.stdout.write(line)
            return
        match out.suffix.lower():
            case ".csv":
                write_to(out, (line.encode() for line in samples_csv(campaign)), file)
            case ".json":
                write_to(out, whole_json(campaign).encode(), file)
            case ".campaign":
                campaign.copy_to(out)
            case other:
                raise InvalidInputError(
                    f"An export ends in .csv, .json or .campaign, got {other or out.name!r}."
                )
        typer.echo(f"Written: {out}")


def verify(file: File, as_json: AsJson = False) -> None:
    """Replay the whole log and check that nothing in it was changed."""
    with Campaign.open(file, read_only=True) as campaign:
        n = campaign.verify()
        if as_json:
            facts = {"events": n, "rounds": campaign.rounds}
            typer.echo(json.dumps(facts | {"contradiction": campaign.contradiction}))
        else:
            typer.echo(f"All {n:,} events are as they were written, and lead to this state.")
            if campaign.contradiction is not None:
                typer.echo(campaign.contradiction)


def _column_map(text: str) -> tuple[str, str]:
    column, sign, name = text.rpartition("=")
    if not (sign and column and name):
        raise InvalidInputError(f"The map {text!r} must look like COLUMN=VARIABLE.")
    return column, name
