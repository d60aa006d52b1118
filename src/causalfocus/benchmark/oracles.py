"""Time of the exact oracles: per call, per family, where it goes, and how it grows."""

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from causalfocus.benchmark.clock import seconds_per_call
from causalfocus.benchmark.problems import EPSILON, Problem, problem
from causalfocus.kernels.exact import oracles as kernels
from causalfocus.kernels.records import Bounds, Families, Row
from causalfocus.kernels.search import families, orders
from causalfocus.oracles import best_alternative, joint_mle
from causalfocus.system.space import PAPER_CLASS


@dataclass(frozen=True, kw_only=True)
class OracleTimes:
    """Medians over the problems of one size; times in seconds.

    The three parts of an MLE: sweeps (unconstrained fits of all families), searches (branch and
    bound where the class forbids the unconstrained fit) and the program over sets of nodes.
    """

    p: int
    n_problems: int
    mle: float
    alternative: float
    sweeps: float
    searches: float
    order: float
    share_searched: float

    @property
    def n_families(self) -> int:
        return self.p * (1 << (self.p - 1))


def oracle_times(sizes: range, n_problems: int) -> Iterator[OracleTimes]:
    """One row per number of nodes, as soon as it is measured."""
    for p in sizes:
        rows = [_times(problem(p, seed)) for seed in range(n_problems)]
        mle, alternative, sweeps, searches, order, share = map(
            statistics.median, zip(*rows, strict=True)
        )
        yield OracleTimes(
            p=p,
            n_problems=n_problems,
            mle=mle,
            alternative=alternative,
            sweeps=sweeps,
            searches=searches,
            order=order,
            share_searched=share,
        )


def growth_per_node(times: list[OracleTimes], first: int, last: int) -> tuple[float, float] | None:
    """Geometric mean growth of (mle, alternative) per added node between two sizes."""
    by_size = {row.p: row for row in times}
    if first not in by_size or last not in by_size:
        return None
    a, b, steps = by_size[first], by_size[last], last - first
    return (b.mle / a.mle) ** (1 / steps), (b.alternative / a.alternative) ** (1 / steps)


def _times(case: Problem) -> tuple[float, float, float, float, float, float]:
    blocks = 9 if case.p < 10 else 3
    mle = seconds_per_call(lambda: joint_mle(case.moments, PAPER_CLASS), blocks=blocks)
    alternative = seconds_per_call(
        lambda: best_alternative(case.estimate, case.weights, PAPER_CLASS, epsilon=EPSILON),
        blocks=blocks,
    )
    rows = case.moments.rows(intercept=False)
    candidates, starts = kernels.all_others(case.p)
    table = np.empty((case.p, 2 ** (case.p - 1)))

    def fill(bounds: Bounds) -> int:
        return sum(
            families.residual_table(
                Row(rows.grams[j], rows.lows[j], j),
                candidates[starts[j] : starts[j + 1]],
                bounds,
                Families(0, -1, -1),
                math.inf,
                table[j],
            )
            for j in range(case.p)
        )

    everything = Bounds(0.0, math.inf, 0.0, math.inf)
    bounds = Bounds(PAPER_CLASS.least_effect, PAPER_CLASS.effect_limit, 0.0, math.inf)
    sweeps = seconds_per_call(lambda: fill(everything), blocks=blocks)
    with_searches = seconds_per_call(lambda: fill(bounds), blocks=blocks)
    searched = fill(bounds) / table.size
    masks = orders.local_masks(case.p, candidates, starts)
    offsets = np.arange(case.p + 1) * 2 ** (case.p - 1)
    order = seconds_per_call(
        lambda: orders.best_order(case.p, table.ravel(), offsets, masks), blocks=blocks
    )
    return mle, alternative, sweeps, max(with_searches - sweeps, 0.0), order, searched
