"""The rounds of a campaign: on their way into the log, and as they stand after corrections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from causalfocus.campaign.entry import as_text
from causalfocus.campaign.events import Event
from causalfocus.campaign.playback import Playback, amend, as_told
from causalfocus.campaign.settings import Details, checked_time, far_facts, require_round
from causalfocus.learner.protocol import Sample, Told
from causalfocus.system.actions import Action
from causalfocus.system.convert import frame_of
from causalfocus.system.words import action_text

if TYPE_CHECKING:
    import pandas as pd

BEFORE: Final = ("round", "at", "performed", "who", "id", "action", "failed")
AFTER: Final = ("note",)
"""Columns before and after the variables."""

TYPES: Final = {"round": "int64", "id": "Int64"} | dict.fromkeys(
    ("at", "performed"), "datetime64[ns, UTC]"
)


def told_event(playback: Playback, action: Action, sample: Sample, details: Details) -> Event:
    """The event of one more round, checked; it says itself if a setting was too far off."""
    actions, failed = playback.specification.actions, tuple(dict.fromkeys(details.failed))
    row = playback.as_row(action, sample, failed)
    require_round(actions, action, row, details)
    return Event(
        kind="told",
        round=playback.n_samples + 1,
        action=action,
        sample=row,
        facts=far_facts(actions, action, row, failed),
        failed=failed,
        reason=as_text(details.force.strip()) or None,
        performed=checked_time(details.performed),
        key=details.key,
    )


def standing_rounds(
    events: Iterable[Event], amendments: Mapping[int, Sequence[Event]], names: Sequence[str]
) -> Iterator[tuple[Event, Told]]:
    """What was recorded, and what stands of it, without the rounds that were withdrawn."""
    for event in events:
        if not event.brings_sample or event.action is None:
            continue
        told = as_told(event, len(names))
        for by in amendments.get(event.round or 0, ()):
            told = amend(told, by, len(names))
        if not told.withdrawn:
            yield event, told


def rounds_frame(rounds: Iterable[tuple[Event, Told]], names: Sequence[str]) -> pd.DataFrame:
    """One line a round, with the columns of the CSV export."""
    found: dict[str, list[Any]] = {name: [] for name in (*BEFORE, *names, *AFTER)}
    for event, told in rounds:
        cells = {
            "round": event.round,
            "at": event.at,
            "performed": event.performed,
            "who": event.who,
            "id": event.ask,
            "action": action_text(told.action),
            "failed": "; ".join(told.failed),
            **dict(zip(names, told.sample.tolist(), strict=True)),
            "note": event.note,
        }
        for name, cell in cells.items():
            found[name].append(cell)
    return frame_of(found, types=TYPES | dict.fromkeys(names, "float64"))
