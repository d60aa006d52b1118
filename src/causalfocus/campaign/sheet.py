"""A run sheet: the next actions on one page, with room for what comes of them.

It holds what is pending, and is filled up with what is asked next, so that asking for the same
sheet again gives the same sheet. As CSV it is filled in and recorded as it is; lines without any
value stay pending.
"""

import csv
import io
from dataclasses import dataclass

from causalfocus.campaign.campaign import Campaign
from causalfocus.campaign.playback import Asked
from causalfocus.system.actions import Action
from causalfocus.system.words import action_text


@dataclass(frozen=True)
class SheetLine:
    """One action to perform.

    Attributes
    ----------
    asked : with its number
    settings : by name, what it sets
    changes : names whose setting differs from the line before
    """

    asked: Asked
    settings: dict[str, float]
    changes: frozenset[str]


def run_sheet(campaign: Campaign, n: int, *, who: str | None = None) -> tuple[SheetLine, ...]:
    """The next n actions: those that are out, and as many more as are missing.

    Parameters
    ----------
    campaign : that asks for them
    n : how many lines, at least; all that is pending is on the sheet
    who : asks; by default the user's name
    """
    missing = n - len(campaign.pending)
    if missing > 0:
        campaign.next(missing, who=who, note="run sheet")
    return sheet_of(campaign.pending)


def sheet_of(pending: tuple[Asked, ...]) -> tuple[SheetLine, ...]:
    """Pending actions in the order of asking, which is that in which changes are cheap."""
    found, before = [], Action()
    for asked in pending:
        old, new = dict(before.settings), dict(asked.action.settings)
        changes = frozenset(name for name in {*old, *new} if old.get(name) != new.get(name))
        found.append(SheetLine(asked, new, changes))
        before = asked.action
    return tuple(found)


def sheet_csv(lines: tuple[SheetLine, ...], names: tuple[str, ...]) -> str:
    """The sheet to be filled in; what is set may be left empty, or say what it achieved."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["id", "action", *names, "failed", "performed", "not_done"])
    for line in lines:
        writer.writerow(
            [line.asked.id, action_text(line.asked.action), *[""] * len(names), "", "", ""]
        )
    return buffer.getvalue()
