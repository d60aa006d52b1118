"""The best design for a known system: over a list of choices, or with columns made on demand."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from causalfocus.allocation.game import MOST_PLANES, Solution, solve
from causalfocus.allocation.on_demand import Question, solve_on_demand
from causalfocus.allocation.search import Room
from causalfocus.arrays import Bools, Floats
from causalfocus.errors import NumericalError
from causalfocus.guarantees.divergences import divergences_of, mixed_divergences_of
from causalfocus.guarantees.guarantee import Guarantee
from causalfocus.guarantees.terms import OwnDesign, Rival
from causalfocus.system.choices import Choices
from causalfocus.system.columns import columns_of, every_column, n_sets, rows_of
from causalfocus.system.sem import LinearSEM

MOST_TRIED: Final = 100_000
"""Sets of variables that can all be tried against one mixture of rivals: any number of sixteen."""


@dataclass(frozen=True)
class Design:
    """The best design against all rivals of a system.

    Attributes
    ----------
    solution : shares of the choices, with bounds on what they guarantee
    choices : that it shares out
    is_exhaustive : whether the upper bound holds over every choice that there is; if not, over
        those that a search found
    """

    solution: Solution[Rival]
    choices: Choices
    is_exhaustive: bool


def design_for(guarantee: Guarantee, model: LinearSEM, gap: float) -> Design:
    """The best design against all rivals of a system.

    Parameters
    ----------
    guarantee : the rule, with its choices; where these are columns, more are made on demand
    model : the system
    gap : relative distance of the bounds at which to stop
    """
    choices, own = guarantee.choices, guarantee.own_design(model)
    if own is not None:
        return _as_design(own, choices)
    if choices.is_whole:
        found = solve(lambda rounds: guarantee.rival(model, rounds), choices.costs, gap)
        return Design(found, choices, is_exhaustive=True)
    design = _on_demand(guarantee, model, gap, MOST_PLANES)
    value, upper = design.solution.value, design.solution.upper
    if upper - value > gap * value:
        raise NumericalError(
            f"The game was not solved to {gap:g}: after {MOST_PLANES} cutting planes its value is "
            f"between {value:g} and {upper:g}. Ask for a larger gap."
        )
    return design


def _as_design(own: OwnDesign, choices: Choices) -> Design:
    """The design of a rule that plans, over choices that hold its sets."""
    if not choices.is_whole:
        known = set(choices.columns)
        made = columns_of(own.sets, choices.actions.names)
        more = tuple(column for column in made if column not in known)
        choices = replace(choices, columns=choices.columns + more) if more else choices
    at = {targets: i for i, targets in enumerate(choices.targets)}
    design = np.zeros(len(choices))
    for column, share in zip(columns_of(own.sets, choices.actions.names), own.shares, strict=True):
        design[at[column]] += share
    design *= choices.costs
    design /= design.sum()
    solution = Solution(own.value, own.upper, design, (own.rival,), np.ones(1))
    return Design(solution, choices, own.is_exhaustive)


def rough_design_for(
    guarantee: Guarantee, model: LinearSEM, gap: float, most_planes: int
) -> Design:
    """The same from so many rivals at most, by search alone: its columns are worth a try, and its
    bounds prove nothing.
    """
    return _on_demand(guarantee, model, gap, most_planes, may_try_all=False)


def _on_demand(
    guarantee: Guarantee,
    model: LinearSEM,
    gap: float,
    most_planes: int,
    *,
    may_try_all: bool = True,
) -> Design:
    choices, names = guarantee.choices, guarantee.actions.names
    may_try_all = may_try_all and n_sets(choices.actions) <= MOST_TRIED
    question = Question(
        respond=_Responder(guarantee, model).respond,
        gains=lambda rival, rows: divergences_of(guarantee, model, rival.model, rows),
        mixed_gains=lambda rivals, shares, rows: mixed_divergences_of(
            guarantee, model, [rival.model for rival in rivals], shares, rows
        ),
        costs=choices.costs_of,
        room=room_of(choices),
        every_set=rows_of(every_column(choices.actions), names) if may_try_all else None,
    )
    found = solve_on_demand(question, choices.arrays[0], gap, most_planes)
    made = choices.columns + columns_of(found.columns[len(choices) :], names)
    grown = replace(choices, columns=made)
    return Design(found.solution, grown, found.is_exhaustive)


def room_of(choices: Choices) -> Room:
    """Within which sets of variables are sought."""
    may_set = np.array([span is not None for span in choices.actions.ranges])
    return Room(may_set, choices.actions.at_once)


class _Responder:
    """The closest rival to a design over columns; the rule on them is kept until they change."""

    def __init__(self, guarantee: Guarantee, model: LinearSEM) -> None:
        self._rule, self._model = guarantee, model

    def respond(self, columns: Bools, rounds: Floats) -> Rival:
        choices = self._rule.choices
        if len(columns) > len(choices):
            more = columns_of(columns[len(choices) :], choices.actions.names)
            self._rule = self._rule.on(replace(choices, columns=choices.columns + more))
        return self._rule.rival(self._model, rounds)
