"""Where to draw a graph: nodes in layers, causes to the left of their effects.

The usual three steps of layered drawing. Layers by the longest path; an edge that passes a layer
gets a place of its own in it, so that it runs past the nodes and not through them; and the places
within a layer are ordered by the mean of their neighbours, which untangles most crossings.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from causalfocus.arrays import Ints
from causalfocus.system.sem import LinearSEM

Point = tuple[float, float]

SWEEPS = 12
LAYER_GAP = 1.7
PASSING_ROOM = 0.6
"""Height that a passing edge takes, where a node takes 1."""


@dataclass(frozen=True)
class Layout:
    """Points for the nodes by name, and for every edge the points between its ends, if any."""

    nodes: dict[str, Point]
    routes: dict[tuple[str, str], tuple[Point, ...]]


@dataclass
class _Place:
    """A node, or a passing edge, in one layer."""

    room: float
    height: float = 0.0
    near: list["_Place"] = field(default_factory=list)


def layers_of(model: LinearSEM) -> Layout:
    """A layout that is a function of the model alone; ties keep the order of the names."""
    depth = _depths(model)
    layers: list[list[_Place]] = [[] for _ in range(int(depth.max()) + 1)]
    places = {}
    for name, d in zip(model.names, depth, strict=True):
        places[name] = _Place(room=1.0)
        layers[d].append(places[name])
    chains = {}
    for cause, effect, _ in model.edges:
        chain = [places[cause]]
        first, last = (int(depth[model.names.index(name)]) for name in (cause, effect))
        for d in range(first + 1, last):
            chain.append(_Place(room=PASSING_ROOM))
            layers[d].append(chain[-1])
        chain.append(places[effect])
        for one, next_one in pairwise(chain):
            one.near.append(next_one)
            next_one.near.append(one)
        chains[cause, effect] = chain
    _untangle(layers)
    column = {id(place): d * LAYER_GAP for d, layer in enumerate(layers) for place in layer}

    def point(place: _Place) -> Point:
        return column[id(place)], place.height

    return Layout(
        {name: point(place) for name, place in places.items()},
        {edge: tuple(point(place) for place in chain[1:-1]) for edge, chain in chains.items()},
    )


def _depths(model: LinearSEM) -> Ints:
    """Longest path from a root; a node then moves as far right as its effects let it."""
    has_edge = model.weights != 0
    depth = np.zeros(model.p, dtype=np.int64)
    for j in model.order:
        if has_edge[j].any():
            depth[j] = depth[has_edge[j]].max() + 1
    for j in model.order[::-1]:
        if has_edge[:, j].any():
            depth[j] = depth[has_edge[:, j]].min() - 1
    return depth


def _untangle(layers: list[list[_Place]]) -> None:
    for layer in layers:
        _stack(layer)
    for _ in range(SWEEPS):
        for layer in layers:
            layer.sort(key=_mean_of_neighbours, reverse=True)
            _stack(layer)


def _mean_of_neighbours(place: _Place) -> float:
    near = place.near
    return sum(other.height for other in near) / len(near) if near else place.height


def _stack(layer: list[_Place]) -> None:
    """Heights from the top down, centred on zero."""
    top = sum(place.room for place in layer) / 2
    for place in layer:
        place.height = top - place.room / 2
        top -= place.room
