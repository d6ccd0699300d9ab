"""From a scene to its picture: backdrop and layers as SVG, rendered to PNG."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

import resvg_py

from compvqa.scenes.worlds.sprites.scene import Scene
from compvqa.scenes.worlds.sprites.sketch import paint_definitions
from compvqa.seeds import generator


def render(scene: Scene) -> bytes:
    """The scene's picture as PNG; the same bytes on every run."""
    return bytes(resvg_py.svg_to_bytes(svg_string=scene_svg(scene), skip_system_fonts=True))


def scene_svg(scene: Scene) -> str:
    """The scene's picture as SVG."""
    body = "".join(layer.svg() for layer in scene.layers)
    back = backdrop_svg(scene)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{scene.width}" height="{scene.height}" '
        f'viewBox="0 0 {scene.width} {scene.height}"><defs>{_BACKDROP_PAINTS}{paint_definitions(body)}</defs>'
        f"{back}{_shadows(scene)}{body}</svg>"
    )


def _gradient(key: str, top: str, bottom: str) -> str:
    return (
        f'<linearGradient id="{key}" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="{top}"/>'
        f'<stop offset="1" stop-color="{bottom}"/></linearGradient>'
    )


_BACKDROP_PAINTS = "".join(
    [
        _gradient("sky", "#bfe0f4", "#eef6f6"),
        _gradient("meadow", "#cfe2ae", "#b5d08c"),
        _gradient("paving", "#d6d2cc", "#bdb8b2"),
        _gradient("sand", "#e6dcbf", "#d6c79f"),
        _gradient("tiles", "#dfd9d2", "#cbc2b8"),
        _gradient("planks", "#dcc3a1", "#c9aa82"),
    ]
)


def _fill(x: float, y: float, w: float, h: float, fill: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill={quoteattr(fill)}/>'


def _ellipse(x: float, y: float, rx: float, ry: float, fill: str, opacity: float) -> str:
    return f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{rx:.1f}" ry="{ry:.1f}" fill="{fill}" opacity="{opacity}"/>'


def backdrop_svg(scene: Scene) -> str:
    """Sky and ground, or the wall and floor of a room: pale, so that nothing in it is taken for an object."""
    rng = generator(0, "sprites backdrop", scene.image)
    if scene.backdrop in ("kitchen", "room"):
        return _indoors(scene, rng)
    w, h, y = scene.width, scene.height, scene.horizon
    parts = [_fill(0, 0, w, y, "url(#sky)")]
    if rng.random() < 0.5:
        x = rng.uniform(20, w - 20)
        parts.append(f'<circle cx="{x:.0f}" cy="24" r="13" fill="#fdeeb0" opacity="0.9"/>')
    for _ in range(2):
        x, top = rng.uniform(0, w), rng.uniform(16, 48)
        for dx, r in ((-13, 7), (0, 10), (13, 7)):
            parts.append(_ellipse(x + dx, top, r + 4, r, "#ffffff", 0.75))
    parts += _skyline(scene, rng)
    ground = {"street": "paving", "yard": "sand"}.get(scene.backdrop, "meadow")
    parts.append(_fill(0, y, w, h - y, f"url(#{ground})"))
    return "".join(parts)


def _skyline(scene: Scene, rng) -> list[str]:
    w, y = scene.width, scene.horizon
    if scene.backdrop == "street":
        parts, x = [], -10.0
        while x < w:
            width, height = rng.uniform(34, 58), rng.uniform(40, 84)
            parts.append(_fill(x, y - height, width, height, rng.choice(("#d8dde6", "#dfdad8", "#d3dcdc"))))
            rows = int(height // 18)
            for i in range(rows):
                for j in range(int(width // 16)):
                    parts.append(_fill(x + 6 + 15 * j, y - height + 7 + 17 * i, 7, 9, "#eef2f6"))
            x += width + rng.uniform(0, 8)
        return parts
    shift = rng.uniform(-60, 60)
    hill = f"M -80 {y + 4} Q {60 + shift:.0f} {y - 44} {190 + shift:.0f} {y + 4} Z"
    other = f"M {110 + shift:.0f} {y + 4} Q {250 + shift:.0f} {y - 34} {w + 90} {y + 4} Z"
    return [f'<path d="{hill}" fill="#d6e6c6"/>', f'<path d="{other}" fill="#cbdfba"/>']


def _indoors(scene: Scene, rng) -> str:
    w, h, y = scene.width, scene.height, scene.horizon
    wall = rng.choice(("#f3e9d8", "#e6ecf0", "#efe4e6", "#e8eee2"))
    floor = "tiles" if scene.backdrop == "kitchen" else "planks"
    parts = [_fill(0, 0, w, y, wall), _fill(0, y, w, h - y, f"url(#{floor})")]
    parts.append(_fill(0, y - 5, w, 5, "#fbf8f2"))
    x = rng.uniform(30, w - 110)
    parts.append(_fill(x, 14, 74, 52, "#fbf8f2"))
    parts.append(_fill(x + 4, 18, 66, 44, "#d4eaf6"))
    parts.append(_fill(x + 35, 18, 4, 44, "#fbf8f2"))
    for i in range(1, 4):
        line_y = y + (h - y) * i / 4
        parts.append(_fill(0, round(line_y), w, 1, "#ede6dc"))
    return "".join(parts)


def _shadows(scene: Scene) -> str:
    """A soft shadow under everything that stands on the ground."""
    boxes = scene.boxes()
    return "".join(
        _ellipse(x + w / 2, y + h - 1, w / 2 + 2, 4, "#2c2a20", 0.16)
        for x, y, w, h in (boxes[number] for number in scene.ground)
    )
