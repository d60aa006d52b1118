"""The widths of intervals by coins, as they are written down: every set solved by itself."""

from itertools import combinations

import numpy as np

from causalfocus.allocation.coin_task import CoinTask
from causalfocus.arrays import Bools, Floats


def every_set(coins: list[int], at_once: int, p: int) -> Bools:
    """All sets of up to so many coins, but for the empty one and that of all variables."""
    rows = []
    for size in range(1, min(at_once, len(coins), p - 1) + 1):
        for chosen in combinations(coins, size):
            row = np.zeros(p, dtype=np.bool_)
            row[list(chosen)] = True
            rows.append(row)
    return np.array(rows)


def responses(weights: Floats, members: Bools) -> Floats:
    """In column l what one unit of l moves; 0 for those that are free."""
    struck = np.where(members[:, None], 0.0, weights)
    return np.asarray(np.linalg.inv(np.eye(len(weights)) - struck) * members, dtype=np.float64)


def squares(task: CoinTask, sets: Bools, rounds: Floats) -> Floats:
    """(p, p), squared half widths after rounds of sets; infinite where they are unknown."""
    p, moved = task.p, np.array([responses(task.weights, row) for row in sets])
    found = np.zeros((p, p))
    for j in range(p):
        coins = [i for i in task.coins if task.regressors[j, i]]
        free = rounds * ~sets[:, j]
        tossed = free @ sets[:, coins]
        moves = np.einsum("m,mri->ir", free, moved)[np.ix_(coins, coins)]
        w = np.linalg.inv(moves * task.half_ranges[coins][:, None])
        found[j] = np.where(task.regressors[j], np.inf, 0.0)
        found[j, coins] = 2 * task.nats * task.noise[j] * (w**2 @ tossed)
    return found


def squares_by_all(task: CoinTask, sets: Bools, rounds: Floats) -> tuple[Floats, list[Floats]]:
    """(p, p), the same where the coins are weighed anew in every set, as well as can be, and for
    every row the inverse of its information: convex in the rounds, and never above.
    """
    p = task.p
    found = np.zeros((p, p))
    inverses: list[Floats] = []
    for j in range(p):
        others = np.arange(p) != j
        information = np.zeros((p - 1, p - 1))
        for row, n in zip(sets, rounds, strict=True):
            if not row[j]:
                moved = (responses(task.weights, row) * task.half_ranges)[others]
                information += n * moved @ moved.T
        inverses.append(np.asarray(np.linalg.inv(information), dtype=np.float64))
        found[j, others] = 2 * task.nats * task.noise[j] * np.diag(inverses[j])
    return found, inverses
