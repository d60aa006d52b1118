"""A campaign for other programs: its samples as CSV, all of it as JSON."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from causalfocus.campaign.campaign import Campaign
from causalfocus.campaign.events import Event
from causalfocus.campaign.status import status


def samples_csv(campaign: Campaign) -> Iterator[str]:
    """The samples, corrected, a line each, as `campaign import` reads them."""
    names, corrected = campaign.names, campaign.corrections()
    yield _as_line(["round", "at", "who", "id", "target", "value", *names, "note"])
    for event in campaign.iterate():
        if event.brings_sample and event.action is not None and event.sample is not None:
            action = event.action
            yield _as_line(
                [
                    event.round,
                    event.at,
                    _harmless(event.who),
                    "" if event.ask is None else event.ask,
                    action.target or "",
                    "" if action.value is None else repr(action.value),
                    *map(repr, corrected.get(event.round or 0, event.sample)),
                    _harmless(event.note),
                ]
            )


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
    action = event.action
    sample = event.sample
    return {
        "seq": event.seq,
        "kind": event.kind,
        "at": event.at,
        "who": event.who,
        "note": event.note,
        "id": event.ask,
        "round": event.round,
        "action": None if action is None else str(action),
        "target": None if action is None else action.target,
        "value": None if action is None else action.value,
        "sample": None if sample is None else dict(zip(names, sample, strict=True)),
        "facts": event.facts,
    }


def _as_line(cells: list[Any]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(cells)
    return buffer.getvalue()


def _harmless(text: str) -> str:
    """A free text that a spreadsheet would take for a formula gets an apostrophe in front."""
    return "'" + text if text[:1] in ("=", "@", "+", "-", "\t", "\r") else text
