"""The model class: what is assumed of a system beforehand (Assumption parameter_class)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.errors import InvalidInputError
from causalfocus.system.action_set import ActionSet
from causalfocus.system.knowledge import Knowledge, Pairs
from causalfocus.system.names import position
from causalfocus.system.numbers_by_name import (
    Named,
    NamedRanges,
    checked_by_name,
    checked_variances_by_name,
    is_by_name,
)
from causalfocus.system.sem import LinearSEM
from causalfocus.system.sizes import (
    GRAPH,
    Accuracy,
    Given,
    Size,
    checked_size,
    table_of,
)

RELATIVE_SLACK: Final = 1e-9
"""Membership is tested up to this relative slack, so that a model read back from text stays in."""


@dataclass(frozen=True)
class ModelClass:
    """What matters, what is known, and bounds on the systems considered possible.

    Give either `matters`, in the units of the variables, or `min_effect`, in units of the effect
    per unit of the cause.

    Parameters
    ----------
    min_effect : smallest size of an effect that matters (the paper's beta_min): one number for all
        pairs, numbers by (cause, effect) with "other" for the rest, or a table, row the effect and
        column the cause
    max_effect : largest size of an edge weight (A_max), in the same forms; None for no bound
    noise_variance : (low, high) range of every noise variance, or ranges by name; None for no bound
    intercept : whether the structural equations have constants. Real systems do; the paper's
        experiments do not.
    matters : by name, the change of a variable that is worth knowing. An effect on it matters if it
        changes the variable by so much when the cause moves across its whole range
    widths : by name, how far a variable moves as a cause that cannot be set; in the place of its
        range for one that can
    outcomes : nodes that are known to drive nothing; with an outcome, and for the randomized rule,
        a variable that cannot be set does no harm
    forbidden : (cause, effect) pairs that are known to have no direct effect
    required : (cause, effect) pairs that are known to have one, of whatever size and sign; of the
        class rule's systems none is below min_effect
    tiers : groups of names; no variable acts directly on one of an earlier group. Those that are in
        no group may act on all, and all on them
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
    >>> rig = ActionSet({"heat": (300, 400), "yield": None})
    >>> space = ModelClass(matters={"yield": 8}, outcomes=["yield"]).on(rig)
    >>> float(space.smallest(rig.names)[1, 0])  # 8 of yield over 100 of heat
    0.08
    """

    min_effect: Size | None = None
    max_effect: Size | None = None
    noise_variance: tuple[float, float] | NamedRanges | None = None
    intercept: bool = True
    _: KW_ONLY
    matters: Named | None = None
    widths: Named = ()
    outcomes: tuple[str, ...] = ()
    forbidden: Pairs = ()
    required: Pairs = ()
    tiers: tuple[tuple[str, ...], ...] = ()
    acyclic: bool = False
    known: Knowledge = field(init=False, repr=False, compare=False)

    if TYPE_CHECKING:  # what a person may give; it is kept in the forms above

        def __init__(
            self,
            min_effect: Given | Size | None = None,
            max_effect: Given | Size | None = None,
            noise_variance: Sequence[float]
            | Mapping[str, Sequence[float]]
            | NamedRanges
            | None = None,
            intercept: bool = True,
            *,
            matters: Mapping[str, float] | Named | None = None,
            widths: Mapping[str, float] | Named = (),
            outcomes: Iterable[str] = (),
            forbidden: Iterable[Sequence[str]] = (),
            required: Iterable[Sequence[str]] = (),
            tiers: Iterable[Iterable[str]] = (),
            acyclic: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        self._check_sizes()
        for name in ("intercept", "acyclic"):
            if not isinstance(getattr(self, name), bool):
                given = getattr(self, name)
                raise InvalidInputError(f"{name} must be True or False, got {given!r}.")
        known = Knowledge.of(
            self.outcomes, self.forbidden, self.required, self.tiers, acyclic=self.acyclic
        )
        for name in ("outcomes", "forbidden", "required", "tiers"):
            object.__setattr__(self, name, getattr(known, name))
        object.__setattr__(self, "known", known)

    def _check_sizes(self) -> None:
        if (self.min_effect is None) == (self.matters is None):
            raise InvalidInputError(
                "Say what matters in one way: matters={'yield': 8}, the change of each variable "
                "that is worth knowing, or min_effect=0.15, the smallest effect per unit of its "
                f"cause; got {'neither' if self.matters is None else 'both'}."
            )
        if self.min_effect is not None:
            object.__setattr__(self, "min_effect", checked_size("min_effect", self.min_effect))
        if self.max_effect is not None:
            object.__setattr__(self, "max_effect", checked_size("max_effect", self.max_effect))
        smallest, largest = self.min_effect, self.max_effect
        if isinstance(smallest, float) and isinstance(largest, float) and largest < smallest:
            raise InvalidInputError(
                f"max_effect = {largest:g} is below min_effect = {smallest:g}: "
                f"no edge weight would be allowed. Raise max_effect or leave it None."
            )
        if self.noise_variance is not None:
            object.__setattr__(
                self, "noise_variance", checked_variances_by_name(self.noise_variance)
            )
        if self.matters is not None:
            object.__setattr__(self, "matters", checked_by_name("matters", self.matters))
            if not self.matters:
                raise InvalidInputError(
                    "matters names no variable: give the change of each that is worth knowing, "
                    "for example {'yield': 8}."
                )
        object.__setattr__(self, "widths", checked_by_name("widths", self.widths))

    def unknown_effects(self, names: tuple[str, ...]) -> Bools:
        """(p, p), row the effect and column the cause: which direct effects there may be.

        names : of the nodes in order; those of whom something is known must be among them
        """
        return self.known.possible(names, acyclic=self.acyclic)

    def on(self, actions: ActionSet) -> "ModelClass":
        """The same, with the widths of all variables that can be set: sizes then need no more.

        Widths are those of the ranges with which a run began (`system.widening`): what matters does
        not change when a range is widened later.
        """
        if self.matters is None:
            return self
        for name in dict((*self.matters, *self.widths)):
            position(name, actions.names)
        spans = zip(actions.names, actions.first_ranges, strict=True)
        found = {
            name: span[1] - span[0]
            for name, span in spans
            if span is not None and span[0] < span[1]
        }
        space = replace(self, widths=tuple((found | dict(self.widths)).items()))
        space.smallest(actions.names)
        return space

    @property
    def is_uniform(self) -> bool:
        """Whether all sizes are single numbers, as the paper has them."""
        ranges = self.noise_variance
        return (
            isinstance(self.min_effect, float)
            and (self.max_effect is None or isinstance(self.max_effect, float))
            and (ranges is None or not is_by_name(ranges))
        )

    def smallest(self, names: tuple[str, ...]) -> Floats:
        """(p, p), row the effect and column the cause: from which size on an effect matters.

        names : of the nodes in order
        """
        unknown = self.unknown_effects(names)
        if self.matters is None:
            return table_of(cast("Size", self.min_effect), names, unknown)
        matters, widths = dict(self.matters), dict(self.widths)
        for j, effect in enumerate(names):
            if unknown[j].any() and effect not in matters:
                raise InvalidInputError(
                    f"matters does not say which change of {effect!r} is worth knowing, and other "
                    f"variables may act on it. Add it, for example {effect!r}: 1.0."
                )
        for k, cause in enumerate(names):
            if unknown[:, k].any() and cause not in widths:
                raise InvalidInputError(
                    f"{cause!r} may act on others and has no range of two values, so what matters "
                    f"of that is not said by matters. Give a width over which it moves, "
                    f"widths={{{cause!r}: 1.0}}, or say that it drives nothing, "
                    f"outcomes=[{cause!r}]."
                )
        by_effect = np.array([matters.get(name, widths.get(name, 1.0)) for name in names])
        by_cause = np.array([widths.get(name, matters.get(name, 1.0)) for name in names])
        found: Floats = by_effect[:, None] / by_cause
        np.fill_diagonal(found, 1.0)
        return found

    def largest(self, names: tuple[str, ...]) -> Floats:
        """(p, p), as `smallest`: no effect is larger; infinite without a bound."""
        if self.max_effect is None:
            return np.full((len(names), len(names)), math.inf)
        return table_of(self.max_effect, names, self.unknown_effects(names))

    def variances(self, names: tuple[str, ...]) -> Floats:
        """(p, 2), the lowest and highest noise variance of every node; (0, infinity) without."""
        found = np.tile([0.0, math.inf], (len(names), 1))
        ranges = self.noise_variance
        if ranges is None:
            return found
        if not is_by_name(ranges):
            found[:] = ranges
            return found
        for name, span in ranges:
            found[position(name, names)] = span
        return found

    def require_uniform(self, what: str) -> None:
        """Raise if some size is not a single number, for what knows no others."""
        if not self.is_uniform:
            raise InvalidInputError(
                f"{what} knows single numbers: give min_effect, max_effect and noise_variance as "
                f"one number (or range) for all, or take another rule."
            )

    @property
    def least_effect(self) -> float:
        """min_effect of a class of single numbers."""
        self.require_uniform("This")
        return cast("float", self.min_effect)

    @property
    def effect_limit(self) -> float:
        """max_effect of a class of single numbers, infinity when there is no bound."""
        self.require_uniform("This")
        return math.inf if self.max_effect is None else cast("float", self.max_effect)

    @property
    def variance_limits(self) -> tuple[float, float]:
        """The noise range of a class of single numbers, (0, infinity) when there is none."""
        self.require_uniform("This")
        if self.noise_variance is None:
            return 0.0, math.inf
        return cast("tuple[float, float]", self.noise_variance)

    def checked_epsilon(self, epsilon: Any) -> Accuracy | None:
        """An accuracy that Definition correctness allows: 0 < epsilon <= min_effect / 2.

        epsilon : in the forms of min_effect; "graph" for the graph alone; None for half of
            min_effect, which is returned as None where that differs from pair to pair
        """
        if isinstance(epsilon, str):
            if epsilon == GRAPH:
                return GRAPH
            raise InvalidInputError(
                f"epsilon is a positive number, numbers by pair, or {GRAPH!r} for the graph alone; "
                f"got {epsilon!r}."
            )
        smallest = self.min_effect
        if epsilon is None:
            return 0.5 * smallest if isinstance(smallest, float) else None
        value = checked_size("epsilon", epsilon)
        if isinstance(value, float) and isinstance(smallest, float):
            _require_half(value, smallest, "")
        return value

    def accuracies(self, epsilon: Accuracy | None, names: tuple[str, ...]) -> Floats:
        """(p, p), row the effect and column the cause: how far weights may be off; infinite for the
        graph alone.

        epsilon : that was checked
        """
        smallest = self.smallest(names)
        if epsilon is None:
            return 0.5 * smallest
        if isinstance(epsilon, str):
            return np.full(smallest.shape, math.inf)
        unknown = self.unknown_effects(names)
        found = table_of(epsilon, names, unknown)
        for j, k in np.argwhere(unknown & (found > 0.5 * smallest * (1 + RELATIVE_SLACK))):
            _require_half(found[j, k], smallest[j, k], f" of {names[k]} on {names[j]}")
        return found

    def violations(self, model: LinearSEM) -> list[str]:
        """What keeps a model out of the class, in words; empty for a member."""
        names = model.names
        found, needed = self._edges_outside(model), self.known.required_in(names)
        for j, k in np.argwhere(needed & (model.weights == 0.0)):
            found.append(f"{names[k]} -> {names[j]} is required and lacking")
        spans = zip(names, model.noise_variances, self.variances(names), strict=True)
        for name, variance, (lowest, highest) in spans:
            if not lowest * (1 - RELATIVE_SLACK) <= variance <= highest * (1 + RELATIVE_SLACK):
                found.append(
                    f"the noise variance of {name} is {variance:g}, "
                    f"outside [{lowest:g}, {highest:g}]"
                )
        if not self.intercept:
            for name, constant in zip(names, model.intercepts, strict=True):
                if constant != 0:
                    found.append(f"{name} has the intercept {constant:g} and intercept is False")
        return found

    def _edges_outside(self, model: LinearSEM) -> list[str]:
        found, names = [], model.names
        smallest, largest = self.smallest(names), self.largest(names)
        possible = self.unknown_effects(names)
        for cause, effect, weight in model.edges:
            size, at = abs(weight), (names.index(effect), names.index(cause))
            if size < smallest[at] * (1 - RELATIVE_SLACK):
                found.append(
                    f"{cause} -> {effect} has size {size:g}, below min_effect = {smallest[at]:g}"
                )
            if size > largest[at] * (1 + RELATIVE_SLACK):
                found.append(
                    f"{cause} -> {effect} has size {size:g}, above max_effect = {largest[at]:g}"
                )
            if not possible[at]:
                found.append(f"{cause} -> {effect} is known not to exist")
        return found

    def contains(self, model: LinearSEM) -> bool:
        """Whether the model is a member."""
        return not self.violations(model)

    def require(self, model: LinearSEM) -> None:
        """Raise if the model is not a member, saying why."""
        found = self.violations(model)
        if found:
            more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
            raise InvalidInputError(
                f"The model is outside the class: {'; '.join(found[:3])}{more}. "
                f"Widen the class or change the model."
            )


def _require_half(epsilon: float, smallest: float, of: str) -> None:
    if epsilon > smallest / 2 * (1 + RELATIVE_SLACK):
        raise InvalidInputError(
            f"epsilon{of} = {epsilon:g} is above min_effect / 2 = {smallest / 2:g}. "
            f"Ask for a smaller epsilon, or raise min_effect if weaker effects do not matter."
        )


PAPER_CLASS: Final = ModelClass(
    min_effect=0.15, max_effect=1.5, noise_variance=(0.8, 1.2), intercept=False
)
"""The class of the paper's experiments."""
