"""Actions and where rounds go, in words: by action, or by what is set where several may be."""

from collections.abc import Mapping
from typing import Final

from causalfocus.system.actions import Action

MOST_SHOWN: Final = 15
"""Lines that a reader takes in; the rest are put together."""

MOST_SETTINGS: Final = 6
"""Variables that are set by one action, if they are named."""


def by_words(amounts: Mapping[Action, float], *, at_once: int) -> dict[str, float]:
    """Amounts per action, by their words. Where several variables may be set at once, one entry for
    all actions that set the same ones, or as many if these are many, the largest first, and one for
    all that are small.
    """
    if at_once < 2:
        return {str(action): amount for action, amount in amounts.items()}
    found: dict[str, float] = {}
    for action, amount in amounts.items():
        words = f"set {', '.join(action.targets)}" if action.targets else "observe"
        if len(action.targets) > MOST_SETTINGS:
            words = in_brief(action)
        found[words] = found.get(words, 0) + amount
    ordered = sorted(found.items(), key=lambda item: -item[1])
    if len(ordered) <= MOST_SHOWN:
        return dict(ordered)
    rest = ordered[MOST_SHOWN - 1 :]
    shown = dict(ordered[: MOST_SHOWN - 1])
    return {**shown, f"{len(rest)} others": sum(amount for _, amount in rest)}


def in_brief(action: Action) -> str:
    """An action in words; of one that sets many variables, how many."""
    n = len(action.settings)
    return str(action) if n <= MOST_SETTINGS else f"set {n} variables"
