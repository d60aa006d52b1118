"""What is known of the graph beforehand: who drives nothing, who acts on whom, who comes first."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.errors import InvalidInputError
from causalfocus.system.graph import loop_in_words, reach_of
from causalfocus.system.names import position

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Knowledge:
    """Facts about direct effects, checked for contradictions; what they mean is in `ModelClass`."""

    outcomes: tuple[str, ...] = ()
    forbidden: Pairs = ()
    required: Pairs = ()
    tiers: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(
        cls, outcomes: Any, forbidden: Any, required: Any, tiers: Any, *, acyclic: bool
    ) -> "Knowledge":
        """From what a person gave, in order and without repetitions."""
        found = cls(
            _names("outcomes", outcomes),
            _pairs("forbidden", forbidden),
            _pairs("required", required),
            _tiers(tiers),
        )
        found._require_no_contradiction(acyclic=acyclic)
        return found

    def _require_no_contradiction(self, *, acyclic: bool) -> None:
        level = self._levels
        for cause, effect in self.required:
            why = None
            if cause in self.outcomes:
                why = f"outcomes says that {cause!r} drives nothing"
            elif (cause, effect) in self.forbidden:
                why = "forbidden says that there is none"
            elif cause in level and effect in level and level[cause] > level[effect]:
                why = f"tiers say that {cause!r} comes after {effect!r}"
            if why is not None:
                raise InvalidInputError(
                    f"required says that {cause!r} acts on {effect!r}, and {why}. Leave one out."
                )
        if acyclic:
            self.require_no_loop("acyclic=True says that there is none")

    def require_names(self, names: tuple[str, ...]) -> None:
        """Raise if something is known of a variable that there is not."""
        self.possible(names)
        self.required_in(names)

    def require_of(self, weights: Floats, names: tuple[str, ...]) -> None:
        """Raise if a system is not as it is known to be.

        weights : (p, p), row the effect and column the cause
        """
        for j, k in np.argwhere((weights != 0.0) & ~self.possible(names)):
            raise InvalidInputError(
                f"{names[k]} acts on {names[j]}, and by outcomes, forbidden or tiers it does not. "
                f"Leave that out, or take the effect out of the model."
            )
        for j, k in np.argwhere((weights == 0.0) & self.required_in(names)):
            raise InvalidInputError(
                f"{names[k]} does not act on {names[j]}, and required says that it does. Leave "
                f"that out, or put the effect into the model."
            )

    def require_no_loop(self, why: str) -> None:
        """Raise if required effects lead back to where they begin.

        why : that cannot be, in words
        """
        names = tuple(dict.fromkeys(name for pair in self.required for name in pair))
        if names and np.diag(reach_of(self.required_in(names))).any():
            loop = loop_in_words(self.required_in(names).astype(np.float64), names)
            raise InvalidInputError(
                f"required has the loop {loop}, and {why}. Leave one of these effects out."
            )

    @property
    def _levels(self) -> dict[str, int]:
        return {name: i for i, group in enumerate(self.tiers) for name in group}

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return not (self.outcomes or self.forbidden or self.required or self.tiers)

    def possible(self, names: tuple[str, ...], *, acyclic: bool = False) -> Bools:
        """(p, p), row the effect and column the cause: which direct effects there may be.

        names : of the variables in order; all that something is known of must be among them
        acyclic : whether there is no feedback. What required effects lead to, in one step or more,
            then does not act on where they come from: the way back would close a loop
        """
        found = ~np.eye(len(names), dtype=np.bool_)
        found[:, [_at("outcomes", name, names) for name in self.outcomes]] = False
        for cause, effect in self.forbidden:
            found[_at("forbidden", effect, names), _at("forbidden", cause, names)] = False
        level = {_at("tiers", name, names): i for name, i in self._levels.items()}
        for j, at in level.items():
            for k, other in level.items():
                if other > at:
                    found[j, k] = False
        if acyclic:
            found &= ~reach_of(self.required_in(names)).T
        return found

    def required_in(self, names: tuple[str, ...]) -> Bools:
        """(p, p), as `possible`: which direct effects there are for certain."""
        found = np.zeros((len(names), len(names)), dtype=np.bool_)
        for cause, effect in self.required:
            found[_at("required", effect, names), _at("required", cause, names)] = True
        return found


def _at(what: str, name: str, names: tuple[str, ...]) -> int:
    """Where a name stands, or an error that says by what it was given."""
    try:
        return position(name, names)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{what} names {name!r}. {error} Correct the name, or leave it out."
        ) from None


def _names(what: str, given: object) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInputError(f"{what} is a list of names, got {given!r}.")
    found = tuple(given)
    for name in found:
        if not isinstance(name, str):
            raise InvalidInputError(f"{what} is a list of names; {name!r} is none.")
    return tuple(dict.fromkeys(found))


def _pairs(what: str, given: object) -> Pairs:
    pairs = () if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    found = tuple(_names(f"A pair in {what}", pair) for pair in pairs)
    if (not pairs and given not in ((), [])) or any(len(pair) != 2 for pair in found):
        raise InvalidInputError(
            f"{what} is a list of pairs (cause, effect) of two different names, got {given!r}."
        )
    return tuple((cause, effect) for cause, effect in dict.fromkeys(found))


def _tiers(given: object) -> tuple[tuple[str, ...], ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInputError(f"tiers is a list of lists of names, got {given!r}.")
    found = tuple(_names("A tier", group) for group in given)
    seen: set[str] = set()
    for name in (name for group in found for name in group):
        if name in seen:
            raise InvalidInputError(f"{name!r} is in two tiers. Leave it in one.")
        seen.add(name)
    return tuple(group for group in found if group)
