"""The drawings of a campaign: its graph, its evidence, where the rounds went, and the checks."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from scipy.special import ndtri

from causalfocus.arrays import Floats
from causalfocus.campaign.status import EdgeStatus
from causalfocus.report.layout import Layout, layers_of
from causalfocus.report.svg import Drawn, Plane, Point, path, picture, tag
from causalfocus.system.sem import LinearSEM

ACROSS: Final = 150.0
DOWN: Final = 74.0
"""Pixels between layers and between nodes of a layer, per unit of the layout."""

HALF_HEIGHT: Final = 17.0
LETTER: Final = 8.2
"""Width that a letter takes at most."""

MOST_POINTS: Final = 400


def graph_drawing(
    model: LinearSEM, edges: Sequence[EdgeStatus], threshold: float, *, is_certain: bool
) -> Drawn:
    """The causal graph in layers, causes on the left.

    Edges that the evidence does not support yet are dashed; the fainter, the less evidence.

    Parameters
    ----------
    model : what is drawn
    edges : what is known of its edges
    threshold : evidence from which on an edge is certain
    is_certain : whether all of it is certified
    """
    layout = layers_of(model)
    halves = {name: max(22.0, LETTER * len(short(name)) / 2 + 12) for name in model.names}
    widest = max(halves.values())
    across = max(ACROSS, 2 * widest + 90)
    xs = [x for x, _ in _points(layout)]
    ys = [y for _, y in _points(layout)]
    left, top = widest + 8 - min(xs) * across / 1.7, HALF_HEIGHT + 14 + max(ys) * DOWN
    width = (max(xs) - min(xs)) * across / 1.7 + 2 * widest + 16
    height = (max(ys) - min(ys)) * DOWN + 2 * HALF_HEIGHT + 28

    def at(point: Point) -> Point:
        return left + point[0] * across / 1.7, top - point[1] * DOWN

    parts = [
        _edge_drawing(
            [at(layout.nodes[edge.cause]), *map(at, layout.routes[edge.cause, edge.effect])],
            at(layout.nodes[edge.effect]),
            (halves[edge.cause], halves[edge.effect]),
            edge,
            1.0 if is_certain else _certainty(edge, threshold),
        )
        for edge in edges
    ]
    for name in model.names:
        x, y = at(layout.nodes[name])
        half = halves[name]
        parts.append(
            tag(
                "g",
                tag("title", name),
                tag(
                    "rect",
                    x=x - half,
                    y=y - HALF_HEIGHT,
                    width=2 * half,
                    height=2 * HALF_HEIGHT,
                    rx=HALF_HEIGHT,
                    class_="node",
                ),
                tag("text", short(name), x=x, y=y + 5, class_="name", text_anchor="middle"),
            )
        )
    listed = "; ".join(f"{e.cause} to {e.effect} {e.weight:+.2f}" for e in edges) or "no effects"
    return picture(max(width, 120.0), height, f"Causal graph: {listed}", *parts)


def _points(layout: Layout) -> list[Point]:
    return [*layout.nodes.values(), *(p for route in layout.routes.values() for p in route)]


def short(name: str, most: int = 18) -> str:
    """A name that is not longer than there is room for."""
    return name if len(name) <= most else name[: most - 1] + "…"


def _certainty(edge: EdgeStatus, threshold: float) -> float:
    """From 0, nothing known, to 1, certain."""
    if edge.is_certain:
        return 1.0
    if edge.evidence is None:
        return 0.0
    return min(1.0, max(0.0, edge.evidence / threshold))


def _edge_drawing(
    start: list[Point], end: Point, halves: tuple[float, float], edge: EdgeStatus, certainty: float
) -> Drawn:
    points = _curve([*start, end])
    inside = [
        not (_is_within(p, start[0], halves[0] + 1) or _is_within(p, end, halves[1] + 6))
        for p in points
    ]
    kept = [p for p, is_kept in zip(points, inside, strict=True) if is_kept] or points
    sign = "positive" if edge.weight > 0 else "negative"
    is_sure = certainty >= 1.0
    line = path(
        kept,
        class_=f"edge {sign}" + ("" if is_sure else " uncertain"),
        stroke_width=1.4 + 1.3 * min(abs(edge.weight), 2.0),
        stroke_opacity=1.0 if is_sure else 0.35 + 0.5 * certainty,
    )
    place = kept[int(0.45 * len(kept))]
    known = f"{edge.weight:+.2f}"
    interval = ""
    if edge.low is not None and edge.high is not None:
        interval = f", {edge.low:+.3f} to {edge.high:+.3f} not rejected"
    told = f"{edge.cause} → {edge.effect}: {edge.weight:+.3f}{interval}" + (
        "" if is_sure else "; not certain yet"
    )
    half = LETTER * len(known) / 2 + 1
    return tag(
        "g",
        tag("title", told),
        line,
        _head(kept, sign, 1.0 if is_sure else 0.35 + 0.5 * certainty),
        tag(
            "rect",
            x=place[0] - half,
            y=place[1] - 9,
            width=2 * half,
            height=18.0,
            rx=4.0,
            class_="behind",
        ),
        tag(
            "text",
            known,
            x=place[0],
            y=place[1] + 4,
            class_=f"weight {sign}",
            text_anchor="middle",
        ),
    )


def _head(points: Sequence[Point], sign: str, opacity: float) -> Drawn:
    """A triangle at the end of a line."""
    (x1, y1), (x0, y0) = points[-1], points[max(0, len(points) - 4)]
    length = math.hypot(x1 - x0, y1 - y0) or 1.0
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    tip = x1 + 5 * dx, y1 + 5 * dy
    one, two = (
        (x1 - 5 * dx + side * 4.5 * dy, y1 - 5 * dy - side * 4.5 * dx) for side in (1.0, -1.0)
    )
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in (tip, one, two))
    return tag("polygon", points=corners, class_=f"head {sign}", fill_opacity=opacity)


def _is_within(point: Point, centre: Point, half_width: float) -> bool:
    return abs(point[0] - centre[0]) <= half_width and abs(point[1] - centre[1]) <= HALF_HEIGHT + 4


def _curve(corners: Sequence[Point]) -> list[Point]:
    """Through all corners, horizontal at each."""
    found: list[Point] = []
    for (x0, y0), (x1, y1) in pairwise(corners):
        for i in range(41):
            t = i / 40
            ease = t * t * (3 - 2 * t)
            found.append((x0 + t * (x1 - x0), y0 + ease * (y1 - y0)))
    return found


def evidence_drawing(
    curve: Sequence[tuple[int, float]], threshold: float, stop: int | None
) -> Drawn:
    """Evidence over the rounds, rising towards the threshold."""
    last, latest = curve[-1] if curve else (1, 0.0)
    floor = -4.0 * threshold
    if math.isfinite(latest):
        floor = min(floor, 1.25 * latest)  # the present must be seen
    values = [max(value, floor) for _, value in curve]
    low = min([0.0, *values])
    high = max(1.15 * threshold, min(max([0.0, *values]), 3.0 * threshold))
    plane = Plane(
        left=56, top=26, width=560, height=200, x=(0.0, float(max(last, 1))), y=(low, high)
    )
    parts = [plane.axes("rounds", "evidence (nats)")]
    (x0, y0), (x1, _) = plane.at(0.0, threshold), plane.at(float(max(last, 1)), threshold)
    parts.append(path([(x0, y0), (x1, y0)], class_="threshold"))
    parts.append(
        tag(
            "text",
            f"certain from {threshold:.2f}",
            x=x0 + 6,
            y=y0 + 15,
            class_="note threshold-text",
        )
    )
    points = [
        plane.at(float(n), min(max(value, floor), high))
        for n, value in curve
        if not math.isnan(value)
    ]
    if len(points) > 1:
        parts.append(path(points, class_="curve"))
    elif points:
        parts.append(tag("circle", cx=points[0][0], cy=points[0][1], r=3.0, class_="point"))
    else:
        parts.append(tag("text", "no rounds yet", x=300.0, y=130.0, class_="note"))
    if stop is not None:
        x, _ = plane.at(float(stop), low)
        parts.append(path([(x, plane.top), (x, plane.top + plane.height)], class_="stop"))
        parts.append(
            tag(
                "text",
                f"stopped at {stop:,}",
                x=x - 6,
                y=plane.top + 190,
                class_="note",
                text_anchor="end",
            )
        )
    present = f"{latest:.2f} nats after {last:,} rounds" if curve else "none"
    label = f"Evidence over the rounds: {present}; the threshold is {threshold:.2f}."
    return picture(640, 270, label, *parts)


def allocation_drawing(counts: Mapping[str, float], share: Mapping[str, float]) -> Drawn:
    """Bars of the rounds done; a mark where their share should tend to."""
    total = sum(counts.values())
    names = {name: short(name, 26) for name in counts}
    widest = max((0.85 * LETTER * len(name) for name in names.values()), default=60.0) + 12
    most = max([*(n / max(total, 1) for n in counts.values()), *share.values(), 0.05])
    length, parts = 560.0 - widest, list[Drawn]()
    for i, (name, n) in enumerate(counts.items()):
        y = 14.0 + 24 * i
        bar = length * (n / max(total, 1)) / most
        aim = widest + length * share.get(name, 0.0) / most
        parts += [
            tag("text", names[name], x=widest - 8, y=y + 12, class_="tick", text_anchor="end"),
            tag("rect", x=widest, y=y, width=bar, height=15.0, class_="bar"),
            path([(aim, y - 3), (aim, y + 18)], class_="aim"),
            tag("text", f"{n:,}", x=widest + bar + 6, y=y + 12, class_="tick"),
        ]
    listed = ", ".join(f"{name} {n}" for name, n in counts.items())
    return picture(640, 24.0 * len(counts) + 22, f"Rounds of each action: {listed}", *parts)


def quantile_drawing(name: str, residuals: Floats) -> Drawn:
    """Residuals against those of a normal distribution: a straight line if they are normal."""
    ordered = np.sort(residuals) / (residuals.std() or 1.0)
    expected = ndtri((np.arange(len(ordered)) + 0.5) / len(ordered))
    reach = float(max(3.0, np.abs(ordered).max() * 1.05))
    plane = Plane(left=44, top=24, width=240, height=170, x=(-reach, reach), y=(-reach, reach))
    every = max(1, len(ordered) // MOST_POINTS)
    pairs = zip(expected[::every].tolist(), ordered[::every].tolist(), strict=True)
    return picture(
        300,
        240,
        f"Residuals of {name} against normal quantiles",
        plane.axes("normal quantile", f"residual of {short(name)}", 4),
        path([plane.at(-reach, -reach), plane.at(reach, reach)], class_="threshold"),
        *(tag("circle", cx=x, cy=y, r=1.8, class_="point") for x, y in _place(plane, pairs)),
    )


def fitted_drawing(name: str, fitted: Floats, residuals: Floats) -> Drawn:
    """Residuals against fitted values, with their mean in ten bins: level if it is linear."""
    size = float(np.abs(residuals).max()) * 1.05 or 1.0
    low, high = float(fitted.min()), float(fitted.max())
    if high <= low:
        low, high = low - 1.0, high + 1.0
    plane = Plane(left=44, top=24, width=240, height=170, x=(low, high), y=(-size, size))
    every = max(1, len(fitted) // MOST_POINTS)
    pairs = zip(fitted[::every].tolist(), residuals[::every].tolist(), strict=True)
    parts = [tag("circle", cx=x, cy=y, r=1.8, class_="point") for x, y in _place(plane, pairs)]
    parts.append(path([plane.at(low, 0.0), plane.at(high, 0.0)], class_="threshold"))
    edges = np.quantile(fitted, np.linspace(0, 1, 11))
    place = np.clip(np.searchsorted(edges, fitted, side="right") - 1, 0, 9)
    bins = [place == b for b in range(10) if (place == b).any()]
    means = [plane.at(float(fitted[b].mean()), float(residuals[b].mean())) for b in bins]
    if len(means) > 1:
        parts.append(path(means, class_="mean"))
    return picture(
        300,
        240,
        f"Residuals of {name} against fitted values",
        plane.axes(f"fitted {short(name)}", "residual", 4),
        *parts,
    )


def _place(plane: Plane, pairs: "zip[tuple[float, float]]") -> list[Point]:
    return [plane.at(x, y) for x, y in pairs]
