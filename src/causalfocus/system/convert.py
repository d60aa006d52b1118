"""Models to and from networkx, pandas and JSON.

This package writes ``weights[effect, cause]``; graph libraries go from cause to effect. Models
reach these functions through their own methods.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError, MissingExtraError
from causalfocus.system.names import position

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


def to_networkx(
    names: Sequence[str],
    weights: Floats,
    noise_variances: Floats,
    intercepts: Floats,
    *,
    loops: bool = False,
) -> nx.DiGraph:
    """A directed graph; edges carry `weight`, nodes `noise_variance` and `intercept`, and the graph
    itself `loops` if there are some.
    """
    graph = _library("networkx").DiGraph(**({"loops": True} if loops else {}))
    for j, name in enumerate(names):
        graph.add_node(
            name, noise_variance=float(noise_variances[j]), intercept=float(intercepts[j])
        )
    for j, k in zip(*np.nonzero(weights), strict=True):
        graph.add_edge(names[k], names[j], weight=float(weights[j, k]))
    return graph


def from_networkx(
    graph: nx.DiGraph,
    noise_variances: float | Mapping[str, float] | None = None,
    loops: bool | None = None,
) -> dict[str, Any]:
    """What a model is made from, by name, out of a directed graph.

    Parameters
    ----------
    graph : edges have a `weight`; nodes may have a `noise_variance` and an `intercept`
    noise_variances : of nodes that have none of their own: one for all, or by name
    loops : None for what the graph says
    """
    if not (hasattr(graph, "is_directed") and graph.is_directed()) or graph.is_multigraph():
        raise InvalidInputError(
            f"A model is made of a networkx.DiGraph, with one edge from a cause to an effect; got "
            f"{type(graph).__name__}."
        )
    at = {node: i for i, node in enumerate(graph.nodes)}
    names = [str(node) for node in at]
    known = noise_variances if isinstance(noise_variances, Mapping) else {}
    for name in known:
        position(name, names)
    weights = np.zeros((len(at), len(at)))
    for cause, effect, data in graph.edges(data=True):
        weights[at[effect], at[cause]] = _attribute(data, "weight", f"edge {cause} -> {effect}")
    variances = []
    for name, (_, data) in zip(names, graph.nodes(data=True), strict=True):
        other = known.get(name) if isinstance(noise_variances, Mapping) else noise_variances
        given = data if "noise_variance" in data or other is None else {"noise_variance": other}
        variances.append(
            _attribute(given, "noise_variance", f"node {name}", "or give noise_variances=...")
        )
    intercepts = [
        _attribute({"intercept": 0.0} | data, "intercept", f"node {node}")
        for node, data in graph.nodes(data=True)
    ]
    return {
        "weights": weights,
        "noise_variances": variances,
        "intercepts": intercepts,
        "names": names,
        "loops": bool(graph.graph.get("loops", False)) if loops is None else loops,
    }


def pairs_to_networkx(names: Sequence[str], pairs: Iterable[Mapping[str, Any]]) -> nx.DiGraph:
    """A directed graph of pairs: `cause` and `effect` of each are its ends, all else attributes."""
    graph = _library("networkx").DiGraph()
    graph.add_nodes_from(names)
    for pair in pairs:
        said = {key: value for key, value in pair.items() if key not in ("cause", "effect")}
        graph.add_edge(pair["cause"], pair["effect"], **said)
    return graph


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


def frame_of(
    columns: Mapping[str, Sequence[Any]],
    *,
    index: Any = None,
    types: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """A table from its columns.

    types : of columns of which pandas would make another, by their names
    """
    pandas = _library("pandas")
    found = {
        name: pandas.array(list(values), dtype=types[name])
        if types and name in types
        else list(values)
        for name, values in columns.items()
    }
    frame: pd.DataFrame = pandas.DataFrame(found, index=index)
    return frame


def _attribute(data: Mapping[str, Any], key: str, where: str, or_else: str = "") -> float:
    if key not in data:
        more = f", {or_else}" if or_else else ""
        raise InvalidInputError(f"The {where} has no attribute {key!r}: set it on the graph{more}.")
    try:
        return float(data[key])
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"The {where} has {key} = {data[key]!r}, and it must be a number."
        ) from None


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError(
            f"This needs {name}: install it with pip install 'causalfocus[frames]'."
        ) from None
