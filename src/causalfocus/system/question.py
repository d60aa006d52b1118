"""What is asked: all direct effects, those on some variables, single ones, or total effects."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from causalfocus.arrays import Bools
from causalfocus.errors import InvalidInputError
from causalfocus.system.names import position


@dataclass(frozen=True)
class Total:
    """The total effect of one variable on another: what setting the cause, and it alone, does to
    the effect along all ways.
    """

    cause: str
    effect: str


def total(cause: str, effect: str) -> Total:
    """Ask for a total effect, as in `Focus(..., about=cf.total("heat", "yield"))`."""
    if cause == effect:
        raise InvalidInputError(
            f"A total effect is that of one variable on another, got {cause!r} twice."
        )
    return Total(cause, effect)


About = str | Total | tuple[str, str] | Iterable[str | Total | tuple[str, str]]
"""A variable, for all direct effects on it; a pair (cause, effect), for one; a total effect; or
several of these."""


@dataclass(frozen=True)
class Question:
    """What a claim is about. What is not asked has intervals and verdicts all the same, from a
    smaller share of delta; but the run does not wait for it.

    Attributes
    ----------
    parts : names of variables, pairs (cause, effect) and total effects; none for all direct effects

    Examples
    --------
    >>> asked = Question.of(["yield", ("heat", "flow")], ("heat", "flow", "yield"))
    >>> asked.direct(("heat", "flow", "yield")).tolist()
    [[False, False, False], [True, False, False], [True, True, False]]
    """

    parts: tuple[str | tuple[str, str] | Total, ...] = ()

    @classmethod
    def of(cls, about: About | None, names: tuple[str, ...]) -> "Question":
        """From what a person says; None is all direct effects."""
        if about is None:
            return cls()
        is_one = isinstance(about, str | Total) or _is_pair(about, names)
        given: Any = (about,) if is_one else about
        if not isinstance(given, Iterable) or not (parts := tuple(given)):
            raise InvalidInputError(
                f"about is the name of a variable, a pair (cause, effect), cf.total(cause, effect) "
                f"or a list of these, got {about!r}. Leave it out for all direct effects."
            )
        return cls(tuple(dict.fromkeys(_part(part, names) for part in parts)))

    @property
    def is_everything(self) -> bool:
        """Whether all direct effects are asked for, and nothing else."""
        return not self.parts

    def require_everything(self, rule: str) -> None:
        """Raise if it is not all direct effects, of a rule that claims these together."""
        if not self.is_everything:
            raise InvalidInputError(
                f"The {rule} rule claims all direct effects together, so about cannot be "
                f"{self.words}. Leave about out, or take rule='randomized', --rule randomized."
            )

    def direct(self, names: tuple[str, ...]) -> Bools:
        """(p, p), row the effect and column the cause: the direct effects that are asked for."""
        p = len(names)
        found = np.zeros((p, p), dtype=np.bool_)
        if self.is_everything:
            found[:] = True
        for part in self.parts:
            if isinstance(part, str):
                found[position(part, names)] = True
            elif isinstance(part, tuple):
                found[position(part[1], names), position(part[0], names)] = True
        np.fill_diagonal(found, val=False)
        return found

    def totals(self, names: tuple[str, ...]) -> Bools:
        """(p, p), as `direct`: the total effects that are asked for."""
        found = np.zeros((len(names), len(names)), dtype=np.bool_)
        for part in self.parts:
            if isinstance(part, Total):
                found[position(part.effect, names), position(part.cause, names)] = True
        return found

    def plain(self) -> list[Any]:
        """As JSON and YAML have it; `about_from_plain` reads it back."""
        return [
            {"total": [part.cause, part.effect]}
            if isinstance(part, Total)
            else list(part)
            if isinstance(part, tuple)
            else part
            for part in self.parts
        ]

    @property
    def words(self) -> str:
        """What is asked for, after "about"."""
        if self.is_everything:
            return "all direct effects"
        return ", ".join(map(_in_words, self.parts))


EVERYTHING: Final = Question()
"""All direct effects."""


def about_from_plain(given: Any) -> Any:
    """What `Question.plain` wrote, or a person in YAML, as `Question.of` takes it."""
    if not isinstance(given, list):
        return given
    found: list[Any] = []
    for part in given:
        if isinstance(part, dict):
            pair = part.get("total")
            if set(part) != {"total"} or not isinstance(pair, list) or len(pair) != 2:
                raise InvalidInputError(
                    f"A total effect in about is written total: [cause, effect], got {part!r}."
                )
            found.append(total(*pair))
        else:
            found.append(tuple(part) if isinstance(part, list) else part)
    return found


def _is_pair(about: Any, names: tuple[str, ...]) -> bool:
    """Whether this is a pair (cause, effect): a tuple of two names, where a list would be of two
    variables.
    """
    return isinstance(about, tuple) and len(about) == 2 and all(one in names for one in about)


def _part(part: Any, names: tuple[str, ...]) -> str | tuple[str, str] | Total:
    ends = (part.cause, part.effect) if isinstance(part, Total) else part
    if isinstance(part, str):
        position(part, names)
        return part
    if not (isinstance(ends, tuple | list) and len(ends) == 2 and ends[0] != ends[1]):
        raise InvalidInputError(
            f"A part of about is the name of a variable, a pair (cause, effect) of two different "
            f"ones, or cf.total(cause, effect); got {part!r}."
        )
    for name in ends:
        position(name, names)
    return part if isinstance(part, Total) else (str(ends[0]), str(ends[1]))


def _in_words(part: str | tuple[str, str] | Total) -> str:
    if isinstance(part, str):
        return f"direct effects on {part}"
    if isinstance(part, Total):
        return f"the total effect of {part.cause} on {part.effect}"
    return f"the direct effect of {part[0]} on {part[1]}"
