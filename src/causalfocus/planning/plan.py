"""`cf.plan`: before the first round, how many rounds, what they cost, and how they would be spent.

It rests on `forecast`, for one system that is given or for plausible ones that are drawn (`draws`).
What was assumed for it is a part of what it says.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees import DEFAULT_RULE, Guarantee, Rule, guarantee_of
from causalfocus.planning.complexity import Complexity
from causalfocus.planning.draws import MOST_TIMES, Noise, plausible_systems
from causalfocus.planning.forecast import (
    Forecast,
    Outlook,
    drawn_forecasts,
    mean_share,
    outlook,
)
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import Action
from causalfocus.system.convert import frame_of
from causalfocus.system.sem import LinearSEM
from causalfocus.system.sizes import Accuracy, PairSizes
from causalfocus.system.space import ModelClass

if TYPE_CHECKING:
    import pandas as pd

N_SYSTEMS: Final = 20
"""Systems that are drawn where no model is given."""

HEADINGS: Final = ("epsilon", "delta", "rounds", "four runs of five", "cost")


@dataclass(frozen=True, kw_only=True)
class PairOutlook:
    """When a pair is foretold to be settled, of a rule that settles pairs one by one.

    Attributes
    ----------
    cause, effect : the pair
    matters : the size from which on an effect of this pair matters
    rounds : median over the systems
    low, high : four of five systems
    """

    cause: str
    effect: str
    matters: float
    rounds: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a campaign will take, foretold.

    Attributes
    ----------
    outlooks : rounds and cost for every epsilon and delta
    share : how the rounds would be spent, by action, for the first epsilon and delta
    pairs : when every pair is settled, for the same; empty where all come at once
    assumed : what the forecast rests on, in words
    n_systems : systems that it was made for
    complexities : of each of them, the solution of its game for the first epsilon
    actions : what can be done
    """

    outlooks: tuple[Outlook, ...]
    share: dict[Action, float]
    pairs: tuple[PairOutlook, ...]
    assumed: tuple[str, ...]
    n_systems: int
    complexities: tuple[Complexity, ...] = field(repr=False)
    actions: ActionSet = field(repr=False)

    @property
    def rounds(self) -> float:
        """Median rounds to a certificate, for the first epsilon and delta."""
        return self.outlooks[0].rounds

    @property
    def cost(self) -> float:
        """Median cost, likewise; the rounds themselves where nothing has a cost."""
        return self.outlooks[0].cost

    @property
    def n_hopeless(self) -> int:
        """Systems that can never be certified with these actions."""
        return self.outlooks[0].n_hopeless

    def to_frame(self) -> pd.DataFrame:
        """One line per epsilon and delta: rounds, four runs of five, cost."""
        rows = [asdict(row) | {"epsilon": epsilon_in_words(row.epsilon)} for row in self.outlooks]
        return frame_of({name: [row[name] for row in rows] for name in rows[0]})

    def pairs_to_frame(self) -> pd.DataFrame:
        """One line per pair: when it is settled."""
        names = ("cause", "effect", "matters", "rounds", "low", "high")
        return frame_of({name: [getattr(one, name) for one in self.pairs] for name in names})

    def __repr__(self) -> str:
        first = self.outlooks[0]
        what = f"{number_in_words(first.rounds)} rounds at delta = {first.delta:g}"
        return f"<Plan: {what}, median of {self.n_systems} system{'s' * (self.n_systems > 1)}>"

    def __str__(self) -> str:
        lines = [HEADINGS, *map(_cells, self.outlooks)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
        table = [
            "  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)) for line in lines
        ]
        return "\n".join([*table, *self.assumed])

    def _repr_html_(self) -> str:
        """For notebooks."""
        head = "".join(f"<th>{name}</th>" for name in HEADINGS)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in _cells(row)) + "</tr>"
            for row in self.outlooks
        )
        said = "".join(f"<p>{html.escape(text)}</p>" for text in self.assumed)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{said}"


def plan(
    actions: ActionSet,
    space: ModelClass,
    *,
    model: LinearSEM | None = None,
    noise: Noise | None = None,
    epsilon: Accuracy | Sequence[Accuracy | None] | None = None,
    delta: float | Sequence[float] = 0.05,
    rule: Rule = DEFAULT_RULE,
    density: float = 0.3,
    n_systems: int = N_SYSTEMS,
    seed: int = 0,
    on_system: Callable[[int], None] = lambda _: None,
) -> Plan:
    """Foretell the rounds, and the cost, to a certificate, and how they would be spent.

    For a model, or for plausible systems: of every effect that matters or more, up to ten times
    that where the class has no bound, and with the noise that is given. See `planning.draws`.

    Parameters
    ----------
    actions, space, rule : as for `Focus`
    model : the system, if one is known
    noise : without a model, standard deviations of what the others do not cause, by name or one for
        all, in the units of the variables; by default the noise variances of the class
    epsilon, delta : as for `Focus`; a list for several. All that is said of shares and pairs is for
        the first of each
    density : of the effects that are drawn
    n_systems, seed : how many systems to draw, and for the same ones again
    on_system : called with the number of systems that are done, for progress

    Examples
    --------
    >>> import causalfocus as cf
    >>> actions = cf.ActionSet({"heat": (300, 400), "flow": (0, 10), "yield": None}, at_once=2)
    >>> space = cf.ModelClass(matters={"heat": 5, "flow": 0.5, "yield": 8}, outcomes=["yield"])
    >>> found = cf.plan(actions, space, noise={"heat": 2, "flow": 0.2, "yield": 3}, n_systems=3)
    >>> 0 < found.outlooks[0].low <= found.rounds <= found.outlooks[0].high
    True
    >>> len(found.pairs), found.pairs[0].cause
    (4, 'flow')
    """
    known = space.on(actions)
    epsilons: list[Any] = list(epsilon) if isinstance(epsilon, list | tuple) else [epsilon]
    deltas = [delta] if isinstance(delta, int | float) else list(delta)
    if not (epsilons and deltas and isinstance(n_systems, int) and n_systems >= 1):
        raise InvalidInputError("Give at least one epsilon, one delta and one system.")
    guarantee = guarantee_of(rule, actions, known, epsilon=epsilons[0], delta=deltas[0])
    systems = _systems(model, guarantee, noise, density, n_systems, seed)
    made = drawn_forecasts(systems, actions, known, epsilons=epsilons, deltas=deltas, rule=rule)
    rows, rounds = list[tuple[Forecast, ...]](), list[Floats]()
    for system in systems:
        rows.append(_in_order(next(made), deltas))
        each = guarantee.pair_rounds(system)
        if each is not None:
            rounds.append(each)
        on_system(len(rows))
    return Plan(
        outlooks=tuple(outlook(group) for group in zip(*rows, strict=True)),
        share=mean_share([row[0] for row in rows]),
        pairs=_pairs(guarantee, rounds),
        assumed=_assumptions(model, known, noise, density, len(systems)),
        n_systems=len(systems),
        complexities=tuple(row[0].complexity for row in rows),
        actions=actions,
    )


def _systems(
    model: LinearSEM | None,
    guarantee: Guarantee,
    noise: Noise | None,
    density: float,
    n: int,
    seed: int,
) -> list[LinearSEM]:
    """What to plan for: the model, or systems that are drawn."""
    if model is None:
        names, space = guarantee.actions.names, guarantee.space
        return plausible_systems(names, space, noise=noise, density=density, n=n, seed=seed)
    if noise is not None:
        raise InvalidInputError("A model has noise of its own: give the model or noise, not both.")
    return [model]


def _in_order(forecasts: Sequence[Forecast], deltas: Sequence[float]) -> tuple[Forecast, ...]:
    """Forecasts in the order of the deltas that were given, epsilon by epsilon; they are made from
    the largest on.
    """
    n, found = len(deltas), list[Forecast]()
    made_in = sorted(deltas, reverse=True)
    for start in range(0, len(forecasts), n):
        group = forecasts[start : start + n]
        found += [group[made_in.index(delta)] for delta in deltas]
    return tuple(found)


def _pairs(guarantee: Guarantee, rounds: Sequence[Floats]) -> tuple[PairOutlook, ...]:
    if not rounds:
        return ()
    names, each = guarantee.actions.names, np.array(rounds) * guarantee.spread.middle
    possible = guarantee.space.unknown_effects(names)
    found = []
    for j, k in np.argwhere(possible):
        low, middle, high = np.quantile(each[:, j, k], [0.1, 0.5, 0.9], method="nearest")
        found.append(
            PairOutlook(
                cause=names[k],
                effect=names[j],
                matters=float(guarantee.smallest[j, k]),
                rounds=float(middle),
                low=float(low),
                high=float(high),
            )
        )
    return tuple(found)


def _assumptions(
    model: LinearSEM | None, space: ModelClass, noise: Noise | None, density: float, n: int
) -> tuple[str, ...]:
    if model is not None:
        return ("The system is the model that was given.",)
    largest = (
        f"{MOST_TIMES:g} times that"
        if space.max_effect is None
        else f"max_effect = {space.max_effect:g}"
        if not isinstance(space.max_effect, PairSizes)
        else "its max_effect"
    )
    drawn = (
        f"{n} systems were drawn: each effect that may be is there with probability {density:g}, "
        f"if the order that was drawn admits it, from the size that matters up to {largest}; no "
        f"feedback."
    )
    if noise is None:
        said = "their variances drawn from noise_variance"
    elif isinstance(noise, Mapping):
        said = ", ".join(f"{name} {value:g}" for name, value in noise.items())
    else:
        said = f"{noise:g} for all"
    given = "" if noise is None else "standard deviations in the units of the variables, "
    return drawn, f"Noise, what the others do not cause: {given}{said}."


def _cells(row: Outlook) -> tuple[str, ...]:
    span = f"{number_in_words(row.low)} to {number_in_words(row.high)}"
    return (
        epsilon_in_words(row.epsilon),
        f"{row.delta:g}",
        number_in_words(row.rounds),
        "" if math.isinf(row.low) else span,
        number_in_words(row.cost),
    )


def epsilon_in_words(epsilon: Accuracy | None) -> str:
    """An accuracy in a table."""
    if epsilon is None:
        return "half of what matters"
    return (
        "by pair"
        if isinstance(epsilon, PairSizes)
        else (epsilon if isinstance(epsilon, str) else f"{epsilon:g}")
    )


def number_in_words(value: float) -> str:
    """Rounds, or a cost."""
    return "never" if math.isinf(value) else f"{value:,.0f}"
