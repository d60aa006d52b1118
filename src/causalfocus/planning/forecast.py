"""How many rounds will I need: the certificate, foretold.

The evidence is computed from moments, and a model and a design say what the moments will be on
average after T rounds. So the rule itself is asked at which T it would stop on the expected moments
of the optimal design, forced exploration included. Runs differ from that by chance; by how much was
measured once, `FACTORS`, and is checked by `causalfocus benchmark certificates`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from causalfocus.errors import InvalidInputError
from causalfocus.guarantees import EvidenceRule, ResolutionRule
from causalfocus.guarantees.claims import Stopping
from causalfocus.learner.focus import EXPLORATION
from causalfocus.moments.moments import Moments
from causalfocus.oracles import report
from causalfocus.planning.complexity import Complexity, complexity
from causalfocus.system.actions import Action, ActionSet
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import ModelClass

FACTORS: Final[dict[Stopping, tuple[float, float, float]]] = {
    "resolution": (0.9, 1.1, 1.25),
    "evidence": (0.65, 1.0, 1.15),
}
"""Rounds of FOCUS over those on expected moments: tenth percentile, median, ninetieth."""

MOST_ROUNDS: Final = 1e12
DELTAS: Final = (0.1, 0.05, 0.02, 0.01, 0.005)


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What one system will take.

    Attributes
    ----------
    epsilon, delta : what is asked for; epsilon None for the graph alone
    rounds : median of FOCUS; `low` to `high` holds four of five runs
    cost : of the median; equal to `rounds` without costs
    share : how the rounds would be spent
    complexity : the solution of the game
    """

    epsilon: float | None
    delta: float
    rounds: float
    low: float
    high: float
    cost: float
    share: dict[Action, float]
    complexity: Complexity


def forecasts(
    model: LinearSEM,
    actions: ActionSet,
    space: ModelClass,
    *,
    epsilon: float | None,
    deltas: Sequence[float] = DELTAS,
    stopping: Stopping = "resolution",
) -> tuple[Forecast, ...]:
    """Rounds that FOCUS will need on a system, one forecast per delta; infinite if for ever.

    Parameters
    ----------
    model : the system, a member of the class
    actions : what can be done, with costs if they differ
    space : the model class
    epsilon : accuracy of the weights; None for the graph alone
    deltas : how often the answer may be wrong
    stopping : the rule
    """
    found = complexity(model, actions, space, epsilon=epsilon, stopping=stopping)
    kind = _rule_kind(stopping)
    result, start = [], 1.0
    for delta in sorted(deltas, reverse=True):
        rule = kind(space, found.epsilon, delta)
        if found.is_identifiable and start < math.inf:
            start = _first_stop(rule, model, found, actions, start)
        ideal = start if found.is_identifiable else math.inf
        spent = _spent(found, actions, ideal)
        low, middle, high = (factor * ideal for factor in FACTORS[stopping])
        per_round = sum(spent[a] * cost for a, cost in zip(actions, actions.costs, strict=True))
        cost = middle * per_round
        result.append(
            Forecast(
                epsilon=found.epsilon,
                delta=delta,
                rounds=middle,
                low=low,
                high=high,
                cost=cost,
                share=spent,
                complexity=found,
            )
        )
    return tuple(result)


def _rule_kind(stopping: Stopping) -> type[ResolutionRule] | type[EvidenceRule]:
    if stopping == "paper":
        raise InvalidInputError("The paper's own rule stops at no feasible number of rounds.")
    return ResolutionRule if stopping == "resolution" else EvidenceRule


def _spent(found: Complexity, actions: ActionSet, rounds: float) -> dict[Action, float]:
    """Shares of the rounds: the optimal design, and every action as often as FOCUS forces it."""
    share = found.share_of_rounds
    costs = np.array(actions.costs) / min(actions.costs)
    total = rounds * float(np.array(list(share.values())) @ costs)
    floors = EXPLORATION * math.sqrt(total) / costs / rounds if total < math.inf else 0.0 * costs
    amounts = np.maximum(np.array(list(share.values())), floors)
    return dict(zip(share, (amounts / amounts.sum()).tolist(), strict=True))


def _first_stop(
    rule: ResolutionRule | EvidenceRule,
    model: LinearSEM,
    found: Complexity,
    actions: ActionSet,
    start: float,
) -> float:
    """The number of rounds at which the rule stops on expected moments, to a thousandth."""

    def stops(rounds: float) -> bool:
        share = _spent(found, actions, rounds)
        moments = Moments.expected(model, {a: rounds * part for a, part in share.items()})
        answer = report(moments, rule.space) if isinstance(rule, ResolutionRule) else model
        return rule.decide(moments, answer).stop

    low, high = start, max(2.0 * start, 16.0)
    while not stops(high):
        low, high = high, 2.0 * high
        if high > MOST_ROUNDS:
            return math.inf
    while high > 1.001 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if stops(middle) else (middle, high)
    return high


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """Rounds over plausible systems, for one accuracy and confidence.

    Attributes
    ----------
    rounds : median over systems and runs
    low, high : four of five runs, systems drawn anew each time
    cost : median cost
    n_systems, n_hopeless : systems drawn, and those that can never be certified
    """

    epsilon: float | None
    delta: float
    rounds: float
    low: float
    high: float
    cost: float
    n_systems: int
    n_hopeless: int


def outlook(per_system: Sequence[Forecast]) -> Outlook:
    """Put the forecasts of several systems together, same epsilon and delta."""
    if not per_system:
        raise InvalidInputError("There is no system to plan for: draw at least one.")
    first = per_system[0]
    spread = [value for f in per_system for value in (f.low, f.rounds, f.rounds, f.high)]
    low, high = np.quantile(spread, [0.1, 0.9], method="nearest")
    return Outlook(
        epsilon=first.epsilon,
        delta=first.delta,
        rounds=float(np.median([f.rounds for f in per_system])),
        low=float(low),
        high=float(high),
        cost=float(np.median([f.cost for f in per_system])),
        n_systems=len(per_system),
        n_hopeless=sum(not f.complexity.is_identifiable for f in per_system),
    )


def mean_share(per_system: Sequence[Forecast]) -> dict[Action, float]:
    """How the rounds would be spent, on average over the systems."""
    shares = [f.share for f in per_system]
    return {action: float(np.mean([s[action] for s in shares])) for action in shares[0]}


def drawn_forecasts(
    systems: Sequence[LinearSEM],
    actions: ActionSet,
    space: ModelClass,
    *,
    epsilons: Sequence[float],
    deltas: Sequence[float],
    stopping: Stopping = "resolution",
) -> Iterator[tuple[Forecast, ...]]:
    """Forecasts for every accuracy and confidence, system by system, as they are made."""
    for system in systems:
        yield tuple(
            forecast
            for epsilon in epsilons
            for forecast in forecasts(
                system, actions, space, epsilon=epsilon, deltas=deltas, stopping=stopping
            )
        )
