"""The cheapest path through places, each visited once: in which order to do what can wait.

The path is exact for a few places, by the program over subsets of Held and Karp (1962), and goes to
the nearest place beyond.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np

from causalfocus.arrays import Floats

MOST_EXACT: Final = 8
"""Places up to which all orders are weighed: 2^8 subsets."""


def cheapest_path(start: Floats, between: Floats, last: int | None = None) -> list[int]:
    """Return the places in the order of the cheapest path; of equally cheap ones the first by the
    numbers of the places, read from the end of the path.

    Parameters
    ----------
    start : (m,), what it costs to go to each place from where one is
    between : (m, m), what it costs to go from one place to another
    last : the place at which the path ends; None for any
    """
    m = len(start)
    if m == 0:
        return []
    if m > MOST_EXACT:
        return _nearest(start, between, last)
    everywhere = (1 << m) - 1
    best: dict[tuple[int, int], float] = {(1 << i, i): float(start[i]) for i in range(m)}
    came_from: dict[tuple[int, int], int] = {}
    for visited in range(1, everywhere + 1):
        for here in _members(visited, m):
            rest = visited & ~(1 << here)
            for before in _members(rest, m):
                cost = best[rest, before] + float(between[before, here])
                if cost < best.get((visited, here), np.inf):
                    best[visited, here], came_from[visited, here] = cost, before
    ends: Iterable[int] = range(m) if last is None else [last]
    here, visited = min(ends, key=lambda i: best[everywhere, i]), everywhere
    path = [here]
    while (visited, here) in came_from:
        visited, here = visited & ~(1 << here), came_from[visited, here]
        path.append(here)
    return path[::-1]


def _members(places: int, m: int) -> list[int]:
    return [i for i in range(m) if places >> i & 1]


def _nearest(start: Floats, between: Floats, last: int | None) -> list[int]:
    """The order of who always goes to the nearest place that is left."""
    left = [i for i in range(len(start)) if i != last]
    path: list[int] = []
    costs = start
    while left:
        here = min(left, key=lambda i: float(costs[i]))
        left.remove(here)
        path.append(here)
        costs = between[here]
    return path if last is None else [*path, last]
