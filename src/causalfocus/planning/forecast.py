"""How many rounds will I need: the certificate, foretold.

The evidence is computed from moments, and a model and a design say what the moments will be on
average after T rounds. So the rule itself is asked at which T it would stop on the expected moments
of the optimal design, forced exploration included. Runs differ from that by chance; by how much was
measured once, `Guarantee.spread`, and is checked by `causalfocus benchmark certificates`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from causalfocus.errors import InvalidInputError
from causalfocus.guarantees import DEFAULT_RULE, Guarantee, Rule, guarantee_of
from causalfocus.planning.complexity import Complexity, complexity
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import Action
from causalfocus.system.choices import Ends
from causalfocus.system.question import About, Question
from causalfocus.system.sem import LinearSEM
from causalfocus.system.sizes import Accuracy
from causalfocus.system.space import ModelClass

DELTAS: Final = (0.1, 0.05, 0.02, 0.01, 0.005)


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What one system will take.

    Attributes
    ----------
    epsilon, delta : what is asked for; see `Focus`
    rounds : median of FOCUS; `low` to `high` holds four of five runs
    cost : of the median; equal to `rounds` without costs
    share : how the rounds would be spent
    complexity : the solution of the game
    """

    epsilon: Accuracy | None
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
    epsilon: Accuracy | None = None,
    deltas: Sequence[float] = DELTAS,
    rule: Rule = DEFAULT_RULE,
    ends: Ends | None = None,
    about: About | Question | None = None,
) -> tuple[Forecast, ...]:
    """Rounds that FOCUS will need on a system, one forecast per delta; infinite if for ever.

    Parameters
    ----------
    model : the system, a member of the class
    actions : what can be done, with costs if they differ
    space : the model class
    epsilon : accuracy of the weights; half of min_effect if left out, "graph" for the graph alone
    deltas : how often what is certified may be wrong
    rule : which one stops
    ends, about : who picks the ends of the ranges, and what is asked, see `Focus`
    """
    if not guarantee_of(rule, actions, space, epsilon=epsilon, about=about).has_forecast:
        raise InvalidInputError(f"The rule {rule!r} stops at no feasible number of rounds.")
    found = complexity(model, actions, space, epsilon=epsilon, rule=rule, ends=ends, about=about)
    result, start = [], 1.0
    for delta in sorted(deltas, reverse=True):
        guarantee = guarantee_of(
            rule, actions, space, epsilon=found.epsilon, delta=delta, ends=ends, about=about
        )
        share = partial(_share, found, guarantee)
        if found.is_identifiable and start < math.inf:
            start = guarantee.forecast(model, share, start)
        ideal = start if found.is_identifiable else math.inf
        parts = share(ideal)
        low, middle, high = (factor * ideal for factor in guarantee.spread)
        per_round = sum(
            part * (actions.cost_of(action) + actions.amortised_cost(action.targets))
            for action, part in parts.items()
        )
        result.append(
            Forecast(
                epsilon=found.epsilon,
                delta=delta,
                rounds=middle,
                low=low,
                high=high,
                cost=middle * per_round,
                share=parts,
                complexity=found,
            )
        )
    return tuple(result)


def _share(found: Complexity, guarantee: Guarantee, rounds: float) -> dict[Action, float]:
    """Shares of the rounds: the optimal design, and, where one variable is set at a time, every
    choice as often as FOCUS forces it. Where it may be several, the design itself covers nearly all
    that is forced.
    """
    choices = found.choices
    costs, floors = choices.costs / choices.costs.min(), np.zeros(len(choices))
    share = found.design / costs / (found.design / costs).sum()
    total = rounds * float(share @ costs)
    if total < math.inf and guarantee.actions.at_once < 2:
        floors = guarantee.exploration * math.sqrt(total) / costs / rounds
    amounts = np.maximum(share, floors)
    return choices.spread(amounts / amounts.sum())


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

    epsilon: Accuracy | None
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
    taken = {action: None for share in shares for action in share}
    return {action: float(np.mean([s.get(action, 0.0) for s in shares])) for action in taken}


def drawn_forecasts(
    systems: Sequence[LinearSEM],
    actions: ActionSet,
    space: ModelClass,
    *,
    epsilons: Sequence[Accuracy | None],
    deltas: Sequence[float],
    rule: Rule = DEFAULT_RULE,
) -> Iterator[tuple[Forecast, ...]]:
    """Forecasts for every accuracy and confidence, system by system, as they are made."""
    for system in systems:
        yield tuple(
            forecast
            for epsilon in epsilons
            for forecast in forecasts(
                system, actions, space, epsilon=epsilon, deltas=deltas, rule=rule
            )
        )
