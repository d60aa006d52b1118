"""The design of the randomized rule: which variables to set, each to an end by its own coin.

How wide the interval of an effect will be after given rounds has a closed form
(`kernels.randomized.widths`), so the rounds that are still to go and the cheapest way there are a
small game against the effects that are furthest from done (`kernels.randomized.game`). It is played
now and then during a run, from what is complete, and its shares are tracked until the next time.
Certificates by coins hold whatever sets are chosen: all of this moves the number of rounds alone.

What is foretold is of first order: without the logarithm in V and rho, without the rows that the
tests leave beside the reference, and with the estimate for the truth. Runs need more, and by about
the same factor for all designs.
"""

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, Literal

import numpy as np

from causalfocus.allocation.coin_task import CoinTask
from causalfocus.allocation.set_plan import SetPlan
from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.errors import InvalidInputError
from causalfocus.kernels.randomized.cut import Room
from causalfocus.kernels.randomized.game import (
    FIRST_STEPS,
    Choice,
    Design,
    play,
    times_that_suffice,
    with_explored,
)
from causalfocus.kernels.randomized.responses import responses_to
from causalfocus.kernels.randomized.widths import (
    Means,
    Stand,
    all_means,
    independent_means,
    loads_of,
    means_of,
    ratios,
    time_for_all,
    times_to_go,
)

EXPLORED: Final = 1 / 8
"""Of all rounds, for sets that toss every coin with every other variable free, whatever the
estimate says."""

EXPLORED_ALONE: Final = 1 / 16
EXPLORED_BY_SQUARE: Final = 1 / 900
MOST_EXPLORED_ALONE: Final = 1 / 3
"""The same, one coin at a time: at least, for the square of the number of coins, and at most. To
first order an effect is settled by few tosses of its coin; but what is not known of it makes the
noise of every other effect on the same variable larger, and these are as many as there are coins,
for each of which a share of all rounds is the smaller the more there are."""

MOST_LISTED: Final = 6
"""Coins up to which the game has all sets from the start."""

LEAST_SHARE: Final = 1e-5
"""Of all rounds: sets with less are not taken."""

LEAST_START: Final = 0.005
"""Of all rounds, for the sets that an earlier plan does not have, when the game begins with it."""

GOLDEN: Final = (math.sqrt(5.0) - 1.0) / 2.0

Rounds = Literal["halves", "singles", "plan"]
"""Of what the ideal number is: random halves, single variables in their best shares, the plan."""


@dataclass(frozen=True, kw_only=True)
class CoinPlan:
    """Where the next rounds go.

    Attributes
    ----------
    sets : (m, p), which variables are set together
    shares : (m,), rounds of each of them, of those ahead
    half_widths : (p, p), foretold for when these are done; infinite where there is none
    to_go : (p, p), rounds until each pair is settled, if one goes on like this; 0 where it is, or
        nothing is asked
    rounds, cost : until all pairs are settled
    least : what no rounds cost less than; 0 where no bound is known, as for several at once
    """

    sets: Bools
    shares: Floats
    half_widths: Floats
    to_go: Floats
    rounds: float
    cost: float
    least: float


@dataclass(frozen=True)
class CoinComplexity:
    """How hard a system is for coins.

    Attributes
    ----------
    value : nats per unit of cost that the plan gains for every pair, at the radii
    upper : what no rounds exceed; infinite where no bound is known, as for several at once
    """

    value: float
    upper: float


def explored_sets(coins: Ints, at_once: int, p: int) -> Bools:
    """Return sets (n, p) that together set every coin with every other variable free, each equally
    often: half of the coins, or fewer at once.

    One pattern without regularity is shifted round the circle of the coins. If a shift left it as
    it is, two coins would always be set together; a run of neighbours has no such shift.
    """
    n = len(coins)
    size = max(min(at_once, n // 2), 1)
    pattern = np.argsort(np.modf(GOLDEN * np.arange(n) ** 2)[0], kind="stable")[:size]
    if any(set(pattern) == set((pattern + shift) % n) for shift in range(1, n)):
        pattern = np.arange(size)
    found = np.zeros((n, p), dtype=np.bool_)
    for first in range(n):
        found[first, coins[(first + pattern) % n]] = True
    return found


def _first_sets(task: CoinTask, last: SetPlan | None) -> tuple[Bools, Floats]:
    """Sets that the game begins with, and in which proportion: explored ones first, then all if
    they are few, and those of the last plan.
    """
    explored = explored_sets(task.coins, task.at_once, task.p)
    first = {row.tobytes(): 1.0 for row in explored}
    if task.at_once > 1 and len(task.coins) <= MOST_LISTED:
        for size in range(1, min(task.at_once, len(task.coins), task.p - 1) + 1):
            for chosen in combinations(task.coins.tolist(), size):
                row = np.isin(np.arange(task.p), chosen)
                first.setdefault(row.tobytes(), 1.0)
    if last is not None and len(last.sets):
        total = float(last.shares.sum())
        first = dict.fromkeys(first, LEAST_START * total / len(first))
        own = _explored_share(task) * total / len(explored)
        rows = {row.tobytes() for row in explored}
        for row, share in zip(last.sets, last.shares, strict=True):
            key = row.tobytes()
            kept = float(share) - (own if key in rows else 0.0)
            first[key] = first.get(key, 0.0) + max(kept, 0.0)
    sets = np.array([np.frombuffer(row, dtype=np.bool_) for row in first])
    return sets, np.array(list(first.values()))


def _explored_share(task: CoinTask) -> float:
    if task.at_once > 1:
        return EXPLORED
    by_square = EXPLORED_BY_SQUARE * len(task.coins) ** 2
    return min(max(EXPLORED_ALONE, by_square), MOST_EXPLORED_ALONE)


def _choice(task: CoinTask, share: float, last: SetPlan | None = None) -> Choice:
    room = Room(task.coins, task.at_once, float(task.base_cost), task.costs_of_each)
    is_whole = task.at_once <= 1 or len(task.coins) <= MOST_LISTED
    sets, rounds = _first_sets(task, last)
    return Choice(room, sets, rounds, len(task.coins), share, is_whole)


def _steps(p: int) -> int:
    """Of the game: fewer where each takes long."""
    return int(min(max(6000 / p, 100), 160))


def _means(task: CoinTask, sets: Bools, rounds: Floats) -> Means:
    responses = responses_to(task.weights, task.half_ranges > 0.0, sets)
    return means_of(sets, rounds, responses)


def _usual_means(task: CoinTask) -> Means:
    """What coins move in the rounds that are explored."""
    sets = explored_sets(task.coins, task.at_once, task.p)
    return _means(task, sets, np.full(len(sets), 1.0 / max(len(sets), 1)))


def moves_of(task: CoinTask, done: SetPlan) -> Floats:
    """Return what the coins moved (p, p, p) on average in rounds of some sets, if the task's
    weights are those of the system.
    """
    found: Floats = _means(task, done.sets, done.shares).moves
    return found


def plan_rounds(
    task: CoinTask,
    covered: Floats,
    ahead: float,
    last: SetPlan | None = None,
    moved: Floats | None = None,
) -> CoinPlan:
    """Return where the next rounds go, so that all pairs are settled at the least cost.

    Parameters
    ----------
    task : what is to be settled
    covered : (p, p), rounds so far with the column's variable set and the row's free
    ahead : how many rounds to plan for. If less is needed, the plan is for narrower intervals
    last : an earlier plan to begin with; the new one foretells at most a percent more than to go
        on with it
    moved : (p, p, p), what the coins moved in the rounds so far (`moves_of`); without it, what they
        move in those that are planned

    Examples
    --------
    >>> chain = np.array([[0.0, 0.0], [0.8, 0.0]])
    >>> radii = np.full((2, 2), 0.1)
    >>> task = CoinTask(weights=chain, noise=np.ones(2), half_ranges=np.full(2, 2.0), radii=radii,
    ...                 nats=5.0, at_once=1)
    >>> plan = plan_rounds(task, np.zeros((2, 2)), 100.0)
    >>> round(plan.rounds)
    500
    """
    if not (math.isfinite(ahead) and ahead > 0.0):
        raise InvalidInputError(f"ahead is a positive number of rounds, got {ahead!r}.")
    stand, present = task.stand(covered, moved, playable=True), task.stand(covered, moved)
    if not (stand.scales > 0.0).any():
        sets = explored_sets(task.coins, task.at_once, task.p)
        design = Design(sets, np.ones(len(sets)), 0.0, 0.0)
        return _plan(task, present, ahead, design)
    plan = _plan(task, present, ahead, _design(task, stand, last))
    if plan.rounds < ahead:
        means = all_means(stand, _means(task, plan.sets, plan.shares))
        left = ratios(loads_of(stand, means), means.tosses).max()
        further = task.stand(covered, moved, factor=1.0 / left, playable=True)
        design = _design(task, further, SetPlan(plan.sets, plan.shares))
        return _plan(task, present, ahead, design)
    return plan


def _design(task: CoinTask, stand: Stand, last: SetPlan | None) -> Design:
    """Of all rounds, those that are explored included."""
    choice = _choice(task, _explored_share(task), last)
    found = play(stand, choice, _steps(task.p))
    return Design(found.sets, with_explored(choice, found.rounds), found.cost, found.least)


def _plan(task: CoinTask, stand: Stand, ahead: float, design: Design) -> CoinPlan:
    """From rounds in the right proportion to the plan."""
    kept = design.rounds > LEAST_SHARE * design.rounds.sum()
    sets, rounds = design.sets[kept], design.rounds[kept]
    shares = ahead * rounds / rounds.sum() if len(rounds) else rounds
    means = _means(task, sets, shares)
    total = all_means(stand, means)
    to_go = ahead * times_to_go(loads_of(stand, total), stand.covered, means.tosses)
    costs = task.base_cost + sets @ task.costs_of_each
    longest = float(to_go.max(initial=0.0))
    cost = longest * float(costs @ shares) / ahead if longest > 0.0 else 0.0
    return CoinPlan(
        sets=sets,
        shares=shares,
        half_widths=_half_widths(task, total),
        to_go=to_go,
        rounds=longest,
        cost=cost,
        least=min(design.least, cost),
    )


def _half_widths(task: CoinTask, means: Means) -> Floats:
    """(p, p), for every effect of a variable that has a coin, asked for or not; 0 where there is
    none.

    means : of all rounds
    """
    unit = replace(task, radii=np.ones((task.p, task.p)))
    found: Floats = np.sqrt(ratios(loads_of(unit.stand(means.tosses), means), means.tosses))
    return found


def half_widths(
    task: CoinTask,
    covered: Floats,
    plan: CoinPlan | None = None,
    moved: Floats | None = None,
) -> Floats:
    """Return the half widths (p, p) that are foretold for rounds that are covered; infinite where a
    coin is lacking, 0 on the diagonal.

    plan : by which they were covered; without one, by the sets that are explored
    moved : (p, p, p), what the coins moved in them, where that is known
    """
    moves = moved
    if moves is None:
        means = _usual_means(task) if plan is None else _means(task, plan.sets, plan.shares)
        moves = means.moves
    return _half_widths(task, Means(task.stand(covered).covered, moves))


def rounds_to_go(
    task: CoinTask,
    covered: Floats,
    plan: CoinPlan | SetPlan | None = None,
    moved: Floats | None = None,
) -> float:
    """Return how many rounds remain until all pairs are settled, along the shares of a plan;
    infinite if that never happens.

    plan : without one, it is made
    moved : (p, p, p), what the coins moved in the rounds that are covered, where that is known
    """
    if plan is None:
        plan = plan_rounds(task, covered, 1.0, moved=moved)
    means = _means(task, plan.sets, plan.shares)
    times = times_that_suffice(task.stand(covered, moved), means, FIRST_STEPS)
    return times * float(plan.shares.sum()) if times > 0.0 else 0.0


def ideal_rounds(task: CoinTask, design: Rounds = "plan") -> float:
    """Return how many rounds settle all pairs, from the first on, by a design that knows the
    system; infinite if some cannot be settled.

    Parameters
    ----------
    task : what is to be settled; its weights are those of the system
    design : `halves`, every coin in half of the rounds (or as many as may be set at once), by
        chance; `singles`, one at a time in the best shares; `plan`, the best sets that are found,
        with nothing explored
    """
    nothing = np.zeros((task.p, task.p))
    if design == "halves":
        share = min(0.5, task.at_once / max(len(task.coins), 1))
        means = independent_means(task.weights, task.half_ranges > 0.0, share)
        return time_for_all(loads_of(task.stand(nothing), means), nothing, means.tosses)
    if design not in ("singles", "plan"):
        raise InvalidInputError(f"design must be 'halves', 'singles' or 'plan', got {design!r}.")
    found = _ideal(replace(task, at_once=1) if design == "singles" else task)
    return math.inf if found is None else float(found.rounds.sum()) if found.cost > 0.0 else 0.0


def _ideal(task: CoinTask) -> Design | None:
    """The design from the first round on; None if some pair cannot be settled."""
    asked = task.scales > 0.0
    if asked[:, task.half_ranges <= 0.0].any():
        return None
    if not asked.any():
        return Design(np.zeros((0, task.p), dtype=np.bool_), np.zeros(0), 0.0, 0.0)
    stand = task.stand(np.zeros((task.p, task.p)), playable=True)
    return play(stand, _choice(task, 0.0), 2 * _steps(task.p))


def coin_complexity(task: CoinTask) -> CoinComplexity:
    """Return how many nats a unit of cost gains for every pair, by the best design that was found
    for a system that is known: cost = nats / value settles all pairs.
    """
    found = _ideal(task)
    if found is None:
        return CoinComplexity(0.0, 0.0)
    if found.cost == 0.0:
        return CoinComplexity(math.inf, math.inf)
    return CoinComplexity(
        task.nats / found.cost, task.nats / found.least if found.least > 0.0 else math.inf
    )


def ideal_shares(task: CoinTask) -> tuple[Bools, Floats]:
    """Return the sets (m, p) of the best design that was found for a system that is known, and
    their shares of the rounds (m,); those that are explored if nothing can be settled.
    """
    found = _ideal(task)
    if found is None or not found.cost > 0.0:
        sets = explored_sets(task.coins, task.at_once, task.p)
        return sets, np.full(len(sets), 1.0 / max(len(sets), 1))
    kept = found.rounds > 1e-4 * found.rounds.sum()
    return found.sets[kept], found.rounds[kept] / found.rounds[kept].sum()
