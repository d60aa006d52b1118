"""Events: what happened in a campaign, in order, each chained to all before it."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.campaign.schema import LATER_COLUMNS
from causalfocus.learner.asking import Tosses
from causalfocus.system.actions import Action, action_of, do

Kind = Literal[
    "asked",
    "told",
    "rejected",
    "imported",
    "corrected",
    "withdrawn",
    "widened",
    "added",
    "seeded",
    "noted",
    "stopped",
    "continued",
]

FIRST_COLUMNS: Final = (
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

COLUMNS: Final = (*FIRST_COLUMNS, *LATER_COLUMNS)


@dataclass(frozen=True, kw_only=True)
class Toss:
    """How the end of a range was picked.

    Attributes
    ----------
    coin : number of the ask for which the coin was tossed
    law : values that it might have given, each with its probability; the middle is among them if
        there was a second coin
    """

    coin: int
    law: tuple[tuple[float, float], ...]

    @property
    def has_second(self) -> bool:
        """Whether a second coin picked the middle of the range or an end."""
        return len(self.law) > 2


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line of the log.

    Attributes
    ----------
    kind : what happened
    at : when it was written down, in UTC
    who, note : free texts
    ask : number of the asked action that it is about, if it is
    round : number of the sample that it brings, corrects or withdraws
    action : what was asked for or done
    sample : the values of all variables in their order; nan for what could not be measured
    facts : of a stop, what was certified or refuted; of a change, what is different from now on
    coins : of an ask, by variable, how the coin picked its end
    failed : variables that were to be set and, as the rig or a person says, were not
    reason : the word for what would be refused without one
    performed : when the round was performed, if that was said
    key : of the request, by which one that comes again is known
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
    coins: Mapping[str, Toss] | None = None
    failed: tuple[str, ...] = ()
    reason: str | None = None
    performed: str | None = None
    key: str | None = None
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
    def tosses(self) -> Tosses:
        """The coins of an ask, as a learner knows them."""
        return tuple((name, toss.coin) for name, toss in (self.coins or {}).items())

    @property
    def with_second(self) -> tuple[str, ...]:
        """The variables that had a second coin in an ask."""
        return tuple(name for name, toss in (self.coins or {}).items() if toss.has_second)

    @property
    def brings_sample(self) -> bool:
        return self.kind in ("told", "imported")

    @property
    def row(self) -> Floats:
        return np.array(self.sample, dtype=np.float64)

    def columns(self) -> list[Any]:
        """What is hashed: the first columns, and by name those of the later ones that it has.

        SQLite knows no negative zero, so neither do values of actions.
        """
        first = self._first_columns()
        more = {name: value for name, value in self._later_columns().items() if value is not None}
        return [*first, more] if more else first

    def _first_columns(self) -> list[Any]:
        target, value = _target_and_value(self.action)
        return [
            self.seq,
            self.kind,
            self.at,
            self.who,
            self.note,
            self.ask,
            self.round,
            target,
            value,
            None if self.sample is None else sample_text(self.sample),
            None if self.facts is None else json.dumps(self.facts, sort_keys=True),
        ]

    def _later_columns(self) -> dict[str, str | None]:
        return {
            "settings": settings_text(self.action),
            "coins": None if self.coins is None else _coins_text(self.coins),
            "failed": json.dumps(self.failed) if self.failed else None,
            "reason": self.reason,
            "performed": self.performed,
            "key": self.key,
        }

    def to_row(self) -> tuple[Any, ...]:
        """In the order of `COLUMNS`; Python writes numbers so that they read back the same."""
        return (*self._first_columns(), self.digest, *self._later_columns().values())

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> "Event":
        """From the values of `COLUMNS`."""
        of = dict(zip(COLUMNS, row, strict=True))
        sample, facts, coins, failed = of["sample"], of["facts"], of["coins"], of["failed"]
        return cls(
            kind=of["kind"],
            at=of["at"],
            who=of["who"],
            note=of["note"],
            ask=of["ask"],
            round=of["round"],
            action=action_from(of["target"], of["value"], of["settings"]),
            sample=None if sample is None else sample_from(sample),
            facts=None if facts is None else json.loads(facts),
            coins=None if coins is None else _coins_from(coins),
            failed=() if failed is None else tuple(json.loads(failed)),
            reason=of["reason"],
            performed=of["performed"],
            key=of["key"],
            seq=of["seq"],
            digest=of["digest"],
        )


def settings_text(action: Action | None) -> str | None:
    """What an action sets where it sets several variables; None where target and value say it."""
    if action is None or len(action.settings) < 2:
        return None
    return json.dumps({name: value + 0.0 for name, value in action.settings}, ensure_ascii=False)


def action_from(target: str | None, value: float | None, settings: str | None) -> Action | None:
    """The action that its columns speak of, if they do."""
    if settings is not None:
        return do(json.loads(settings))
    return None if target is None else action_of(target, value)


def _target_and_value(action: Action | None) -> tuple[str | None, float | None]:
    """The first two columns of an action. Of several variables the names, to be searched."""
    if action is None or not action.settings:
        return (None if action is None else ""), None
    if len(action.settings) > 1:
        return ", ".join(action.targets), None
    ((name, value),) = action.settings
    return name, value + 0.0


def sample_text(sample: Iterable[float]) -> str:
    """Values as they are written; what is missing is null."""
    return json.dumps([None if math.isnan(value) else value for value in sample])


def sample_from(text: str) -> tuple[float, ...]:
    """Values as they were written."""
    return tuple(math.nan if value is None else value for value in json.loads(text))


def _coins_text(coins: Mapping[str, Toss]) -> str:
    plain = {name: {"coin": toss.coin, "law": toss.law} for name, toss in coins.items()}
    return json.dumps(plain, ensure_ascii=False)


def _coins_from(text: str) -> dict[str, Toss]:
    return {
        name: Toss(coin=one["coin"], law=tuple((value, share) for value, share in one["law"]))
        for name, one in json.loads(text).items()
    }


def now() -> str:
    """The time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
