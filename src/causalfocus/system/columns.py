"""Sets of variables that can be set at once, as columns of the tables that a design is made from.

Where there are too many to list, a design starts from a few of them and more are made on demand
(`allocation.on_demand`). The first are OBSERVE, every variable alone, and a small cover: for every
binary digit the variables whose number has it and those whose number has it not. Two numbers differ
in a digit, so every pair of a variable that is set and one that is free occurs in few rounds.
"""

import math
from itertools import combinations

import numpy as np

from causalfocus.arrays import Bools
from causalfocus.system.action_set import ActionSet

Columns = tuple[tuple[str, ...], ...]
"""Which nodes each of some sets holds, in the order of the names."""


def settable(actions: ActionSet) -> list[str]:
    """The nodes that can be set, in order."""
    named = zip(actions.names, actions.ranges, strict=True)
    return [name for name, span in named if span is not None]


def n_sets(actions: ActionSet) -> int:
    """How many sets of nodes can be set at once, without listing them."""
    n = len(settable(actions))
    return sum(math.comb(n, size) for size in range(actions.at_once + 1))


def every_column(actions: ActionSet) -> Columns:
    """All of them, the smallest first."""
    nodes, sizes = settable(actions), range(actions.at_once + 1)
    return tuple(chosen for size in sizes for chosen in combinations(nodes, size))


def first_columns(actions: ActionSet) -> Columns:
    """OBSERVE, every node alone, and the cover; in a cover no set is larger than is allowed."""
    nodes, most = settable(actions), actions.at_once
    found = [(), *((name,) for name in nodes)]
    for digit in range((len(nodes) - 1).bit_length() if nodes else 0):
        for value in (1, 0):
            group = [name for i, name in enumerate(nodes) if (i >> digit) & 1 == value]
            found += [tuple(group[i : i + most]) for i in range(0, len(group), most)]
    return tuple(dict.fromkeys(found))


def rows_of(columns: Columns, names: tuple[str, ...]) -> Bools:
    """(k, p), which nodes each of some sets holds."""
    position = {name: j for j, name in enumerate(names)}
    found = np.zeros((len(columns), len(names)), dtype=np.bool_)
    for i, column in enumerate(columns):
        found[i, [position[name] for name in column]] = True
    return found


def columns_of(rows: Bools, names: tuple[str, ...]) -> Columns:
    """The same back."""
    return tuple(tuple(names[j] for j in np.flatnonzero(row)) for row in rows)
