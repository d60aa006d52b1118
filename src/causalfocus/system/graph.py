"""Directed graphs as the support of a weight matrix ``[effect, cause]``: order and loops."""

from collections.abc import Sequence

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.errors import InvalidInputError


def topological_order(weights: Floats, names: Sequence[str]) -> Ints:
    """Causes before effects, the earliest possible node first; an error shows a cycle if any."""
    has_edge = weights != 0
    order, rest = _take_causes_first(has_edge)
    if rest:
        raise InvalidInputError(
            f"The weights have a cycle: {_a_cycle(has_edge, rest, names)}. "
            f"weights[effect, cause] must be acyclic; remove one of these edges, or say that there "
            f"is feedback with loops=True."
        )
    return np.array(order, dtype=np.int64)


def require_no_self_loops(weights: Floats, names: Sequence[str]) -> None:
    """Raise if a node acts on itself, which is to say that its equation is not solved for it."""
    for name, own in zip(names, np.diag(weights), strict=True):
        if own != 0:
            raise InvalidInputError(
                f"The weights have the cycle: {name} -> {name}, {own:g}. A node must not act on "
                f"itself: solve its equation for it, that is, divide its other weights and its "
                f"intercept by 1 - {own:g}, and its noise variance by the square of that."
            )


def loop_in_words(weights: Floats, names: Sequence[str]) -> str:
    """One of the loops, from a node back to itself; there must be one."""
    has_edge = weights != 0
    return _a_cycle(has_edge, _take_causes_first(has_edge)[1], names)


def loops_of(has_edge: Bools) -> list[Ints]:
    """The sets of two nodes or more of which each acts on all others of its set, in some steps.

    has_edge : (p, p), [effect, cause], without self-loops
    """
    reach = reach_of(has_edge)
    is_mutual = reach & reach.T
    firsts = dict.fromkeys(int(np.argmax(row)) for row in is_mutual if row.any())
    return [np.flatnonzero(is_mutual[first]) for first in firsts]


def reach_of(has_edge: Bools) -> Bools:
    """Whether a cause acts on an effect in one step or more; (p, p), [effect, cause]."""
    reach, steps = has_edge, 1
    while steps < len(has_edge):
        further = reach.astype(np.float64)  # products of floats are those of a fast library
        reach, steps = reach | (further @ further > 0.5), 2 * steps
    return reach


def _take_causes_first(has_edge: Bools) -> tuple[list[int], list[int]]:
    """Nodes in order as long as one has no cause among the rest, and the rest."""
    rest = list(range(len(has_edge)))
    order: list[int] = []
    while rest:
        free = next((j for j in rest if not has_edge[j, rest].any()), None)
        if free is None:
            break
        order.append(free)
        rest.remove(free)
    return order, rest


def _a_cycle(has_edge: Bools, within: Sequence[int], names: Sequence[str]) -> str:
    """Walk from effect to cause among nodes that all have a cause until one comes again."""
    path = [within[0]]
    while True:
        cause = next(k for k in within if has_edge[path[-1], k])
        if cause in path:
            cycle = [*path[path.index(cause) :], cause]
            return " -> ".join(names[k] for k in reversed(cycle))
        path.append(cause)


def changes_in_words(
    weights: Floats, other: Floats, names: Sequence[str], sizes: Floats | float = 1.0
) -> str:
    """How another model differs: edges added, removed and reversed; if none, the largest shift.

    sizes : (p, p), in which shifts are measured to be compared
    """
    here, there = weights != 0, other != 0
    said = []
    for j, k in np.argwhere(here != there):
        if here[j, k] and there[k, j] and not here[k, j]:
            said.append(f"{names[k]} -> {names[j]} reversed")
        elif here[j, k]:
            said.append(f"without {names[k]} -> {names[j]}")
        elif not (here[k, j] and not there[k, j]):
            said.append(f"with {names[k]} -> {names[j]}")
    if not said:
        j, k = divmod(int(np.argmax(np.abs(other - weights) / sizes)), len(names))
        said.append(f"{names[k]} -> {names[j]} at {other[j, k]:g} instead of {weights[j, k]:g}")
    return ", ".join(said)
