"""Drawing what people use: tools start at the hand that holds them (the origin) and point to the right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import cos, radians, sin

from compvqa.scenes.worlds.sprites.sketch import COLORS, OUTLINE, Point, Sketch, paint, shade

Look = Mapping[str, str]
STEEL, WOOD = "#c9cdd4", "#a9743f"
LIQUIDS = {"water": "#6fb7e8", "milk": "#fffdf4", "juice": "#f7a12f"}
# where a tool works, seen from the hand
TIPS: dict[str, Point] = {
    "watering can": (27, 20),
    "hose": (16, 2),
    "jug": (25, 10),
    "bottle": (23, 9),
    "paintbrush": (24, -4),
    "paint roller": (24, -2),
    "knife": (18, 16),
    "saw": (18, 14),
    "bat": (21, -21),
    "racket": (29, -24),
    "stick": (24, -12),
}


def draw_tool(noun: str, look: Look) -> Sketch:
    """The sketch of a tool in use."""
    sketch = Sketch()
    _TOOLS[noun](sketch, look)
    return sketch


def draw_food(noun: str) -> Sketch:
    """Food and logs, standing on the origin."""
    sketch = Sketch()
    _FOOD[noun](sketch)
    return sketch


def turned(points: Sequence[Point], degrees: float) -> list[Point]:
    """``points`` turned clockwise around the origin."""
    c, s = cos(radians(degrees)), sin(radians(degrees))
    return [(x * c - y * s, x * s + y * c) for x, y in points]


def _watering_can(s: Sketch, look: Look) -> None:
    fill, tone = paint(look["color"]), COLORS[look["color"]]
    s.line(turned([(-8, 8), (-4, -1), (6, -1), (9, 8)], 22), OUTLINE, 4.4)
    s.line(turned([(-8, 8), (-4, -1), (6, -1), (9, 8)], 22), tone, 2.2)
    s.polygon(turned([(10, 17), (26, 4), (29, 7), (12, 23)], 22), fill)
    s.polygon(turned([(-10, 7), (11, 7), (13, 24), (-12, 24)], 22), fill)
    s.polygon(turned([(23, 2), (31, 9), (33, 6), (26, -1)], 22), shade(tone, 0.3))


def _hose(s: Sketch, look: Look) -> None:
    tone = COLORS[look["color"]]
    s.line([(0, 0), (10, 1)], OUTLINE, 6)
    s.line([(0, 0), (10, 1)], tone, 3.8)
    s.polygon([(9, -3), (17, -1.5), (17, 4), (9, 5)], "#d8a83a")


def _jug(s: Sketch, look: Look) -> None:
    tone = COLORS[look["color"]]
    handle = turned([(5, -8), (-2, -6), (-2, 6), (4, 9)], 50)
    s.line(handle, OUTLINE, 4.6)
    s.line(handle, tone, 2.4)
    outline = [(4, -10), (20, -10), (26, -13), (23, -3), (25, 8), (20, 15), (6, 15), (1, 8), (4, -3)]
    s.polygon(turned(outline, 50), paint(look["color"]))


def _bottle(s: Sketch, look: Look) -> None:
    outline = [(-8, 14), (8, 14), (8, -8), (3.5, -15), (3.5, -24), (-3.5, -24), (-3.5, -15), (-8, -8)]
    s.polygon(turned(outline, 110), paint(look["color"], "glass"))
    s.polygon(turned([(-8, 9), (8, 9), (8, -2), (-8, -2)], 110), "#fdf7e6", width=0.8)


def _paintbrush(s: Sketch, look: Look) -> None:
    s.limb([(-5, 1), (10, -2)], WOOD, 3.2)
    s.polygon([(9, -7), (14, -8), (15, 3), (10, 3)], STEEL)
    s.polygon([(14, -8), (25, -8), (25, 1), (15, 3)], "#e9d7a8")
    s.polygon([(21, -8), (26, -8), (26, 1), (21, 2)], COLORS["purple"], width=0.8)


def _paint_roller(s: Sketch, look: Look) -> None:
    s.limb([(-5, 2), (7, 0)], WOOD, 4)
    s.line([(8, 0), (13, -1), (13, -11), (20, -11)], OUTLINE, 2)
    s.rect(18, -13, 8, 24, COLORS["purple"], r=3)


def _knife(s: Sketch, look: Look) -> None:
    s.polygon([(5, 3), (10, 1), (24, 15), (23, 19), (18, 18)], STEEL)
    s.limb([(-3, -3), (6, 4)], "#5a3a2a", 4)


def _saw(s: Sketch, look: Look) -> None:
    teeth = [(30 - 4 * i, 21 - 1.6 * i + (2.6 if i % 2 else 0)) for i in range(7)]
    s.polygon([(4, -1), (33, 15), *teeth, (1, 7)], STEEL)
    s.polygon([(-6, -4), (5, -3), (4, 8), (-7, 6)], WOOD)


def _bat(s: Sketch, look: Look) -> None:
    s.polygon([(-4, 1), (-1, 4), (22, -16), (26, -24), (21, -28), (14, -24)], paint("brown", "wooden"))


def _racket(s: Sketch, look: Look) -> None:
    s.limb([(-4, 4), (12, -11)], "#4b4650", 3.4)
    s.ellipse(21, -20, 12, 12, fill="#fbf9f0", stroke=OUTLINE, width=4.6)
    s.ellipse(21, -20, 12, 12, fill="none", stroke=COLORS[look["color"]], width=2.6)
    for d in (-6, -2, 2, 6):
        s.line([(21 + d, -29), (21 + d, -11)], "#8f8a94", 0.7)
        s.line([(12, -20 + d), (30, -20 + d)], "#8f8a94", 0.7)


def _stick(s: Sketch, look: Look) -> None:
    s.limb([(-5, 3), (24, -12)], WOOD, 3)


def _camera(s: Sketch, look: Look) -> None:
    s.rect(-6, -15, 8, 4, "#55505c", r=1)
    s.rect(-10, -12, 20, 15, "#55505c", r=2)
    s.rect(9, -9, 8, 10, "#2d2a33", r=1.5)
    s.rect(15.5, -7.5, 3, 7, "#9cd0ec", r=1, width=0.8)


def _phone(s: Sketch, look: Look) -> None:
    s.rect(-3, -20, 13, 23, "#2d2a33", r=2.5)
    s.rect(-1, -17, 9, 16, "#a9d9f2", r=1, width=0.6)


_TOOLS: dict[str, Callable[[Sketch, Look], None]] = {
    "watering can": _watering_can,
    "hose": _hose,
    "jug": _jug,
    "bottle": _bottle,
    "paintbrush": _paintbrush,
    "paint roller": _paint_roller,
    "knife": _knife,
    "saw": _saw,
    "bat": _bat,
    "racket": _racket,
    "stick": _stick,
    "camera": _camera,
    "phone": _phone,
}


def _carrot(s: Sketch) -> None:
    for dx in (-5, 0, 5):
        s.limb([(12, -9), (21, -13 + dx)], "#57ab4d", 2)
    s.path("M -18 -4 Q -4 -14 11 -15 Q 16 -9 11 -3 Q -4 -1 -18 -4 Z", "#f28524")
    for x in (-6, 1, 7):
        s.line([(x, -11), (x + 2, -8)], "#b95a12", 1)


def _bread(s: Sketch) -> None:
    s.path("M -17 -0.6 L -18 -10 Q -24 -20 -10 -20 L 10 -20 Q 24 -20 18 -10 L 17 -0.6 Z", "#d69a4c")
    for x in (-9, 0, 9):
        s.line([(x - 2, -17), (x + 2, -11)], "#8e5a22", 1.4)


def _cake(s: Sketch) -> None:
    s.rect(-19, -15, 38, 14.4, "#f3d9a4", r=2)
    s.rect(-19, -9, 38, 3, "#b1503f", stroke=None)
    s.path(
        "M -20 -13 L -20 -18 Q 0 -22 20 -18 L 20 -13 Q 15 -8 10 -13 Q 5 -8 0 -13 Q -5 -8 -10 -13 Q -15 -8 -20 -13 Z",
        "#f7b6c8",
    )
    s.ellipse(0, -22, 3.2, fill=COLORS["red"])


def _log(s: Sketch) -> None:
    s.rect(-24, -17, 44, 16.4, "#96663b", r=4)
    for y in (-12, -7):
        s.line([(-18, y), (12, y)], "#6b4426", 1)
    s.ellipse(20, -8.8, 5, 8.2, fill="#e2bd85")
    s.ellipse(20, -8.8, 2.2, 4, fill="none", stroke="#a9743f", width=0.9)


_FOOD: dict[str, Callable[[Sketch], None]] = {"carrot": _carrot, "bread": _bread, "cake": _cake, "log": _log}


def draw_drum(color: str) -> Sketch:
    """A drum on the ground."""
    s = Sketch()
    s.rect(-22, -38, 44, 37.4, paint(color), r=3)
    zigzag = [(-22 + 7.33 * i, -32 if i % 2 else -8) for i in range(7)]
    s.line(zigzag, "#fff7dc", 1.6)
    s.rect(-23, -8, 46, 5, "#f3d46b", r=2)
    s.ellipse(0, -38, 22.5, 5, fill="#fdf6e2")
    return s


def draw_sled(color: str) -> Sketch:
    """A sled; its rope is tied to the left end."""
    s = Sketch()
    s.path("M -30 -4 Q -38 -4 -36 -14", "none", stroke=OUTLINE, width=5)
    s.line([(-32, -3), (28, -3)], OUTLINE, 5)
    s.path("M -30 -4 Q -38 -4 -36 -14", "none", stroke=STEEL, width=2.6)
    s.line([(-32, -3), (28, -3)], STEEL, 2.6)
    for x in (-20, 16):
        s.rect(x, -14, 4, 10, WOOD)
    s.rect(-32, -20, 62, 8, paint(color), r=2.5)
    return s


def draw_stream(liquid: str, points: Sequence[Point]) -> Sketch:
    """A liquid running along ``points``."""
    s = Sketch()
    s.line(points, shade(LIQUIDS[liquid], -0.35) if liquid != "milk" else "#b5ac9c", 6.4)
    return s.line(points, LIQUIDS[liquid], 4.2)


def draw_drops(start: Point, end: Point) -> Sketch:
    """Drops of water falling in an arc from a spout to a plant."""
    s = Sketch()
    for lane in (-4, 3, 10):
        for i in range(1, 5):
            t = i / 5 + (0.08 if lane == 3 else 0)
            x = start[0] + (end[0] - start[0]) * t + lane * (0.25 + t)
            y = start[1] + (end[1] - start[1]) * t * t
            s.ellipse(x, y, 1.3, 2.1, fill=LIQUIDS["water"], stroke="#3f86bd", width=0.6)
    return s
