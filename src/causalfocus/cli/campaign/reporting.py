"""`causalfocus campaign report`."""

from pathlib import Path
from typing import Annotated

import typer

from causalfocus.campaign import Campaign
from causalfocus.cli.campaign.options import File, write_to
from causalfocus.errors import InvalidInputError
from causalfocus.report.campaign_report import report_html, write_pdf


def report(
    file: File,
    out: Annotated[Path, typer.Option(help="Ends in .html, or in .pdf.")] = Path("report.html"),
) -> None:
    """All that is known, in one file to look at, print and send."""
    if out.suffix.lower() not in (".html", ".pdf"):
        raise InvalidInputError(f"A report ends in .html or .pdf, got {out.name!r}.")
    if not out.parent.is_dir():
        raise InvalidInputError(f"There is no folder {out.parent} for {out.name}.")
    with Campaign.open(file, read_only=True) as campaign:
        text = report_html(campaign)
    if out.suffix.lower() == ".pdf":
        write_pdf(text, out)
    else:
        write_to(out, text.encode(), file)
    typer.echo(f"Written: {out}")
