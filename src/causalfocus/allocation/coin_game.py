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
from functools import cached_property
from itertools import combinations
from typing import Final, Literal

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.errors import InvalidInputError
from causalfocus.kernels.randomized.cut import Room
from causalfocus.kernels.randomized.game import Choice, Design, play, with_explored
from causalfocus.kernels.randomized.responses import responses_to
from causalfocus.kernels.randomized.widths import (
    Means,
    Stand,
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
"""The same, one coin at a time."""

MOST_LISTED: Final = 6
"""Coins up to which the game has all sets from the start."""

GOLDEN: Final = (math.sqrt(5.0) - 1.0) / 2.0

Rounds = Literal["halves", "singles", "plan"]
"""Of what the ideal number is: random halves, single variables in their best shares, the plan."""


@dataclass(frozen=True, kw_only=True)
class CoinTask:
    """What is to be settled, and with what coins.

    Attributes
    ----------
    weights : (p, p), the estimate, row the effect and column the cause; loops are allowed
    noise : (p,), the variance of the residual of every row
    half_ranges : (p,), of the coins; 0 for a variable that cannot be set to two ends
    radii : (p, p), the half width at which the effect of the column on the row is settled;
        infinite where nothing is asked. The diagonal is not read
    nats : what a test has to reach, log(N / delta)
    at_once : how many variables may be set in a round
    base_cost, costs : a round that sets K costs base_cost + the sum of costs (p,) over K
    """

    weights: Floats
    noise: Floats
    half_ranges: Floats
    radii: Floats
    nats: float
    at_once: int
    base_cost: float = 1.0
    costs: Floats | None = None

    def __post_init__(self) -> None:
        p = len(self.noise)
        shapes = {"weights": (p, p), "radii": (p, p), "half_ranges": (p,), "noise": (p,)}
        if self.costs is not None:
            shapes["costs"] = (p,)
        for name, shape in shapes.items():
            given = np.array(getattr(self, name), dtype=np.float64)
            if given.shape != shape:
                raise InvalidInputError(
                    f"{name} has shape {given.shape}; for the {p} variables of noise it must have "
                    f"{shape}."
                )
            object.__setattr__(self, name, given)
        self._require_numbers()

    def _require_numbers(self) -> None:
        for name in ("weights", "noise", "half_ranges"):
            given = getattr(self, name)
            if not np.isfinite(given).all() or (name != "weights" and (given < 0.0).any()):
                raise InvalidInputError(
                    f"{name} must be finite, and not negative but for weights; got "
                    f"{given.tolist()}. Leave out what is not known yet: 0 for a weight."
                )
        if not (self._asked > 0.0).all():
            raise InvalidInputError(
                f"radii must be positive, and infinite where nothing is asked; got "
                f"{self.radii.tolist()}."
            )
        if not (math.isfinite(self.nats) and self.nats > 0.0):
            raise InvalidInputError(f"nats must be a positive number, got {self.nats!r}.")
        if self.at_once < 1:
            raise InvalidInputError(f"at_once must be 1 or more, got {self.at_once!r}.")
        costs = self.base_cost + self.costs_of_each
        if not (np.isfinite(costs).all() and (costs > 0.0).all() and self.base_cost >= 0.0):
            raise InvalidInputError(
                f"A round of one variable must have a positive and finite cost, and none less "
                f"than nothing; got base_cost = {self.base_cost!r}, costs = "
                f"{self.costs_of_each.tolist()}."
            )
        if (self.costs_of_each < 0.0).any():
            raise InvalidInputError(
                f"costs must not be negative; got {self.costs_of_each.tolist()}."
            )

    @property
    def p(self) -> int:
        """The number of variables."""
        return len(self.noise)

    @property
    def _asked(self) -> Floats:
        found: Floats = self.radii[~np.eye(self.p, dtype=np.bool_)]
        return found

    @property
    def costs_of_each(self) -> Floats:
        """(p,), what each variable adds to the cost of a round that sets it."""
        return np.zeros(self.p) if self.costs is None else self.costs

    @cached_property
    def coins(self) -> Ints:
        """(n,), the variables that have a coin."""
        return np.flatnonzero(self.half_ranges > 0.0)

    @cached_property
    def scales(self) -> Floats:
        """(p, p), the squared half width, in units of the squared radius, of an effect whose coin
        has the half range one and was tossed once; 0 where nothing is asked.
        """
        scale = np.full((self.p, self.p), 2.0 * self.nats) * self.noise[:, None]
        found = np.where(np.isfinite(self.radii), scale / self.radii**2, 0.0)
        np.fill_diagonal(found, 0.0)
        return found

    def stand(self, covered: Floats, *, factor: float = 1.0, playable: bool = False) -> Stand:
        """For the kernels.

        Parameters
        ----------
        covered : (p, p), rounds with the column's variable set and the row's free
        factor : by which squared radii are smaller
        playable : without effects of variables that have no coin: these are never settled
        """
        if covered.shape != (self.p, self.p) or not (covered >= 0.0).all():
            raise InvalidInputError(
                f"covered is a table of {self.p} by {self.p} numbers of rounds, not negative; got "
                f"{np.asarray(covered).tolist()}."
            )
        scales = factor * self.scales
        if playable:
            scales = np.where(self.half_ranges > 0.0, scales, 0.0)
        return Stand(self.weights, self.half_ranges, scales, np.array(covered, dtype=np.float64))


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

    One pattern without regularity is shifted round the circle of the coins.
    """
    n = len(coins)
    size = max(min(at_once, n // 2), 1)
    pattern = np.argsort(np.modf(GOLDEN * np.arange(n) ** 2)[0], kind="stable")[:size]
    found = np.zeros((n, p), dtype=np.bool_)
    for first in range(n):
        found[first, coins[(first + pattern) % n]] = True
    return found


def _first_sets(task: CoinTask, explored: Bools, known: Bools | None) -> Bools:
    """Those that the game begins with: explored ones, all if they are few, and known ones."""
    rows = list(explored)
    n = len(task.coins)
    if task.at_once > 1 and n <= MOST_LISTED:
        for size in range(1, min(task.at_once, n) + 1):
            for chosen in combinations(task.coins.tolist(), size):
                if size < task.p:
                    row = np.zeros(task.p, dtype=np.bool_)
                    row[list(chosen)] = True
                    rows.append(row)
    elif task.at_once > 1 and known is not None:
        rows += list(known)
    seen = dict.fromkeys(row.tobytes() for row in rows)
    return np.array([np.frombuffer(row, dtype=np.bool_) for row in seen])


def _choice(task: CoinTask, share: float, known: Bools | None = None) -> Choice:
    explored = explored_sets(task.coins, task.at_once, task.p)
    room = Room(task.coins, task.at_once, float(task.base_cost), task.costs_of_each)
    is_whole = task.at_once <= 1 or len(task.coins) <= MOST_LISTED
    return Choice(room, _first_sets(task, explored, known), len(explored), share, is_whole)


def _steps(p: int) -> int:
    """Of the game: fewer where each takes long."""
    return int(min(max(6000 / p, 60), 160))


def _means(task: CoinTask, sets: Bools, rounds: Floats) -> Means:
    responses = responses_to(task.weights, task.half_ranges > 0.0, sets)
    return means_of(sets, rounds, responses)


def _usual_means(task: CoinTask) -> Means:
    """What coins move in the rounds that are explored."""
    sets = explored_sets(task.coins, task.at_once, task.p)
    return _means(task, sets, np.full(len(sets), 1.0 / max(len(sets), 1)))


def plan_rounds(
    task: CoinTask, covered: Floats, ahead: float, known: Bools | None = None
) -> CoinPlan:
    """Return where the next rounds go, so that all pairs are settled at the least cost.

    Parameters
    ----------
    task : what is to be settled
    covered : (p, p), rounds so far with the column's variable set and the row's free
    ahead : how many rounds to plan for. If less is needed, the plan is for narrower intervals
    known : (k, p), sets to begin with beside the usual ones, such as those of the last plan: the
        search then starts where it ended

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
    share = EXPLORED if task.at_once > 1 else EXPLORED_ALONE
    stand = task.stand(covered, playable=True)
    if not (stand.scales > 0.0).any():
        sets = explored_sets(task.coins, task.at_once, task.p)
        design = Design(sets, np.ones(len(sets)), 0.0, 0.0)
        return _plan(task, covered, ahead, design, design.rounds)
    choice = _choice(task, share, known)
    design = play(stand, choice, _steps(task.p))
    rounds = with_explored(choice, design.rounds)
    if design.cost == 0.0 or rounds.sum() < ahead:
        means = _means(task, design.sets, rounds * (ahead / rounds.sum()))
        left = ratios(loads_of(stand, means), stand.covered + means.tosses).max()
        stand = task.stand(covered, factor=1.0 / left, playable=True)
        further = play(stand, _choice(task, share, design.sets), _steps(task.p))
        design = Design(further.sets, further.rounds, design.cost, design.least)
        rounds = with_explored(choice, design.rounds)
    return _plan(task, covered, ahead, design, rounds)


def _plan(
    task: CoinTask, covered: Floats, ahead: float, design: Design, rounds: Floats
) -> CoinPlan:
    """From rounds in the right proportion to the plan."""
    kept = rounds > 1e-4 * rounds.sum()
    sets, rounds = design.sets[kept], rounds[kept]
    shares = ahead * rounds / rounds.sum() if len(rounds) else rounds
    means = _means(task, sets, shares)
    loads = loads_of(task.stand(covered), means)
    to_go = ahead * times_to_go(loads, covered, means.tosses)
    costs = task.base_cost + sets @ task.costs_of_each
    longest = float(to_go.max(initial=0.0))
    return CoinPlan(
        sets=sets,
        shares=shares,
        half_widths=_half_widths(task, covered + means.tosses, means),
        to_go=to_go,
        rounds=longest,
        cost=longest * float(costs @ shares) / ahead if longest > 0.0 else 0.0,
        least=design.least,
    )


def _half_widths(task: CoinTask, tosses: Floats, means: Means) -> Floats:
    """(p, p), for every effect of a variable that has a coin, asked for or not."""
    scales = np.where(task.noise > 0.0, 2.0 * task.nats * task.noise, 0.0)[:, None] + np.zeros(
        (task.p, task.p)
    )
    np.fill_diagonal(scales, 0.0)
    stand = Stand(task.weights, task.half_ranges, scales, tosses)
    found: Floats = np.sqrt(ratios(loads_of(stand, means), tosses))
    return found


def half_widths(task: CoinTask, covered: Floats, plan: CoinPlan | None = None) -> Floats:
    """Return the half widths (p, p) that are foretold for rounds that are covered; infinite where a
    coin is lacking, 0 on the diagonal.

    plan : by which they were covered; without one, by the sets that are explored
    """
    means = _usual_means(task) if plan is None else _means(task, plan.sets, plan.shares)
    return _half_widths(task, task.stand(covered).covered, means)


def rounds_to_go(task: CoinTask, covered: Floats, plan: CoinPlan | None = None) -> float:
    """Return how many rounds remain until all pairs are settled, along the shares of a plan;
    infinite if that never happens.

    plan : without one, it is made
    """
    if plan is None:
        return plan_rounds(task, covered, 1.0).rounds
    means = _means(task, plan.sets, plan.shares)
    stand = task.stand(covered)
    times = time_for_all(loads_of(stand, means), stand.covered, means.tosses)
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
