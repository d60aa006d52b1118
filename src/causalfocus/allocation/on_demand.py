"""The game of design against rival where there are too many sets of variables to list.

The cutting planes are those of `game`; only the linear program over designs differs. It is solved
over some sets, the columns, and then a set is sought that tells more against the equilibrium
mixture of rivals, per cost, than the program's value (`search`); it becomes a column, with its
gains against all rivals met, and the program is solved again until the search finds none. Against a
mixture the best single set bounds every design, so the upper bound is proven where all sets can be
tried against the last mixture, which takes far less than to solve the game over all of them. Where
they cannot, it holds against the sets that the search found, and says so.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

import numpy as np

from causalfocus.allocation.game import (
    MOST_PLANES,
    NOTHING,
    R,
    Solution,
    best_design,
)
from causalfocus.allocation.search import Room, best_sets
from causalfocus.arrays import Bools, Floats

SLACK = 0.25
"""Of the gap: a set that is better by less than this does not become a column."""

INWARD = 0.5
"""How far the design that a rival is asked to respond to is drawn from the program's to the best so
far. The program's own are vertices, which leap about; between the two every response either cuts
the program's design off or raises the lower bound by a fixed share of what is missing."""

TRIFLE = 1e-3
"""Shares of a design below this, against its largest, are dropped if its value hardly suffers."""

MOST_NEW = 4
"""Columns that are made at a time, from different climbs."""


@dataclass(frozen=True, kw_only=True)
class Question(Generic[R]):
    """A game over sets of variables.

    Attributes
    ----------
    respond : the closest rival to a design; (k, p) columns and (k,) rounds of each
    gains : (n,), what sets of variables, (n, p), tell against a rival
    mixed_gains : (n,), the mean of the same over rivals with shares, (m,)
    costs : (n,), of sets of variables
    room : which sets there are
    every_set : (n, p), all of them; None if they are too many to be tried
    """

    respond: Callable[[Bools, Floats], R]
    gains: Callable[[R, Bools], Floats]
    mixed_gains: Callable[[Sequence[R], Floats, Bools], Floats]
    costs: Callable[[Bools], Floats]
    room: Room
    every_set: Bools | None


@dataclass(frozen=True)
class Found(Generic[R]):
    """The game's solution with its columns.

    Attributes
    ----------
    solution : the design and its bounds; the gap may be wider than asked if the planes ran out
    columns : (k, p), the sets of variables that the design shares out
    is_exhaustive : whether every set was tried against the mixture that the upper bound is of
    """

    solution: Solution[R]
    columns: Bools
    is_exhaustive: bool


def solve_on_demand(
    question: Question[R], first: Bools, gap: float, most_planes: int = MOST_PLANES
) -> Found[R]:
    """The best design against all rivals, over all sets of variables that a search finds.

    Parameters
    ----------
    question : the game
    first : (k, p), the columns to begin with
    gap : relative distance of the bounds at which to stop
    most_planes : rivals after which to stop anyway
    """
    play = _Play(question, first, gap)
    is_exhaustive = False
    for _ in range(most_planes):
        play.meet()
        play.widen()
        is_exhaustive = play.is_closed and play.try_all()
        if play.is_closed:
            break
    if play.upper * float(play.costs.min()) <= NOTHING:
        play.lower = play.upper = 0.0
    elif play.is_closed:
        play.tidy()
    found = Solution(
        min(play.lower, play.upper), play.upper, play.best, tuple(play.rivals), play.shares
    )
    return Found(found, play.columns, is_exhaustive)


class _Play(Generic[R]):
    """Where the game stands: columns and rivals so far, the program's design, and the bounds."""

    def __init__(self, question: Question[R], first: Bools, gap: float) -> None:
        k = len(first)
        self.question, self.columns, self.gap = question, first, gap
        self.costs = question.costs(first)
        self.rivals: list[R] = []
        self.planes, self.shares = np.empty((0, k)), np.empty(0)
        self.design = self.best = np.full(k, 1.0 / k)
        self.program = self.upper = math.inf
        self.lower = -math.inf

    @property
    def is_closed(self) -> bool:
        """Whether the bounds are close, or nothing tells a rival apart."""
        is_nothing = self.upper * float(self.costs.min()) <= NOTHING
        return is_nothing or self.upper - self.lower <= self.gap * self.lower

    def meet(self) -> None:
        """Let the closest rival respond to a design between the program's and the best so far."""
        tried = (1.0 - INWARD) * self.design + INWARD * self.best
        rival = self.question.respond(self.columns, tried / self.costs)
        plane = rival.gains / self.costs
        if float(plane @ tried) > self.lower:
            self.lower, self.best = float(plane @ tried), tried
        self.rivals.append(rival)
        self.planes = np.vstack([self.planes, plane])
        self._solve()

    def widen(self) -> None:
        """Add sets that a search finds until none is better than those there are."""
        while True:
            found, worths = best_sets(self._worth, self.columns, self.question.room)
            if not self._add(found, worths):
                self.upper = max(self.program, float(worths.max()))
                return
            self._solve()

    def try_all(self) -> bool:
        """Try every set against the present mixture; False if they are too many.

        The upper bound rises to the best of them. If it is too far away then, the best become
        columns.
        """
        if self.question.every_set is None:
            return False
        worths = self._worth(self.question.every_set)
        self.upper = max(self.upper, float(worths.max()))
        if not self.is_closed:
            order = np.argsort(-worths, kind="stable")[:MOST_NEW]
            if self._add(self.question.every_set[order], worths[order]):
                self._solve()
        return True

    def tidy(self) -> None:
        """Drop the trifles that the way to the best design has left in it, within the gap."""
        kept = np.where(self.best < TRIFLE * self.best.max(), 0.0, self.best)
        kept /= kept.sum()
        rival = self.question.respond(self.columns, kept / self.costs)
        value = float(rival.gains / self.costs @ kept)
        if self.upper - value <= self.gap * value:
            self.lower, self.best = value, kept

    def _worth(self, rows: Bools) -> Floats:
        """What sets tell, per cost, against the equilibrium mixture of rivals."""
        at = np.flatnonzero(self.shares > 0.0)
        binding = [self.rivals[i] for i in at]
        told = self.question.mixed_gains(binding, self.shares[at], rows)
        return told / self.question.costs(rows)

    def _solve(self) -> None:
        self.program, self.design, self.shares = best_design(list(self.planes), self.lower)

    def _add(self, rows: Bools, worths: Floats) -> bool:
        """Make columns of the best of some sets; whether there was one."""
        least = max(self.program * (1.0 + SLACK * self.gap), NOTHING / float(self.costs.min()))
        rows = rows[worths > least][:MOST_NEW]
        is_new = ~(rows[:, None, :] == self.columns[None, :, :]).all(axis=2).any(axis=1)
        rows = rows[is_new]
        if not len(rows):
            return False
        costs, pad = self.question.costs(rows), np.zeros(len(rows))
        more = np.array([self.question.gains(rival, rows) / costs for rival in self.rivals])
        self.planes = np.hstack([self.planes, more])
        self.columns = np.vstack([self.columns, rows])
        self.costs = np.concatenate([self.costs, costs])
        self.design, self.best = (np.concatenate([d, pad]) for d in (self.design, self.best))
        return True
