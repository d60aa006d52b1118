"""Sizes that may differ from pair to pair: one number, numbers by (cause, effect), or a table."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.errors import InvalidInputError
from causalfocus.system.names import position

OTHER: Final = "other"
"""The key that stands for all pairs that are not named."""

GRAPH: Final = "graph"
"""What stands in the place of an accuracy if the graph alone is asked for."""

Given = float | Mapping[Any, float] | Iterable[Sequence[float]]
"""How a person may give sizes."""


@dataclass(frozen=True)
class PairSizes:
    """A positive size for every pair of variables, by names or as a table.

    Attributes
    ----------
    named : sizes by (cause, effect)
    other : of all pairs that are not named; None if every pair that counts has to be
    rows : (p, p), row the effect and column the cause, in the order of the variables, in the place
        of all names; the diagonal is not read

    Examples
    --------
    >>> sizes = PairSizes.of("min_effect", {("heat", "yield"): 0.2, "other": 1.0})
    >>> sizes.table(("heat", "yield")).tolist()
    [[1.0, 1.0], [0.2, 1.0]]
    """

    named: tuple[tuple[tuple[str, str], float], ...] = ()
    other: float | None = None
    rows: tuple[tuple[float, ...], ...] | None = None

    @classmethod
    def of(cls, what: str, given: Any) -> "PairSizes":
        """From a mapping by (cause, effect), with "other" for the rest, or from a table."""
        if isinstance(given, Mapping):
            return cls._from_mapping(what, given)
        try:
            rows = np.array(given, dtype=np.float64)
        except (TypeError, ValueError):
            rows = np.zeros(0)
        if rows.ndim != 2 or rows.shape[0] != rows.shape[1] or rows.shape[0] == 0:
            raise InvalidInputError(
                f"{what} is a number, a mapping from (cause, effect) to numbers, or a square table "
                f"of numbers, row the effect and column the cause; got {given!r}."
            )
        off_diagonal = rows[~np.eye(len(rows), dtype=np.bool_)]
        if not (np.isfinite(off_diagonal).all() and (off_diagonal > 0.0).all()):
            raise InvalidInputError(
                f"Sizes in {what} must be positive and finite, got {rows.tolist()}."
            )
        np.fill_diagonal(rows, 1.0)
        return cls(rows=tuple(map(tuple, rows.tolist())))

    @classmethod
    def _from_mapping(cls, what: str, given: Mapping[Any, float]) -> "PairSizes":
        named, other = {}, None
        for key, size in given.items():
            is_pair = isinstance(key, tuple | list) and len(key) == 2
            if key != OTHER and not (is_pair and all(isinstance(name, str) for name in key)):
                raise InvalidInputError(
                    f"The keys of {what} are pairs (cause, effect) of names, or {OTHER!r} for all "
                    f"that are not named; got {key!r}."
                )
            checked = positive(f"{what} of {key!r}", size)
            if key == OTHER:
                other = checked
            else:
                named[key[0], key[1]] = checked
        if not given:
            raise InvalidInputError(f"{what} names no pair: give at least {{{OTHER!r}: 0.1}}.")
        return cls(tuple(named.items()), other)

    def table(self, names: Sequence[str], counts: Bools | None = None) -> Floats:
        """(p, p), row the effect and column the cause.

        names : of the variables, in order
        counts : (p, p), which pairs must have a size; None for all. Others that have none get the
            largest of their row
        """
        p = len(names)
        if self.rows is not None:
            found = np.array(self.rows)
            if found.shape != (p, p):
                raise InvalidInputError(
                    f"The table of sizes is {found.shape[0]} by {found.shape[0]}, and there are "
                    f"{p} variables: {', '.join(names)}."
                )
            return found
        found = np.full((p, p), math.nan if self.other is None else self.other)
        for (cause, effect), size in self.named:
            found[position(effect, names), position(cause, names)] = size
        np.fill_diagonal(found, 1.0)
        lacks = np.isnan(found)
        for j, k in np.argwhere(lacks if counts is None else lacks & counts):
            raise InvalidInputError(
                f"There is no size for the effect of {names[k]} on {names[j]}. Name the pair "
                f"({names[k]!r}, {names[j]!r}), or give {OTHER!r} for all that are not named."
            )
        most = np.where(lacks, 0.0, found).max(axis=1, keepdims=True)
        return np.where(lacks, most, found)

    def plain(self) -> Any:
        """As JSON and YAML have it; `plain_sizes` reads it back."""
        if self.rows is not None:
            return [list(row) for row in self.rows]
        named = [{"cause": c, "effect": e, "size": size} for (c, e), size in self.named]
        return named if self.other is None else [*named, {"size": self.other}]


Size = float | PairSizes
Accuracy = float | PairSizes | Literal["graph"]


def checked_size(what: str, given: Any) -> Size:
    """One positive number, or sizes by pair."""
    if isinstance(given, PairSizes | Mapping):
        return given if isinstance(given, PairSizes) else PairSizes.of(what, given)
    is_one = (
        isinstance(given, str)
        or not isinstance(given, Iterable)
        or np.ndim(cast("Any", given)) == 0
    )
    return positive(what, given) if is_one else PairSizes.of(what, given)


def plain_size(size: Size | str | None) -> Any:
    """A size as JSON and YAML have it."""
    return size.plain() if isinstance(size, PairSizes) else size


def size_from_plain(what: str, given: Any) -> Any:
    """What `plain_size` wrote: entries by name become a mapping; all else is as it is."""
    if not (isinstance(given, list) and given and isinstance(given[0], Mapping)):
        return given
    found: dict[Any, float] = {}
    for entry in given:
        unknown = set(entry) - {"cause", "effect", "size"} if isinstance(entry, Mapping) else {""}
        if unknown or "size" not in entry or ("cause" in entry) != ("effect" in entry):
            raise InvalidInputError(
                f"An entry of {what} has cause, effect and size, or size alone for all pairs that "
                f"are not named; got {entry!r}."
            )
        key = (entry["cause"], entry["effect"]) if "cause" in entry else OTHER
        if key in found:
            raise InvalidInputError(f"{what} has an entry twice: {entry!r}.")
        found[key] = entry["size"]
    return found


def table_of(size: Size, names: Sequence[str], counts: Bools | None = None) -> Floats:
    """(p, p), row the effect and column the cause; see `PairSizes.table`."""
    if isinstance(size, PairSizes):
        return size.table(names, counts)
    return np.full((len(names), len(names)), size)


def positive(what: str, given: Any) -> float:
    """A positive, finite number, or an error."""
    try:
        value = float(given)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{what} must be a number, got {given!r}.") from None
    if not (math.isfinite(value) and value > 0):
        raise InvalidInputError(f"{what} must be positive and finite, got {value:g}.")
    return value
