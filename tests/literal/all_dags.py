"""A referee for the referee: minimise over a list of all DAGs, without any permutation.

The local fits here use the other quadratic-program solver (bounded least squares).
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product

from .local_fit import (
    Constraints,
    LocalFit,
    LocalFitter,
    Separation,
    assemble,
    local_fitter,
    subsets,
)
from .problem import Bounds, LiteralFit, Reference
from .quadratic import minimise_bvls
from .rows import Rows
from .scores import divergence_score, likelihood_score

Dag = tuple[frozenset[int], ...]


@cache
def enumerate_dags(p: int) -> tuple[Dag, ...]:
    """All DAGs on ``p`` nodes, each as the tuple of its parent sets."""
    families = [tuple(subsets([k for k in range(p) if k != j])) for j in range(p)]
    return tuple(dag for dag in product(*families) if _is_acyclic(dag))


def brute_force_mle(rows: Rows, bounds: Bounds) -> LiteralFit:
    """The best sum of local scores over all DAGs."""
    score = likelihood_score(rows, bounds)
    fit = local_fitter(rows, bounds, score, memoise=True, solve=minimise_bvls)
    best = _smallest(_fit_dag(fit, dag) for dag in enumerate_dags(rows.nodes))
    if best is None:
        raise ArithmeticError("no DAG has a finite score, not even the empty one")
    return assemble(*best)


def brute_force_alternative(
    rows: Rows, bounds: Bounds, reference: Reference, radius: float
) -> LiteralFit | None:
    """The best weighted divergence over all DAGs, the separated reference graph included.

    On the reference graph the rows that need not move are fitted too, not kept: that keeping them
    loses nothing is a claim of the paper, not an assumption made here.
    """
    score = divergence_score(rows, bounds, reference.variances)
    fit = local_fitter(rows, bounds, score, memoise=True, solve=minimise_bvls)
    others = (dag for dag in enumerate_dags(rows.nodes) if dag != reference.parents)
    different = _smallest(_fit_dag(fit, dag) for dag in others)
    same = _smallest(
        _fit_dag(fit, reference.parents, {j: (C,)}) for j, C in _separations(reference, radius)
    )
    if same is not None and (different is None or same[0] <= different[0]):
        return assemble(*same, "same_graph")
    return None if different is None else assemble(*different, "different_graph")


def _fit_dag(
    fit: LocalFitter, dag: Dag, constraints: dict[int, Constraints] | None = None
) -> tuple[float, list[LocalFit]] | None:
    """One local fit per family of a DAG, with their total; None if any is infeasible."""
    constraints = constraints or {}
    fits = [fit(j, S, constraints.get(j, ())) for j, S in enumerate(dag)]
    feasible = [local for local in fits if local is not None]
    if len(feasible) < len(fits):
        return None
    return sum(local.score for local in feasible), feasible


def _separations(reference: Reference, radius: float) -> Iterator[tuple[int, Separation]]:
    """Every way for one coefficient of the reference to move by the radius or more."""
    for j, S in enumerate(reference.parents):
        for k, d in product(sorted(S), (-1, 1)):
            yield j, Separation(k, d, float(reference.weights[j, k]), radius)


def _smallest(
    candidates: Iterable[tuple[float, list[LocalFit]] | None],
) -> tuple[float, list[LocalFit]] | None:
    """The first candidate of smallest value, if any is feasible."""
    feasible = (candidate for candidate in candidates if candidate is not None)
    return min(feasible, key=lambda candidate: candidate[0], default=None)


def _is_acyclic(dag: Dag) -> bool:
    """Whether the nodes can be removed one by one, each with all its parents gone before it."""
    remaining = set(range(len(dag)))
    while remaining:
        sources = {j for j in remaining if not dag[j] & remaining}
        if not sources:
            return False
        remaining -= sources
    return True
