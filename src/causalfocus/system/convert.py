"""Models to and from networkx, pandas and JSON.

This package writes ``weights[effect, cause]``; graph libraries go from cause to effect. Models
reach these functions through their own methods.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


def to_networkx(
    names: Sequence[str], weights: Floats, noise_variances: Floats, intercepts: Floats
) -> nx.DiGraph:
    """A directed graph; edges carry `weight`, nodes `noise_variance` and `intercept`."""
    graph = _library("networkx").DiGraph()
    for j, name in enumerate(names):
        graph.add_node(
            name, noise_variance=float(noise_variances[j]), intercept=float(intercepts[j])
        )
    for j, k in zip(*np.nonzero(weights), strict=True):
        graph.add_edge(names[k], names[j], weight=float(weights[j, k]))
    return graph


def from_networkx(graph: nx.DiGraph) -> tuple[Floats, list[float], list[float], list[str]]:
    """Weights, noise variances, intercepts and names of a graph made by `to_networkx`."""
    at = {node: i for i, node in enumerate(graph.nodes)}
    weights = np.zeros((len(at), len(at)))
    for cause, effect, data in graph.edges(data=True):
        weights[at[effect], at[cause]] = _attribute(data, "weight", f"edge {cause} -> {effect}")
    variances = [
        _attribute(data, "noise_variance", f"node {node}") for node, data in graph.nodes(data=True)
    ]
    intercepts = [float(data.get("intercept", 0.0)) for _, data in graph.nodes(data=True)]
    return weights, variances, intercepts, [str(node) for node in at]


def from_dict(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a model is made from, by name, out of its form for JSON."""
    if not isinstance(data, Mapping):
        raise InvalidInputError(f"A model is a mapping, got {type(data).__name__}.")
    known = {"names", "weights", "noise_variances", "intercepts", "loops"}
    unknown = sorted(map(str, set(data) - known))
    missing = sorted({"weights", "noise_variances"} - set(data))
    if unknown or missing:
        problem = f"lacks {missing}" if missing else f"has the unknown keys {unknown}"
        raise InvalidInputError(
            f"The model {problem}. It takes weights and noise_variances, "
            f"and may have names, intercepts and loops."
        )
    return dict(data)


def to_frame(names: Sequence[str], weights: Floats) -> pd.DataFrame:
    """The weights as a table: index `effect`, columns `cause`."""
    pandas = _library("pandas")
    frame: pd.DataFrame = pandas.DataFrame(
        weights.copy(),
        index=pandas.Index(names, name="effect"),
        columns=pandas.Index(names, name="cause"),
    )
    return frame


def to_edge_frame(edges: Sequence[tuple[str, str, float]]) -> pd.DataFrame:
    """One line per edge: cause, effect, weight."""
    frame: pd.DataFrame = _library("pandas").DataFrame(edges, columns=["cause", "effect", "weight"])
    return frame


def _attribute(data: dict[str, Any], key: str, where: str) -> float:
    if key not in data:
        raise InvalidInputError(f"The {where} has no attribute {key!r}: set it on the graph.")
    return float(data[key])


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError(
            f"This needs {name}: install it with pip install 'causalfocus[frames]'."
        ) from None
