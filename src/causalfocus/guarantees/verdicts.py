"""What is said of single pairs of variables: verdicts and intervals."""

from dataclasses import dataclass
from typing import Literal

from causalfocus.system.sem import LinearSEM

Stand = Literal["present", "absent", "open"]


@dataclass(frozen=True)
class Interval:
    """Weights of one edge that the evidence does not reject at delta, given the graph."""

    cause: str
    effect: str
    low: float
    estimate: float
    high: float


@dataclass(frozen=True)
class Verdict:
    """What is certain of a direct effect.

    Attributes
    ----------
    cause, effect : the pair
    stand : "present", "absent" (none of the size that matters), or "open" while neither is certain
    """

    cause: str
    effect: str
    stand: Stand


def verdicts_on(estimate: LinearSEM, *, is_certified: bool) -> tuple[Verdict, ...]:
    """Every pair at once: all are open until the claim stands, which then speaks of all."""
    found = []
    for j, effect in enumerate(estimate.names):
        for k, cause in enumerate(estimate.names):
            if j == k:
                continue
            stand: Stand = "open"
            if is_certified:
                stand = "present" if estimate.weights[j, k] != 0.0 else "absent"
            found.append(Verdict(cause, effect, stand))
    return tuple(found)
