"""Which variables to set in a round: the set that is worth most for its cost, by climbing.

A round with the set K is worth a directed cut, from what is set to what is free, and a part by what
the coins move (`widths`). Finding the best set is hard. A climb sets or frees one variable at a
time, whichever gives most, until nothing helps; it starts from sets that are known to be good.
Nothing is drawn by chance, and ties go to the first. What it finds need not be the best of all.
"""

from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.compile import kernel
from causalfocus.kernels.randomized.responses import (
    LEAST_PIVOT,
    NOTHING,
    free_one,
    onward,
    response,
    set_one,
)
from causalfocus.kernels.randomized.widths import Worths

LEAST_STEP = 1e-9
"""Of the worth, relatively: a step that gives less is rounding."""


class Room(NamedTuple):
    """Which sets there are, and what a round of each costs.

    coins : (n,), the variables that may be set
    at_once : how many at most
    base, costs : a round of K costs base + the sum of costs (p,) over K
    """

    coins: Ints
    at_once: int
    base: float
    costs: Floats


class Found(NamedTuple):
    """A set (p,), and what a round of it is worth per unit of cost."""

    members: Bools
    worth: float


class _Place(NamedTuple):
    """Where a climb is: the set, its responses T (p, p), and of the free rows together the worths
    of cuts (p,) and pulls (p, p), and what each variable that is set is worth (p,). Most responses
    are zero; those that are not stand in a list, the mover and what it moves, pairs (p * p, 2), of
    which n_pairs (1,) says how many there are.
    """

    members: Bools
    response: Floats
    cuts: Floats
    pulls: Floats
    own: Floats
    pairs: Ints
    n_pairs: Ints


@kernel
def cost_of(room: Room, members: Bools) -> float:
    """Return what a round costs that sets these variables."""
    total = room.base
    for i in range(len(members)):
        if members[i]:
            total += room.costs[i]
    return total


@kernel
def _place_at(worths: Worths, weights: Floats, start: Bools) -> _Place:
    p = len(start)
    cuts, pulls = np.zeros(p), np.zeros((p, p))
    for j in range(p):
        if not start[j]:
            cuts += worths.cuts[j]
            pulls += worths.pulls[j]
    pairs, n_pairs = np.empty((p * p, 2), dtype=np.int64), np.zeros(1, dtype=np.int64)
    found = response(weights, start)
    place = _Place(start.copy(), found, cuts, pulls, np.zeros(p), pairs, n_pairs)
    _take_stock(place)
    return place


@kernel
def _take_stock(place: _Place) -> None:
    """Write what each variable that is set is worth and the list of responses, in place."""
    p, n = len(place.members), 0
    for i in range(p):
        place.own[i] = 0.0
        if place.members[i]:
            place.own[i] = place.cuts[i]
            for r in range(p):
                if not place.members[r] and abs(place.response[r, i]) > NOTHING:
                    place.own[i] += place.pulls[i, r] * place.response[r, i]
                    place.pairs[n, 0], place.pairs[n, 1] = i, r
                    n += 1
    place.n_pairs[0] = n


@kernel
def _moved_of(worths: Worths, place: _Place, b: int) -> float:
    """Return what all that is set is worth to row b."""
    total = 0.0
    for i in range(len(place.members)):
        if place.members[i]:
            total += worths.cuts[b, i]
    for e in range(place.n_pairs[0]):
        i, r = place.pairs[e, 0], place.pairs[e, 1]
        total += worths.pulls[b, i, r] * place.response[r, i]
    return total


@kernel
def _move(worths: Worths, weights: Floats, place: _Place, b: int) -> None:
    """Set or free a variable, in place."""
    if place.members[b]:
        free_one(weights, place.response, b)
        place.cuts[:] += worths.cuts[b]
        place.pulls[:] += worths.pulls[b]
    else:
        set_one(place.response, b)
        place.cuts[:] -= worths.cuts[b]
        place.pulls[:] -= worths.pulls[b]
    place.members[b] = not place.members[b]
    _take_stock(place)


@kernel
def _gain_of_setting(worths: Worths, place: _Place, b: int) -> float:
    """Return the change of the worth if b is set."""
    p, found = len(place.members), place.response
    own = found[b, b] if abs(found[b, b]) > LEAST_PIVOT else 1.0
    total = place.cuts[b]
    for r in range(p):
        if r != b and not place.members[r] and abs(found[r, b]) > NOTHING:
            total += (place.pulls[b, r] - worths.pulls[b, b, r]) * found[r, b] / own
    total -= _moved_of(worths, place, b)
    for i in range(p):
        through = found[b, i] / own
        if place.members[i] and through != 0.0:
            for r in range(p):
                if not place.members[r] and found[r, b] != 0.0:
                    left = place.pulls[i, r] - worths.pulls[b, i, r]
                    total -= left * through * found[r, b]
    return total


@kernel
def _gain_of_freeing(worths: Worths, weights: Floats, place: _Place, b: int) -> float:
    """Return the change of the worth if b is freed."""
    p, found = len(place.members), place.response
    row = onward(weights, found, b)
    left = 1.0 - row[b] if abs(1.0 - row[b]) > LEAST_PIVOT else 1.0
    total = _moved_of(worths, place, b) - place.own[b]
    for i in range(p):
        if place.members[i] and i != b and row[i] != 0.0:
            for r in range(p):
                if (r == b or not place.members[r]) and found[r, b] != 0.0:
                    more = place.pulls[i, r] + worths.pulls[b, i, r]
                    total += more * found[r, b] * row[i] / left
    return total


@kernel
def climb(worths: Worths, weights: Floats, room: Room, start: Bools) -> Found:
    """Return where the steepest climb by single flips ends.

    weights : (p, p), the direct effects
    start : (p,), where it begins
    """
    place = _place_at(worths, weights, start)
    n, worth, cost = place.members.sum(), place.own.sum(), cost_of(room, place.members)
    for _ in range(2 * len(room.coins) + 2):
        now = worth / cost if cost > 0.0 else 0.0
        best, at, gain = now + LEAST_STEP * abs(now), -1, 0.0
        for b in room.coins:
            if place.members[b]:
                found, paid = _gain_of_freeing(worths, weights, place, b), -room.costs[b]
            elif n < room.at_once:
                found, paid = _gain_of_setting(worths, place, b), room.costs[b]
            else:
                continue
            if cost + paid > 0.0 and (worth + found) / (cost + paid) > best:
                best, at, gain = (worth + found) / (cost + paid), b, found
        if at < 0:
            break
        _move(worths, weights, place, at)
        n, worth, cost = place.members.sum(), worth + gain, cost_of(room, place.members)
    return Found(place.members, worth / cost if cost > 0.0 else 0.0)
