"""The smallest experiments, for the tests."""

from collections.abc import Iterator, Sequence
from typing import Any

from causalfocus.experiments.execution import Done, attempt
from causalfocus.experiments.specification import Setting, Specification
from causalfocus.experiments.units import Unit

SMALL = Setting(2, 0.5)


def specification(method: str = "random", **options: Any) -> Specification:
    """Of thirty rounds, unless told otherwise."""
    return Specification(method=method, **({"budget": 30} | options))


def unit(method: str = "random", first: int = 0, size: int = 2) -> Unit:
    asked = specification(method)
    return Unit(SMALL, asked, first, size, asked.hash)


def in_turn(units: Sequence[Unit]) -> Iterator[Done]:
    return map(attempt, units)
