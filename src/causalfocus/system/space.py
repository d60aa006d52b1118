"""The model class: what is assumed of a system beforehand (Assumption parameter_class)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Final

import numpy as np

from causalfocus.arrays import Bools
from causalfocus.errors import InvalidInputError
from causalfocus.system.names import position
from causalfocus.system.sem import LinearSEM

RELATIVE_SLACK: Final = 1e-9
"""Membership is tested up to this relative slack, so that a model read back from text stays in."""


@dataclass(frozen=True)
class ModelClass:
    """Bounds on the effects and noise variances of the systems considered possible.

    Parameters
    ----------
    min_effect : smallest size of a non-zero edge weight (the paper's beta_min)
    max_effect : largest size of an edge weight (A_max); None for no bound
    noise_variance : (low, high) range of every noise variance; None for no bound
    intercept : whether the structural equations have constants. Real systems do; the paper's
        experiments do not.
    outcomes : nodes that are known to drive nothing; with an outcome, and for the randomized rule,
        a variable that cannot be set does no harm
    forbidden : (cause, effect) pairs that are known to have no direct effect; for the randomized
        rule
    acyclic : whether it is known that there is no feedback; the gaussian and class rules and the
        paper's assume it in any case. The randomized rule then takes effects for absent that
        would close a loop with certain ones, and needs fewer rounds

    Examples
    --------
    >>> paper = ModelClass(0.15, max_effect=1.5, noise_variance=(0.8, 1.2), intercept=False)
    >>> paper.contains(LinearSEM([[0, 0], [0.5, 0]], 1.0))
    True
    >>> known = ModelClass(min_effect=0.3, outcomes=["yield"], forbidden=[("flow", "heat")])
    >>> known.unknown_effects(("heat", "flow", "yield")).tolist()
    [[False, False, False], [True, False, False], [True, True, False]]
    """

    min_effect: float
    max_effect: float | None = None
    noise_variance: tuple[float, float] | None = None
    intercept: bool = True
    _: KW_ONLY
    outcomes: Sequence[str] = ()
    forbidden: Sequence[tuple[str, str]] = ()
    acyclic: bool = False

    def __post_init__(self) -> None:
        smallest = _positive("min_effect", self.min_effect)
        object.__setattr__(self, "min_effect", smallest)
        if self.max_effect is not None:
            largest = _positive("max_effect", self.max_effect)
            if largest < smallest:
                raise InvalidInputError(
                    f"max_effect = {largest:g} is below min_effect = {smallest:g}: "
                    f"no edge weight would be allowed. Raise max_effect or leave it None."
                )
            object.__setattr__(self, "max_effect", largest)
        if self.noise_variance is not None:
            object.__setattr__(self, "noise_variance", _variance_range(self.noise_variance))
        for name in ("intercept", "acyclic"):
            if not isinstance(getattr(self, name), bool):
                given = getattr(self, name)
                raise InvalidInputError(f"{name} must be True or False, got {given!r}.")
        object.__setattr__(self, "outcomes", _names("outcomes", self.outcomes))
        object.__setattr__(self, "forbidden", _pairs(self.forbidden))

    def unknown_effects(self, names: tuple[str, ...]) -> Bools:
        """(p, p), row the effect and column the cause: which direct effects there may be.

        names : of the nodes in order; those of outcomes and forbidden effects must be among them
        """
        found = ~np.eye(len(names), dtype=np.bool_)
        found[:, [position(name, names) for name in self.outcomes]] = False
        for cause, effect in self.forbidden:
            found[position(effect, names), position(cause, names)] = False
        return found

    @property
    def effect_limit(self) -> float:
        """max_effect, infinity when there is no bound."""
        return math.inf if self.max_effect is None else self.max_effect

    @property
    def variance_limits(self) -> tuple[float, float]:
        """The noise range, (0, infinity) when there is none."""
        return (0.0, math.inf) if self.noise_variance is None else self.noise_variance

    def checked_epsilon(self, epsilon: float) -> float:
        """An accuracy that Definition correctness allows: 0 < epsilon <= min_effect / 2."""
        value = _positive("epsilon", epsilon)
        if value > self.min_effect / 2 * (1 + RELATIVE_SLACK):
            raise InvalidInputError(
                f"epsilon = {value:g} is above min_effect / 2 = {self.min_effect / 2:g}. "
                f"Ask for a smaller epsilon, or raise min_effect if weaker effects do not matter."
            )
        return value

    def violations(self, model: LinearSEM) -> list[str]:
        """What keeps a model out of the class, in words; empty for a member."""
        found = []
        lowest, highest = self.variance_limits
        for cause, effect, weight in model.edges:
            size = abs(weight)
            if size < self.min_effect * (1 - RELATIVE_SLACK):
                found.append(
                    f"{cause} -> {effect} has size {size:g}, below min_effect = {self.min_effect:g}"
                )
            if size > self.effect_limit * (1 + RELATIVE_SLACK):
                found.append(
                    f"{cause} -> {effect} has size {size:g}, above max_effect = {self.max_effect:g}"
                )
        for name, variance in zip(model.names, model.noise_variances, strict=True):
            if not lowest * (1 - RELATIVE_SLACK) <= variance <= highest * (1 + RELATIVE_SLACK):
                found.append(
                    f"the noise variance of {name} is {variance:g}, "
                    f"outside [{lowest:g}, {highest:g}]"
                )
        if not self.intercept:
            for name, constant in zip(model.names, model.intercepts, strict=True):
                if constant != 0:
                    found.append(f"{name} has the intercept {constant:g} and intercept is False")
        return found

    def contains(self, model: LinearSEM) -> bool:
        """Whether the model is a member."""
        sizes = np.abs(model.weights)
        lowest, highest = self.variance_limits
        return bool(
            ((sizes == 0) | (sizes >= self.min_effect * (1 - RELATIVE_SLACK))).all()
            and sizes.max() <= self.effect_limit * (1 + RELATIVE_SLACK)
            and model.noise_variances.min() >= lowest * (1 - RELATIVE_SLACK)
            and model.noise_variances.max() <= highest * (1 + RELATIVE_SLACK)
            and (self.intercept or not model.intercepts.any())
        )

    def require(self, model: LinearSEM) -> None:
        """Raise if the model is not a member, saying why."""
        if not self.contains(model):
            found = self.violations(model)
            more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
            raise InvalidInputError(
                f"The model is outside the class: {'; '.join(found[:3])}{more}. "
                f"Widen the class or change the model."
            )


def _names(what: str, given: object) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInputError(f"{what} is a list of names, got {given!r}.")
    found = tuple(given)
    for name in found:
        if not isinstance(name, str):
            raise InvalidInputError(f"{what} is a list of names; {name!r} is none.")
    return tuple(dict.fromkeys(found))


def _pairs(given: object) -> tuple[tuple[str, str], ...]:
    pairs = () if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    found = tuple(_names("A pair in forbidden", pair) for pair in pairs)
    if (not pairs and given not in ((), [])) or any(len(pair) != 2 for pair in found):
        raise InvalidInputError(
            f"forbidden is a list of pairs (cause, effect) of two different names, got {given!r}."
        )
    return tuple((cause, effect) for cause, effect in dict.fromkeys(found))


def _positive(what: str, given: float) -> float:
    try:
        value = float(given)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{what} must be a number, got {given!r}.") from None
    if not (math.isfinite(value) and value > 0):
        raise InvalidInputError(f"{what} must be positive and finite, got {value:g}.")
    return value


def _variance_range(given: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = given
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"noise_variance must be a pair (low, high) or None, got {given!r}."
        ) from None
    low = _positive("The lower end of noise_variance", low)
    high = _positive("The upper end of noise_variance", high)
    if low > high:
        raise InvalidInputError(
            f"noise_variance = ({low:g}, {high:g}) is empty: low must not exceed high. Swap them?"
        )
    return low, high


PAPER_CLASS: Final = ModelClass(
    min_effect=0.15, max_effect=1.5, noise_variance=(0.8, 1.2), intercept=False
)
"""The class of the paper's experiments."""
