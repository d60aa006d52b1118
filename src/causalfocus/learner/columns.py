"""More sets of variables for a learner to choose from, where there are too many to list.

At moments that the number of rounds decides (`schedule`), the game against the rivals of the
present estimate is played roughly, with columns made on demand (`allocation.on_demand`), and the
sets that its design uses most become columns of the learner; so does the set that tells most
against each rival that lags. Columns are never taken away, and keep their places.

All of it is a function of specification and log. Evidence never depends on which columns there are:
it holds for any choice of actions that is made from the past alone, so a poor column costs rounds
and never the guarantee. What is told and sets variables that are no column counts as evidence, and
in what was done and spent, like everything; for the design it is an action outside its choices, as
one outside the set is. Its set does not become a column, or a long list of past samples would make
thousands. If it becomes one later, it is counted from then on.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from causalfocus.allocation.search import best_sets
from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.guarantees.decision import Decision
from causalfocus.guarantees.designs import room_of, rough_design_for
from causalfocus.guarantees.divergences import divergences_of
from causalfocus.guarantees.guarantee import Guarantee
from causalfocus.system.choices import Choices
from causalfocus.system.columns import columns_of
from causalfocus.system.sem import LinearSEM

ROUGH_GAP: Final = 0.05
MOST_RIVALS: Final = 30
"""How closely the game is solved, and by how many rivals at most: for sets that are worth a try."""

LEAST_SHARE: Final = 0.02
MOST_COLUMNS: Final = 8
"""A set with less of the design is not kept, nor more sets at a time."""

BETTER: Final = 1.01
"""How much more a set must tell against a rival that lags than the best column does."""


def choices_with(choices: Choices, sets: Bools) -> Choices:
    """The choices with some sets of variables among them; the same if they are already.

    sets : (m, p), no two of them alike
    """
    if choices.is_whole:
        return choices
    known = set(choices.columns)
    made = tuple(one for one in columns_of(sets, choices.actions.names) if one not in known)
    return replace(choices, columns=choices.columns + made) if made else choices


def choices_at(choices: Choices, sets: Bools) -> Ints:
    """(m,), which choices some sets of variables are."""
    known = {targets: i for i, targets in enumerate(choices.targets)}
    return np.array([known[one] for one in columns_of(sets, choices.actions.names)])


def more_choices(rule: Guarantee, estimate: LinearSEM, decision: Decision) -> Choices:
    """The choices of a rule with more columns; the same if none are worth it.

    Parameters
    ----------
    rule : with the present columns
    estimate : the present one, taken for the system
    decision : on it, with the rivals that lag
    """
    choices = rule.choices
    found = dict.fromkeys(
        [*_of_the_design(rule, estimate), *_of_laggards(rule, estimate, decision)]
    )
    made = tuple(column for column in found if column not in set(choices.columns))
    return replace(choices, columns=choices.columns + made) if made else choices


def _of_the_design(rule: Guarantee, estimate: LinearSEM) -> list[tuple[str, ...]]:
    """Sets that the best design for the estimate uses most."""
    if not rule.speaks_of(estimate):
        return []
    found = rough_design_for(rule, estimate, ROUGH_GAP, MOST_RIVALS)
    k, design = len(rule.choices), found.solution.design
    order = k + np.argsort(-design[k:], kind="stable")[:MOST_COLUMNS]
    return [found.choices.columns[i] for i in order if design[i] >= LEAST_SHARE]


def _of_laggards(
    rule: Guarantee, estimate: LinearSEM, decision: Decision
) -> Iterator[tuple[str, ...]]:
    """For every rival that lags, the set that tells most against it per cost, if much more than
    every column does.
    """
    choices = rule.choices
    present, names = choices.arrays[0], choices.actions.names
    for rival, _ in decision.laggards[:MOST_COLUMNS]:

        def worth(rows: Bools, rival: LinearSEM = rival) -> Floats:
            told = divergences_of(rule, estimate, rival, rows) / choices.costs_of(rows)
            return np.where(np.isfinite(told), told, 0.0)

        rows, worths = best_sets(worth, present, room_of(choices))
        if worths[0] > BETTER * float(worth(present).max()):
            yield from columns_of(rows[:1], names)
