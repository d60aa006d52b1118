"""`causalfocus campaign sheet`: the next actions on one page, and the page filled in."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from causalfocus.campaign import Campaign
from causalfocus.campaign.plain_actions import action_facts
from causalfocus.campaign.sheet import SheetLine, run_sheet, sheet_csv
from causalfocus.cli.campaign.acting import record_file, say_recorded
from causalfocus.cli.campaign.options import AsRead, File, Note, Who, write_to
from causalfocus.cli.options import AsJson
from causalfocus.errors import InvalidInputError
from causalfocus.report.sheet import sheet_html


def sheet(
    file: File,
    n: Annotated[int, typer.Option("-n", min=1, help="How many lines at least.")] = 10,
    out: Annotated[
        Path | None, typer.Option(help="Ends in .csv to fill in, or in .html to print.")
    ] = None,
    filled: Annotated[
        Path | None, typer.Option(help="A sheet that was filled in, as CSV: record it.")
    ] = None,
    delimiter: Annotated[str, typer.Option(help="Of the sheet that was filled in.")] = ",",
    encoding: Annotated[str, typer.Option(help="Of the sheet that was filled in.")] = "utf-8-sig",
    as_read: AsRead = False,
    who: Who = None,
    note: Note = "",
    as_json: AsJson = False,
) -> None:
    """The next actions with room for what comes of them; with --filled, what came of them."""
    if filled is not None and out is not None:
        raise InvalidInputError("Give --out for a new sheet or --filled for one to record.")
    with Campaign.open(file) as campaign:
        if filled is not None:
            told = record_file(
                campaign, filled, delimiter, encoding, as_read=as_read, who=who, note=note
            )
            say_recorded(campaign, told, as_json=as_json)
            return
        kind = "" if out is None else out.suffix.lower()
        if out is not None and kind not in (".csv", ".html"):
            raise InvalidInputError(f"A run sheet ends in .csv or .html, got {out.name!r}.")
        lines = run_sheet(campaign, n, who=who)
        if out is not None:
            is_csv = kind == ".csv"
            text = sheet_csv(lines, campaign.names) if is_csv else sheet_html(campaign, lines)
            write_to(out, text.encode("utf-8-sig" if is_csv else "utf-8"), file)
        if as_json:
            typer.echo(json.dumps([_facts(line) for line in lines]))
        elif out is not None:
            typer.echo(f"Written: {out}, {len(lines)} rounds.")
            if kind == ".csv":
                typer.echo(f"Filled in: causalfocus campaign sheet {file} --filled {out}")
        else:
            Console().print(_table(lines, campaign))


def _facts(line: SheetLine) -> dict[str, object]:
    return {
        "id": line.asked.id,
        **action_facts(line.asked.action),
        "changes": sorted(line.changes),
    }


def _table(lines: tuple[SheetLine, ...], campaign: Campaign) -> Table:
    table = Table(show_lines=True, caption="Bold: another setting than in the line before.")
    table.add_column("number", justify="right")
    for name in campaign.names:
        unit = campaign.specification.unit(name)
        table.add_column(Text(name + (f" ({unit})" if unit else "")), justify="right")
    for line in lines:
        cells = []
        for name in campaign.names:
            is_new = name in line.changes and name in line.settings
            text = f"{line.settings[name]:g}" if name in line.settings else ""
            cells.append(Text(text, style="bold" if is_new else "dim"))
        table.add_row(str(line.asked.id), *cells)
    return table
