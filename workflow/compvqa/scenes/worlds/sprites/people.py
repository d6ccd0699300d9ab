"""Drawing people: a body, its clothes, and where its hands and head are."""

from __future__ import annotations

from dataclasses import dataclass

from compvqa.scenes.worlds.sprites.sketch import COLORS, Point, Sketch, paint, shade

SKINS = ("#f3cda8", "#d9a06f", "#8b5a3a")
HAIRS = ("#3b2a20", "#6b4226", "#c98f3c", "#2a2730")
TROUSERS = ("#4a5568", "#6d5b4b", "#39424e")


@dataclass(frozen=True)
class Build:
    """Heights above the ground of a standing figure, and half widths, in pixels."""

    hip: float
    shoulder: float
    head: float
    head_radius: float
    half_shoulder: float
    leg: float
    hem: float = 0  # of a dress


BUILDS = {
    "man": Build(hip=44, shoulder=82, head=95, head_radius=11, half_shoulder=14, leg=7),
    "woman": Build(hip=44, shoulder=78, head=90, head_radius=10.5, half_shoulder=11, leg=4.5, hem=24),
    "boy": Build(hip=27, shoulder=50, head=62, head_radius=11, half_shoulder=11, leg=5.5),
    "girl": Build(hip=27, shoulder=48, head=60, head_radius=11, half_shoulder=9.5, leg=4.5, hem=16),
}


@dataclass
class Figure:
    """A drawn person: sketches in drawing order, and places for what it holds and wears.

    ``back`` lies behind the clothes, ``front`` over them; ``arm`` (the one that holds) comes last, over what
    is held. Coordinates: the origin is on the ground (standing) or on the seat (sitting), between the legs.
    """

    back: Sketch
    clothes: Sketch
    front: Sketch
    arm: Sketch
    hand: Point
    crown: Point


def draw_person(
    noun: str, pose: str, reach: str, clothes: str, tones: tuple[int, int, int], drop: float = 26
) -> Figure:
    """A person.

    ``pose``: standing, kicking, sitting (towards us) or astride (to the right: on a chair, a saddle);
    ``reach``: where the right arm goes: down, side, out, close, up, forward, raise, low or eye;
    ``clothes``: a paint; ``tones``: which skin, hair and trousers; ``drop``: how far the feet hang
    below the seat.
    """
    build = BUILDS[noun]
    skin, hair, trousers = SKINS[tones[0]], HAIRS[tones[1]], TROUSERS[tones[2]]
    seated = pose in ("sitting", "astride")
    rise = 2 - build.hip if seated else 0.0  # how much lower the trunk is than when standing
    figure = Figure(Sketch(), Sketch(), Sketch(), Sketch(), (0, 0), (0, 0))
    shoulder, head = -build.shoulder - rise, -build.head - rise
    hip = -build.hip - rise
    figure.crown = (0, head - build.head_radius * 0.45)
    _long_hair(figure.back, noun, head, build, hair)
    _legs(figure, noun, pose, hip, build, skin, trousers, clothes, drop)
    _trunk(figure.clothes, noun, pose, shoulder, hip, build, clothes)
    lift = 0.55 if noun in ("boy", "girl") else 0.75
    half = build.half_shoulder
    if pose != "astride":
        far = [
            (-half + 2, shoulder + 5),
            (-half - 4, shoulder + 20 * lift),
            (-half - 5, shoulder + 40 * lift),
        ]
        _arm(figure.back, figure.clothes, far, skin, clothes)
    hand, elbow = {
        "down": ((half + 5, shoulder + 40 * lift), (half + 4, shoulder + 20 * lift)),
        "side": ((half + 14, shoulder + 24 * lift), (half + 4, shoulder + 24 * lift)),
        "forward": ((half + 16, shoulder + 16 * lift), (half + 5, shoulder + 20 * lift)),
        "close": ((half + 6, shoulder + 14), (half + 5, shoulder + 26 * lift)),
        "out": ((half + 18, shoulder + 30 * lift), (half + 7, shoulder + 18 * lift)),
        "raise": ((half + 17, shoulder - (14 if lift < 0.6 else 6)), (half + 8, shoulder + 10 * lift)),
        "low": ((half + 16, shoulder + 46 * lift), (half + 6, shoulder + 26 * lift)),
        "eye": ((half + 9, head + 3), (half + 12, shoulder + 14 * lift)),
        "up": ((half + 11, shoulder - 8), (half + 6, shoulder + 6)),
    }[reach]
    figure.hand = hand
    start = (half - 2, shoulder + 5) if pose != "astride" else (2, shoulder + 7)
    _arm(figure.arm, figure.clothes, [start, elbow, hand], skin, clothes)
    _head(figure.front, noun, head, build, skin, hair, astride=pose == "astride")
    return figure


def _arm(bare: Sketch, sleeve: Sketch, points: list[Point], skin: str, clothes: str) -> None:
    first, second = points[0], points[1]
    middle = (first[0] + (second[0] - first[0]) * 0.8, first[1] + (second[1] - first[1]) * 0.8)
    bare.limb([middle, *points[1:]], skin, 4.5)
    bare.ellipse(points[-1][0], points[-1][1], 3.2, fill=skin)
    sleeve.limb([first, middle], _flat(clothes), 6.5)


def _flat(fill: str) -> str:
    """The plain colour of a paint: a gradient does not show on thin lines."""
    return COLORS[fill.removesuffix(")").rsplit("-", 1)[1]]


def _long_hair(sketch: Sketch, noun: str, head: float, build: Build, hair: str) -> None:
    r = build.head_radius
    if noun == "woman":
        side, top, end = r + 2, head - r - 3, head + r + 9
        sketch.path(
            f"M {-side} {head} Q {-side} {top} 0 {top} Q {side} {top} {side} {head} "
            f"L {side + 2} {end} L {-side - 2} {end} Z",
            hair,
        )
    if noun == "girl":
        for side in (-1, 1):
            sketch.ellipse(side * (r + 4), head + 4, 4.5, 7, fill=hair)


def _legs(
    figure: Figure,
    noun: str,
    pose: str,
    hip: float,
    build: Build,
    skin: str,
    trousers: str,
    clothes: str,
    drop: float,
) -> None:
    skirt = build.hem > 0
    color = skin if skirt else trousers
    width = 6 if skirt or noun == "boy" else 9
    shoe = "#4b3b36"
    reach = min(drop, build.hip - 3)
    if pose == "astride":
        knee, foot = (build.hip * 0.42, hip + 4), (build.hip * 0.46, hip + 4 + reach)
        sketch = figure.front if not skirt else figure.back
        sketch.limb([(0, hip), knee, foot], color, width)
        sketch.ellipse(foot[0] + 3, foot[1], 6, 3, fill=shoe)
        if skirt:
            figure.clothes.limb([(0, hip), (knee[0] - 2, knee[1])], _flat(clothes), width + 5)
        return
    for side in (-1, 1):
        x = side * build.leg
        if pose == "sitting":
            points, foot = [(x, hip), (x * 1.25, hip + reach)], (x * 1.25 + side * 2, hip + reach)
        elif pose == "kicking" and side == 1:
            points = [(x, hip), (x + 10, hip * 0.55), (x + 17, -9)]
            foot = (x + 20, -9)
        else:
            points, foot = [(x, hip), (x, -3)], (x + side * 2, -2.5)
        figure.back.limb(points, color, width)
        figure.back.ellipse(foot[0], foot[1], 5.5, 2.8, fill=shoe)
        if noun == "boy":
            (x, y), (to_x, to_y) = points[:2]
            short = [(x, y), ((x + to_x) / 2, (y + to_y) / 2)]
            figure.back.limb(short, trousers, width + 3)


def _trunk(sketch: Sketch, noun: str, pose: str, shoulder: float, hip: float, build: Build, clothes: str) -> None:
    half = build.half_shoulder * (0.8 if pose == "astride" else 1)
    if build.hem:
        waist = (shoulder + hip) / 2 + 1
        bottom = hip + 5 if pose in ("sitting", "astride") else -build.hem
        flare = half + (1 if pose == "astride" else 7)
        points = [
            (-half + 2, shoulder),
            (half - 2, shoulder),
            (half, shoulder + 5),
            (half - 3, waist),
            (flare, bottom),
            (-flare, bottom),
            (-half + 3, waist),
            (-half, shoulder + 5),
        ]
        sketch.polygon(points, clothes)
        return
    bottom = hip + 2
    sketch.path(
        f"M {-half + 4} {shoulder} L {half - 4} {shoulder} Q {half} {shoulder} {half} {shoulder + 5} "
        f"L {half - 2} {bottom} L {-half + 2} {bottom} L {-half} {shoulder + 5} "
        f"Q {-half} {shoulder} {-half + 4} {shoulder} Z",
        clothes,
    )


def _head(sketch: Sketch, noun: str, head: float, build: Build, skin: str, hair: str, astride: bool) -> None:
    r = build.head_radius
    look = 2.5 if astride else 0
    sketch.ellipse(0, head, r, fill=skin)
    fringe = 0.15 if noun in ("woman", "girl") else 0.3
    edge, top = head - r * 0.05, head - r - 1.5
    sketch.path(
        f"M {-r} {edge} Q {-r} {top} 0 {top} Q {r} {top} {r} {edge} "
        f"Q {r * 0.6} {head - r * (fringe + 0.4)} 0 {head - r * (fringe + 0.3)} "
        f"Q {-r * 0.6} {head - r * (fringe + 0.3)} {-r} {edge} Z",
        hair,
    )
    for side in (-1, 1):
        sketch.ellipse(side * 3.6 + look, head + 1.5, 1.3, fill="#2b2530", stroke=None)
    mouth = head + r * 0.5
    sketch.path(f"M {look - 3} {mouth} Q {look} {mouth + 3} {look + 3} {mouth}", "none", stroke="#8c3b34", width=1.2)
    if noun == "man":
        ear, chin, lip = head + 2, head + r + 1.5, head + r * 0.45
        sketch.path(
            f"M {-r + 0.6} {ear} Q {-r + 1} {chin} 0 {chin} Q {r - 1} {chin} {r - 0.6} {ear} "
            f"Q {r * 0.5} {lip} {look} {lip - 0.8} Q {-r * 0.5} {lip} {-r + 0.6} {ear} Z",
            hair,
            width=0.8,
        )
        sketch.ellipse(look, mouth + 1, 2.6, 1.2, fill=shade(skin, -0.35), stroke=None)
    if noun == "woman":
        sketch.ellipse(look, mouth + 1, 2.4, 1.3, fill="#c9433f", stroke=None)


def draw_hat(fill: str, band: str) -> Sketch:
    """A hat; the origin is the middle of its lower edge."""
    sketch = Sketch()
    sketch.path("M -10 -3 Q -10 -15 0 -15 Q 10 -15 10 -3 Z", fill)
    sketch.ellipse(0, -2.5, 17, 3.4, fill=fill)
    sketch.rect(-10, -6, 20, 3, band, stroke=None)
    return sketch


def clothing_paint(color: str, pattern: str) -> str:
    """The paint of a shirt, a dress or a hat."""
    return paint(color, pattern)
