"""A campaign for other programs: its samples as CSV, all of it as JSON."""

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from causalfocus.campaign.campaign import Campaign
from causalfocus.campaign.events import Event
from causalfocus.campaign.plain_actions import action_facts
from causalfocus.campaign.rounds import AFTER, BEFORE, standing_rounds
from causalfocus.campaign.specification import FORMULAS
from causalfocus.campaign.status import status
from causalfocus.system.words import action_text


def samples_csv(campaign: Campaign) -> Iterator[str]:
    """The samples as they stand, a line each, as `campaign import` reads them; those that were
    withdrawn are left out.
    """
    yield _as_line([*BEFORE, *campaign.names, *AFTER])
    for event, told in standing_rounds(campaign.iterate(), campaign.amendments(), campaign.names):
        yield _as_line(
            [
                event.round,
                event.at,
                event.performed or "",
                _harmless(event.who),
                "" if event.ask is None else event.ask,
                action_text(told.action),
                "; ".join(told.failed),
                *map(_value_text, told.sample.tolist()),
                _harmless(event.note),
            ]
        )


def _value_text(value: float) -> str:
    return "NA" if math.isnan(value) else repr(value)


def whole_json(campaign: Campaign) -> str:
    """Specification, present status and every event."""
    document = {
        "specification": campaign.specification.to_dict(),
        "status": status(campaign, foretell=False).to_dict(),
        "model": campaign.result().model.to_dict(),
        "events": [event_dict(event, campaign.names) for event in campaign.iterate()],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def event_dict(event: Event, names: tuple[str, ...]) -> dict[str, Any]:
    """An event for JSON."""
    action, sample = event.action, event.sample
    values = None if sample is None else [None if math.isnan(one) else one for one in sample]
    found = {
        "seq": event.seq,
        "kind": event.kind,
        "at": event.at,
        "who": event.who,
        "note": event.note,
        "id": event.ask,
        "round": event.round,
        **action_facts(action),
        "sample": None if values is None else dict(zip(names, values, strict=False)),
        "facts": event.facts,
    }
    coins = {name: asdict(toss) for name, toss in (event.coins or {}).items()}
    later = {"coins": coins, "failed": list(event.failed), "reason": event.reason}
    later |= {"performed": event.performed, "key": event.key}
    return found | {name: value for name, value in later.items() if value}


def _as_line(cells: list[Any]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(cells)
    return buffer.getvalue()


def _harmless(text: str) -> str:
    """A free text that a spreadsheet would take for a formula gets an apostrophe in front."""
    return "'" + text if text.lstrip()[:1] in FORMULAS or text[:1] in ("\t", "\r") else text
