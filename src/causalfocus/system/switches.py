"""Switches: variables with two states, the ends of their range, and nothing in between."""

from collections.abc import Iterable, Sequence

from causalfocus.errors import InvalidInputError
from causalfocus.system.names import position


def checked_switches(
    given: object, names: Sequence[str], ranges: Sequence[tuple[float, float] | None]
) -> tuple[str, ...]:
    """The names of the switches, each once, in the order of all names; raises if one of them is no
    variable, or cannot be set to two values.

    Parameters
    ----------
    given : the names, as somebody gave them
    names : of all variables
    ranges : of all variables, in the same order; None for what cannot be set
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInputError(
            f"switches is a list of names, got {given!r}. For example switches=[{names[0]!r}]."
        )
    found = {position(name, names) for name in given}
    for at in sorted(found):
        span = ranges[at]
        if span is None or span[0] == span[1]:
            states = "cannot be set" if span is None else f"can be set to {span[0]:g} alone"
            raise InvalidInputError(
                f"{names[at]} is among the switches and {states}: a switch has two states, the "
                f"ends of its range. Give it a range with two ends, such as (0, 1), or leave it "
                f"out of the switches."
            )
    return tuple(names[at] for at in sorted(found))
