"""Pairs of variables as people ask for them: what is there, what is not, and what is waited for."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from causalfocus.guarantees.effects import Effect
from causalfocus.learner.effects import Effects

MOST_LISTED: Final = 20
"""Pairs of which all are listed: those of up to five variables."""

MOST_PRESENT: Final = 100
MOST_WAITING: Final = 10
"""Of more pairs, so many that are there and so many that are waited for are listed."""

FORETOLD: Final = 3.0
"""Beyond so many times the rounds so far nothing is foretold of a pair: the middle of its interval
will have moved by then.
"""


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """The pairs after some rounds, sorted for people.

    Attributes
    ----------
    effects : of all pairs
    to_go : rounds that are foretold for all of them, if they are: none takes longer
    """

    effects: Effects
    to_go: int | None = None

    @cached_property
    def present(self) -> tuple[Effect, ...]:
        """Effects that are certainly there: those that matter first, the strongest first."""
        found = (one for one in self.effects if one.is_present)
        return tuple(sorted(found, key=lambda one: (one.verdict != "present", -_size(one))))

    @cached_property
    def to_come(self) -> tuple[Effect, ...]:
        """Pairs that are not settled, the furthest from done first."""
        found = (one for one in self.effects if one.is_asked and not one.is_settled)
        return tuple(sorted(found, key=lambda one: (-one.waits_for, -one.half, one.cause)))

    @cached_property
    def open(self) -> tuple[Effect, ...]:
        """Those of them that are not certainly there by now, the furthest from done first."""
        return tuple(one for one in self.to_come if not one.is_present)

    @cached_property
    def with_interval(self) -> tuple[Effect, ...]:
        """Those of the open ones that have an interval, the furthest from done first."""
        return tuple(one for one in self.open if one.is_bounded)

    @property
    def without_interval(self) -> str:
        """The open ones that have none yet, in words: they come and go by effect."""
        waiting = (one for one in self.effects if not (one.is_settled or one.is_bounded))
        rows = dict.fromkeys(one.effect for one in waiting)
        n = len(self.open) - len(self.with_interval)
        if not n:
            return ""
        of = ", ".join(list(rows)[:MOST_LISTED])
        more = f" and {len(rows) - MOST_LISTED} more" if len(rows) > MOST_LISTED else ""
        are = "pair has" if n == 1 else "pairs have"
        return f"{n:,} {are} no interval yet, of effects on {of}{more}."

    @cached_property
    def lines(self) -> tuple[Effect, ...]:
        """All pairs in one table: what is there, what is not, and what is open, the furthest from
        done last.
        """
        others = [one for one in self.effects if not one.is_present]
        absent = [one for one in others if one.is_settled]
        unasked = [one for one in others if not (one.is_settled or one.is_asked)]
        return (*self.present, *absent, *unasked, *self.open[::-1])

    @property
    def is_few(self) -> bool:
        """Whether all of them can be listed."""
        return len(self.effects) <= MOST_LISTED

    @property
    def first_present(self) -> tuple[Effect, ...]:
        """Those that are listed."""
        return self.present[:MOST_PRESENT]

    @property
    def first_open(self) -> tuple[Effect, ...]:
        """Those that are listed of the open ones with an interval."""
        return self.with_interval[: MOST_LISTED if self.is_few else MOST_WAITING]

    @property
    def headline(self) -> str:
        """How far it has come."""
        return f"{self.effects.n_settled:,} of {self.effects.n_asked:,} pairs settled"

    @property
    def counts(self) -> str:
        """How many there are of every verdict."""
        small = sum(one.verdict == "present, small" for one in self.present)
        absent = sum(one.verdict == "absent" for one in self.effects)
        n_open = sum(one.verdict == "open" for one in self.effects)
        of_these = f" ({small:,} of them small)" if small else ""
        return f"{len(self.present):,} present{of_these}, {absent:,} absent, {n_open:,} open"

    def waits_for(self, one: Effect) -> str:
        """What a pair waits for; nothing for one that is settled."""
        if one.is_settled:
            return ""
        if not one.is_asked:
            return "not asked"
        if not one.is_bounded:
            return "a first interval"
        if one.is_present or one.is_required:
            is_exact = math.isfinite(one.accuracy)
            return f"accuracy ±{one.accuracy:g}" if is_exact else "accuracy"
        return f"its sign, or below {one.matters:g}"

    def more(self, one: Effect) -> str:
        """In how many more rounds a pair is foretold to be settled; nothing for one that is, or
        that has no interval.
        """
        if one.is_settled or not one.is_bounded:
            return ""
        rounds = max(one.waits_for - self.effects.rounds, 1.0)
        if self.to_go is not None and rounds >= self.to_go:
            return _about(self.to_go)
        if rounds > FORETOLD * max(self.effects.rounds, 1):
            return "not foretold yet"
        return _about(rounds)


def _about(rounds: float) -> str:
    """To two digits."""
    unit = 10.0 ** max(math.floor(math.log10(max(rounds, 1.0))) - 1, 0)
    return f"about {round(rounds / unit) * unit:,.0f}"


def _size(one: Effect) -> float:
    """Of an effect, by the middle of its interval."""
    return abs(one.low + one.high) if one.is_bounded else abs(one.estimate)


def estimate_in_words(one: Effect) -> str:
    """The weight that is shown now."""
    return f"{one.estimate:+.3g}" if one.estimate else "none"


def interval_in_words(one: Effect) -> str:
    """From where to where."""
    if one.is_given:
        return "known to be none"
    found = f"{one.low:+.3g} to {one.high:+.3g}" if one.is_bounded else "none yet"
    return f"{found}, known to be there" if one.is_required else found
