"""What a number of rounds buys: the effects that can be settled within it, and the plan for them.

A budget moves the design alone. Certificates, intervals and verdicts are what they are without one.
Where the rounds that are left do not suffice for everything, accuracy is given up for a while: the
plan is for the signs of effects and for what is absent. If not even that is near, whole effects are
given up, the ones that would take longest first. What is given up today may come back with the next
plan, when others are settled.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from causalfocus.allocation.coin_game import CoinPlan
from causalfocus.allocation.coin_task import CoinTask
from causalfocus.arrays import Floats
from causalfocus.errors import AlreadyStoppedError, InvalidInputError

SIGN: Final = 0.8
"""Of the size of an effect: the half width at which its sign is foretold to be certain."""

TAKES: Final = 1.25
"""Times the rounds that are foretold to first order: what runs take in the middle."""

MOST_BUDGET: Final = 1_000_000_000
"""Rounds that nobody will ever perform."""

FAR: Final = 3.0
"""Effects are given up if the verdicts on all would take more than so many times the rounds that
are left. Up to there it is better to go on with all: effects on one variable are learned together,
and what is not known of one makes the others harder."""

Planner = Callable[[CoinTask], CoinPlan]


def checked_budget(given: int | None) -> int | None:
    """A number of rounds, or None for as many as it takes."""
    is_number = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if given is None or (is_number and 1 <= given <= MOST_BUDGET):
        return None if given is None else int(given)
    raise InvalidInputError(
        f"A budget is a whole number of rounds, 1 or more, got {given!r}. Leave it out for as many "
        f"as it takes."
    )


def require_budget(budget: int, rounds: int, ahead: int) -> None:
    """Raise if more rounds are asked for than are left.

    rounds : so far
    ahead : those that are under way and those that are asked for
    """
    if rounds + ahead <= budget:
        return
    if rounds < budget:
        raise AlreadyStoppedError(
            f"With {ahead:,} more there would be {rounds + ahead:,} rounds, and the budget is "
            f"{budget:,}. Ask for fewer, or answer what is under way first."
        )
    raise AlreadyStoppedError(
        f"The budget of {budget:,} rounds is spent. effects() says what is certain, what is "
        f"excluded and what each open pair would still need; continue_after_stop() goes on."
    )


def for_verdicts(task: CoinTask) -> CoinTask:
    """The same question with no more accuracy than the sign of every effect needs."""
    sizes = SIGN * np.abs(task.weights)
    return replace(task, radii=np.where(sizes > 0.0, np.maximum(task.radii, sizes), task.radii))


def affordable(task: CoinTask, left: float, plan: Planner) -> CoinTask:
    """The part of a question that is worth the rounds that are left.

    left : rounds
    plan : the plan for a question
    """
    if _fits(plan(task), left):
        return task
    coarse = for_verdicts(task)
    found = plan(coarse)
    return coarse if _fits(found, FAR * left) else _as_much_as_fits(coarse, found, left, plan)


def _fits(plan: CoinPlan, left: float) -> bool:
    return TAKES * plan.rounds <= left


def _as_much_as_fits(task: CoinTask, whole: CoinPlan, left: float, plan: Planner) -> CoinTask:
    """The task with as many effects as fit, the quickest first, one at least."""
    asked = task.scales > 0.0
    ranks = np.full(asked.shape, np.inf)
    ranks[asked] = np.argsort(np.argsort(whole.to_go[asked], kind="stable"), kind="stable")
    low, high = 1, int(asked.sum())
    while low < high:
        middle = (low + high + 1) // 2
        fits = _fits(plan(_with_first(task, ranks, middle)), FAR * left)
        low, high = (middle, high) if fits else (low, middle - 1)
    return _with_first(task, ranks, low)


def _with_first(task: CoinTask, ranks: Floats, n: int) -> CoinTask:
    return replace(task, radii=np.where(ranks < n, task.radii, np.inf))
