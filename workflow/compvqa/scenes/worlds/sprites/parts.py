"""The parts of clusters: animals, people with what they wear and hold, and things to be put somewhere."""

from __future__ import annotations

from collections.abc import Sequence

from compvqa.scenes.worlds.sprites.animals import draw_animal
from compvqa.scenes.worlds.sprites.people import Figure, clothing_paint, draw_hat, draw_person
from compvqa.scenes.worlds.sprites.scene import Cluster, Maker, Thing
from compvqa.scenes.worlds.sprites.sketch import Layer, Sketch
from compvqa.scenes.worlds.sprites.things import draw_thing

POSES = {
    "dog": ("standing", "sitting", "lying"),
    "cat": ("sitting", "lying", "standing"),
    "horse": ("standing",),
    "sheep": ("standing",),
    "bird": ("standing",),
}


def animal(make: Maker, noun: str, poses: Sequence[str] = ()) -> tuple[Thing, Sketch, tuple | None]:
    """An animal, its sketch, and where a hat would sit."""
    pose = make.value([p for p in POSES[noun] if not poses or p in poses])
    thing = make.thing(noun, pose=pose)
    sketch, crown = draw_animal(noun, pose, thing.attributes["color"])
    return thing, sketch, crown


def hat(make: Maker) -> tuple[Thing, Sketch]:
    thing = make.thing("hat")
    band = "#3b3442" if thing.attributes["color"] != "black" else "#e8e2d4"
    return thing, draw_hat(clothing_paint(thing.attributes["color"], thing.attributes["pattern"]), band)


def item(make: Maker, noun: str) -> tuple[Thing, Sketch]:
    """A thing or an animal to be put somewhere."""
    if noun in POSES:
        thing, sketch, _ = animal(make, noun, ("sitting", "lying") if noun in ("cat", "dog") else ())
        return thing, sketch
    if noun == "hat":
        return hat(make)
    thing = make.thing(noun)
    return thing, draw_thing(noun, thing.attributes)


def placed_on(thing: Thing) -> str:
    """The relation of a thing to what it is put on."""
    pose = thing.attributes.get("pose")
    return f"{pose} on" if pose else "on"


def person(
    make: Maker, noun: str, pose: str, reach: str, drop: float = 26, with_hat: bool = False
) -> tuple[Cluster, Thing, Figure]:
    """A person with clothes and perhaps a hat; the reaching arm is not drawn yet (see :func:`finish`)."""
    stand = "standing" if pose in ("standing", "kicking") else "sitting"
    body = make.thing(noun, pose=stand)
    clothes = make.thing("dress" if noun in ("woman", "girl") else "shirt")
    tones = (make.rng.randrange(3), make.rng.randrange(4), make.rng.randrange(3))
    fill = clothing_paint(clothes.attributes["color"], clothes.attributes["pattern"])
    figure = draw_person(noun, pose, reach, fill, tones, drop)
    cluster = Cluster(ground=[body.number] if stand == "standing" else [])
    cluster.put(body, figure.back)
    cluster.put(clothes, figure.clothes)
    cluster.put(body, figure.front)
    cluster.relate("wearing", body, clothes)
    if with_hat:
        cap, sketch = hat(make)
        cluster.put(cap, sketch, *figure.crown)
        cluster.relate("wearing", body, cap)
    return cluster, body, figure


def finish(cluster: Cluster, body: Thing, figure: Figure) -> Cluster:
    """Draw the reaching arm, over what it holds."""
    cluster.put(body, figure.arm)
    return cluster


def hold(make: Maker, cluster: Cluster, body: Thing, figure: Figure, noun: str) -> Thing:
    """Put a ``noun`` into the person's hand; give it."""
    thing, sketch = item(make, noun)
    x, y = figure.hand
    left, top, right, bottom = (thing.scale * value for value in sketch.extent or (0, 0, 0, 0))
    if noun == "umbrella":
        cluster.put(thing, sketch, x, y + 12)
        cluster.relate("under", body, thing)
    elif noun == "balloon":
        string = Sketch().line([(x, y), (x + 4, y - 20)], width=1)
        cluster.layers.append(Layer(None, string))
        cluster.put(thing, sketch, x + 4, y - 20)
    elif noun == "flower":
        cluster.put(thing, sketch, x, y + 9)
    elif noun == "basket":
        cluster.put(thing, sketch, x, y - top - 3)
    else:
        foot = y + (bottom - top) / 2 - bottom
        lowest = 0 if body.attributes["pose"] == "standing" else 20
        cluster.put(thing, sketch, x - left - 4, min(foot, lowest - bottom))
    cluster.relate("holding", body, thing)
    return thing


def reach_for(noun: str) -> str:
    """How an arm holds a ``noun`` ("": nothing)."""
    return {"": "down", "balloon": "up", "umbrella": "close", "basket": "out"}.get(noun, "side")
