"""Drawing with known extents: SVG shapes whose tight box is kept as they are drawn, and their paints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

Point = tuple[float, float]
Extent = tuple[float, float, float, float]  # left, top, right, bottom

OUTLINE = "#3b3442"
COLORS = {
    "red": "#dc3a33",
    "orange": "#f58f22",
    "yellow": "#f8d23a",
    "green": "#3fa34a",
    "blue": "#2f72d8",
    "purple": "#8f4dbd",
    "brown": "#8d5c34",
    "black": "#38353f",
    "white": "#f6f4ee",
    "gray": "#9b9ea6",
}
_STEPS = 8
_COMMAND = re.compile(r"([MLQCZ])([^MLQCZ]*)")


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def shade(color: str, amount: float) -> str:
    """``color`` (#rrggbb) mixed with white (amount > 0) or black (amount < 0)."""
    target = 255 if amount > 0 else 0
    parts = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part + (target - part) * abs(amount)):02x}" for part in parts)


def paint(color: str, style: str = "plain") -> str:
    """The fill for a named colour in a style: plain, striped, dotted, wooden, metal or glass."""
    return f"url(#{style}-{color})"


def paint_definitions(svg: str) -> str:
    """The definitions (gradients and patterns) of the paints that ``svg`` uses."""
    used = sorted(set(re.findall(r"url\(#([a-z]+)-([a-z]+)\)", svg)))
    return "".join(_definition(style, color) for style, color in used)


def _definition(style: str, name: str) -> str:
    color, key = COLORS[name], f"{style}-{name}"
    mark = shade(COLORS["gray"], 0.1) if name == "white" else "#fffdf6"
    if style == "striped":
        return (
            f'<pattern id="{key}" width="7" height="7" patternUnits="userSpaceOnUse">'
            f'<rect width="7" height="7" fill="{color}"/>'
            f'<rect width="7" height="2.8" fill="{mark}"/></pattern>'
        )
    if style == "dotted":
        dots = "".join(f'<circle cx="{x}" cy="{y}" r="1.5" fill="{mark}"/>' for x, y in ((2, 2), (5.5, 5.5)))
        return (
            f'<pattern id="{key}" width="7" height="7" patternUnits="userSpaceOnUse">'
            f'<rect width="7" height="7" fill="{color}"/>{dots}</pattern>'
        )
    if style == "wooden":
        grain = "".join(
            f'<path d="M0 {y} Q5 {y - 1.4} 10 {y} T20 {y}" stroke="{shade(color, -0.35)}" stroke-width="0.8" '
            'fill="none"/>'
            for y in (1.5, 4.5)
        )
        return (
            f'<pattern id="{key}" width="20" height="6" patternUnits="userSpaceOnUse">'
            f'<rect width="20" height="6" fill="{shade(color, 0.12)}"/>{grain}</pattern>'
        )
    stops = {
        "plain": ((0, 0.22), (0.55, 0), (1, -0.22)),
        "metal": ((0, -0.25), (0.3, 0.75), (0.5, -0.05), (0.75, 0.55), (1, -0.35)),
        "glass": ((0, 0.55), (0.5, 0.15), (1, 0.35)),
    }[style]
    opacity = ' stop-opacity="0.72"' if style == "glass" else ""
    body = "".join(f'<stop offset="{at}" stop-color="{shade(color, amount)}"{opacity}/>' for at, amount in stops)
    return f'<linearGradient id="{key}" x1="0" y1="0" x2="1" y2="0.6">{body}</linearGradient>'


@dataclass
class Sketch:
    """Shapes in their own coordinates (y points down) and the extent of all that was drawn."""

    parts: list[str] = field(default_factory=list)
    extent: Extent | None = None

    def _grow(self, points: Iterable[Point], margin: float) -> None:
        xs, ys = zip(*points, strict=True)
        box = (min(xs) - margin, min(ys) - margin, max(xs) + margin, max(ys) + margin)
        self.extent = box if self.extent is None else union([self.extent, box])

    def _add(self, shape: str, fill: str, stroke: str | None, width: float, opacity: float = 1) -> None:
        line = f' stroke="{stroke}" stroke-width="{_number(width)}"' if stroke else ""
        clear = f' opacity="{opacity}"' if opacity < 1 else ""
        ends = ' stroke-linejoin="round" stroke-linecap="round"' if stroke else ""
        self.parts.append(f'<{shape} fill="{fill}"{line}{ends}{clear}/>')

    def rect(
        self,
        x: float,
        y: float,
        w: float,
        h: float,
        fill: str,
        r: float = 0,
        stroke: str | None = OUTLINE,
        width: float = 1.2,
    ) -> Sketch:
        """A rectangle with its upper left corner at (x, y) and corners of radius r."""
        self._grow([(x, y), (x + w, y + h)], width / 2 if stroke else 0)
        values = " ".join(
            f'{k}="{_number(v)}"' for k, v in (("x", x), ("y", y), ("width", w), ("height", h), ("rx", r))
        )
        self._add(f"rect {values}", fill, stroke, width)
        return self

    def ellipse(
        self,
        x: float,
        y: float,
        rx: float,
        ry: float | None = None,
        fill: str = "none",
        stroke: str | None = OUTLINE,
        width: float = 1.2,
        opacity: float = 1,
    ) -> Sketch:
        """An ellipse around (x, y)."""
        ry = rx if ry is None else ry
        self._grow([(x - rx, y - ry), (x + rx, y + ry)], width / 2 if stroke else 0)
        values = " ".join(f'{k}="{_number(v)}"' for k, v in (("cx", x), ("cy", y), ("rx", rx), ("ry", ry)))
        self._add(f"ellipse {values}", fill, stroke, width, opacity)
        return self

    def polygon(self, points: Sequence[Point], fill: str, stroke: str | None = OUTLINE, width: float = 1.2) -> Sketch:
        """A closed polygon."""
        self._grow(points, width / 2 if stroke else 0)
        text = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self._add(f'polygon points="{text}"', fill, stroke, width)
        return self

    def line(self, points: Sequence[Point], stroke: str = OUTLINE, width: float = 1.2) -> Sketch:
        """An open line through the points."""
        self._grow(points, width / 2)
        text = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self._add(f'polyline points="{text}"', "none", stroke, width)
        return self

    def limb(self, points: Sequence[Point], color: str, width: float) -> Sketch:
        """A thick outlined line: an arm, a leg, a handle."""
        self.line(points, OUTLINE, width + 2.2)
        return self.line(points, color, width)

    def path(self, d: str, fill: str, stroke: str | None = OUTLINE, width: float = 1.2) -> Sketch:
        """A path of absolute M, L, Q, C and Z commands."""
        self._grow(_trace(d), width / 2 if stroke else 0)
        self._add(f'path d="{d}"', fill, stroke, width)
        return self


def _trace(d: str) -> list[Point]:
    """Points on the path ``d``, dense enough for its extent."""
    points: list[Point] = []
    for command, text in _COMMAND.findall(d):
        values = [float(value) for value in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text)]
        pairs = list(zip(values[::2], values[1::2], strict=True))
        order = {"Q": 2, "C": 3}.get(command, 1)
        for i in range(0, len(pairs), order):
            controls = [points[-1], *pairs[i : i + order]] if order > 1 else pairs[i : i + 1]
            steps = range(1, _STEPS + 1) if order > 1 else [0]
            points.extend(_bezier(controls, step / _STEPS) for step in steps)
    return points


def _bezier(controls: Sequence[Point], t: float) -> Point:
    while len(controls) > 1:
        controls = [
            (a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t) for a, b in zip(controls, controls[1:], strict=False)
        ]
    return controls[0]


def union(extents: Iterable[Extent]) -> Extent:
    """The smallest extent around all of ``extents``."""
    left, top, right, bottom = zip(*extents, strict=True)
    return (min(left), min(top), max(right), max(bottom))


@dataclass
class Layer:
    """A sketch placed in a picture, belonging to the object ``owner`` (None: a string, a decoration)."""

    owner: int | None
    sketch: Sketch
    x: float = 0
    y: float = 0
    scale: float = 1
    flip: bool = False

    def extent(self) -> Extent:
        """Left, top, right and bottom in the picture, in pixels."""
        left, top, right, bottom = self.sketch.extent or (0, 0, 0, 0)
        if self.flip:
            left, right = -right, -left
        return (
            self.x + self.scale * left,
            self.y + self.scale * top,
            self.x + self.scale * right,
            self.y + self.scale * bottom,
        )

    def svg(self) -> str:
        sx = -self.scale if self.flip else self.scale
        move = f"translate({_number(self.x)} {_number(self.y)}) scale({_number(sx)} {_number(self.scale)})"
        return f'<g transform="{move}">{"".join(self.sketch.parts)}</g>'
