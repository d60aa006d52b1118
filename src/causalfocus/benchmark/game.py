"""Time and cutting planes of the information complexity."""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from causalfocus.benchmark.clock import seconds_per_call
from causalfocus.benchmark.problems import EPSILON, problem
from causalfocus.planning.complexity import complexity
from causalfocus.system.action_set import ActionSet
from causalfocus.system.space import PAPER_CLASS


@dataclass(frozen=True)
class GameTimes:
    """Medians over the problems of one size, and the largest gap."""

    p: int
    n_problems: int
    seconds: float
    n_planes: float
    gap: float


def game_times(sizes: range, n_problems: int) -> Iterator[GameTimes]:
    """One row per number of nodes, as soon as it is measured."""
    for p in sizes:
        rows = [_times(p, seed) for seed in range(n_problems)]
        seconds, planes, gaps = zip(*rows, strict=True)
        yield GameTimes(
            p, n_problems, statistics.median(seconds), statistics.median(planes), max(gaps)
        )


def _times(p: int, seed: int) -> tuple[float, int, float]:
    model = problem(p, seed).estimate
    actions = ActionSet(dict.fromkeys(model.names, (-2.0, 2.0)))
    found = complexity(model, actions, PAPER_CLASS, epsilon=EPSILON, rule="class", ends="game")
    seconds = seconds_per_call(
        lambda: complexity(model, actions, PAPER_CLASS, epsilon=EPSILON, rule="class", ends="game"),
        blocks=3,
        warm=False,
    )
    return seconds, found.n_planes, found.gap
