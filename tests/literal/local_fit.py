"""``LocalFit(j, S, C)``: the best structural equation of one node on one parent set."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations, product

import numpy as np

from .problem import Array, Bounds, LiteralFit
from .quadratic import Quadratic, minimise
from .rows import Rows
from .scores import Score

Minimiser = Callable[[Quadratic, Array, Array], Array | None]


@dataclass(frozen=True)
class Separation:
    """The linear constraint ``direction * (b_parent - centre) >= radius`` of ``C_{j,k,d}``."""

    parent: int
    direction: int
    centre: float
    radius: float


Constraints = tuple[Separation, ...]


@dataclass(frozen=True, eq=False)
class LocalFit:
    """A structural equation for ``node``: its full row of coefficients, variance and score."""

    node: int
    parents: frozenset[int]
    row: Array
    intercept: float
    variance: float
    score: float


LocalFitter = Callable[[int, frozenset[int], Constraints], LocalFit | None]


def local_fit(
    rows: Rows,
    bounds: Bounds,
    score: Score,
    j: int,
    S: frozenset[int],
    C: Constraints = (),
    solve: Minimiser = minimise,
) -> LocalFit | None:
    """Enumerate the sign vectors, one quadratic program each, and keep the best score.

    Returns
    -------
    The first fit of smallest score, or None when no sign vector is feasible.
    """
    parents = sorted(S)
    residual = rows.residual(j, parents)
    best: LocalFit | None = None
    for signs in product((-1, 1), repeat=len(parents)):
        lower, upper = _box(rows, bounds, parents, signs, C)
        b = solve(residual, lower, upper)
        if b is None:
            continue
        variance, value = score(j, residual(b))
        if best is None or value < best.score:
            best = _record(rows, j, parents, b, variance, value)
    return best


def local_fitter(
    rows: Rows, bounds: Bounds, score: Score, memoise: bool, solve: Minimiser = minimise
) -> LocalFitter:
    """``LocalFit`` as a function of ``(j, S, C)`` alone, remembering its results if asked to."""

    def fit(j: int, S: frozenset[int], C: Constraints) -> LocalFit | None:
        return local_fit(rows, bounds, score, j, S, C, solve)

    return cache(fit) if memoise else fit


def subsets(nodes: Sequence[int]) -> Iterator[frozenset[int]]:
    """All subsets, the empty one first and the smaller before the larger."""
    sizes = range(len(nodes) + 1)
    return map(frozenset, chain.from_iterable(combinations(nodes, size) for size in sizes))


def assemble(value: float, fits: Iterable[LocalFit], branch: str | None = None) -> LiteralFit:
    """Put one local fit per node together into a parameter."""
    ordered = sorted(fits, key=lambda fit: fit.node)
    return LiteralFit(
        value=value,
        parents=tuple(fit.parents for fit in ordered),
        weights=np.array([fit.row for fit in ordered]),
        variances=np.array([fit.variance for fit in ordered]),
        intercepts=np.array([fit.intercept for fit in ordered]),
        branch=branch,
    )


def _box(
    rows: Rows, bounds: Bounds, parents: list[int], signs: tuple[int, ...], C: Constraints
) -> tuple[Array, Array]:
    """The interval of each coefficient: ``beta_min <= nu_k b_k <= A_max`` and the constraints."""
    lower = [bounds.min_effect if sign > 0 else -bounds.max_effect for sign in signs]
    upper = [bounds.max_effect if sign > 0 else -bounds.min_effect for sign in signs]
    for constraint in C:
        i = parents.index(constraint.parent)
        if constraint.direction > 0:
            lower[i] = max(lower[i], constraint.centre + constraint.radius)
        else:
            upper[i] = min(upper[i], constraint.centre - constraint.radius)
    if rows.intercept:
        lower.append(-np.inf)
        upper.append(np.inf)
    return np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)


def _record(
    rows: Rows, j: int, parents: list[int], b: Array, variance: float, value: float
) -> LocalFit:
    row = np.zeros(rows.nodes)
    row[parents] = b[: len(parents)]
    intercept = float(b[-1]) if rows.intercept else 0.0
    return LocalFit(j, frozenset(parents), row, intercept, variance, value)
