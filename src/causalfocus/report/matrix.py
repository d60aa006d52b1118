"""The verdicts on all pairs as a table: a row for every effect, a column for every cause."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from causalfocus.guarantees.effects import Effect
from causalfocus.learner.effects import Effects
from causalfocus.report.pairs import interval_in_words
from causalfocus.report.svg import Drawn, tag

MOST_WITH_WORDS: Final = 6
"""Variables up to which a cell has room for words; with more it is one sign."""

LEGEND: Final = (
    ("present positive", "+"),
    ("present negative", "−"),
    ("small", "~"),
    ("absent", "0"),
    ("open", "?"),
    ("blank", ""),
    ("given", "·"),
)
SAID: Final = {
    "+": "present, positive",
    "−": "present, negative",
    "~": "present, below what matters",
    "0": "absent: below what matters",
    "?": "open",
    "": "open, without an interval yet",
    "·": "known to be none",
}
"""What the signs say."""


def matrix_drawing(effects: Effects, names: Sequence[str]) -> Drawn:
    """The verdicts on all pairs; with words where there is room, else with a sign each.

    names : of the variables, in the order of `effects`, which goes row by row
    """
    has_words = len(names) <= MOST_WITH_WORDS
    rows = [
        _row(effect, list(group), names, has_words=has_words)
        for effect, group in groupby(effects, key=lambda one: one.effect)
    ]
    columns = (tag("th", tag("span", name), scope="col", title=name) for name in names)
    corner = tag("td", "effect ↓ cause →", class_="corner")
    return tag(
        "table",
        tag("caption", "Verdict on the effect of each column on each row.", class_="hidden"),
        tag("thead", tag("tr", corner, *columns)),
        tag("tbody", *rows),
        class_="verdicts words" if has_words else "verdicts signs",
    )


def _row(effect: str, cells: list[Effect], names: Sequence[str], *, has_words: bool) -> Drawn:
    own = names.index(effect)
    shown = [_cell(one, has_words=has_words) for one in cells]
    shown.insert(own, tag("td", class_="self"))
    return tag("tr", tag("th", effect, scope="row", title=effect), *shown)


def _cell(one: Effect, *, has_words: bool) -> Drawn:
    kind, sign = _look(one)
    if has_words:
        return tag("td", *_words(one, sign), class_=kind)
    if one.is_given:
        return tag("td", sign, class_=kind)
    told = f"{one.cause} → {one.effect}: {one.verdict}, {interval_in_words(one)}"
    return tag("td", sign, class_=kind, title=told)


def _look(one: Effect) -> tuple[str, str]:
    """Class and sign."""
    at = {"present, small": 2, "absent": 3}.get(one.verdict, 4 if one.is_bounded else 5)
    if one.verdict == "present" and (one.has_sign or not one.is_required):
        at = 0 if one.estimate > 0.0 else 1
    return LEGEND[6 if one.is_given else at]


def _words(one: Effect, sign: str) -> list[str]:
    """The verdict, and the estimate of what is there."""
    if one.is_given:
        return ["none"]
    if one.is_present:
        size = abs(one.estimate) or abs(one.low + one.high) / 2
        number = tag("strong", f"{sign if sign != '~' else ''}{size:.2g}")
        return [number, " small"] if sign == "~" else [number]
    return [one.verdict]


def legend_drawing(effects: Effects, names: Sequence[str]) -> Drawn:
    """What the signs say, of those that occur; nothing where there are words."""
    if len(names) <= MOST_WITH_WORDS:
        return Drawn()
    found = {_look(one) for one in effects}
    items = [
        tag("li", tag("span", sign, class_=f"sign {kind}"), f" {SAID[sign]}")
        for kind, sign in LEGEND
        if (kind, sign) in found
    ]
    return tag("ul", *items, class_="legend")
