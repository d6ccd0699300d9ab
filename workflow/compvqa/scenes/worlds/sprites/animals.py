"""Drawing animals, to the right unless said otherwise; the origin is on the ground below the middle."""

from __future__ import annotations

from compvqa.scenes.worlds.sprites.sketch import COLORS, Point, Sketch, paint, shade

EYE = "#241f29"


def draw_animal(noun: str, pose: str, color: str) -> tuple[Sketch, Point | None]:
    """The sketch of an animal and the place on its head where a hat sits (None: no hat fits)."""
    fill, tone = paint(color), COLORS[color]
    sketch = Sketch()
    if noun == "bird":
        return _bird(sketch, fill, tone), None
    if noun == "horse":
        return _horse(sketch, fill, tone), None
    if noun == "sheep":
        return _sheep(sketch, fill, tone), None
    return {"dog": _dog, "cat": _cat}[noun](sketch, pose, fill, tone)


def _dog(s: Sketch, pose: str, fill: str, tone: str) -> tuple[Sketch, Point]:
    dark = shade(tone, -0.3) if tone != COLORS["black"] else shade(tone, 0.25)
    if pose == "sitting":
        s.limb([(-12, -4), (-19, -10), (-18, -16)], tone, 3.5)
        s.path("M -14 0 Q -18 -14 -4 -24 L 8 -28 Q 13 -14 11 0 Z", fill)
        s.limb([(7, -18), (9, -2)], tone, 4)
        s.ellipse(-6, -3, 8, 3.2, fill=tone)
        x, y = 7.0, -33.0
    elif pose == "lying":
        s.limb([(-20, -6), (-27, -10)], tone, 3.5)
        s.path("M -22 0 Q -24 -16 -6 -16 L 12 -16 Q 18 -8 18 0 Z", fill)
        s.ellipse(17, -2.5, 8, 2.8, fill=tone)
        x, y = 16.0, -17.0
    else:
        s.limb([(-17, -22), (-24, -32)], tone, 3.5)
        for x in (-15, -10, 9, 14):
            s.limb([(x, -14), (x, -2)], tone, 4)
        s.path("M -20 -16 Q -20 -27 -8 -26 L 10 -26 Q 19 -26 18 -14 Q 16 -9 0 -10 Q -18 -8 -20 -16 Z", fill)
        x, y = 17.0, -31.0
    s.ellipse(x, y, 9, 8.5, fill=fill)
    s.ellipse(x + 8.5, y + 2.5, 5.5, 4, fill=shade(tone, 0.25))
    s.ellipse(x + 13, y + 1, 2, 1.8, fill=EYE, stroke=None)
    s.path(f"M {x - 8} {y - 5} Q {x - 13} {y + 2} {x - 9} {y + 9} Q {x - 3} {y + 5} {x - 3} {y - 5} Z", dark)
    s.ellipse(x + 3, y - 2, 1.4, fill=EYE if tone != COLORS["black"] else "#ffffff", stroke=None)
    return s, (x, y - 5)


def _cat(s: Sketch, pose: str, fill: str, tone: str) -> tuple[Sketch, Point]:
    if pose == "lying":
        s.limb([(-18, -3), (-26, -6), (-25, -13)], tone, 3.2)
        s.path("M -20 0 Q -22 -15 -4 -15 Q 14 -15 16 0 Z", fill)
        s.ellipse(10, -2, 8, 2.4, fill=tone)
        x, y = 12.0, -14.0
    elif pose == "sitting":
        s.limb([(-10, -3), (-18, -7), (-16, -16)], tone, 3.2)
        s.path("M -12 0 Q -14 -16 -2 -23 L 6 -23 Q 14 -14 11 0 Z", fill)
        s.ellipse(5, -2, 5, 2.4, fill=tone)
        x, y = 2.0, -28.0
    else:
        s.limb([(-15, -17), (-22, -22), (-21, -33)], tone, 3.2)
        for x in (-13, -8, 8, 13):
            s.limb([(x, -11), (x, -2)], tone, 3.2)
        s.path("M -17 -13 Q -17 -21 -6 -21 L 8 -21 Q 17 -20 16 -12 Q 10 -7 0 -8 Q -14 -6 -17 -13 Z", fill)
        x, y = 15.0, -26.0
    for side in (-1, 1):
        ear = [(x + side * 8.5, y - 2), (x + side * 7.5, y - 14), (x + side * 1, y - 8)]
        s.polygon(ear, fill)
    s.ellipse(x, y, 9.5, 8.5, fill=fill)
    eye = "#d7e35b" if tone == COLORS["black"] else EYE
    for side in (-1, 1):
        s.ellipse(x + side * 3.6, y - 1, 1.5, 1.8, fill=eye, stroke=None)
        s.line([(x + side * 3, y + 3.5), (x + side * 10, y + 2.5)], stroke="#7a7078", width=0.7)
        s.line([(x + side * 3, y + 4.5), (x + side * 10, y + 5.5)], stroke="#7a7078", width=0.7)
    s.polygon([(x - 1.6, y + 2), (x + 1.6, y + 2), (x, y + 4)], "#e58a8a", stroke=None)
    return s, (x, y - 6)


def _horse(s: Sketch, fill: str, tone: str) -> Sketch:
    mane = "#4a3527" if tone != COLORS["black"] else "#77717c"
    if tone == COLORS["white"]:
        mane = "#b9b2a6"
    s.path("M -34 -46 Q -46 -40 -42 -20 Q -38 -26 -36 -38 Z", mane)
    for x in (-28, -20, 17, 25):
        s.limb([(x, -28), (x, -3)], tone, 5.5)
        s.rect(x - 4, -4, 8, 4, "#4b3f3a")
    s.path(
        "M -36 -34 Q -38 -52 -22 -52 L 14 -51 Q 20 -60 28 -74 L 38 -74 Q 36 -58 32 -40 "
        "Q 30 -24 18 -25 L -20 -25 Q -34 -24 -36 -34 Z",
        fill,
    )
    s.path("M 27 -80 Q 18 -70 14 -52 Q 20 -56 30 -72 Z", mane)
    s.polygon([(28, -80), (31, -88), (34, -80)], fill)
    s.path("M 26 -76 Q 27 -84 35 -82 L 50 -69 Q 52 -62 45 -62 L 35 -67 Q 27 -68 26 -76 Z", fill)
    s.ellipse(35, -75, 1.6, fill=EYE if tone != COLORS["black"] else "#ffffff", stroke=None)
    s.ellipse(47, -66, 1.2, fill=EYE, stroke=None)
    return s


def _sheep(s: Sketch, fill: str, tone: str) -> Sketch:
    face = "#4c444c" if tone != COLORS["black"] else "#8a838e"
    for x in (-13, -7, 8, 14):
        s.limb([(x, -12), (x, -2)], face, 3.5)
    wool = [(-16, -18, 9), (-9, -26, 9), (2, -28, 9), (12, -24, 9), (15, -16, 8), (4, -13, 9), (-8, -13, 9)]
    for x, y, r in wool:
        s.ellipse(x, y, r, fill=tone)
    s.ellipse(0, -20, 16, 10, fill=tone, stroke=None)
    s.ellipse(21, -27, 7, 8, fill=face)
    s.ellipse(18, -34, 6, 4, fill=tone)
    s.ellipse(14.5, -28, 3.5, 2, fill=face)
    s.ellipse(23, -28, 1.3, fill="#ffffff", stroke=None)
    return s


def _bird(s: Sketch, fill: str, tone: str) -> Sketch:
    for x in (-2, 3):
        s.line([(x, -6), (x, -0.8)], stroke="#c77b2b", width=1.6)
    s.polygon([(-9, -13), (-20, -20), (-18, -11)], fill)
    s.path("M -12 -12 Q -10 -22 2 -21 Q 12 -19 11 -11 Q 6 -4 -2 -5 Q -10 -6 -12 -12 Z", fill)
    s.ellipse(9, -21, 6.5, fill=fill)
    s.polygon([(14.5, -23), (21, -20), (14.5, -18)], "#f0a02c")
    s.path("M -7 -16 Q 2 -18 5 -12 Q -1 -7 -7 -11 Z", shade(tone, -0.25))
    s.ellipse(10.5, -22.5, 1.4, fill="#ffffff" if tone == COLORS["black"] else EYE, stroke=None)
    return s
