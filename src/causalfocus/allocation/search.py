"""The set of variables that is worth most, where there are too many sets to try them all.

A local search: from several starts, one variable is set or freed, or two are exchanged, whichever
is worth most, until nothing helps. Nothing is drawn by chance, and ties go to the first, so the
same question has the same answer. What it finds need not be the best of all.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from causalfocus.arrays import Bools, Floats

Worth = Callable[[Bools], Floats]
"""From sets of variables, (n, p), to what each is worth, (n,)."""

LEAST_STEP = 1e-9
"""Of the worth, relatively: a step that gives less is rounding, and could lead round in circles."""


@dataclass(frozen=True)
class Room:
    """Within which sets are sought.

    Attributes
    ----------
    may_set : (p,), which variables can be set
    at_once : how many at most
    """

    may_set: Bools
    at_once: int

    def neighbours(self, row: Bools) -> Bools:
        """(n, p), the sets that differ in one variable, or in which two are exchanged."""
        p = len(row)
        flips = row ^ np.eye(p, dtype=np.bool_)[self.may_set]
        leave, enter = np.flatnonzero(row), np.flatnonzero(~row & self.may_set)
        exchanges = np.repeat(row[None, :], len(leave) * len(enter), axis=0)
        at = np.arange(len(exchanges))
        exchanges[at, np.repeat(leave, len(enter))] = False
        exchanges[at, np.tile(enter, len(leave))] = True
        found = np.vstack([flips, exchanges])
        fitting: Bools = found[found.sum(axis=1) <= self.at_once]
        return fitting

    def greedy(self, worth: Worth) -> Bools:
        """(n, p), from nothing on, the variable that is worth most besides those before it."""
        row = np.zeros(len(self.may_set), dtype=np.bool_)
        path = [row]
        for _ in range(self.at_once):
            more = row | np.eye(len(row), dtype=np.bool_)[self.may_set & ~row]
            if not len(more):
                break
            row = more[int(worth(more).argmax())]
            path.append(row)
        return np.array(path)


def climb(worth: Worth, starts: Bools, room: Room) -> tuple[Bools, Floats]:
    """The sets that several climbs end at, (n, p), without repetition, and what each is worth.

    starts : (n, p), where they begin
    """
    rows, values = starts.copy(), worth(starts)
    is_moving = np.ones(len(rows), dtype=np.bool_)
    while is_moving.any():
        movers = np.flatnonzero(is_moving)
        around = [room.neighbours(rows[i]) for i in movers]
        found = np.split(worth(np.vstack(around)), np.cumsum([len(n) for n in around])[:-1])
        for i, near, worths in zip(movers, around, found, strict=True):
            best = int(worths.argmax()) if len(worths) else -1
            is_moving[i] = best >= 0 and worths[best] - values[i] > LEAST_STEP * abs(values[i])
            if is_moving[i]:
                rows[i], values[i] = near[best], worths[best]
    _, first = np.unique(rows, axis=0, return_index=True)
    kept = np.sort(first)
    return rows[kept], values[kept]


def best_sets(worth: Worth, present: Bools, room: Room, n_present: int = 3) -> tuple[Bools, Floats]:
    """Sets that are worth much, (n, p), and how much, the best first: climbs from the best of those
    that are present, from the empty set and from the best that greed finds.

    present : (k, p), sets that are known
    n_present : how many of them to start from
    """
    path = room.greedy(worth)
    known = present[np.argsort(-worth(present), kind="stable")[:n_present]]
    starts = np.vstack([known, path[:1], path[None, int(worth(path).argmax())]])
    rows, values = climb(worth, starts, room)
    order = np.argsort(-values, kind="stable")
    return rows[order], values[order]
