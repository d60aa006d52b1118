"""What sets of variables made on demand are worth: the information of the best design, and the time
to find it, beside all pairs and beside all sets listed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from causalfocus.benchmark.clock import seconds_once
from causalfocus.benchmark.problems import DENSITY, EPSILON
from causalfocus.planning.complexity import Complexity, complexity
from causalfocus.system.action_set import ActionSet
from causalfocus.system.choices import MOST_CHOICES
from causalfocus.system.columns import first_columns, n_sets
from causalfocus.system.drawn import random_sem
from causalfocus.system.sem import LinearSEM
from causalfocus.system.space import PAPER_CLASS


@dataclass(frozen=True, kw_only=True)
class Solved:
    """One solution of the game.

    Attributes
    ----------
    value : of C_epsilon, from below
    gap : relative distance of the upper bound
    is_exhaustive : whether that holds over all sets
    n_choices : sets of variables that were compared
    seconds : it took
    """

    value: float
    gap: float
    is_exhaustive: bool
    n_choices: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class ColumnRun:
    """One system.

    Attributes
    ----------
    p, seed : of the system
    n_sets : of variables, any number at once
    n_first : columns to begin with
    pairs : up to two at once, all listed
    made : any number at once, on demand
    listed : the same, all listed; None if they are too many
    """

    p: int
    seed: int
    n_sets: int
    n_first: int
    pairs: Solved
    made: Solved
    listed: Solved | None


def column_runs(p: int, seeds: range) -> Iterator[ColumnRun]:
    """One row per system as it is finished; one after another, so that times can be compared."""
    _compare(3, 0)  # compiles
    for seed in seeds:
        yield _compare(p, seed)


def _compare(p: int, seed: int) -> ColumnRun:
    truth = random_sem(p, density=DENSITY, seed=np.random.SeedSequence([p, seed, 19]))
    ranges = dict.fromkeys(truth.names, (-2.0, 2.0))
    two, many = ActionSet(ranges, at_once=2), ActionSet(ranges, at_once=None)
    n = n_sets(many)
    return ColumnRun(
        p=p,
        seed=seed,
        n_sets=n,
        n_first=len(first_columns(many)),
        pairs=_solve(truth, two, MOST_CHOICES),
        made=_solve(truth, many, 0),
        listed=_solve(truth, many, MOST_CHOICES) if n <= MOST_CHOICES else None,
    )


def _solve(truth: LinearSEM, actions: ActionSet, most_listed: int) -> Solved:
    found: list[Complexity] = []
    seconds = seconds_once(
        lambda: found.append(
            complexity(
                truth,
                actions,
                PAPER_CLASS,
                epsilon=EPSILON,
                rule="class",
                most_listed=most_listed,
            )
        )
    )
    (game,) = found
    return Solved(
        value=game.value,
        gap=game.gap,
        is_exhaustive=game.is_exhaustive,
        n_choices=len(game.choices),
        seconds=seconds,
    )
