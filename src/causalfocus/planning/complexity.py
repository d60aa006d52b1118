"""How hard is it: the information complexity of a system and its optimal design.

C_r of Eq. finite_information_complexity is the value of a game: a design spreads one unit of rounds
(or of cost) over the actions, and the closest alternative answers. It is solved by cutting planes.
Each alternative met so far is a linear function of the design; a linear program finds the design
that is best against these, which bounds the value from above. The exact closest alternative to that
design bounds it from below and is the next function. Both bounds are part of the result.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.optimize import linprog

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError, NumericalError
from causalfocus.guarantees.claims import Answer, Claim, ExactClaim, Stopping, claim_of
from causalfocus.kernels.records import Actions
from causalfocus.oracles.limits import require_feasible_size
from causalfocus.system.actions import Action, ActionSet, actions_as_arrays
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

MOST_PLANES = 1000
NOTHING = 1e-10
"""Nats per round below which a divergence is rounding: nothing tells the models apart."""

SMALLEST_SHARE = 1e-6
"""Alternatives that carry less of the game's equilibrium than this are not named."""


@dataclass(frozen=True)
class Rival:
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


@dataclass(frozen=True)
class Complexity:
    """Solution of the game for one system.

    Attributes
    ----------
    value, upper : lower and upper bound on C_epsilon, nats per round (per unit of cost)
    allocation : the optimal design, the share of each action in the rounds (in the cost)
    rivals : the alternatives that bind it, the heaviest first
    epsilon : None for the graph alone
    n_planes : cutting planes that were needed
    """

    value: float
    upper: float
    allocation: dict[Action, float]
    rivals: tuple[Rival, ...]
    epsilon: float | None
    n_planes: int
    _game: "_Game" = field(repr=False, compare=False)

    @property
    def gap(self) -> float:
        """Relative distance of the two bounds; zero if the value is zero."""
        return (self.upper - self.value) / self.value if self.value > 0.0 else 0.0

    @property
    def is_identifiable(self) -> bool:
        """Whether some design tells the system from every alternative."""
        return self.value > 0.0

    @property
    def share_of_rounds(self) -> dict[Action, float]:
        """The design as shares of the rounds; the allocation itself unless costs differ."""
        amounts = np.array(list(self.allocation.values())) / self._game.costs
        return dict(zip(self.allocation, (amounts / amounts.sum()).tolist(), strict=True))

    @property
    def has_lower_bound(self) -> bool:
        """Whether Theorem lower_bound speaks of this claim: of the paper's alone."""
        return isinstance(self._game.claim, ExactClaim)

    def first_order(self, delta: float) -> float:
        """log(1/delta) / C_epsilon: rounds (cost) of the best rule to first order, small delta."""
        return _ratio(math.log(1.0 / _checked_delta(delta)), self.value)

    def lower_bound(self, delta: float) -> float:
        """kl(1 - delta, delta) / C_{2 epsilon}: no valid rule needs less on average
        (Theorem lower_bound; stated for delta below 1/2, and for the paper's claim).
        """
        if not self.has_lower_bound:
            raise InvalidInputError(
                "The lower bound is known for the paper's claim alone: ask for the complexity with "
                "stopping='evidence'."
            )
        delta = _checked_delta(delta)
        if delta >= 0.5:
            raise InvalidInputError(f"The lower bound holds for delta below 1/2, got {delta:g}.")
        needed = (1.0 - 2.0 * delta) * math.log((1.0 - delta) / delta)
        return _ratio(needed, self._at_twice_epsilon.upper)

    @cached_property
    def _at_twice_epsilon(self) -> "Complexity":
        if self.epsilon is None:
            return self
        claim = ExactClaim(self._game.claim.space, 2.0 * self.epsilon)
        return replace(self._game, claim=claim).solved()


def complexity(
    model: LinearSEM,
    actions: ActionSet,
    space: ModelClass,
    *,
    epsilon: float | None,
    stopping: Stopping = "resolution",
    gap: float = 1e-3,
) -> Complexity:
    """The information per round (per unit of cost) that the best design guarantees, C_epsilon.

    With stopping="evidence" it is the paper's. With "resolution" the alternatives are the systems
    that break that rule's claim, and the value is the rate at which its evidence can grow.

    A value of zero means that some alternative looks the same under every action: the answer can
    never be certified, and `rivals` says which edges are to blame.

    Parameters
    ----------
    model : the system, a member of the class
    actions : what can be done, with costs if they differ
    space : the model class
    epsilon : accuracy of the weights; None for the graph alone
    stopping : the rule, and with it the claim
    gap : relative distance of the bounds at which to stop

    Examples
    --------
    >>> import causalfocus as cf
    >>> model = cf.LinearSEM([[0, 0], [0.5, 0]], 1.0)
    >>> actions = cf.ActionSet({"X1": (-2, 2), "X2": (-2, 2)})
    >>> space = cf.ModelClass(min_effect=0.2, noise_variance=(0.5, 2), intercept=False)
    >>> found = cf.complexity(model, actions, space, epsilon=0.1, stopping="evidence")
    >>> round(found.value, 3), found.rivals[0].changes
    (0.02, 'X1 -> X2 at 0.4 instead of 0.5')
    """
    require_feasible_size(model.p)
    if not 0.0 < gap < 1.0:
        raise InvalidInputError(f"gap is a relative distance between 0 and 1, got {gap!r}.")
    if model.names != actions.names:
        raise InvalidInputError(
            f"The model has the nodes {', '.join(model.names)} and the actions are for "
            f"{', '.join(actions.names)}: they must be the same, in the same order."
        )
    claim = claim_of(stopping, space, epsilon)
    claim.require(model)
    if model.p == 1:
        raise InvalidInputError("A single node has no alternative: there is nothing to learn.")
    return _Game(model, actions, claim, gap).solved()


@dataclass(frozen=True)
class _Game:
    model: LinearSEM
    actions: ActionSet
    claim: Claim
    gap: float

    @cached_property
    def costs(self) -> Floats:
        return np.array(self.actions.costs)

    def solved(self) -> Complexity:
        k = len(self.actions)
        design, best = np.full(k, 1.0 / k), np.full(k, 1.0 / k)
        lower, upper = -math.inf, math.inf
        planes: list[Floats] = []
        answers: list[Answer] = []
        for _ in range(MOST_PLANES):
            gains, answer = self._answer(design)
            if float(gains @ design) > lower:
                lower, best = float(gains @ design), design
            planes.append(gains)
            answers.append(answer)
            bound, design, shares = _best_design(planes, lower)
            upper = min(upper, bound)
            if upper * self.costs.min() <= NOTHING:
                lower, upper = 0.0, 0.0
            if upper - lower <= self.gap * lower:
                break
        else:
            raise NumericalError(
                f"The game was not solved to {self.gap:g}: after {MOST_PLANES} cutting planes its "
                f"value is between {lower:g} and {upper:g}. Ask for a larger gap."
            )
        named = _named(answers, shares)
        even = _evened_out(best, np.array(planes))
        value = float(self._answer(even)[0] @ even)
        if value >= lower * (1.0 - 1e-9):
            lower, best = min(value, upper), even
        allocation = dict(zip(self.actions, best.tolist(), strict=True))
        return Complexity(lower, upper, allocation, named, self.claim.epsilon, len(planes), self)

    def _answer(self, design: Floats) -> tuple[Floats, Answer]:
        """Divergences per unit of cost of the closest alternative to a design."""
        targets, values = actions_as_arrays(self.actions, self.model.names)
        answer = self.claim.answer(self.model, Actions(targets, values, design / self.costs))
        return answer.gains / self.costs, answer


def _named(answers: Sequence[Answer], shares: Floats) -> tuple[Rival, ...]:
    """Equal ones together, the heaviest first."""
    together: dict[str, tuple[LinearSEM, float]] = {}
    for answer, share in zip(answers, shares, strict=True):
        if share > SMALLEST_SHARE:
            model, known = together.get(answer.changes, (answer.rival, 0.0))
            together[answer.changes] = (model, known + float(share))
    found = [Rival(model, changes, share) for changes, (model, share) in together.items()]
    return tuple(sorted(found, key=lambda rival: -rival.share))


def _best_design(planes: Sequence[Floats], scale: float) -> tuple[float, Floats, Floats]:
    """The design that is best against some alternatives, and their equilibrium mixture.

    First an upper bound on the value of any design: the best action against the mixture. It holds
    for any mixture, so the accuracy of the linear program does not matter to it.

    scale : about the value, so that the solver's tolerances are relative to it
    """
    k = len(planes[0])
    if scale < NOTHING:
        scale = max(float(plane.max()) for plane in planes) or 1.0
    table = np.hstack([-np.array(planes) / scale, np.ones((len(planes), 1))])
    solved = linprog(
        np.append(np.zeros(k), -1.0),
        A_ub=table,
        b_ub=np.zeros(len(planes)),
        A_eq=[[1.0] * k + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * k + [(None, None)],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solved.x is None:
        raise NumericalError(f"The linear program over designs failed: {solved.message}")
    design = np.maximum(solved.x[:k], 0.0)
    mixture = np.maximum(-solved.ineqlin.marginals, 0.0)
    if not mixture.sum() > 0.0:
        mixture = np.ones(len(planes))
    mixture /= mixture.sum()
    return float((mixture @ np.array(planes)).max()), design / design.sum(), mixture


def _evened_out(design: Floats, planes: Floats) -> Floats:
    """Equal shares for actions that tell equally much against every alternative met."""
    even = design.copy()
    columns = planes.T
    for a in range(len(design)):
        twins = np.flatnonzero(np.isclose(columns, columns[a], rtol=1e-9, atol=0.0).all(axis=1))
        even[a] = design[twins].mean()
    even /= even.sum()
    return even


def _ratio(needed: float, rate: float) -> float:
    return needed / rate if rate > 0.0 else math.inf


def _checked_delta(delta: float) -> float:
    if not (isinstance(delta, int | float) and 0 < delta < 1):
        raise InvalidInputError(f"delta is a probability between 0 and 1, got {delta!r}.")
    return float(delta)
