"""Directed graphs as the support of a weight matrix ``[effect, cause]``: order and cycles."""

from collections.abc import Sequence

import numpy as np

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.errors import InvalidInputError


def topological_order(weights: Floats, names: Sequence[str]) -> Ints:
    """Causes before effects, the earliest possible node first; an error shows a cycle if any."""
    has_edge = weights != 0
    remaining = list(range(len(names)))
    order: list[int] = []
    while remaining:
        free = next((j for j in remaining if not has_edge[j, remaining].any()), None)
        if free is None:
            raise InvalidInputError(
                f"The weights have a cycle: {_a_cycle(has_edge, remaining, names)}. "
                f"weights[effect, cause] must be acyclic; remove one of these edges."
            )
        order.append(free)
        remaining.remove(free)
    return np.array(order, dtype=np.int64)


def _a_cycle(has_edge: Bools, within: Sequence[int], names: Sequence[str]) -> str:
    """Walk from effect to cause among nodes that all have a cause until one comes again."""
    path = [within[0]]
    while True:
        cause = next(k for k in within if has_edge[path[-1], k])
        if cause in path:
            cycle = [*path[path.index(cause) :], cause]
            return " -> ".join(names[k] for k in reversed(cycle))
        path.append(cause)


def changes_in_words(weights: Floats, other: Floats, names: Sequence[str]) -> str:
    """How another model differs: edges added, removed and reversed; if none, the largest shift."""
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
        j, k = divmod(int(np.argmax(np.abs(other - weights))), len(names))
        said.append(f"{names[k]} -> {names[j]} at {other[j, k]:g} instead of {weights[j, k]:g}")
    return ", ".join(said)
