"""The fewest rounds after which every interval is as narrow as it should be: a convex game.

With n_K rounds that set K, the tosses of coin i with row j free are N_ij = covered_ij + sum of n_K
over the sets with i and without j, and pair a is done when its ratio f_a = sum_t load_t / N_t is at
most 1, t over its terms (`loadings`). The rounds of least cost sum_K c_K n_K are sought. Ratios are
convex in the rounds, so with a price y_a >= 0 for every pair, the worth of a toss
G_ji = sum of y_a load_t / N_ij^2 and the worth of a round G_K, the cut of G at K:

    n is best, and y proves it, where G_K <= c_K for all K, with equality where n_K > 0, and
    f_a <= 1 for all a, with equality where y_a > 0.

Both sides move by multiplication: n_K by the root of G_K / c_K, which for one coin at a time is the
best response in one step, and y_a by f_a. Sets come in as they are worth more than their cost (`cut`).

**Gap.** Scaling the rounds until every f_a <= 1 gives a cost that suffices. For the other side let
y and N be any, F = sum_a y_a f_a, Y = sum_a y_a and g at least G_K / c_K for every K. As 1 / x is
convex, load / N' >= 2 load / N - load N' / N^2 for every N'. So for rounds n' with N' that suffice,
for every u > 0, with N / u in place of N,

    Y >= sum_a y_a f_a(N') >= 2 u F - u^2 (G . covered + sum_K n'_K G_K)
      >= 2 u F - u^2 (G . covered + g cost(n')),

hence cost(n') >= (2 F / u - Y / u^2 - G . covered) / g, largest at u = Y / F:

    cost(n')  >=  (F^2 / Y - G . covered) / g.

It is a proof if g is the largest of all sets: where `cut.is_listed` says so.
"""

import math
from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.cut import Room, best_set, cost_of, cut_of
from causalfocus.kernels.randomized.loadings import Terms

GAP = 0.01
"""Of the cost, relatively: the game ends when it is known to this."""

STEPS = 400
"""After so many steps it ends anyhow."""

EVERY = 2
"""Steps from one set that comes in to the next."""

SPARE = 40
"""Sets beside those at the start and two for every coin that are kept at a time."""

LEAST_PRICE = 1e-12
"""Of the largest price: lower ones could not come back."""


class Duty(NamedTuple):
    """What is to be done: terms with their loads (t,), and what is covered (p, p) already, the free
    one first. A round of any set covers `explored` (p, p) besides.
    """

    terms: Terms
    loads: Floats
    covered: Floats
    explored: Floats


class Design(NamedTuple):
    """Rounds (m,) of sets (m, p) that suffice, what they cost, and the bound of what any cost."""

    sets: Bools
    rounds: Floats
    cost: float
    least: float


@kernel
def coverage(sets: Bools, rounds: Floats) -> Floats:
    """Return in how many rounds (p, p) a variable is set and another free, the free one first."""
    p = sets.shape[1]
    found = np.zeros((p, p))
    for m in range(len(rounds)):
        for j in range(p):
            if not sets[m, j]:
                for i in range(p):
                    if sets[m, i]:
                        found[j, i] += rounds[m]
    return found


@kernel
def ratios(terms: Terms, loads: Floats, covered: Floats) -> Floats:
    """Return f (q,) of every pair; infinite where a coin that it needs was never tossed."""
    found = np.zeros(len(terms.effects))
    for a in range(len(found)):
        for t in range(terms.starts[a], terms.starts[a + 1]):
            if loads[t] > 0.0:
                n = covered[terms.effects[a], terms.coins[t]]
                found[a] += loads[t] / n if n > 0.0 else math.inf
    return found


@kernel
def worths(terms: Terms, loads: Floats, covered: Floats, prices: Floats) -> Floats:
    """Return G (p, p), what one more toss of every coin with another free is worth."""
    found = np.zeros(covered.shape)
    for a in range(len(prices)):
        j = terms.effects[a]
        for t in range(terms.starts[a], terms.starts[a + 1]):
            n = covered[j, terms.coins[t]]
            found[j, terms.coins[t]] += prices[a] * loads[t] / (n * n)
    return found


@kernel
def times_to_go(terms: Terms, loads: Floats, covered: Floats, rates: Floats) -> Floats:
    """Return for every pair (q,) how many times the rates (p, p) must be added for f <= 1: 0 if it
    is done, infinite if that never happens.
    """
    found = np.zeros(len(terms.effects))
    for a in range(len(found)):
        j, first, last = terms.effects[a], terms.starts[a], terms.starts[a + 1]
        high = 0.0
        for t in range(first, last):
            # Twice what the term would need for its part alone, were all parts alike.
            rate, n = rates[j, terms.coins[t]], covered[j, terms.coins[t]]
            if loads[t] > 0.0 and loads[t] * (last - first) > n:
                high = max(high, (loads[t] * (last - first) - n) / rate if rate > 0.0 else math.inf)
        if math.isinf(high):
            found[a] = _beyond(terms, loads, covered, rates, a)
            continue
        low = 0.0
        if _ratio_at(terms, loads, covered, rates, a, 0.0) <= 1.0:
            continue
        for _ in range(60):
            middle = 0.5 * (low + high)
            if _ratio_at(terms, loads, covered, rates, a, middle) > 1.0:
                low = middle
            else:
                high = middle
            if high - low <= 1e-10 * high:
                break
        found[a] = high
    return found


@kernel
def _ratio_at(
    terms: Terms, loads: Floats, covered: Floats, rates: Floats, a: int, times: float
) -> float:
    j, total = terms.effects[a], 0.0
    for t in range(terms.starts[a], terms.starts[a + 1]):
        if loads[t] > 0.0:
            i = terms.coins[t]
            n = covered[j, i] + times * rates[j, i]
            total += loads[t] / n if n > 0.0 else math.inf
    return total


@kernel
def _beyond(terms: Terms, loads: Floats, covered: Floats, rates: Floats, a: int) -> float:
    """Return the times to go of a pair of which some coins are not tossed any more."""
    if not _ratio_at(terms, loads, covered, rates, a, 1e15) <= 1.0:
        return math.inf
    low, high = 0.0, 1e15
    for _ in range(120):
        middle = 0.5 * (low + high)
        if _ratio_at(terms, loads, covered, rates, a, middle) > 1.0:
            low = middle
        else:
            high = middle
    return high


@kernel
def _tosses(duty: Duty, room: Room, sets: Bools, rounds: Floats) -> Floats:
    """Return N (p, p) with everything counted, but for what is covered already."""
    return room.share * coverage(sets, rounds) + rounds.sum() * duty.explored


@kernel
def _sum_of_products(one: Floats, other: Floats) -> float:
    total = 0.0
    for r in range(one.shape[0]):
        for s in range(one.shape[1]):
            total += one[r, s] * other[r, s]
    return total


@kernel
def _respond(duty: Duty, room: Room, worth: Floats, sets: Bools, rounds: Floats) -> None:
    """Move the rounds, in place, by the root of what each is worth for its cost."""
    extra = _sum_of_products(worth, duty.explored)
    for m in range(len(rounds)):
        gain = extra + room.share * cut_of(worth, sets[m])
        rounds[m] *= math.sqrt(gain / cost_of(room, sets[m]))


@kernel
def _number_of(sets: Bools, members: Bools) -> int:
    for m in range(len(sets)):
        if (sets[m] == members).all():
            return m
    return -1


@kernel
def _cost(room: Room, sets: Bools, rounds: Floats) -> float:
    total = 0.0
    for m in range(len(rounds)):
        total += rounds[m] * cost_of(room, sets[m])
    return total


@kernel
def play(duty: Duty, room: Room, sets: Bools) -> Design:
    """Return rounds that suffice, near the least cost, and the bound.

    sets : (m, p), some that together cover whatever a pair needs
    """
    most = len(sets) + 2 * len(room.coins) + SPARE
    sets, rounds = sets.copy(), np.ones(len(sets))
    terms, loads = duty.terms, duty.loads
    scale = times_to_go(terms, loads, duty.covered, _tosses(duty, room, sets, rounds)).max()
    rounds *= max(scale, 1e-9)
    prices = np.ones(len(terms.effects))
    worth = worths(terms, loads, duty.covered + _tosses(duty, room, sets, rounds), prices)
    extra = _sum_of_products(worth, duty.explored)
    prices /= best_set(worth, room, extra, sets[:0]).worth
    best = Design(sets, rounds, math.inf, 0.0)
    least = 0.0
    for step in range(STEPS):
        tosses = duty.covered + _tosses(duty, room, sets, rounds)
        now = ratios(terms, loads, tosses)
        for a in range(len(prices)):
            prices[a] *= now[a]
        floor = LEAST_PRICE * prices.max()
        for a in range(len(prices)):
            prices[a] = max(prices[a], floor)
        worth = worths(terms, loads, tosses, prices)
        if step % EVERY == 0:
            extra = _sum_of_products(worth, duty.explored)
            heaviest = rounds.argmax()
            found = best_set(worth, room, extra, sets[heaviest : heaviest + 1])
            total = 0.0
            for a in range(len(prices)):
                total += prices[a] * now[a]
            bound = total * total / prices.sum() - _sum_of_products(worth, duty.covered)
            least = max(least, bound / found.worth)
            rates = _tosses(duty, room, sets, rounds)
            scale = times_to_go(terms, loads, duty.covered, rates).max()
            cost = scale * _cost(room, sets, rounds)
            if cost < best.cost:
                best = Design(sets.copy(), scale * rounds, cost, least)
            if best.cost - least <= GAP * best.cost:
                break
            if room.at_once > 1 and _number_of(sets, found.members) < 0:
                sets, rounds = _take_in(sets, rounds, found.members, most, step)
                continue
        _respond(duty, room, worth, sets, rounds)
    return Design(best.sets, best.rounds, best.cost, least)


@kernel
def _take_in(
    sets: Bools, rounds: Floats, members: Bools, most: int, step: int
) -> tuple[Bools, Floats]:
    """Return the sets with one more, which gets its part of the rounds; with too many the least
    leaves.
    """
    share = 1.0 / (step / EVERY + 10.0)
    given = share * rounds.sum()
    kept = rounds * (1.0 - share)
    if len(rounds) < most:
        longer = np.empty((len(rounds) + 1, sets.shape[1]), dtype=np.bool_)
        longer[:-1], longer[-1] = sets, members
        return longer, np.append(kept, given)
    last = rounds.argmin()
    replaced = sets.copy()
    replaced[last], kept[last] = members, given
    return replaced, kept
