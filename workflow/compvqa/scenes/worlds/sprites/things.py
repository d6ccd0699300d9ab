"""Drawing things. The origin is the middle of what they stand on; y points down, so heights are negative."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from compvqa.scenes.worlds.sprites.sketch import COLORS, OUTLINE, Sketch, paint, shade

Look = Mapping[str, str]  # attribute group -> value


def fill_of(look: Look) -> str:
    """The paint of a thing with these attributes."""
    style = {"wooden": "wooden", "metal": "metal"}.get(look.get("material", ""), look.get("pattern", "plain"))
    return paint(look["color"], style)


def draw_thing(noun: str, look: Look) -> Sketch:
    """The sketch of a thing at normal size."""
    sketch = Sketch()
    _DRAW[noun](sketch, look)
    return sketch


def draw_front(noun: str, look: Look) -> Sketch:
    """The front of a container, drawn over what is in it."""
    sketch = Sketch()
    _FRONT[noun](sketch, look)
    return sketch


def _table(s: Sketch, look: Look) -> None:
    fill = fill_of(look)
    for x in (-46, 40):
        s.rect(x, -46, 6, 46, fill)
    s.rect(-50, -53, 100, 8, fill, r=2)


def _chair(s: Sketch, look: Look) -> None:
    fill = fill_of(look)
    s.rect(-19, -29, 4.5, 29, fill)
    s.rect(13, -29, 4.5, 29, fill)
    s.path("M -22 -68 Q -27 -70 -28 -65 L -22 -28 L -12 -28 L -17 -65 Q -18 -69 -22 -68 Z", fill)
    s.rect(-20, -33, 40, 6, fill, r=2)
    s.rect(-17, -16, 34, 3, fill)


def _bench(s: Sketch, look: Look) -> None:
    fill = fill_of(look)
    for x in (-57, 51):
        s.rect(x, -54, 6, 54, fill)
    for y in (-58, -46):
        s.rect(-63, y, 126, 10, fill, r=1.5)
    s.rect(-64, -30, 128, 8, fill, r=1.5)
    s.rect(-57, -13, 114, 4, fill)


def _sofa(s: Sketch, look: Look) -> None:
    fill, tone = fill_of(look), COLORS[look["color"]]
    for x in (-57, 50):
        s.rect(x, -5, 7, 5, "#5b4432")
    s.rect(-61, -60, 122, 46, fill, r=9)
    s.line([(0, -58), (0, -30)], stroke=shade(tone, -0.4), width=1)
    s.rect(-57, -30, 114, 14, fill, r=4)
    s.rect(-57, -18, 114, 14, shade(tone, -0.18), r=3)
    for x in (-70, 55):
        s.rect(x, -40, 15, 36, fill, r=6)


def _lamp(s: Sketch, look: Look) -> None:
    s.rect(-2, -66, 4, 64, "#7c7883")
    s.ellipse(0, -3, 12, 3, fill="#7c7883")
    s.polygon([(-10, -92), (10, -92), (18, -64), (-18, -64)], fill_of(look))


def _cup(s: Sketch, look: Look) -> None:
    s.ellipse(11, -12, 6, 6.5, fill="none", stroke=OUTLINE, width=5)
    s.ellipse(11, -12, 6, 6.5, fill="none", stroke=COLORS[look["color"]], width=2.6)
    s.path("M -11 -22 L 11 -22 L 9 -2 Q 8 -0.6 6 -0.6 L -6 -0.6 Q -8 -0.6 -9 -2 Z", fill_of(look))
    s.ellipse(0, -22, 11, 2.6, fill=shade(COLORS[look["color"]], -0.35))


def _bottle(s: Sketch, look: Look) -> None:
    s.rect(-4, -40, 8, 5, "#d9c7a0", r=1)
    s.path(
        "M -3.5 -35 L 3.5 -35 L 4 -28 Q 9 -25 9 -20 L 9 -2 Q 9 -0.6 7 -0.6 L -7 -0.6 "
        "Q -9 -0.6 -9 -2 L -9 -20 Q -9 -25 -4 -28 Z",
        paint(look["color"], "glass"),
    )
    s.rect(-9, -17, 18, 9, "#fdf7e6", width=0.8)
    s.line([(-5.5, -22), (-5.5, -4)], stroke="#ffffff", width=1)


def _vase(s: Sketch, look: Look) -> None:
    s.path(
        "M -7 -33 L 7 -33 Q 3 -27 8 -22 Q 15 -14 7 -0.6 L -7 -0.6 Q -15 -14 -8 -22 Q -3 -27 -7 -33 Z",
        fill_of(look),
    )


def _bowl(s: Sketch, look: Look) -> None:
    s.ellipse(0, -15, 19, 4, fill=shade(COLORS[look["color"]], -0.4))
    _bowl_front(s, look)


def _bowl_front(s: Sketch, look: Look) -> None:
    s.path("M -19 -15 Q 0 -9 19 -15 Q 17 -2 8 -0.6 L -8 -0.6 Q -17 -2 -19 -15 Z", fill_of(look))


def _box(s: Sketch, look: Look) -> None:
    s.polygon([(-20, -30), (-15, -36), (15, -36), (20, -30)], shade(COLORS[look["color"]], -0.45))
    _box_front(s, look)


def _box_front(s: Sketch, look: Look) -> None:
    s.rect(-20, -30, 40, 30, fill_of(look), r=1)
    s.line([(-20, -23), (20, -23)], stroke=shade(COLORS[look["color"]], -0.45), width=1.2)


def _basket(s: Sketch, look: Look) -> None:
    tone = COLORS[look["color"]]
    s.path("M -18 -22 Q -14 -48 0 -48 Q 14 -48 18 -22", "none", stroke=OUTLINE, width=4.4)
    s.path("M -18 -22 Q -14 -48 0 -48 Q 14 -48 18 -22", "none", stroke=tone, width=2.2)
    s.ellipse(0, -23, 21, 4, fill=shade(tone, -0.5))
    _basket_front(s, look)


def _basket_front(s: Sketch, look: Look) -> None:
    tone = COLORS[look["color"]]
    s.path("M -21 -23 Q 0 -18 21 -23 L 16 -2 Q 0 1.5 -16 -2 Z", paint(look["color"]))
    weave = shade(tone, -0.35)
    for y in (-16, -11, -6):
        s.line([(-17 - y / 12, y), (0, y + 2.5), (17 + y / 12, y)], stroke=weave, width=1)
    for x in (-12, -6, 0, 6, 12):
        s.line([(x * 1.15, -20), (x, -1)], stroke=weave, width=1)


def _tree(s: Sketch, look: Look) -> None:
    tone = COLORS[look["color"]]
    s.path("M -6 -62 L 6 -62 L 8 -3 Q 10 -0.6 13 -0.6 L -13 -0.6 Q -10 -0.6 -8 -3 Z", "#8a6242")
    blobs = [(-24, -74, 17), (24, -74, 17), (-15, -96, 19), (16, -97, 19), (0, -112, 17), (0, -80, 21)]
    for x, y, r in blobs:
        s.ellipse(x, y, r, fill=tone)
    for x, y, r in blobs:
        s.ellipse(x, y, r - 1, fill=paint(look["color"]), stroke=None)
    for x, y in ((-20, -82), (12, -104), (22, -76), (-4, -92)):
        s.path(f"M {x - 5} {y} Q {x} {y - 5} {x + 5} {y}", "none", stroke=shade(tone, -0.25), width=1.4)


def _bush(s: Sketch, look: Look) -> None:
    tone = COLORS[look["color"]]
    blobs = [(-19, -12, 11.5), (19, -12, 11.5), (-9, -23, 13), (10, -22, 13), (0, -13, 12.5)]
    for x, y, r in blobs:
        s.ellipse(x, y, r, fill=tone)
    for x, y, r in blobs:
        s.ellipse(x, y, r - 1, fill=paint(look["color"]), stroke=None)
    for x, y in ((-12, -24), (9, -20), (-20, -12), (20, -10)):
        s.path(f"M {x - 4} {y} Q {x} {y - 4} {x + 4} {y}", "none", stroke=shade(tone, -0.25), width=1.3)


def _flower(s: Sketch, look: Look) -> None:
    s.limb([(0, -30), (0, -1.7)], "#4d9c45", 1.8)
    s.path("M 0 -10 Q 9 -20 12 -12 Q 7 -7 0 -8 Z", "#57ab4d")
    s.path("M 0 -7 Q -9 -17 -12 -9 Q -7 -4 0 -5 Z", "#57ab4d")
    tone = COLORS[look["color"]]
    for dx, dy in ((0, -7), (6.7, -2.2), (4.1, 5.7), (-4.1, 5.7), (-6.7, -2.2)):
        s.ellipse(dx, -34 + dy, 5.2, fill=tone, width=1)
    s.ellipse(0, -34, 3.8, fill="#f7b733" if look["color"] != "yellow" else "#7a4a22", width=0.8)


def _car(s: Sketch, look: Look) -> None:
    fill = paint(look["color"])
    s.path("M -32 -24 Q -26 -42 -14 -42 L 10 -42 Q 22 -42 30 -24 Z", fill)
    for left, right, tip in ((-25, -3, -18), (1, 23, 15)):
        s.polygon([(left, -25), (min(left + 7, tip), -37), (max(right - 8, tip - 3), -37), (right, -25)], "#cfe6f2")
    s.path("M -50 -10 Q -52 -24 -40 -25 L 34 -25 Q 51 -23 51 -10 L 49 -7 L -49 -7 Z", fill)
    if look.get("pattern") == "striped":
        for x in (-46, -36, -26, -16, -6, 4, 14, 24, 34, 44):
            s.polygon([(x, -9), (x + 4, -9), (x + 4, -21), (x, -21)], "#fffdf6", stroke=None)
    s.rect(45, -20, 5, 5, "#fff2a8", r=1.5, width=0.8)
    _wheels(s, (-28, 28), 9.5)


def _truck(s: Sketch, look: Look) -> None:
    s.rect(-60, -60, 74, 50, fill_of(look), r=2)
    s.path("M 16 -44 L 36 -44 Q 42 -44 46 -32 L 56 -28 Q 59 -26 59 -20 L 59 -10 L 16 -10 Z", paint(look["color"]))
    s.polygon([(24, -40), (35, -40), (41, -28), (24, -28)], "#cfe6f2")
    s.rect(53, -20, 5, 5, "#fff2a8", r=1.5, width=0.8)
    s.rect(-60, -12, 119, 4, "#5a5560")
    _wheels(s, (-40, -14, 40), 10)


def _wheels(s: Sketch, xs: tuple[int, ...], r: float) -> None:
    for x in xs:
        s.ellipse(x, -r - 0.6, r, fill="#3a3740")
        s.ellipse(x, -r - 0.6, r * 0.5, fill="#c9c7cf", width=0.8)


def _bicycle(s: Sketch, look: Look) -> None:
    for x in (-26, 26):
        s.ellipse(x, -16.5, 15, fill="none", stroke="#35323b", width=3)
        for dx, dy in ((13, 0), (0, 13), (9, 9), (9, -9)):
            s.line([(x - dx, -16.5 - dy), (x + dx, -16.5 + dy)], stroke="#a9a6b0", width=0.6)
    frame = [(-26, -16.5), (-10, -38), (18, -38), (-2, -16), (-26, -16.5)]
    for points in (frame, [(-12, -44), (-2, -16)], [(26, -16.5), (16, -50)]):
        s.line(points, width=5)
    for points in (frame, [(-12, -44), (-2, -16)], [(26, -16.5), (16, -50)]):
        s.line(points, stroke=COLORS[look["color"]], width=3)
    s.rect(-20, -47, 15, 4, "#3a3740", r=2)
    s.line([(13, -51), (24, -52)], stroke="#3a3740", width=3)


def _ball(s: Sketch, look: Look) -> None:
    s.ellipse(0, -14, 13.4, fill=fill_of(look))
    s.ellipse(-5, -19.5, 3.4, 2.4, fill="#ffffff", stroke=None, opacity=0.75)


def _kite(s: Sketch, look: Look) -> None:
    tone = COLORS[look["color"]]
    s.path("M 0 -2 Q 8 4 0 9 Q -8 14 0 20", "none", stroke=OUTLINE, width=1.2)
    for y in (6, 14):
        s.polygon([(-6, y - 3), (-6, y + 3), (6, y - 3), (6, y + 3)], tone, width=0.8)
    s.polygon([(0, -50), (18, -30), (0, -2), (-18, -30)], fill_of(look))
    s.line([(0, -50), (0, -2)], width=0.8)
    s.line([(-18, -30), (18, -30)], width=0.8)


def _balloon(s: Sketch, look: Look) -> None:
    s.polygon([(-4, 0), (4, 0), (0, -6)], COLORS[look["color"]])
    s.ellipse(0, -21, 13, 16, fill=fill_of(look))
    s.ellipse(-5, -27, 3, 4.5, fill="#ffffff", stroke=None, opacity=0.7)


def _umbrella(s: Sketch, look: Look) -> None:
    s.line([(0, -4), (0, -74)], width=3)
    s.path(
        "M -34 -50 Q -30 -78 0 -78 Q 30 -78 34 -50 Q 28 -56 22 -50 Q 11 -57 0 -50 Q -11 -57 -22 -50 "
        "Q -28 -56 -34 -50 Z",
        fill_of(look),
    )
    s.line([(0, -78), (0, -82)], width=2)


def _book(s: Sketch, look: Look) -> None:
    s.rect(-16, -15, 32, 14.4, paint(look["color"]), r=2)
    s.rect(-13, -11, 29, 7, "#fdf8e8", width=0.8)
    for y in (-8.8, -6.4):
        s.line([(-11, y), (15, y)], stroke="#bdb7a6", width=0.6)


def _apple(s: Sketch, look: Look) -> None:
    s.path(
        "M 0 -18 Q 11 -23 11.5 -11 Q 11 -0.6 4 -0.6 Q 0 -2 -4 -0.6 Q -11 -0.6 -11.5 -11 Q -11 -23 0 -18 Z",
        paint(look["color"]),
    )
    s.line([(0, -18), (1.5, -23)], stroke="#5d4028", width=2)
    s.path("M 1.5 -20 Q 6 -26 10 -22 Q 6 -18 1.5 -20 Z", "#57ab4d", width=0.8)


_DRAW: dict[str, Callable[[Sketch, Look], None]] = {
    "table": _table,
    "chair": _chair,
    "bench": _bench,
    "sofa": _sofa,
    "lamp": _lamp,
    "cup": _cup,
    "bottle": _bottle,
    "vase": _vase,
    "bowl": _bowl,
    "box": _box,
    "basket": _basket,
    "tree": _tree,
    "bush": _bush,
    "flower": _flower,
    "car": _car,
    "truck": _truck,
    "bicycle": _bicycle,
    "ball": _ball,
    "kite": _kite,
    "balloon": _balloon,
    "umbrella": _umbrella,
    "book": _book,
    "apple": _apple,
}
_FRONT: dict[str, Callable[[Sketch, Look], None]] = {
    "vase": _vase,
    "bowl": _bowl_front,
    "box": _box_front,
    "basket": _basket_front,
}
