"""What the page shows: a look at the campaign, prepared for the templates."""

import threading
from dataclasses import dataclass, replace
from typing import Any, Final

from causalfocus.campaign import Asked, Campaign, Event
from causalfocus.campaign.status import Remaining, Status, status
from causalfocus.report.campaign_report import drawings

PAGE: Final = 30
"""Events on a page of the log."""

FORETELL_SHARE: Final = 20
"""The rounds to go are estimated anew after a share of one in so many."""


@dataclass(frozen=True)
class LogPage:
    """Some events of the log.

    Attributes
    ----------
    events : the latest first
    search : what they hold
    page, n_pages : from 1
    n_events : that match
    """

    events: tuple[Event, ...]
    search: str
    page: int
    n_pages: int
    n_events: int


class Looker:
    """Looks at a campaign; what is dear to foretell is kept for a while.

    Parameters
    ----------
    campaign : to be looked at
    """

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self._lock = threading.Lock()
        self._foretold: tuple[int, Remaining | None] | None = None

    def look(self) -> Status:
        """The present status."""
        with self.campaign.held():
            now = status(self.campaign, foretell=False)
            return replace(now, remaining=self._remaining(now))

    def _remaining(self, now: Status) -> Remaining | None:
        if now.state != "running":
            return None
        with self._lock:
            if self._foretold is not None:
                then, found = self._foretold
                if found is not None and 0 <= now.rounds - then <= then // FORETELL_SHARE:
                    passed = now.rounds - then
                    return Remaining(
                        *(max(0, n - passed) for n in (found.rounds, found.low, found.high))
                    )
            found = status(self.campaign).remaining
            self._foretold = now.rounds, found
            return found

    def parts(self, now: Status) -> dict[str, Any]:
        """Drawings and facts for the templates."""
        return {
            "now": now,
            "specification": self.campaign.specification,
            "path": self.campaign.path.name,
            "read_only": self.campaign.read_only,
            **drawings(self.campaign, now),
        }

    def log(self, search: str, page: int) -> LogPage:
        """A page of the log, the latest first."""
        n = self.campaign.n_events(search)
        n_pages = max(1, -(-n // PAGE))
        page = min(max(1, page), n_pages)
        events = self.campaign.events(
            search=search, offset=(page - 1) * PAGE, limit=PAGE, newest=True
        )
        return LogPage(tuple(events), search, page, n_pages, n)


def chosen(now: Status, wanted: int | None) -> Asked | None:
    """The pending action that the form is about: the one that was chosen, or the oldest."""
    return next((a for a in now.pending if a.id == wanted), now.pending[0] if now.pending else None)
