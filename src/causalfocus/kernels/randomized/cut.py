"""Which variables to set in a round, where a round is worth a sum over pairs: a directed cut.

A round that sets the variables K gives every pair (i in K, j not in K) one more toss of coin i while
row j is free. With G_ji, what such a toss is worth, the round is worth the cut

    cut(K) = sum of G_ji over i in K, j not in K,

and the set sought has the largest (gain of every round + share * cut(K)) / cost(K). Finding it is
hard in general. Up to `MOST_LISTED` coins all sets are tried, each one flip from the one before;
beyond, a climb by single flips and exchanges from several starts finds a set that no such step
improves. Nothing is drawn by chance, and ties go to the first.
"""

from typing import NamedTuple

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.kernels.compile import kernel

MOST_LISTED = 11
"""Coins up to which all sets are tried."""

LEAST_STEP = 1e-10
"""Of the worth, relatively: a step that gives less is rounding."""


class Room(NamedTuple):
    """Which sets there are, and what a round of each costs and gives beside its cut.

    coins : (n,), the variables that may be set
    at_once : how many at most
    base, costs : a round of K costs base + the sum of costs (p,) over K
    share : of the cut that a round gives
    """

    coins: Ints
    at_once: int
    base: float
    costs: Floats
    share: float


class Found(NamedTuple):
    """A set (p,), and what a round of it is worth per unit of cost."""

    members: Bools
    worth: float


class _Ledger(NamedTuple):
    """Of every variable, what it gives when set, to those that are free, and what it gets when
    free, from those that are set.
    """

    gives: Floats
    gets: Floats


@kernel
def cut_of(values: Floats, members: Bools) -> float:
    """Return the cut of a set by definition; values (p, p), the free one first."""
    p, total = len(members), 0.0
    for j in range(p):
        if not members[j]:
            for i in range(p):
                if members[i]:
                    total += values[j, i]
    return total


@kernel
def cost_of(room: Room, members: Bools) -> float:
    """Return what a round costs that sets these variables."""
    total = room.base
    for i in range(len(members)):
        if members[i]:
            total += room.costs[i]
    return total


@kernel
def _worth(room: Room, extra: float, cut: float, cost: float) -> float:
    return (extra + room.share * cut) / cost if cost > 0.0 else 0.0


@kernel
def _ledger_of(values: Floats, members: Bools) -> _Ledger:
    p = len(members)
    gives, gets = np.zeros(p), np.zeros(p)
    for r in range(p):
        for s in range(p):
            if s != r and members[s]:
                gets[r] += values[r, s]
            elif s != r:
                gives[r] += values[s, r]
    return _Ledger(gives, gets)


@kernel
def _gain(ledger: _Ledger, members: Bools, i: int) -> float:
    """Return the change of the cut if one variable is set or freed."""
    change = ledger.gives[i] - ledger.gets[i]
    return -change if members[i] else change


@kernel
def _flip(values: Floats, ledger: _Ledger, members: Bools, i: int) -> None:
    """Set a variable, or free it, in place."""
    sign = -1.0 if members[i] else 1.0
    members[i] = not members[i]
    for r in range(len(members)):
        if r != i:
            ledger.gives[r] -= sign * values[i, r]
            ledger.gets[r] += sign * values[r, i]


@kernel
def _climb(values: Floats, room: Room, extra: float, start: Bools) -> Found:
    """Return where the steepest climb by single flips, and then by exchanges, ends."""
    members = start.copy()
    ledger = _ledger_of(values, members)
    n, cut, cost = members.sum(), cut_of(values, members), cost_of(room, members)
    for _ in range(4 * len(room.coins) + 4):
        now = _worth(room, extra, cut, cost)
        best, leaves, enters = now + LEAST_STEP * abs(now), -1, -1
        for i in room.coins:
            if members[i] or n < room.at_once:
                added = -room.costs[i] if members[i] else room.costs[i]
                found = _worth(room, extra, cut + _gain(ledger, members, i), cost + added)
                if found > best:
                    best, enters = found, i
        if enters < 0:
            for a in room.coins:
                for b in room.coins:
                    if members[a] and not members[b]:
                        gain = _gain(ledger, members, a) + _gain(ledger, members, b)
                        gain += values[b, a] + values[a, b]
                        added = room.costs[b] - room.costs[a]
                        found = _worth(room, extra, cut + gain, cost + added)
                        if found > best:
                            best, leaves, enters = found, a, b
        if enters < 0:
            break
        for i in (leaves, enters):
            if i >= 0:
                cut += _gain(ledger, members, i)
                _flip(values, ledger, members, i)
        n, cost = members.sum(), cost_of(room, members)
    return Found(members, _worth(room, extra, cut, cost))


@kernel
def _by_balance(values: Floats, room: Room) -> Bools:
    """Return the set of those that would give more than they would get, if all others did both."""
    p = len(values)
    found, balance = np.zeros(p, dtype=np.bool_), np.zeros(p)
    for i in room.coins:
        for j in range(p):
            if j != i:
                balance[i] += values[j, i] - values[i, j]
    for _ in range(room.at_once):
        best = -1
        for i in room.coins:
            if not found[i] and balance[i] > 0.0 and (best < 0 or balance[i] > balance[best]):
                best = i
        if best < 0:
            break
        found[best] = True
    return found


@kernel
def _best_of_all(values: Floats, room: Room, extra: float) -> Found:
    """Return the best of all sets; they are taken in the order of a Gray code."""
    members = np.zeros(len(values), dtype=np.bool_)
    ledger = _ledger_of(values, members)
    best = Found(members.copy(), _worth(room, extra, 0.0, room.base))
    n, cut = 0, 0.0
    for number in range(1, 2 ** len(room.coins)):
        at = 0
        while (number >> at) & 1 == 0:
            at += 1
        i = room.coins[at]
        cut += _gain(ledger, members, i)
        _flip(values, ledger, members, i)
        n += 1 if members[i] else -1
        if n <= room.at_once:
            found = _worth(room, extra, cut, cost_of(room, members))
            if found > best.worth + LEAST_STEP * abs(best.worth):
                best = Found(members.copy(), found)
    return best


@kernel
def is_listed(room: Room) -> bool:
    """Return whether all sets are tried, so that what is found is the best."""
    return room.at_once <= 1 or len(room.coins) <= MOST_LISTED


@kernel
def best_single(values: Floats, room: Room, extra: float) -> Found:
    """Return the best set of one variable."""
    members, best, at = np.zeros(len(values), dtype=np.bool_), 0.0, -1
    for i in room.coins:
        found = _worth(room, extra, values[:, i].sum() - values[i, i], room.base + room.costs[i])
        if at < 0 or found > best:
            best, at = found, i
    if at >= 0:
        members[at] = True
    return Found(members, best)


@kernel
def best_set(values: Floats, room: Room, extra: float, starts: Bools) -> Found:
    """Return the set that is worth most: of all, if they can be listed, or where climbs end.

    values : (p, p), G, the free one first; not negative
    extra : what every round gives beside its cut
    starts : (m, p), sets to climb from, beside the best single one and one of its own
    """
    if room.at_once <= 1:
        return best_single(values, room, extra)
    if is_listed(room):
        return _best_of_all(values, room, extra)
    best = _climb(values, room, extra, best_single(values, room, extra).members)
    found = _climb(values, room, extra, _by_balance(values, room))
    if found.worth > best.worth:
        best = found
    for m in range(len(starts)):
        found = _climb(values, room, extra, starts[m])
        if found.worth > best.worth:
            best = found
    return best
