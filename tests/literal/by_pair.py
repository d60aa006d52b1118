"""The best model and the closest alternative where sizes differ by pair: every DAG, every sign.

Nothing of the package is used: each row is a bounded least-squares problem for every choice of
signs, and graphs are taken from a list.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from .all_dags import enumerate_dags

Array = NDArray[np.float64]
Span = tuple[float, float]
Dag = tuple[frozenset[int], ...]


@dataclass(frozen=True)
class PairBounds:
    """Sizes of effects (p, p), row the effect and column the cause, and (p, 2) of noise."""

    smallest: Array
    largest: Array
    noise: Array

    def variance(self, j: int, residual: float, n: float) -> float:
        low, high = self.noise[j]
        return float(min(max(residual / n, low), high))


def best_row(
    gram: Array, j: int, parents: list[int], bounds: PairBounds, away: tuple[int, Span] | None
) -> float:
    """The least sum of squares of a row; infinity if no coefficients are allowed.

    away : a parent, and an open range that its coefficient must not be in
    """
    if not parents:
        return float(gram[j, j]) if away is None else math.inf
    factor = np.linalg.cholesky(gram[np.ix_([*parents, j], [*parents, j])]).T
    best = math.inf
    for signs in product((-1.0, 1.0), repeat=len(parents)):
        for sides in (1,) if away is None else (0, 1):
            spans = [
                (bounds.smallest[j, k], bounds.largest[j, k])
                if sign > 0
                else (-bounds.largest[j, k], -bounds.smallest[j, k])
                for k, sign in zip(parents, signs, strict=True)
            ]
            if away is not None:
                i = parents.index(away[0])
                low, high = spans[i]
                below, above = away[1]
                spans[i] = (max(low, above), high) if sides else (low, min(high, below))
            if any(low > high for low, high in spans):
                continue
            fixed = np.array([low == high for low, high in spans])
            lows, highs = np.array(spans).T
            highs = np.where(fixed, highs + 1e-13 * np.abs(highs), highs)
            found = lsq_linear(factor[:, :-1], factor[:, -1], (lows, highs), "bvls", tol=1e-14)
            best = min(best, 2.0 * float(found.cost))
    return best


def likeliest(
    grams: Array,
    counts: Array,
    bounds: PairBounds,
    agrees: Callable[[Dag], bool] = lambda _: True,
) -> tuple[float, Dag]:
    """The least score over all DAGs that agree (Eq. local_mle_score), and the graph."""

    def cost(j: int, parents: frozenset[int]) -> float:
        residual = best_row(grams[j], j, sorted(parents), bounds, None)
        v = bounds.variance(j, residual, counts[j])
        return float(0.5 * (counts[j] * math.log(v) + residual / v))

    found = (one for one in _totals(len(counts), cost) if agrees(one[1]))
    return min(found, key=lambda one: one[0])


def score_of(grams: Array, counts: Array, weights: Array, variances: Array) -> float:
    """The same of a model."""
    total = 0.0
    for j, n in enumerate(counts):
        b = -weights[j]
        b[j] = 1.0
        total += 0.5 * (n * math.log(variances[j]) + float(b @ grams[j] @ b) / variances[j])
    return total


def closest(
    grams: Array,
    counts: Array,
    bounds: PairBounds,
    reference: tuple[Array, Array],
    epsilon: Array,
) -> float:
    """The least weighted divergence from a reference over all other graphs, and over the same graph
    with a weight that is off by its epsilon or more.
    """
    weights, variances = reference
    own = tuple(frozenset(int(k) for k in np.flatnonzero(row)) for row in weights)

    def divergence(j: int, residual: float) -> float:
        if math.isinf(residual):
            return math.inf
        v = bounds.variance(j, residual, counts[j])
        return float(0.5 * (counts[j] * math.log(v / variances[j]) + residual / v - counts[j]))

    def cost(j: int, parents: frozenset[int]) -> float:
        if parents == own[j]:
            return 0.0
        return divergence(j, best_row(grams[j], j, sorted(parents), bounds, None))

    found = min(total for total, dag in _totals(len(counts), cost) if dag != own)
    for j, k in np.argwhere(weights != 0.0):
        span = weights[j, k] - epsilon[j, k], weights[j, k] + epsilon[j, k]
        residual = best_row(grams[j], int(j), sorted(own[j]), bounds, (int(k), span))
        found = min(found, divergence(int(j), residual))
    return found


def _totals(p: int, cost: Callable[[int, frozenset[int]], float]) -> Iterator[tuple[float, Dag]]:
    for dag in enumerate_dags(p):
        yield sum(cost(j, parents) for j, parents in enumerate(dag)), dag
