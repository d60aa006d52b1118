"""How hard is it: the information complexity of a system and its optimal design.

C_r of Eq. finite_information_complexity is the value of a game: a design spreads one unit of rounds
(or of cost) over the actions, and the closest rival responds. How it is solved: `allocation.game`,
and `allocation.on_demand` where there are too many sets of variables to list.
"""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees import DEFAULT_RULE, Guarantee, Rule, guarantee_of
from causalfocus.guarantees.designs import design_for
from causalfocus.oracles.limits import require_feasible_size
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import Action
from causalfocus.system.choices import MOST_CHOICES, Choices, Ends
from causalfocus.system.columns import first_columns, n_sets
from causalfocus.system.question import About, Question
from causalfocus.system.sem import LinearSEM
from causalfocus.system.sizes import GRAPH, Accuracy, PairSizes
from causalfocus.system.space import ModelClass


@dataclass(frozen=True)
class BindingRival:
    """An alternative that binds the optimal design.

    Attributes
    ----------
    model : the alternative
    changes : how it differs, in words
    share : of the equilibrium mixture of alternatives
    """

    model: LinearSEM
    changes: str
    share: float


@dataclass(frozen=True, kw_only=True)
class Complexity:
    """Solution of the game for one system.

    Attributes
    ----------
    value, upper : lower and upper bound on C_epsilon, nats per round (per unit of cost)
    is_exhaustive : whether the upper bound holds over all sets of variables. If not, there were too
        many to try, it holds over those that a search found, and C_epsilon may be larger; the
        value is a lower bound in either case
    allocation : the optimal design, the share of each action in the rounds (in the cost); actions
        without one are left out where several variables may be set at once
    design : (k,), the same by the choices, see `choices`
    rivals : the alternatives that bind it, the heaviest first
    epsilon : "graph" for the graph alone, None for half of what matters of each pair
    n_planes : cutting planes that were needed
    """

    value: float
    upper: float
    is_exhaustive: bool
    allocation: dict[Action, float]
    design: Floats = field(repr=False)
    rivals: tuple[BindingRival, ...]
    epsilon: Accuracy | None
    n_planes: int
    _problem: "_Problem" = field(repr=False, compare=False)

    @property
    def gap(self) -> float:
        """Relative distance of the two bounds; zero if the value is zero. It bounds the error of
        the value if `is_exhaustive`.
        """
        return (self.upper - self.value) / self.value if self.value > 0.0 else 0.0

    @property
    def is_identifiable(self) -> bool:
        """Whether some design tells the system from every alternative; if not `is_exhaustive`, a
        design that was found.
        """
        return self.value > 0.0

    @property
    def choices(self) -> Choices:
        """What the design shares out; where sets of variables were made on demand, those made."""
        return self._problem.guarantee.choices

    @property
    def share_of_rounds(self) -> dict[Action, float]:
        """The design as shares of the rounds; the allocation itself unless costs differ."""
        amounts = self.design / self._problem.costs
        return self.choices.spread(amounts / amounts.sum())

    @property
    def has_lower_bound(self) -> bool:
        """Whether Theorem lower_bound speaks of this claim, of the paper's alone, and the upper
        bound that it needs is proven.
        """
        return self._problem.guarantee.has_lower_bound and self.is_exhaustive

    def first_order(self, delta: float) -> float:
        """log(1/delta) / C_epsilon: rounds (cost) of the best rule to first order, small delta."""
        return _ratio(math.log(1.0 / _checked_delta(delta)), self.value)

    def lower_bound(self, delta: float) -> float:
        """kl(1 - delta, delta) / C_{2 epsilon}: no valid rule needs less on average
        (Theorem lower_bound; stated for delta below 1/2, and for the paper's claim).
        """
        if not self.is_exhaustive:
            raise InvalidInputError(
                f"There are {n_sets(self.choices.actions):,} sets of variables, too many to try "
                f"them all, so no lower bound on the rounds is proven. Allow fewer at once."
            )
        if not self.has_lower_bound:
            raise InvalidInputError(
                "The lower bound is known for the paper's claim alone: ask for the complexity with "
                "rule='class'."
            )
        delta = _checked_delta(delta)
        if delta >= 0.5:
            raise InvalidInputError(f"The lower bound holds for delta below 1/2, got {delta:g}.")
        needed = (1.0 - 2.0 * delta) * math.log((1.0 - delta) / delta)
        return _ratio(needed, self._at_twice_epsilon.upper)

    @cached_property
    def _at_twice_epsilon(self) -> "Complexity":
        if self.epsilon == GRAPH:
            return self
        guarantee = self._problem.guarantee
        if isinstance(self.epsilon, float):
            twice: Accuracy = 2.0 * self.epsilon
        else:
            twice = PairSizes.of("epsilon", 2.0 * guarantee.accuracies)
        coarser = replace(guarantee, epsilon=twice).on(self.choices)
        return replace(self._problem, guarantee=coarser).solve()


def complexity(
    model: LinearSEM,
    actions: ActionSet,
    space: ModelClass,
    *,
    epsilon: Accuracy | None = None,
    rule: Rule = DEFAULT_RULE,
    ends: Ends | None = None,
    about: About | Question | None = None,
    gap: float = 1e-3,
    most_listed: int = MOST_CHOICES,
) -> Complexity:
    """The information per round (per unit of cost) that the best design guarantees, C_epsilon.

    With rule="class" it is the paper's. With the others the rivals are what breaks the claim, by
    "randomized" the estimate with one effect moved, and the value is the rate at which the evidence
    can grow.

    A value of zero means that some alternative looks the same under every action: nothing can
    ever be certified, and `rivals` says which edges are to blame.

    Parameters
    ----------
    model : the system, a member of the class
    actions : what can be done, with costs if they differ
    space : the model class
    epsilon : accuracy of the weights; half of min_effect if left out, "graph" for the graph alone
    rule : with it the claim
    ends : who picks the ends of the ranges, see `Focus`; the paper's C_epsilon has the game
    about : what is asked, see `Focus`
    gap : relative distance of the bounds at which to stop
    most_listed : sets of variables up to which all are listed. Beyond, and beyond 4,096 in any
        case, they are made on demand; see `Complexity.is_exhaustive`

    Examples
    --------
    >>> import causalfocus as cf
    >>> model = cf.LinearSEM([[0, 0], [0.5, 0]], 1.0)
    >>> actions = cf.ActionSet({"X1": (-2, 2), "X2": (-2, 2)})
    >>> space = cf.ModelClass(min_effect=0.2, noise_variance=(0.5, 2), intercept=False)
    >>> found = cf.complexity(model, actions, space, epsilon=0.1, rule="class")
    >>> round(found.value, 3), found.rivals[0].changes
    (0.02, 'X1 -> X2 at 0.4 instead of 0.5')
    """
    if not 0.0 < gap < 1.0:
        raise InvalidInputError(f"gap is a relative distance between 0 and 1, got {gap!r}.")
    if model.names != actions.names:
        raise InvalidInputError(
            f"The model has the nodes {', '.join(model.names)} and the actions are for "
            f"{', '.join(actions.names)}: they must be the same, in the same order."
        )
    guarantee = guarantee_of(rule, actions, space, epsilon=epsilon, ends=ends, about=about)
    guarantee.require(model)
    if not guarantee.plans_sets:
        require_feasible_size(model.p)
    if model.p == 1:
        raise InvalidInputError("A single node has no alternative: there is nothing to learn.")
    if guarantee.choices.ends == "coin" and n_sets(actions) > most_listed:
        guarantee = guarantee.on(Choices(actions, "coin", first_columns(actions)))
    return _Problem(model, guarantee, gap).solve()


@dataclass(frozen=True)
class _Problem:
    model: LinearSEM
    guarantee: Guarantee
    gap: float

    @cached_property
    def costs(self) -> Floats:
        return self.guarantee.choices.costs

    def solve(self) -> Complexity:
        made = design_for(self.guarantee, self.model, self.gap)
        found = made.solution
        rivals = tuple(
            BindingRival(one.response.model, one.response.changes, one.share)
            for one in found.binding_responses()
        )
        return Complexity(
            value=found.value,
            upper=found.upper,
            is_exhaustive=made.is_exhaustive,
            allocation=made.choices.spread(found.design),
            design=found.design,
            rivals=rivals,
            epsilon=self.guarantee.epsilon,
            n_planes=len(found.responses),
            _problem=replace(self, guarantee=self.guarantee.on(made.choices)),
        )


def _ratio(needed: float, rate: float) -> float:
    return needed / rate if rate > 0.0 else math.inf


def _checked_delta(delta: float) -> float:
    if not (isinstance(delta, int | float) and 0 < delta < 1):
        raise InvalidInputError(f"delta is a probability between 0 and 1, got {delta!r}.")
    return float(delta)
