"""The tables of all direct and of all total effects, for people and for programs."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from causalfocus.errors import InvalidInputError
from causalfocus.guarantees.effects import Effect, TotalEffect
from causalfocus.system.convert import frame_of, pairs_to_networkx

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

HEADINGS: Final = ("cause", "effect", "estimate", "interval", "verdict", "rounds")

AnyEffect = TypeVar("AnyEffect", bound=Effect)


class EffectTable(Sequence[AnyEffect]):
    """Every pair of variables, one row each.

    Parameters
    ----------
    rows : one for every pair
    rounds : samples that were told by then
    """

    headings: ClassVar[tuple[str, ...]] = HEADINGS

    def __init__(self, rows: Sequence[AnyEffect], rounds: int) -> None:
        self._rows = tuple(rows)
        self._by_pair = {(one.cause, one.effect): one for one in self._rows}
        self.rounds = rounds

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[AnyEffect]:
        return iter(self._rows)

    def __getitem__(self, at: Any) -> Any:
        """A row by its place, or by (cause, effect)."""
        if not isinstance(at, tuple):
            return self._rows[at]
        if at not in self._by_pair:
            raise InvalidInputError(
                f"There is no pair {at!r}. A pair is (cause, effect), two different variables."
            )
        return self._by_pair[at]

    def __eq__(self, other: object) -> bool:
        """The same of every pair after as many rounds."""
        if not isinstance(other, Effects):
            return NotImplemented
        return (self._rows, self.rounds) == (other._rows, other.rounds)

    def __hash__(self) -> int:
        return hash((self._rows, self.rounds))

    @property
    def n_asked(self) -> int:
        """How many pairs are asked for."""
        return sum(one.is_asked for one in self._rows)

    @property
    def n_settled(self) -> int:
        """How many of these are settled."""
        return sum(one.is_settled and one.is_asked for one in self._rows)

    def to_dict(self) -> dict[str, Any]:
        """A form for JSON: infinite numbers are None."""
        return {
            "rounds": self.rounds,
            "settled": self.n_settled,
            "pairs": [
                {
                    name: None if isinstance(value, float) and math.isinf(value) else value
                    for name, value in asdict(one).items()
                }
                for one in self._rows
            ],
        }

    def to_frame(self) -> pd.DataFrame:
        """One line per pair."""
        names = [one.name for one in fields(self._rows[0])] if self._rows else ["cause", "effect"]
        return frame_of({name: [getattr(one, name) for one in self._rows] for name in names})

    def to_networkx(self, *, every_pair: bool = False) -> nx.DiGraph:
        """A directed graph from cause to effect. Edges carry `weight`, the estimate; `low` and
        `high`, its interval, infinite where there is no bound yet; and `verdict`.

        every_pair : whether all pairs are edges; else those whose effect is there for certain, or
            that the estimate shows
        """
        names = dict.fromkeys(name for one in self._rows for name in (one.effect, one.cause))
        return pairs_to_networkx(
            list(names),
            (
                {
                    "cause": one.cause,
                    "effect": one.effect,
                    "weight": one.estimate,
                    "low": one.low,
                    "high": one.high,
                    "verdict": one.verdict,
                }
                for one in self._rows
                if every_pair or one.is_present or one.estimate != 0.0
            ),
        )

    def __repr__(self) -> str:
        settled = f"{self.n_settled} of {self.n_asked} pairs settled"
        return f"<{type(self).__name__}: {settled}, {self.rounds} rounds>"

    def __str__(self) -> str:
        table = [self.headings, *map(self._cells, self._rows)]
        widths = [max(len(line[i]) for line in table) for i in range(len(self.headings))]
        lines = (
            "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) for line in table
        )
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        """For notebooks."""
        head = "".join(f"<th>{name}</th>" for name in self.headings)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in self._cells(one)) + "</tr>"
            for one in self._rows
        )
        said = f"{self.n_settled} of {self.n_asked} pairs are settled after {self.rounds} rounds."
        return (
            f"<table><caption>{said}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )

    def _cells(self, one: AnyEffect) -> tuple[str, ...]:
        """A line of the table, in words."""
        return (
            one.cause,
            one.effect,
            f"{one.estimate:.3g}" if one.estimate else "none",
            f"{one.low:.3g} to {one.high:.3g}" if one.is_bounded else "no bound yet",
            one.verdict,
            self._waits(one),
        )

    def _waits(self, one: AnyEffect) -> str:
        if one.is_settled:
            return "settled"
        return _about(one.waits_for) if one.is_asked else "not asked"


class Effects(EffectTable[Effect]):
    """Every pair of variables: what is known of its direct effect, and what it waits for.

    Examples
    --------
    >>> import causalfocus as cf
    >>> actions = cf.ActionSet({"heat": (20, 80), "flow": (1, 3)})
    >>> learner = cf.Focus(actions, cf.ModelClass(0.2), epsilon=0.1, rule="randomized", seed=1)
    >>> effects = learner.effects()
    >>> effects["heat", "flow"].verdict, len(effects)
    ('open', 2)
    """


class TotalEffects(EffectTable[TotalEffect]):
    """Every pair of variables: what is known of its total effect, and for how many rounds with the
    cause alone it waits.

    Examples
    --------
    >>> import causalfocus as cf
    >>> actions = cf.ActionSet({"heat": (20, 80), "flow": (1, 3)})
    >>> learner = cf.Focus(actions, cf.ModelClass(0.2), epsilon=0.1, rule="randomized", seed=1)
    >>> total = learner.total_effects()["heat", "flow"]
    >>> total.verdict, total.rounds_alone
    ('open', 0)
    """

    headings: ClassVar[tuple[str, ...]] = (*HEADINGS[:-1], "rounds with the cause alone")

    def _waits(self, one: TotalEffect) -> str:
        return f"{one.rounds_alone:,}, {super()._waits(one)}"


def _about(rounds: float) -> str:
    return "not yet known" if math.isinf(rounds) else f"about {rounds:,.0f}"
