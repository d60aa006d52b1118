"""The fewest rounds after which every interval is as narrow as it should be: a game.

With n_K rounds that set K, pair (j, k) is done when f_jk <= 1 (`widths`), and the rounds of least
cost sum_K c_K n_K are sought. With a price y_jk >= 0 for every pair and G_K, what one more round
of K is worth at these prices, the rounds are best where

    G_K <= c_K for all K, with equality where n_K > 0, and f_jk <= 1 for all pairs, with equality
    where y_jk > 0.

Both sides move by multiplication: n_K by the root of G_K / c_K, which for one coin at a time is
the best response in one step, and y_jk by f_jk. Sets that are not listed come in as they are worth
more than their cost (`cut`). A share of all rounds goes to sets that are given, so that every coin
goes on being tossed with every other variable free, whatever the estimate says.

**Gap, for one coin at a time.** Then M does not depend on the rounds, and f_jk = sum_i load / N_ij
is convex in them. Rounds scaled until every f_jk <= 1 have a cost that suffices. For the other side
let y and N be any, F = sum y f, Y = sum y and g at least G_K / c_K for every K. As 1 / x is convex,
load / N' >= 2 load / N - load N' / N^2 for every N'. So for rounds n' that suffice and every u > 0,
with N / u in place of N,

    Y >= sum y f(N') >= 2 u F - u^2 (G . covered + sum_K n'_K G_K)
      >= 2 u F - u^2 (G . covered + g cost(n')),

hence cost(n') >= (2 F / u - Y / u^2 - G . covered) / g, and with u = Y / F

    cost(n')  >=  (F^2 / Y - G . covered) / g.

For several at once f is not convex: there is no such bound, and what is found is best among what is
near it.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.cut import Room, climb, cost_of
from causalfocus.kernels.randomized.responses import Responses, join, responses_to
from causalfocus.kernels.randomized.widths import (
    Means,
    Stand,
    Worths,
    all_means,
    loads_of,
    means_of,
    ratios_and_worths,
    time_for_all,
    worth_of,
)

GAP = 0.005
"""Of the cost, relatively: one coin at a time, the game ends when the cost is known to this."""

EVERY = 2
"""Steps from one look at the cost, and one set that comes in, to the next."""

FIRST_STEPS = 4
"""To find how many rounds suffice, before the first step."""

SHARE = 0.015
"""Of all rounds, for a set that comes in."""

LEAST_FACTOR = 0.1
"""By which the rounds of a set are multiplied in a step, at least."""

LEAST_PRICE = 1e-9
"""Of the largest price: lower ones could not come back in time."""


class Choice(NamedTuple):
    """What there is to choose from.

    room : all sets, with their costs
    sets : (m, p), those to begin with; the first are explored
    rounds : (m,), in which proportion to begin with them
    n_explored, share : how many are explored, in equal parts, in which share of all rounds
    is_whole : whether these are all sets that there are
    """

    room: Room
    sets: Bools
    rounds: Floats
    n_explored: int
    share: float
    is_whole: bool


class Design(NamedTuple):
    """Rounds (m,) of sets (m, p) that suffice, what they cost, and a bound of what any cost: 0
    where none is known.
    """

    sets: Bools
    rounds: Floats
    cost: float
    least: float


@kernel
def with_explored(choice: Choice, rounds: Floats) -> Floats:
    """Return the rounds (m,) when a share of them is explored."""
    found = rounds * (1.0 - choice.share)
    if choice.share > 0.0:
        found[: choice.n_explored] += choice.share * rounds.sum() / choice.n_explored
    return found


@kernel
def _costs(choice: Choice, sets: Bools) -> Floats:
    found = np.empty(len(sets))
    for m in range(len(sets)):
        found[m] = cost_of(choice.room, sets[m])
    return found


@kernel
def _with_share(choice: Choice, each: Floats) -> Floats:
    """Return what is so of every set (m,) for rounds of which a share is explored."""
    if choice.share > 0.0:
        return (1.0 - choice.share) * each + choice.share * each[: choice.n_explored].mean()
    return each


@kernel
def _is_among(sets: Bools, members: Bools) -> bool:
    is_equal = False
    for m in range(len(sets)):
        is_equal = is_equal or (sets[m] == members).all()
    return is_equal


@kernel
def times_that_suffice(stand: Stand, means: Means, steps: int) -> float:
    """Return how many times the rounds of some means suffice, beside those that are covered.

    steps : how often it is found anew with what all coins would have moved by then; where it is not
        known what they have moved, that does not change
    """
    times = 1.0
    for _ in range(1 if len(stand.moved) == 0 else steps):
        there = all_means(stand, Means(times * means.tosses, means.moves))
        found = time_for_all(loads_of(stand, there), stand.covered, means.tosses)
        if not 0.0 < found < math.inf:
            return found
        times = found
    return times


@kernel
def _cost_that_suffices(
    stand: Stand, choice: Choice, sets: Bools, rounds: Floats, responses: Responses, steps: int
) -> Design:
    means = means_of(sets, with_explored(choice, rounds), responses)
    times = times_that_suffice(stand, means, steps)
    costs = _with_share(choice, _costs(choice, sets))
    scaled = rounds * times if times > 0.0 else rounds.copy()
    return Design(sets.copy(), scaled, times * (costs * rounds).sum(), 0.0)


@kernel
def _bound(prices: Floats, ratio: Floats, worths: Worths, means: Means, stand: Stand) -> float:
    """Return F^2 / Y - G . covered, one coin at a time."""
    total, p = 0.0, len(prices)
    for j in range(p):
        for i in range(p):
            if stand.covered[j, i] > 0.0:
                worth = worths.cuts[j, i]
                for r in range(p):
                    worth += worths.pulls[j, i, r] * means.moves[j, i, r]
                total += worth * stand.covered[j, i]
    return (prices * ratio).sum() ** 2 / prices.sum() - total


@kernel
def _with_new_sets(
    stand: Stand, choice: Choice, worths: Worths, sets: Bools, starts: Ints
) -> Bools:
    """Return the sets and after them those where climbs end, if they are others."""
    for start in starts:
        members = climb(worths, stand.weights, choice.room, sets[start]).members
        if not _is_among(sets, members):
            sets = np.vstack((sets, members.copy().reshape(1, -1)))
    return sets


@kernel
def _keep_above(prices: Floats, stand: Stand) -> None:
    """Raise prices to a least one, in place."""
    floor = LEAST_PRICE * prices.max()
    for j in range(len(prices)):
        for k in range(len(prices)):
            if stand.scales[j, k] > 0.0:
                prices[j, k] = max(prices[j, k], floor)


@kernel
def play(stand: Stand, choice: Choice, steps: int) -> Design:
    """Return rounds that suffice at little cost. If none are needed, the cost is 0 and the rounds
    say in which proportion to go on.

    steps : how many, at most; sets come in during the first three quarters
    """
    p, is_coin = len(stand.weights), stand.half_ranges > 0.0
    sets, rounds, least = choice.sets.copy(), choice.rounds.copy(), 0.0
    responses = responses_to(stand.weights, is_coin, sets)
    best = _cost_that_suffices(stand, choice, sets, rounds, responses, FIRST_STEPS)
    rounds = best.rounds.copy()
    prices = np.where(stand.scales > 0.0, 1.0, 0.0)
    ratio, worths = np.zeros((p, p)), Worths(np.zeros((p, p)), np.zeros((p, p, p)))
    for step in range(steps):
        means = means_of(sets, with_explored(choice, rounds), responses)
        ratios_and_worths(stand, means, prices, ratio, worths)
        each = np.empty(len(sets))
        for m in range(len(sets)):
            each[m] = worth_of(worths, sets[m], responses, m)
        costs = _with_share(choice, _costs(choice, sets))
        gains = _with_share(choice, each) / costs
        if step == 0:
            prices *= (rounds * costs).sum() / (gains * rounds * costs).sum()
            continue
        if step % EVERY == EVERY - 1:
            found = _cost_that_suffices(stand, choice, sets, rounds, responses, 1)
            if found.cost < best.cost:
                best = found
            if choice.room.at_once <= 1:
                bound = _bound(prices, ratio, worths, means, stand)
                least = max(least, bound / gains.max())
            if best.cost - least <= GAP * best.cost:
                break
            if not choice.is_whole and 4 * step < 3 * steps:
                before, turn = len(sets), (step // EVERY) % choice.n_explored
                starts = np.array([gains.argmax(), rounds.argmax(), turn])
                sets = _with_new_sets(stand, choice, worths, sets, starts)
                if len(sets) > before:
                    coming = responses_to(stand.weights, is_coin, sets[before:])
                    responses = join(responses, coming)
                    given = np.full(len(sets) - before, SHARE * rounds.sum())
                    rounds = np.append(rounds, given)
                    continue
        for m in range(len(sets)):
            rounds[m] *= math.sqrt(max(gains[m], LEAST_FACTOR))
        _keep_above(prices, stand)
    return Design(best.sets, best.rounds, best.cost, least)
