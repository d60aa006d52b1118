"""Algorithm ``finite_alternative_oracle`` and its two branches."""

from dataclasses import dataclass
from itertools import permutations
from math import inf

from .local_fit import LocalFit, LocalFitter, Separation, assemble, local_fitter, subsets
from .problem import Bounds, LiteralFit, Reference
from .rows import Rows
from .scores import divergence_score


def finite_alternative_oracle(
    rows: Rows, bounds: Bounds, reference: Reference, radius: float, *, memoise: bool = False
) -> LiteralFit | None:
    """Solve Eq. ``generic_alternative_problem``: the better of the two branches.

    Parameters
    ----------
    rows
        The weighted moments expected under the reference (`Rows.expected`).
    bounds
        The parameter class.
    reference
        The reference parameter.
    radius
        How far some coefficient has to move if the graph stays the same.
    memoise
        Solve equal local fits once instead of wherever the algorithm calls for them.

    Returns
    -------
    The nearest alternative, or None if there is no alternative at all.
    """
    same = same_graph_alternative(rows, bounds, reference, radius, memoise=memoise)
    different = different_graph_alternative(rows, bounds, reference, memoise=memoise)
    if same is None or different is None:
        return same or different
    return same if same.value <= different.value else different


def same_graph_alternative(
    rows: Rows, bounds: Bounds, reference: Reference, radius: float, *, memoise: bool = False
) -> LiteralFit | None:
    """Algorithm ``same_graph_alternative``: move one coefficient by at least the radius."""
    score = divergence_score(rows, bounds, reference.variances)
    fit = local_fitter(rows, bounds, score, memoise)
    best: LocalFit | None = None
    for j, S in enumerate(reference.parents):
        for k in sorted(S):
            for d in (-1, 1):
                C = Separation(k, d, float(reference.weights[j, k]), radius)
                local = fit(j, S, (C,))
                if local is not None and (best is None or local.score < best.score):
                    best = local
    return None if best is None else _with_row_replaced(reference, best)


def _with_row_replaced(reference: Reference, local: LocalFit) -> LiteralFit:
    """The reference with one structural equation exchanged; only that equation costs anything."""
    weights, variances = reference.weights.copy(), reference.variances.copy()
    intercepts = reference.intercepts.copy()
    weights[local.node] = local.row
    variances[local.node] = local.variance
    intercepts[local.node] = local.intercept
    parents = reference.parents
    return LiteralFit(local.score, parents, weights, variances, intercepts, "same_graph")


@dataclass(frozen=True)
class _Step:
    """A backtracking record: the equation chosen for one node and the state it came from."""

    local: LocalFit
    previous: int


def different_graph_alternative(
    rows: Rows, bounds: Bounds, reference: Reference, *, memoise: bool = False
) -> LiteralFit | None:
    """Algorithm ``different_graph_alternative``: some parent set differs from the reference.

    For each order, a dynamic program over its nodes with two states: ``0`` while all parent sets
    agree with the reference graph, ``1`` once one of them differs.
    """
    score = divergence_score(rows, bounds, reference.variances)
    fit = local_fitter(rows, bounds, score, memoise)
    best_value = inf
    best: LiteralFit | None = None
    for order in permutations(range(rows.nodes)):
        F = (0.0, inf)
        steps: list[dict[int, _Step]] = []
        for m, j in enumerate(order):
            F, records = _advance(fit, F, j, order[:m], reference.parents[j])
            steps.append(records)
        if F[1] < best_value:
            best_value = F[1]
            best = assemble(best_value, _backtrack(steps), "different_graph")
    return best


def _advance(
    fit: LocalFitter,
    F: tuple[float, float],
    j: int,
    predecessors: tuple[int, ...],
    reference_parents: frozenset[int],
) -> tuple[tuple[float, float], dict[int, _Step]]:
    """One stage of the dynamic program: ``F_{m-1}`` to ``F_m``, with the records to go back."""
    following = [inf, inf]
    records: dict[int, _Step] = {}
    for q in (0, 1):
        if F[q] == inf:
            continue
        for S in subsets(predecessors):
            local = fit(j, S, ())
            if local is None:
                continue
            reached = max(q, int(reference_parents != S))
            value = F[q] + local.score
            if value < following[reached]:
                following[reached] = value
                records[reached] = _Step(local, q)
    return (following[0], following[1]), records


def _backtrack(steps: list[dict[int, _Step]]) -> list[LocalFit]:
    """The equations along the way to the final state 1."""
    state = 1
    chosen: list[LocalFit] = []
    for records in reversed(steps):
        step = records[state]
        chosen.append(step.local)
        state = step.previous
    return chosen
