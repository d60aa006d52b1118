"""The intervals of effects above each other, as in the reports of trials."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from causalfocus.guarantees.effects import Effect
from causalfocus.report.drawings import LETTER, short
from causalfocus.report.pairs import interval_in_words
from causalfocus.report.svg import Drawn, Plane, path, picture, tag

ROW: Final = 22.0
MOST_ROWS: Final = 60
ROOM: Final = 1.3
"""How far the scale goes beyond the intervals of effects that are there."""


def forest_drawing(effects: Sequence[Effect]) -> Drawn:
    """Intervals with their estimates, a line at zero, and a band for what is too small to matter.
    Where what matters differs from pair to pair, every effect is in units of what matters of it.

    effects : with their intervals, of which the first `MOST_ROWS` are drawn. The scale is that of
        effects that are there; wider intervals go on beyond it
    """
    sizes = {one.matters for one in effects[:MOST_ROWS]}
    is_one = len(sizes) == 1
    min_effect = sizes.pop() if is_one else 1.0
    shown = effects[:MOST_ROWS] if is_one else [in_units(one) for one in effects[:MOST_ROWS]]
    names = [short(f"{one.cause} → {one.effect}", 34) for one in shown]
    widest = max((0.8 * LETTER * len(name) for name in names), default=60.0) + 16.0
    reach = ROOM * max([2.0 * min_effect, *map(_reach, shown)])
    plane = Plane(
        left=widest,
        top=8.0,
        width=630.0 - widest,
        height=ROW * len(shown) + 8.0,
        x=(-reach, reach),
        y=(0.0, 1.0),
    )
    bottom = plane.top + plane.height
    (low, _), (high, _), (zero, _) = (plane.at(x, 0.0) for x in (-min_effect, min_effect, 0.0))
    parts = [
        tag("rect", x=low, y=plane.top, width=high - low, height=plane.height, class_="band"),
        path([(zero, plane.top), (zero, bottom)], class_="axis"),
        plane.scale(
            "effect, per unit of its cause" if is_one else "effect, over what matters of it"
        ),
    ]
    for i, (one, name) in enumerate(zip(shown, names, strict=True)):
        parts.append(_line(plane, one, name, plane.top + ROW * (i + 0.5) + 4.0))
    label = f"Intervals of {len(shown)} effects"
    return picture(640, bottom + 44.0, label, *parts)


def in_units(one: Effect) -> Effect:
    """An effect in units of what matters of it."""
    by = 1.0 / one.matters
    return replace(
        one, estimate=by * one.estimate, low=by * one.low, high=by * one.high, matters=1.0
    )


def _reach(one: Effect) -> float:
    """How far from zero its interval goes, if it is there."""
    return max(-one.low, one.high) if one.is_present else 0.0


def _line(plane: Plane, one: Effect, name: str, y: float) -> Drawn:
    is_sure = one.is_present and one.has_sign
    kind = "unclear" if not is_sure else "positive" if one.low > 0.0 else "negative"
    ends = [min(max(end, plane.x[0]), plane.x[1]) for end in (one.low, one.high)]
    (start, _), (end, _) = (plane.at(x, 0.0) for x in ends)
    parts = [
        tag("title", f"{one.cause} → {one.effect}: {one.verdict}, {interval_in_words(one)}"),
        tag("text", name, x=plane.left - 10.0, y=y + 4.0, class_="tick", text_anchor="end"),
        path([(start, y), (end, y)], class_=f"interval {kind}"),
    ]
    for place, given, outwards in zip((start, end), (one.low, one.high), (-1.0, 1.0), strict=True):
        if plane.x[0] <= given <= plane.x[1]:
            parts.append(path([(place, y - 4.0), (place, y + 4.0)], class_=f"interval {kind}"))
        else:
            tip = place + 6.0 * outwards
            corners = [(place, y - 4.0), (tip, y), (place, y + 4.0)]
            parts.append(path(corners, class_=f"interval {kind}"))
    if one.estimate and math.isfinite(one.estimate):
        x, _ = plane.at(min(max(one.estimate, plane.x[0]), plane.x[1]), 0.0)
        parts.append(tag("circle", cx=x, cy=y, r=3.5, class_=f"dot {kind}"))
    return tag("g", *parts)
