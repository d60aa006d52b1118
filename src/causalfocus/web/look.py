"""What the page shows: a look at the campaign, prepared for the templates."""

from dataclasses import dataclass, replace
from typing import Any, Final

from causalfocus.campaign import Asked, Campaign, Event
from causalfocus.campaign.status import Status, status
from causalfocus.planning.remaining import Remaining, rounds_to_go
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
        self._foretold: tuple[int, Remaining | None] | None = None
        self._drawn: tuple[Status, dict[str, Any]] | None = None

    def look(self) -> tuple[Status, dict[str, Any]]:
        """The present status with its drawings; they are made once for all who look."""
        with self.campaign.hold():
            if self._drawn is None or self._drawn[0].last_event != self.campaign.last_event:
                found = status(self.campaign, foretell=False)
                now = replace(found, remaining=self._rounds_to_go(found))
                self._drawn = now, drawings(self.campaign, now)
            return self._drawn

    def _rounds_to_go(self, now: Status) -> Remaining | None:
        if now.state != "running":
            return None
        if self._foretold is not None:
            then, found = self._foretold
            if found is not None and 0 <= now.rounds - then <= then // FORETELL_SHARE:
                ends = (found.rounds, found.low, found.high)
                return Remaining(*(max(0, n - (now.rounds - then)) for n in ends))
        found = rounds_to_go(self.campaign.learner)
        self._foretold = now.rounds, found
        return found

    def parts(self) -> dict[str, Any]:
        """Drawings and facts for the templates."""
        now, drawn = self.look()
        return {
            "now": now,
            "specification": self.campaign.specification,
            "path": self.campaign.path.name,
            **drawn,
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


def pick_asked(now: Status, wanted: int | None) -> Asked | None:
    """The pending action that the form is about: the one that was pick_asked, or the oldest."""
    return next((a for a in now.pending if a.id == wanted), now.pending[0] if now.pending else None)
