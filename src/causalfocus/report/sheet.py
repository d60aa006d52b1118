"""A run sheet to print: what to set, and empty cells for what comes of it."""

import base64
import hashlib
from pathlib import Path
from typing import Final

from causalfocus.campaign import Campaign
from causalfocus.campaign.sheet import SheetLine
from causalfocus.report.campaign_report import environment
from causalfocus.report.svg import Drawn

HOME: Final = Path(__file__).parent


def sheet_html(campaign: Campaign, lines: tuple[SheetLine, ...]) -> str:
    """The sheet as the text of an HTML file that needs nothing else."""
    specification = campaign.specification
    style = "".join((HOME / name).read_text() for name in ("style.css", "report.css"))
    digest = hashlib.sha256(style.encode()).digest()
    template = environment(HOME / "templates").get_template("sheet.html")
    return template.render(
        title=specification.title or campaign.path.name,
        style=Drawn(style),
        style_hash="sha256-" + base64.b64encode(digest).decode(),
        specification=specification,
        lines=lines,
    )
