"""Where to draw a graph: nodes in layers, causes to the left of their effects.

The usual three steps of layered drawing. Layers by the longest path; an edge that passes a layer
gets a place of its own in it, so that it runs past the nodes and not through them; and the places
within a layer are ordered by the mean of their neighbours, which untangles most crossings.

Where there are loops, some edges must go back to the left. They are few: within a loop the nodes
are put in an order that leaves few effects before their causes. What goes back takes part in all
steps as if it went forward, and is then drawn from its other end. Two nodes side by side that act
on each other get two arcs, one above and one below.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np

from causalfocus.arrays import Bools, Ints
from causalfocus.system.graph import loops_of
from causalfocus.system.sem import LinearSEM

Point = tuple[float, float]

SWEEPS = 12
LAYER_GAP = 1.7
PASSING_ROOM = 0.6
"""Height that a passing edge takes, where a node takes 1."""

BOW: Final = 0.3
"""How far the arcs between two nodes that act on each other stand off the line between them."""

ROOM_WITH_ARCS: Final = 1.4
"""Height that such a node takes, so that arcs and their labels keep clear of other edges."""


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


def layers_of(model: LinearSEM, order: Ints | None = None) -> Layout:
    """A layout that is a function of the model alone; ties keep the order of the names.

    order : of the nodes; what is against it goes back to the left, or has no route if its ends are
        in one layer. None for an order with few such edges, all of them routed
    """
    has_edge = model.weights != 0
    if order is None:
        order = _order_with_loops(has_edge) if model.has_loops else model.order
    depth = _depths(has_edge, order)
    has_arcs = (has_edge & has_edge.T).any(axis=1)
    layers: list[list[_Place]] = [[] for _ in range(int(depth.max()) + 1)]
    places = {}
    for name, d, has_some in zip(model.names, depth, has_arcs, strict=True):
        places[name] = _Place(room=ROOM_WITH_ARCS if has_some else 1.0)
        layers[d].append(places[name])
    chains = {}
    for cause, effect, _ in model.edges:
        first, last = (int(depth[model.names.index(name)]) for name in (cause, effect))
        if first == last:
            continue
        goes_back = first > last
        chain = [places[effect if goes_back else cause]]
        for d in range(min(first, last) + 1, max(first, last)):
            chain.append(_Place(room=PASSING_ROOM))
            layers[d].append(chain[-1])
        chain.append(places[cause if goes_back else effect])
        for one, next_one in pairwise(chain):
            one.near.append(next_one)
            next_one.near.append(one)
        chains[cause, effect] = chain[::-1] if goes_back else chain
    _untangle(layers)
    column = {id(place): d * LAYER_GAP for d, layer in enumerate(layers) for place in layer}

    def point(place: _Place) -> Point:
        return column[id(place)], place.height

    nodes = {name: point(place) for name, place in places.items()}
    routes = {edge: tuple(point(place) for place in chain[1:-1]) for edge, chain in chains.items()}
    for (cause, effect), route in routes.items():
        if not route and (effect, cause) in routes:
            routes[cause, effect] = (_bow(nodes[cause], nodes[effect]),)
    return Layout(nodes, routes)


def _bow(start: Point, end: Point) -> Point:
    """The top of an arc to the right, and the bottom of one to the left."""
    side = BOW if start[0] < end[0] else -BOW
    return (start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + side


def _depths(has_edge: Bools, order: Ints) -> Ints:
    """Longest path from a root; a node then moves as far right as its effects let it. Edges against
    the order do not count.
    """
    rank = np.argsort(order)
    has_edge = has_edge & (rank[:, None] > rank[None, :])
    depth = np.zeros(len(order), dtype=np.int64)
    for j in order:
        if has_edge[j].any():
            depth[j] = depth[has_edge[j]].max() + 1
    for j in order[::-1]:
        if has_edge[:, j].any():
            depth[j] = depth[has_edge[:, j]].min() - 1
    return depth


def _order_with_loops(has_edge: Bools) -> Ints:
    """Loops, and nodes on none, with causes first; within a loop few effects come before causes."""
    group = np.arange(len(has_edge))
    for loop in loops_of(has_edge):
        group[loop] = loop[0]
    order, rest = list[int](), dict.fromkeys(group.tolist())
    while rest:
        for first in rest:
            own = group == first
            outside = has_edge[own][:, ~own & ~np.isin(np.arange(len(has_edge)), order)]
            if not outside.any():
                break
        order += _order_of_a_loop(has_edge, np.flatnonzero(own).tolist())
        del rest[first]
    return np.array(order, dtype=np.int64)


def _order_of_a_loop(has_edge: Bools, nodes: list[int]) -> list[int]:
    """Greedily, as Eades, Lin and Smyth do: what has no effects left goes last, and first goes what
    has no causes left or, if all have some, what has most effects beyond its causes.
    """
    front, back, rest = list[int](), list[int](), list(nodes)
    while rest:
        last = next((j for j in rest if not has_edge[rest, j].any()), None)
        if last is not None:
            back.insert(0, last)
            rest.remove(last)
            continue
        causes = {j: int(has_edge[j, rest].sum()) for j in rest}
        beyond = {j: int(has_edge[rest, j].sum()) - causes[j] for j in rest}
        first = next((j for j in rest if causes[j] == 0), None)
        front.append(max(rest, key=lambda j: beyond[j]) if first is None else first)
        rest.remove(front[-1])
    return front + back


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
