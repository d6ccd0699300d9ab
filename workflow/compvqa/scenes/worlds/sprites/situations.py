"""imSitu's side of the sprites world: someone does something to a thing, with a tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from compvqa.scenes.worlds.sprites.animals import draw_animal
from compvqa.scenes.worlds.sprites.clusters import CLUSTERS
from compvqa.scenes.worlds.sprites.parts import POSES, person
from compvqa.scenes.worlds.sprites.people import Figure
from compvqa.scenes.worlds.sprites.scene import Cluster, Link, Maker, Thing
from compvqa.scenes.worlds.sprites.sketch import COLORS, OUTLINE, Layer, Point, Sketch
from compvqa.scenes.worlds.sprites.things import draw_thing
from compvqa.scenes.worlds.sprites.tools import (
    TIPS,
    draw_drops,
    draw_drum,
    draw_food,
    draw_sled,
    draw_stream,
    draw_tool,
)
from compvqa.scenes.worlds.sprites.vocabulary import PEOPLE

CHILDREN = ("boy", "girl")
REACHES = {
    "photographing": "eye",
    "pouring": "raise",
    "cutting": "raise",
    "pulling": "low",
    "painting": "low",
}


@dataclass(frozen=True)
class Verb:
    """A verb: the sentence that orders its roles (imSitu's template), its places, how it is drawn."""

    sentence: str
    places: tuple[str, ...]
    draw: Callable[..., None]  # of a maker and a stage; what is fed, of the eater too

    @property
    def roles(self) -> list[str]:
        """The roles in the sentence's order, in lower case."""
        return [word.lower() for word in self.sentence.split() if word.isupper()]

    @property
    def phrases(self) -> list[tuple[str, str]]:
        """(words before it, role) for each role after the second but the place: the relation's modifiers."""
        found: list[tuple[str, str]] = []
        words: list[str] = []
        for word in self.sentence.split():
            if word.isupper():
                found.append((" ".join(words), word.lower()))
                words = []
            else:
                words.append(word)
        return [(before, role) for before, role in found[2:] if role != "place"]


@dataclass
class Stage:
    """The acting person, while the scene is being drawn around it."""

    cluster: Cluster
    agent: Thing
    figure: Figure
    roles: dict[str, Thing]

    def tool(self, make: Maker, noun: str) -> Thing:
        """Put a tool into the agent's hand; give it."""
        thing = make.thing(noun)
        self.cluster.put(thing, draw_tool(noun, thing.attributes), *self.figure.hand)
        self.cluster.relate("holding", self.agent, thing)
        return thing

    def tip(self, noun: str) -> Point:
        """Where the tool in the agent's hand works."""
        return self.figure.hand[0] + TIPS[noun][0], self.figure.hand[1] + TIPS[noun][1]

    def stand(self, thing: Thing, sketch: Sketch, left: float, flip: bool = False) -> Layer:
        """Put a thing on the ground with its left edge at ``left``."""
        layer = self.cluster.put(thing, sketch, 0, 0, flip)
        layer.x = left - layer.extent()[0]
        self.cluster.ground.append(thing.number)
        return layer


def act(make: Maker, verb: str) -> tuple[Cluster, dict[str, int]]:
    """The cluster of someone doing ``verb``, and the thing that fills each role."""
    noun = make.pick(PEOPLE, 0.2)
    reach = REACHES.get(verb, "forward")
    if verb == "feeding":
        eater = make.pick(("horse", "sheep", "dog", "bird") if noun not in CHILDREN else ("sheep", "dog", "horse"), 0.3)
        reach = ("raise" if noun in CHILDREN else "forward") if eater == "horse" else "low"
    cluster, agent, figure = person(make, noun, "standing", reach, with_hat=make.chance(0.25))
    stage = Stage(cluster, agent, figure, {"agent": agent})
    if verb == "feeding":
        _feed(make, stage, eater)
    else:
        VERBS[verb].draw(make, stage)
    cluster.put(agent, figure.arm)
    roles = {role: thing.number for role, thing in stage.roles.items()}
    order = [role for role in VERBS[verb].roles if role != "place"]
    modifiers = tuple((before, roles[role]) for before, role in VERBS[verb].phrases)
    cluster.links.append(Link(verb, roles[order[0]], roles[order[1]], modifiers))
    return cluster, roles


def company(make: Maker, verb: str) -> Cluster:
    """Something else in the picture."""
    indoors = "kitchen" in VERBS[verb].places
    return CLUSTERS[make.rng.choice(("furnishing", "container") if indoors else ("single", "tree", "container"))](make)


def _creature(make: Maker, noun: str) -> tuple[Thing, Sketch]:
    if noun in POSES:
        pose = "sitting" if noun in ("dog", "cat") and make.chance(0.5) else "standing"
        thing = make.thing(noun, pose=pose)
        return thing, draw_animal(noun, pose, thing.attributes["color"])[0]
    thing = make.thing(noun)
    if noun == "sled":
        return thing, draw_sled(thing.attributes["color"])
    return thing, draw_thing(noun, thing.attributes)


def _water(make: Maker, stage: Stage) -> None:
    noun = make.pick(("watering can", "hose"), 0.4)
    tool = stage.tool(make, noun)
    stage.roles["tool"] = tool
    hand, tip = stage.figure.hand, stage.tip(noun)
    if noun == "hose":
        color = COLORS[tool.attributes["color"]]
        route = [
            hand,
            (hand[0] - 4, hand[1] + 12),
            (hand[0] - 1, -12),
            (hand[0] - 12, -3),
            (hand[0] - 46, -3),
        ]
        for stroke, width in ((OUTLINE, 6.0), (color, 3.8)):
            stage.cluster.layers.append(Layer(tool.number, Sketch().line(route, stroke, width)))
    plant, sketch = _creature(make, make.pick(("flower", "bush", "tree"), 0.3))
    if plant.noun == "tree":
        plant.attributes["size"] = "small"
    layer = stage.stand(plant, sketch, tip[0] + (4 if noun == "watering can" else 20))
    left, top, right, _ = layer.extent()
    end = ((left + right) / 2 - (right - left) * 0.2, max(top + 4, tip[1] + 8))
    stage.cluster.layers.append(Layer(None, draw_drops(tip, end)))
    stage.roles["recipient"] = plant


def _bench_top(make: Maker, stage: Stage) -> tuple[Thing, float, float]:
    """A table before the agent, of its height; gives it, its top and the x where the tool works."""
    scale = 0.54 if stage.agent.noun in CHILDREN else 0.86
    table = make.thing("table")
    x = stage.figure.hand[0] + 32 * scale
    layer = stage.cluster.put(table, draw_thing("table", table.attributes), x)
    layer.scale = scale
    stage.cluster.ground.append(table.number)
    return table, -53 * scale, x


def _pour(make: Maker, stage: Stage) -> None:
    table, top, _ = _bench_top(make, stage)
    source = make.pick(("jug", "bottle"), 0.3)
    tip = stage.tip(source)
    vessel, sketch = _creature(make, make.pick(("cup", "bowl", "vase"), 0.5))
    if vessel.noun == "vase":
        sketch = draw_thing("vase", vessel.attributes)
    rim = {"cup": 22, "bowl": 16, "vase": 33}[vessel.noun]
    liquid = make.thing(make.pick(("water", "juice", "milk"), 0.3))
    if vessel.noun == "vase":  # it is high: the table's place is taken by the vase's own foot
        rim = 26
        stage.cluster.put(vessel, sketch, tip[0] + 1, top).scale = 0.75
    else:
        stage.cluster.put(vessel, sketch, tip[0] + 1, top)
    stream = draw_stream(liquid.noun, [(tip[0] - 1, tip[1] - 1), (tip[0] + 1, top - rim + 2)])
    stage.roles |= {"substance": liquid, "source": stage.tool(make, source), "destination": vessel}
    stage.cluster.put(liquid, stream)
    stage.cluster.relate("on", vessel, table)


def _paint(make: Maker, stage: Stage) -> None:
    noun = make.pick(("paintbrush", "paint roller"), 0.3)
    tip = stage.tip(noun)
    item, sketch = _creature(make, make.pick(("chair", "bench", "box", "truck"), 0.3))
    if item.noun == "box":
        item.attributes["size"] = "large"
    layer = stage.stand(item, sketch, 0)
    layer.x += tip[0] - 3 - layer.extent()[0]
    stage.roles |= {"item": item, "tool": stage.tool(make, noun)}


def _feed(make: Maker, stage: Stage, eater: str) -> None:
    x, y = stage.figure.hand
    food = make.thing(make.pick(("apple", "carrot", "bread"), 0.3))
    sketch = draw_thing("apple", food.attributes) if food.noun == "apple" else draw_food(food.noun)
    stage.cluster.put(food, sketch, x + 12, y + 8)
    stage.cluster.relate("holding", stage.agent, food)
    animal, drawn = _creature(make, eater)
    stage.stand(animal, drawn, x + 25, flip=True)
    stage.roles |= {"food": food, "eater": animal}


def _cut(make: Maker, stage: Stage) -> None:
    table, top, _ = _bench_top(make, stage)
    noun = make.pick(("bread", "cake", "log", "apple"), 0.3)
    item = make.thing(noun)
    sketch = draw_food(noun) if noun != "apple" else draw_thing("apple", item.attributes)
    tool = make.pick(("knife", "saw"), 0.3)
    stage.cluster.put(item, sketch, stage.tip(tool)[0] + 4, top)
    stage.cluster.relate("on", item, table)
    stage.roles |= {"item": item, "tool": stage.tool(make, tool)}


def _hit(make: Maker, stage: Stage) -> None:
    noun = make.pick(("ball", "balloon", "drum"), 0.3)
    tool = make.pick(("bat", "racket", "stick"), 0.2) if noun != "drum" else "stick"
    tip = stage.tip(tool)
    item = make.thing(noun)
    if noun == "drum":
        scale = 0.62 if stage.agent.noun in CHILDREN else 1.1
        layer = stage.stand(item, draw_drum(item.attributes["color"]), 0)
        layer.scale = scale
        layer.x += stage.figure.hand[0] + 3 - layer.extent()[0]
    else:
        layer = stage.cluster.put(item, draw_thing(noun, item.attributes))
        left, top, _, bottom = layer.extent()
        layer.x, layer.y = tip[0] + 4 - left, tip[1] - (top + bottom) / 2
    stage.roles |= {"item": item, "tool": stage.tool(make, tool)}


def _pull(make: Maker, stage: Stage) -> None:
    item, sketch = _creature(make, make.pick(("sled", "dog", "box", "sheep", "horse"), 0.3))
    x, y = stage.figure.hand
    is_animal = item.noun in POSES
    layer = stage.stand(item, sketch, x + 34, flip=is_animal)
    left, top, _, bottom = layer.extent()
    knot = {"sled": (left + 4, -14), "box": (left + 2, -16 * item.scale), "horse": (left + 8, -62)}.get(
        item.noun, (left + 0.22 * (layer.extent()[2] - left), top + 0.55 * (bottom - top))
    )
    tool = make.thing(make.pick(("rope", "leash"), 0.3))
    tone, width = (COLORS[tool.attributes["color"]], 2.0) if tool.noun == "leash" else ("#d9b779", 3.6)
    path = f"M {x:.1f} {y:.1f} Q {(x + knot[0]) / 2:.1f} {max(y, knot[1]) + 6:.1f} {knot[0]:.1f} {knot[1]:.1f}"
    line = Sketch().path(path, "none", OUTLINE, width + 2).path(path, "none", tone, width)
    if tool.noun == "rope":
        line.ellipse(x, y, 5, 6, fill="none", stroke=OUTLINE, width=4.6)
        line.ellipse(x, y, 5, 6, fill="none", stroke=tone, width=2.6)
    else:
        line.ellipse(knot[0], knot[1], 3, fill=tone)
    stage.cluster.put(tool, line)
    stage.cluster.relate("holding", stage.agent, tool)
    stage.roles |= {"item": item, "tool": tool}


def _photograph(make: Maker, stage: Stage) -> None:
    noun = make.pick(("dog", "horse", "bird", "flower", "car", "cat"), 0.3)
    item, sketch = _creature(make, noun)
    stage.roles |= {"item": item, "tool": stage.tool(make, make.pick(("camera", "phone"), 0.3))}
    stage.stand(item, sketch, stage.figure.hand[0] + 48, flip=noun in POSES)


VERBS: dict[str, Verb] = {
    "watering": Verb("AGENT waters RECIPIENT with TOOL at PLACE", ("garden", "park"), _water),
    "pouring": Verb("AGENT pours SUBSTANCE from SOURCE into DESTINATION at PLACE", ("kitchen",), _pour),
    "painting": Verb("AGENT paints ITEM with TOOL at PLACE", ("garden", "park"), _paint),
    "feeding": Verb("AGENT feeds FOOD to EATER at PLACE", ("field", "park"), _feed),
    "cutting": Verb("AGENT cuts ITEM with TOOL at PLACE", ("kitchen",), _cut),
    "hitting": Verb("AGENT hits ITEM with TOOL at PLACE", ("park", "field"), _hit),
    "pulling": Verb("AGENT pulls ITEM with TOOL at PLACE", ("field", "park"), _pull),
    "photographing": Verb("AGENT photographs ITEM with TOOL at PLACE", ("park", "garden", "field"), _photograph),
}
