"""What rules speak of: rivals, steps to wider assumptions, designs of their own."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.system.numbers_by_name import is_by_name
from causalfocus.system.sem import LinearSEM
from causalfocus.system.sizes import GRAPH, Accuracy
from causalfocus.system.space import ModelClass

KNOWLEDGE: Final = ("outcomes", "forbidden", "required", "tiers")
"""What may be known of the graph beforehand, as a class calls it."""


@dataclass(frozen=True)
class Rival:
    """The closest system that breaks a claim.

    Attributes
    ----------
    gains : its divergence under every choice, infinite if nothing breaks the claim
    model : the system
    changes : how it differs, in words
    """

    gains: Floats
    model: LinearSEM
    changes: str


def claim_of_effects(what: str, epsilon: Accuracy | None, space: ModelClass) -> str:
    """The claim of a rule that reports effects, in words.

    what : is reported, such as "effect"
    """
    return (
        f"every {what} shown is there and {accuracy_in_words(epsilon)}, and every effect "
        f"{size_in_words(space)} is shown"
    )


def accuracy_in_words(epsilon: Accuracy | None) -> str:
    """How exact a reported weight is, after "is"."""
    if epsilon == GRAPH:
        return "in this direction"
    if isinstance(epsilon, float):
        return f"within {epsilon:g} of its weight"
    of_what = "half of what matters" if epsilon is None else "the accuracy asked for"
    return f"within {of_what} of its weight"


def size_in_words(space: ModelClass) -> str:
    """From which size on an effect is shown, after "effect"."""
    if space.matters is not None:
        return (
            f"that changes {_changes_in_words(space)} or more as its cause moves across its range"
        )
    if isinstance(space.min_effect, float):
        return f"of size {space.min_effect:g} or more"
    return "of the size given for its pair or more"


def _changes_in_words(space: ModelClass) -> str:
    """Which changes are worth knowing."""
    return ", ".join(f"{name} by {change:g}" for name, change in space.matters or ())


def bounds_in_words(space: ModelClass) -> list[str]:
    """What a class says of effects and noise."""
    parts = []
    if isinstance(space.min_effect, float):
        parts.append(f"no effect is smaller than {space.min_effect:g}")
    elif space.matters is None:
        parts.append("no effect is smaller than the size given for its pair")
    else:
        changes = _changes_in_words(space)
        parts.append(f"every effect changes {changes} or more as its cause moves across its range")
    if isinstance(space.max_effect, float):
        parts.append(f"none larger than {space.max_effect:g}")
    elif space.max_effect is not None:
        parts.append("none larger than the limit given for its pair")
    ranges = space.noise_variance
    if ranges is not None and not is_by_name(ranges):
        parts.append(f"noise variances are between {ranges[0]:g} and {ranges[1]:g}")
    elif ranges is not None:
        each = (f"that of {name} between {low:g} and {high:g}" for name, (low, high) in ranges)
        parts.append(f"of the noise variances, {', '.join(each)}")
    return parts


def known_in_words(space: ModelClass) -> str:
    """That the claim rests on what is known of the graph beforehand, to go on after "if ..."."""
    given = [what for what in KNOWLEDGE if getattr(space, what)]
    if not given:
        return ""
    return f", and if what was given as {', '.join(given)} is so"


class Step(NamedTuple):
    """A way on for someone whose assumptions are refuted.

    words : what to call, as one would type it
    rule, space : what is assumed then
    """

    words: str
    rule: str
    space: ModelClass


def without_knowledge(space: ModelClass, rule: str) -> Iterator[Step]:
    """The step to the same class with nothing known of the graph, if something is."""
    given = [what for what in KNOWLEDGE if getattr(space, what)]
    if given:
        words = ", ".join(f"{what}=()" for what in given)
        nothing: dict[str, Any] = dict.fromkeys(given, ())
        yield Step(f"with_space(...) with {words}", rule, replace(space, **nothing))


class Spread(NamedTuple):
    """Rounds of FOCUS over those on expected moments: tenth percentile, median, ninetieth."""

    low: float
    middle: float
    high: float


class Spreads(NamedTuple):
    """Rounds to go over those that an estimate foretells on the way: what holds four runs of five,
    with its median, by how far along a run seems to be. Measured.

    along : shares of the way at which it was measured, in order: rounds so far over these and those
        to go, as foretold
    low, middle, high : factors at each of them; between two of them by powers
    """

    along: tuple[float, ...]
    low: tuple[float, ...]
    middle: tuple[float, ...]
    high: tuple[float, ...]

    def at(self, share: float) -> Spread:
        """Return the factors at a share of the way."""
        parts = (np.interp(share, self.along, np.log(part)) for part in self[1:])
        return Spread(*(float(np.exp(part)) for part in parts))


class OwnDesign(NamedTuple):
    """The best design for a known system by a rule that plans.

    sets, shares : (m, p) and (m,), what is set, and its share of the rounds
    value, upper : bounds of the nats per unit of cost
    is_exhaustive : whether no other set can do better
    rival : what binds it
    """

    sets: Bools
    shares: Floats
    value: float
    upper: float
    is_exhaustive: bool
    rival: Rival
