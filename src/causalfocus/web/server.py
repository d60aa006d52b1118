"""A campaign on its way to browsers."""

import threading
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request

from causalfocus.campaign import Campaign, CampaignError
from causalfocus.errors import InvalidInputError
from causalfocus.report.campaign_report import environment
from causalfocus.web.forms import specification_in
from causalfocus.web.look import Looker, pick_asked
from causalfocus.web.security import Guard

TEMPLATES: Final = Path(__file__).parent / "templates"
PARTS: Final = ("state", "next", "verdicts", "graph", "evidence", "allocation", "log")
"""Templates of what changes while the page is open."""

N_ROWS: Final = 6
"""Variables that the form for a new campaign has room for at first."""


class Server:
    """A campaign on the way to browsers.

    Parameters
    ----------
    path : of the campaign; if there is none yet, the page offers to make it
    guard : who may do what
    read_only : nobody may write
    """

    def __init__(self, path: Path, guard: Guard, *, read_only: bool) -> None:
        self.path = path
        self.guard = guard
        self.read_only = read_only
        self._lock = threading.Lock()
        self._looker: Looker | None = None
        self._writer: Campaign | None = None
        self._watcher: Campaign | None = None
        self._templates = environment(TEMPLATES)

    @property
    def looker(self) -> Looker | None:
        """None while there is no campaign. Through a connection of its own: who looks never waits
        for a writer.
        """
        with self._lock:
            if self._looker is None and self.path.exists():
                self._looker = Looker(Campaign.open(self.path, read_only=True))
            return self._looker

    @property
    def campaign(self) -> Campaign:
        """For writing."""
        with self._lock:
            if self._writer is None:
                if not self.path.exists():
                    raise InvalidInputError("There is no campaign yet.")
                self._writer = Campaign.open(self.path)
            return self._writer

    def make(self, fields: dict[str, str]) -> None:
        """The campaign, from the form for a new one."""
        Campaign.create(self.path, specification_in(fields)).close()

    def close(self) -> None:
        if self._looker is not None:
            self._looker.campaign.close()
        for campaign in (self._watcher, self._writer):
            if campaign is not None:
                campaign.close()

    def last_event(self) -> int:
        """Of what is safely in the file: through a connection of its own."""
        with self._lock:
            if self._watcher is None:
                if not self.path.exists():
                    return -1
                try:
                    self._watcher = Campaign.open(self.path, read_only=True)
                except CampaignError:  # it is being made just now; if it is none, the page says so
                    return -1
            return self._watcher.last_event

    def page(self, request: Request, errors: dict[str, str], fields: dict[str, str]) -> str:
        """The whole page; with errors, what was typed is kept."""
        looker = self.looker
        if looker is None:
            context = {"errors": errors, "fields": fields, "n_rows": N_ROWS, "path": self.path.name}
            context["may_write"] = not self.read_only and self.guard.may_write(request)
            return self._templates.get_template("new.html").render(context)
        return self._templates.get_template("page.html").render(
            self.context(request, looker, errors, fields)
        )

    def context(
        self, request: Request, looker: Looker, errors: dict[str, str], fields: dict[str, str]
    ) -> dict[str, Any]:
        """All that the templates of the page use."""
        shown = looker.parts()
        wanted = request.query_params.get("id") or fields.get("id") or ""
        search, page = request.query_params.get("search", ""), request.query_params.get("page", "")
        page = page if len(page) < 10 else ""
        is_number = wanted.isascii() and wanted.isdecimal() and len(wanted) < 18
        asked = pick_asked(shown["now"], int(wanted) if is_number else None)
        if fields.get("id") and (asked is None or str(asked.id) != fields["id"]):
            fields = {}  # what was typed belongs to another action
        return shown | {
            "asked": asked,
            "errors": errors,
            "fields": fields,
            "log": looker.log(search, int(page) if page.isascii() and page.isdecimal() else 1),
            "may_write": not self.read_only and self.guard.may_write(request),
            "needs_token": self.guard.token is not None and not self.read_only,
        }

    def parts(self, request: Request) -> dict[str, Any]:
        """The parts of the page that change, for one that is open."""
        looker = self.looker
        if looker is None:
            return {"seq": -1, "parts": {}}
        context = self.context(request, looker, {}, {})
        asked, render = context["asked"], self._templates.get_template
        return {
            "seq": context["now"].last_event,
            "asked": None if asked is None else asked.id,
            "parts": {name: render(f"{name}.html").render(context) for name in PARTS},
        }
