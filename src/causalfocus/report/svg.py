"""Drawing with SVG: elements whose texts are always escaped, and a plane with axes.

Colours come from classes, so that one drawing serves light and dark, screen and print; there are no
style attributes, which a strict content-security policy forbids.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

Point = tuple[float, float]


class Drawn(str):
    """Markup that is known to be safe: it went through `tag`."""

    __slots__ = ()

    def __html__(self) -> str:
        """For templates, which escape everything else."""
        return self


def tag(name: str, *children: str, **attributes: object) -> Drawn:
    """An element. Texts among the children are escaped, elements are not; `_` becomes `-` in
    attribute names, and a last one is dropped (`class_`).
    """
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(child if isinstance(child, Drawn) else escape(child) for child in children)
    return Drawn(f"<{name}{shown}>{inside}</{name}>")


def _plain(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def picture(width: float, height: float, label: str, *children: str) -> Drawn:
    """A whole drawing with a name for those who do not see it."""
    return tag(
        "svg",
        tag("title", label),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        role="img",
        aria_label=label,
        class_="drawing",
    )


def path(points: Sequence[Point], **attributes: object) -> Drawn:
    """A line through points."""
    steps = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return tag("path", d=f"M{steps}", **attributes)


@dataclass(frozen=True, kw_only=True)
class Plane:
    """A rectangle with two linear scales.

    Attributes
    ----------
    left, top, width, height : of the rectangle, in the drawing
    x, y : the values at its ends
    """

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> Point:
        across = (x - self.x[0]) / ((self.x[1] - self.x[0]) or 1.0)
        up = (y - self.y[0]) / ((self.y[1] - self.y[0]) or 1.0)
        return self.left + across * self.width, self.top + (1.0 - up) * self.height

    def axes(self, x_label: str, y_label: str, n_ticks: int = 5) -> Drawn:
        """Lines, ticks with their values, and labels."""
        bottom = self.top + self.height
        parts = [
            path([(self.left, self.top), (self.left, bottom)], class_="axis"),
            self.scale(x_label, n_ticks),
        ]
        for value in ticks(*self.y, n_ticks):
            _, y = self.at(self.x[0], value)
            parts.append(path([(self.left - 4, y), (self.left, y)], class_="axis"))
            parts.append(
                tag(
                    "text",
                    tick_text(value),
                    x=self.left - 7,
                    y=y + 4,
                    class_="tick",
                    text_anchor="end",
                )
            )
        parts.append(tag("text", y_label, x=self.left - 36, y=self.top - 10, class_="label"))
        return tag("g", *parts)

    def scale(self, label: str, n_ticks: int = 5) -> Drawn:
        """The line below, its ticks with their values, and its label."""
        bottom = self.top + self.height
        parts = [path([(self.left, bottom), (self.left + self.width, bottom)], class_="axis")]
        for value in ticks(*self.x, n_ticks):
            x, _ = self.at(value, self.y[0])
            parts.append(path([(x, bottom), (x, bottom + 4)], class_="axis"))
            parts.append(
                tag(
                    "text",
                    tick_text(value),
                    x=x,
                    y=bottom + 16,
                    class_="tick",
                    text_anchor="middle",
                )
            )
        middle = self.left + self.width / 2
        words = tag("text", label, x=middle, y=bottom + 32, class_="label", text_anchor="middle")
        return tag("g", *parts, words)


def ticks(low: float, high: float, n: int) -> list[float]:
    """Round values between two others, about n."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low] if math.isfinite(low) else []
    rough = (high - low) / max(n, 1)
    if not 1e-300 < rough < 1e300:
        return [low]
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [0.0 if i == 0 else i * step for i in range(first, last + 1)]


def tick_text(value: float) -> str:
    """A number at a tick."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
