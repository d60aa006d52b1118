"""Events: what happened in a campaign, in order, each chained to all before it."""

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.system.actions import Action, action_of

Kind = Literal[
    "asked", "told", "rejected", "imported", "corrected", "noted", "stopped", "continued"
]

COLUMNS: Final = (
    "seq",
    "kind",
    "at",
    "who",
    "note",
    "ask",
    "round",
    "target",
    "value",
    "sample",
    "facts",
    "digest",
)


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line of the log.

    Attributes
    ----------
    kind : what happened
    at : when, in UTC
    who, note : free texts
    ask : number of the asked action that it is about, if it is
    round : number of the sample that it brings, or corrects
    action : what was asked for or done
    sample : the values of all variables in their order
    facts : of a stop, what was certified or refuted
    seq : its place in the log, from 1
    digest : of this event and of all before it, back to the specification
    """

    kind: Kind
    at: str = ""
    who: str = ""
    note: str = ""
    ask: int | None = None
    round: int | None = None
    action: Action | None = None
    sample: tuple[float, ...] | None = None
    facts: dict[str, Any] | None = None
    seq: int = 0
    digest: bytes = b""

    def after(self, seq: int, digest: bytes) -> "Event":
        """The same as the next after an event with this number and digest."""
        placed = replace(self, seq=seq + 1, at=self.at or now())
        return replace(placed, digest=placed.digest_after(digest))

    def digest_after(self, before: bytes) -> bytes:
        """The digest that it must have after one with the given digest."""
        text = json.dumps(self.columns(), ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(before + text.encode()).digest()

    @property
    def brings_sample(self) -> bool:
        return self.kind in ("told", "imported")

    @property
    def row(self) -> Floats:
        return np.array(self.sample, dtype=np.float64)

    def columns(self) -> list[Any]:
        """As they are written. SQLite knows no negative zero, so neither do values of actions."""
        action = self.action
        return [
            self.seq,
            self.kind,
            self.at,
            self.who,
            self.note,
            self.ask,
            self.round,
            None if action is None else action.target or "",
            None if action is None or action.value is None else action.value + 0.0,
            None if self.sample is None else json.dumps(self.sample),
            None if self.facts is None else json.dumps(self.facts, sort_keys=True),
        ]

    def to_row(self) -> tuple[Any, ...]:
        """In the order of `COLUMNS`; Python writes numbers so that they read back the same."""
        return (*self.columns(), self.digest)

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> "Event":
        seq, kind, at, who, note, ask, number, target, value, sample, facts, digest = row
        return cls(
            kind=kind,
            at=at,
            who=who,
            note=note,
            ask=ask,
            round=number,
            action=None if target is None else action_of(target, value),
            sample=None if sample is None else tuple(json.loads(sample)),
            facts=None if facts is None else json.loads(facts),
            seq=seq,
            digest=digest,
        )


def now() -> str:
    """The time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
