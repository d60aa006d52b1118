"""What is known beforehand, drawn for the tests, and read from the class by hand."""

from typing import Any

import numpy as np

import causalfocus as cf
from literal.all_dags import Dag, enumerate_dags


def drawn_knowledge(truth: cf.LinearSEM, rng: np.random.Generator) -> dict[str, Any]:
    """Something that is true of a system: some of its effects are required, some others forbidden,
    and now and then there are two tiers, or a sink is known to be an outcome.
    """
    names, has_edge = truth.names, truth.weights != 0.0
    pairs = [(k, j) for j in range(truth.p) for k in range(truth.p) if j != k]
    known: dict[str, Any] = {
        "required": [(names[k], names[j]) for k, j in pairs if has_edge[j, k] and _toss(rng, 0.4)],
        "forbidden": [
            (names[k], names[j]) for k, j in pairs if not has_edge[j, k] and _toss(rng, 0.4)
        ],
    }
    sinks = [names[k] for k in range(truth.p) if not has_edge[:, k].any()]
    if sinks and _toss(rng, 0.3):
        known["outcomes"] = sinks[:1]
    if _toss(rng, 0.3):
        cut = int(rng.integers(1, truth.p))
        order = [names[j] for j in truth.order]
        known["tiers"] = [order[:cut], order[cut:]]
    return known


def _toss(rng: np.random.Generator, chance: float) -> bool:
    return bool(rng.random() < chance)


def agrees(dag: Dag, space: cf.ModelClass, names: tuple[str, ...]) -> bool:
    """Whether a graph is one of those that the class leaves, fact by fact."""
    edges = {(names[k], names[j]) for j, parents in enumerate(dag) for k in parents}
    tier = {name: i for i, group in enumerate(space.tiers) for name in group}
    return (
        set(space.required) <= edges
        and not edges & set(space.forbidden)
        and not any(cause in space.outcomes for cause, _ in edges)
        and not any(
            cause in tier and effect in tier and tier[cause] > tier[effect]
            for cause, effect in edges
        )
    )


def dags_of(space: cf.ModelClass, names: tuple[str, ...]) -> list[Dag]:
    """All graphs that the class leaves."""
    return [dag for dag in enumerate_dags(len(names)) if agrees(dag, space, names)]
