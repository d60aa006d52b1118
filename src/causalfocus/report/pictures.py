"""Causal graphs, runs and plans as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from causalfocus.arrays import Floats
from causalfocus.errors import MissingExtraError
from causalfocus.learner.result import Result
from causalfocus.planning.forecast import Outlook
from causalfocus.planning.plan import epsilon_in_words
from causalfocus.report.layout import Layout, Point, layers_of
from causalfocus.report.spending import by_words
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import Action
from causalfocus.system.sem import LinearSEM

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POSITIVE: Final = "#0072B2"
NEGATIVE: Final = "#D55E00"
ABSENT: Final = "#8C8C8C"
INK: Final = "#222222"
"""Colours that remain apart for colour-blind readers and in print."""

SERIES: Final = (POSITIVE, NEGATIVE, "#009E73", "#CC79A7")
MARKERS: Final = ("o", "s", "^", "D")

NODE_RADIUS: Final = 0.24
CURVE_POINTS: Final = 80
LINE_STYLES: Final = {"known": "-", "extra": (0, (4, 2)), "missing": (0, (1, 1.5))}


def draw_graph(
    axes: Axes,
    model: LinearSEM,
    *,
    truth: LinearSEM | None = None,
    layout: Layout | None = None,
    title: str = "",
) -> None:
    """Draw a model's graph with its weights; against a truth, mark what is extra or missing.

    Blue edges are positive and orange ones negative, wider for stronger effects. Beside a truth,
    extra edges are dashed and missing ones dotted grey.
    """
    from matplotlib.patches import Circle

    places = layout or layers_of(model)
    true_edges = None if truth is None else {(c, e): w for c, e, w in truth.edges}
    drawn = {(c, e): w for c, e, w in model.edges}
    for edge, weight in drawn.items():
        known = true_edges is None or edge in true_edges
        _draw_edge(axes, places, edge, weight, "known" if known else "extra")
    for edge, weight in (true_edges or {}).items():
        if edge not in drawn:
            _draw_edge(axes, places, edge, weight, "missing")
    for name in model.names:
        x, y = places.nodes[name]
        axes.add_patch(Circle((x, y), NODE_RADIUS, facecolor="white", edgecolor=INK, zorder=3))
        size = 10 if len(name) <= 3 else max(5, 30 / len(name))
        axes.text(x, y, name, ha="center", va="center", fontsize=size, color=INK, zorder=4)
    axes.set_aspect("equal")
    axes.margins(0.08)
    axes.autoscale_view()
    axes.set_axis_off()
    axes.set_title(title, fontsize=11, color=INK)


def comparison(truth: LinearSEM, estimate: LinearSEM) -> Figure:
    """The true graph beside the recovered one, nodes in the same places."""
    layout = _common_layout(truth, estimate)
    wide, high = np.ptp(np.array(list(layout.nodes.values())), axis=0) + 1.0
    figure = new_figure(10, float(np.clip(5 * high / wide, 1.5, 6)) + 1.0)
    left, right = figure.subplots(1, 2)
    draw_graph(left, truth, layout=layout, title="True system")
    wrong = estimate.shd(truth)
    verdict = "all edges right" if wrong == 0 else f"{wrong} edge{'s' if wrong > 1 else ''} wrong"
    draw_graph(right, estimate, truth=truth, layout=layout, title=f"Recovered: {verdict}")
    figure.supxlabel(
        "blue: positive, orange: negative; dashed: not in the true graph, dotted: missed",
        fontsize=8,
        color=INK,
    )
    return figure


def journey(
    truth: LinearSEM,
    result: Result,
    trace: Sequence[tuple[int, float]],
    *,
    verdicts: Sequence[tuple[int, int, int]] = (),
    world: LinearSEM | None = None,
) -> Figure:
    """A finished run: the graph found beside the true one, the evidence, where the rounds went.

    trace : evidence by round
    verdicts : by round, how many effects are certain to be present and how many to be absent, of a
        rule that knows them before it stops; they take the place of the evidence
    world : the true system with what nobody measures, if there is any
    """
    figure = new_figure(11, 8)
    (left, right), (evidence, allocation) = figure.subplots(2, 2)
    shown = truth if world is None or result.model.has_loops else world
    layout = _common_layout(truth, result.model) if shown is truth else layers_of(shown)
    unseen = " and ".join(name for name in shown.names if name not in truth.names)
    title = f"True system; nobody measures {unseen}" if unseen else "True system"
    draw_graph(left, shown, layout=layout, title=title)
    draw_graph(right, result.model, truth=truth, layout=layout, title="Found")

    if verdicts:
        _draw_verdicts(evidence, verdicts, truth.p * (truth.p - 1))
    else:
        _draw_evidence(evidence, result, trace)

    most = max((len(action.targets) for action in result.counts), default=0)
    spent = by_words(result.counts, at_once=most)
    allocation.barh(list(spent), list(spent.values()), color=POSITIVE)
    allocation.invert_yaxis()
    allocation.set(xlabel="rounds", title="Where the rounds went")
    for axes in (evidence, allocation):
        axes.spines[["top", "right"]].set_visible(False)
        axes.title.set_size(11)
    return figure


def _draw_verdicts(axes: Axes, verdicts: Sequence[tuple[int, int, int]], n_pairs: int) -> None:
    """How many pairs are certain, one way or the other, as the rounds go by."""
    from matplotlib.ticker import MaxNLocator

    rounds, present, absent = (np.array(column) for column in zip(*verdicts, strict=True))
    styles = ((POSITIVE, "present"), (ABSENT, "absent"), ("#EEEEEE", "open"))
    axes.stackplot(
        rounds,
        [present, absent, n_pairs - present - absent],
        colors=[colour for colour, _ in styles],
        labels=[words for _, words in styles],
        step="post",
    )
    axes.set(
        xlabel="rounds",
        ylabel="pairs of nodes",
        title=f"What is certain of the {n_pairs} possible effects",
        ylim=(0, n_pairs),
    )
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(loc="upper left", framealpha=0.9)


def _draw_evidence(axes: Axes, result: Result, trace: Sequence[tuple[int, float]]) -> None:
    rounds, values = zip(*(trace or [(0, 0.0)]), strict=True)
    axes.plot(rounds, np.maximum(values, -5 * result.threshold), color=POSITIVE, linewidth=1.8)
    axes.axhline(result.threshold, color=NEGATIVE, linestyle="--", linewidth=1.2)
    axes.annotate(
        f"stop at log(1/{result.delta:g})",
        (rounds[0], result.threshold),
        xytext=(4, 4),
        textcoords="offset points",
        fontsize=9,
        color=NEGATIVE,
    )
    axes.set(xlabel="rounds", ylabel="evidence (nats)", title="Evidence against all else")


def _common_layout(truth: LinearSEM, estimate: LinearSEM) -> Layout:
    """That of the truth; if the estimate has loops, of both, so that these are seen."""
    if not estimate.has_loops:
        return layers_of(truth)
    weights = np.where(truth.weights != 0, truth.weights, estimate.weights)
    both = LinearSEM.from_fit(weights, truth.noise_variances, truth.intercepts, truth.names)
    return layers_of(both, None if truth.has_loops else truth.order)


def outlook_picture(
    outlooks: Sequence[Outlook], share: dict[Action, float], actions: ActionSet
) -> Figure:
    """Rounds to a certificate over delta, one curve per accuracy, and how they would be spent."""
    figure = new_figure(11, 4.4)
    left, right = figure.subplots(1, 2)
    for i, epsilon in enumerate(dict.fromkeys(row.epsilon for row in outlooks)):
        rows = [row for row in outlooks if row.epsilon == epsilon and np.isfinite(row.rounds)]
        if not rows:
            continue
        deltas = [row.delta for row in rows]
        style = {"color": SERIES[i % len(SERIES)], "marker": MARKERS[i % len(MARKERS)]}
        left.plot(
            deltas,
            [row.rounds for row in rows],
            label=f"epsilon {epsilon_in_words(epsilon)}",
            **style,
        )
        highs = [min(row.high, 1e3 * row.rounds) for row in rows]
        left.fill_between(
            deltas, [row.low for row in rows], highs, color=style["color"], alpha=0.15, linewidth=0
        )
    left.set(
        xscale="log",
        xlabel="delta: how often it may be wrong",
        ylabel="rounds",
        title="Rounds to a certificate, with four runs of five",
        ylim=(0, None),
    )
    left.invert_xaxis()
    ticks = sorted({row.delta for row in outlooks})
    left.set_xticks(ticks, [f"{delta:g}" for delta in ticks])
    left.minorticks_off()
    if left.has_data():
        left.legend(frameon=False)
    else:
        left.text(0.5, 0.5, "never", ha="center", transform=left.transAxes)
    spent = by_words(share, at_once=actions.at_once)
    if actions.prices and actions.at_once < 2:
        spent = {f"{a}, cost {actions.cost_of(a):g}": part for a, part in share.items()}
    right.barh(list(spent), [100 * part for part in spent.values()], color=POSITIVE)
    right.invert_yaxis()
    right.set(xlabel="percent of the rounds", title="How they would be spent")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.title.set_size(11)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write a figure; the suffix of the path decides on the format."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def _draw_edge(axes: Axes, places: Layout, edge: tuple[str, str], weight: float, kind: str) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Curve

    start, end = places.nodes[edge[0]], places.nodes[edge[1]]
    between = places.routes.get(edge) or (() if edge in places.routes else _bend(start, end))
    points = _smooth([start, *between, end])
    points = points[np.hypot(*(points - start).T) > NODE_RADIUS]
    points = points[np.hypot(*(points - end).T) > NODE_RADIUS + 0.02]
    is_missing = kind == "missing"
    colour = ABSENT if is_missing else (POSITIVE if weight > 0 else NEGATIVE)
    axes.add_patch(
        FancyArrowPatch(
            path=Curve(points),
            arrowstyle="-|>",
            mutation_scale=13,
            color=colour,
            linestyle=LINE_STYLES[kind],
            linewidth=1.3 if is_missing else 0.8 + 1.2 * min(abs(weight), 2.0),
            zorder=1,
        )
    )
    x, y = points[len(points) // 2 - len(points) // 10]
    axes.text(
        x,
        y,
        f"{weight:+.2f}",
        fontsize=8,
        color=colour,
        ha="center",
        va="center",
        zorder=2,
        bbox={"boxstyle": "round,pad=0.08", "facecolor": "white", "edgecolor": "none"},
    )


def _bend(start: Point, end: Point) -> tuple[Point, ...]:
    """A point off the straight line, for edges that the layout did not route."""
    (x0, y0), (x1, y1) = start, end
    return (((x0 + x1) / 2 + 0.15 * (y1 - y0), (y0 + y1) / 2 - 0.15 * (x1 - x0) - 0.3),)


def _smooth(points: list[Point]) -> Floats:
    """A curve through the points, horizontal at every passing point."""
    corners = np.array(points)
    if len(corners) == 2:
        return np.linspace(corners[0], corners[1], CURVE_POINTS)
    pieces = []
    for a, b in pairwise(corners):
        t = np.linspace(0.0, 1.0, CURVE_POINTS // (len(corners) - 1))
        ease = t * t * (3 - 2 * t)
        pieces.append(np.column_stack([a[0] + t * (b[0] - a[0]), a[1] + ease * (b[1] - a[1])]))
    return np.vstack(pieces)


def new_figure(width: float, height: float) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            "Pictures need matplotlib: install it with pip install 'causalfocus[plot]'."
        ) from None
    return Figure(figsize=(width, height), layout="constrained")
