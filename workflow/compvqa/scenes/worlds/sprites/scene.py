"""What a drawn scene is made of, before and after its parts are put into one picture."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from compvqa.scenes.worlds.sprites.sketch import Extent, Layer, Sketch, union
from compvqa.scenes.worlds.sprites.vocabulary import GROUP_OF, NOUNS

SCALES = {"small": 0.78, "large": 1.3}
NEAR = 16.0  # pixels between two things on the same ground that still are next to each other
FAR = 26.0  # from here on they clearly are not


@dataclass
class Thing:
    """An object of the scene: its number, what it is and its attributes (group -> value)."""

    number: int
    noun: str
    attributes: dict[str, str] = field(default_factory=dict)

    @property
    def scale(self) -> float:
        return SCALES.get(self.attributes.get("size", ""), 1.0)


@dataclass(frozen=True)
class Link:
    """A relation that holds between two things, with its modifiers ((name, thing), …)."""

    name: str
    subject: int
    target: int
    modifiers: tuple[tuple[str, int], ...] = ()


@dataclass
class Cluster:
    """Things drawn together around the ground's origin: layers in drawing order, and what holds among them.

    ``ground`` names the things that stand on the ground itself.
    """

    things: list[Thing] = field(default_factory=list)
    layers: list[Layer] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    ground: list[int] = field(default_factory=list)

    def put(self, thing: Thing, sketch: Sketch, x: float = 0, y: float = 0, flip: bool = False) -> Layer:
        """Draw (a part of) ``thing`` at (x, y), over all that was drawn before."""
        layer = Layer(thing.number, sketch, x, y, thing.scale, flip)
        self.layers.append(layer)
        if thing not in self.things:
            self.things.append(thing)
        return layer

    def relate(self, name: str, subject: Thing, target: Thing) -> None:
        self.links.append(Link(name, subject.number, target.number))

    def merge(self, other: Cluster, dx: float = 0, dy: float = 0) -> None:
        """Draw all of ``other`` over this cluster, moved by (dx, dy); its ground is not this one's."""
        other.move(dx, dy)
        self.things += other.things
        self.layers += other.layers
        self.links += other.links

    def move(self, dx: float, dy: float) -> None:
        for layer in self.layers:
            layer.x += dx
            layer.y += dy

    def mirror(self) -> None:
        for layer in self.layers:
            layer.x, layer.flip = -layer.x, not layer.flip

    def extent(self) -> Extent:
        return union(layer.extent() for layer in self.layers)

    def extent_of(self, number: int) -> Extent:
        return union(layer.extent() for layer in self.layers if layer.owner == number)


@dataclass
class Scene:
    """A scene as drawn: the whole truth about one picture."""

    image: str
    split: str
    backdrop: str
    width: int
    height: int
    things: list[Thing]
    layers: list[Layer]
    links: list[Link]
    ground: list[int] = field(default_factory=list)  # what stands on the ground
    horizon: float = 0
    verb: str = ""
    roles: dict[str, int | str] = field(default_factory=dict)  # role -> thing, or a noun that is not drawn

    def boxes(self) -> dict[int, tuple[float, float, float, float]]:
        """x, y, w, h of each thing, tight around what is drawn of it, in pixels."""
        extents: dict[int, list[Extent]] = {}
        for layer in self.layers:
            if layer.owner is not None:
                extents.setdefault(layer.owner, []).append(layer.extent())
        result = {}
        for number, parts in extents.items():
            left, top, right, bottom = union(parts)
            left, top = max(left, 0), max(top, 0)
            right, bottom = min(right, self.width), min(bottom, self.height)
            result[number] = (left, top, right - left, bottom - top)
        return result


class Maker:
    """Makes the things of one scene, with attributes drawn from ``rng``.

    Names chosen once are chosen again more often, so that scenes hold several things of a kind.
    """

    def __init__(self, rng: random.Random, repeat: float):
        self.rng = rng
        self.repeat = repeat
        self.count = 0
        self._chosen: list[str] = []

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def pick(self, options: Sequence[str], skew: float = 0.6) -> str:
        """One of ``options``, the earlier ones more often (the i-th with weight 1 / (i + 1) ** skew)."""
        again = [option for option in options if option in self._chosen]
        if again and self.chance(self.repeat):
            return self.rng.choice(again)
        weights = [(i + 1) ** -skew for i in range(len(options))]
        choice = self.rng.choices(list(options), weights)[0]
        self._chosen.append(choice)
        return choice

    def value(self, options: Sequence[str], skew: float = 0.5) -> str:
        """An attribute's value; unlike nouns these are not repeated on purpose."""
        return self.rng.choices(list(options), [(i + 1) ** -skew for i in range(len(options))])[0]

    def thing(self, noun: str, **fixed: str) -> Thing:
        """A new thing; ``fixed`` gives attributes by group, the others are drawn."""
        kind = NOUNS[noun]
        attributes: dict[str, str] = {}
        if kind.materials:
            attributes["material"] = self.value(kind.materials)
        material = fixed.get("material", attributes.get("material"))
        if kind.colors:
            forced = {"wooden": "brown", "metal": "gray"}.get(material or "")
            attributes["color"] = forced or self.value(kind.colors)
        if kind.patterns:
            attributes["pattern"] = self.value(kind.patterns) if self.chance(0.55) else "plain"
        if kind.sized:
            attributes["size"] = self.rng.choice(("small", "large"))
        attributes.update(fixed)
        for group, value in attributes.items():
            if GROUP_OF[value] != group:
                raise ValueError(f"{value} is not a {group}")
        self.count += 1
        return Thing(self.count - 1, noun, attributes)
