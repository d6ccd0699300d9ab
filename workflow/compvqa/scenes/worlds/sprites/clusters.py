"""The schemas of the sprites world: small groups of things that are drawn together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from compvqa.scenes.worlds.sprites.parts import POSES, animal, finish, hat, hold, item, person, placed_on, reach_for
from compvqa.scenes.worlds.sprites.scene import NEAR, Cluster, Maker, Thing
from compvqa.scenes.worlds.sprites.sketch import Extent, Layer, Sketch
from compvqa.scenes.worlds.sprites.things import draw_front, draw_thing
from compvqa.scenes.worlds.sprites.vocabulary import PEOPLE

HELD = ("ball", "balloon", "umbrella", "book", "cup", "flower", "kite", "basket", "apple", "bottle")
ON_TABLE = ("cup", "bottle", "book", "vase", "bowl", "cat", "apple", "box", "hat", "basket")
ON_SEAT = ("book", "cat", "hat", "ball", "dog", "box", "bird", "apple")
IN_CONTAINER = ("apple", "ball", "bottle", "cat", "book", "bird")


def standing_person(make: Maker) -> Cluster:
    """A person on the ground, who may hold something and wear a hat."""
    noun = make.pick(PEOPLE, 0.3)
    held = make.pick(HELD, 0.4) if make.chance(0.72) else ""
    topped = make.chance(0.33) and held != "umbrella"
    cluster, body, figure = person(make, noun, "standing", reach_for(held), with_hat=topped)
    if held:
        hold(make, cluster, body, figure, held)
    return finish(cluster, body, figure)


def kite_flyer(make: Maker) -> Cluster:
    """A person with a kite in the air."""
    cluster, body, figure = person(make, make.pick(PEOPLE, 0.2), "standing", "up", with_hat=make.chance(0.25))
    kite = make.thing("kite")
    x, y = figure.hand
    at = (x + 22 + 18 * make.rng.random(), y - 24 - 14 * make.rng.random())
    string = Sketch().path(f"M {x:.1f} {y:.1f} Q {x + 4:.1f} {at[1] + 6:.1f} {at[0]:.1f} {at[1]:.1f}", "none")
    cluster.layers.append(Layer(None, string))
    cluster.put(kite, draw_thing("kite", kite.attributes), *at)
    cluster.relate("flying", body, kite)
    return finish(cluster, body, figure)


def kicker(make: Maker) -> Cluster:
    """A person who kicks a ball."""
    noun = make.pick(("boy", "girl", "man", "woman"), 0.4)
    cluster, body, figure = person(make, noun, "kicking", "down", with_hat=make.chance(0.2))
    finish(cluster, body, figure)
    ball = make.thing("ball")
    sketch = draw_thing("ball", ball.attributes)
    cluster.put(ball, sketch, cluster.extent()[2] + 2 + 14 * ball.scale)
    cluster.ground.append(ball.number)
    cluster.relate("kicking", body, ball)
    return cluster


def rider(make: Maker) -> Cluster:
    """A person on a horse or a bicycle."""
    mount = make.pick(("horse", "bicycle"), 0.2)
    if mount == "horse":
        thing, sketch, _ = animal(make, "horse")
        at, drop, reach = (-8, -50), 24.0, "forward"
    else:
        thing = make.thing("bicycle")
        sketch = draw_thing("bicycle", thing.attributes)
        at, drop, reach = (-13, -46), 20.0, "low"
    cluster = Cluster(ground=[thing.number])
    cluster.put(thing, sketch)
    topped, noun = make.chance(0.35), make.pick(PEOPLE, 0.3)
    seated, body, figure = person(make, noun, "astride", reach, drop, with_hat=topped)
    cluster.merge(finish(seated, body, figure), *at)
    cluster.relate("riding", body, thing)
    return cluster


MOST_HIDDEN = 0.42  # of a seat's box; what sits there does not fill its own box
SEATS = {"bench": (-30, 62, 27), "sofa": (-29, 55, 27), "chair": (-32, 14, 28)}  # surface, half width, height


def seat(make: Maker, kinds: Sequence[str] = ("bench", "sofa", "chair")) -> Cluster:
    """A seat with people, animals or things on it."""
    noun = make.pick(kinds, 0.3)
    thing = make.thing(noun)
    cluster = Cluster(ground=[thing.number])
    cluster.put(thing, draw_thing(noun, thing.attributes))
    level, half, drop = SEATS[noun]
    if noun == "chair":
        _sit_on_chair(make, cluster, thing)
        return cluster
    places = [-half * 0.52, half * 0.52] if make.chance(0.6) else [make.rng.uniform(-0.4, 0.4) * half]
    on: list[Thing] = []
    for x in places:
        before = make.count
        upper = Cluster()
        if make.chance(0.6):
            held = make.pick(("book", "cup", "apple", "balloon", "flower"), 0.3) if make.chance(0.35) else ""
            kind, topped = make.pick(PEOPLE, 0.3), make.chance(0.25)
            upper, body, figure = person(make, kind, "sitting", reach_for(held), drop, topped)
            if held:
                hold(make, upper, body, figure, held)
            finish(upper, body, figure)
        else:
            body, sketch = item(make, make.pick(ON_SEAT))
            upper.put(body, sketch)
        upper.move(x, level)
        if on and _hidden(cluster, thing, [upper.extent(), *(cluster.extent_of(other.number) for other in on)]):
            make.count = before
            break
        cluster.merge(upper)
        cluster.relate(placed_on(body), body, thing)
        on.append(body)
    neighbours(cluster, on)
    return cluster


def _hidden(cluster: Cluster, thing: Thing, over: Sequence[Extent]) -> bool:
    """Whether boxes over a thing would hide so much of it that it is hard to see."""
    left, top, right, bottom = cluster.extent_of(thing.number)
    hidden = sum(max(0, min(right, r) - max(left, x)) * max(0, min(bottom, b) - max(top, y)) for x, y, r, b in over)
    return hidden > MOST_HIDDEN * (right - left) * (bottom - top)


def _sit_on_chair(make: Maker, cluster: Cluster, chair: Thing) -> None:
    if make.chance(0.5):
        held = make.pick(("book", "cup", "apple", "ball"), 0.3) if make.chance(0.35) else ""
        kind, topped = make.pick(PEOPLE, 0.3), make.chance(0.25)
        seated, body, figure = person(make, kind, "astride", "forward" if held else "down", 28, topped)
        if held:
            hold(make, seated, body, figure, held)
        cluster.merge(finish(seated, body, figure), -4, -33)
    elif make.chance(0.75):
        body, sketch = item(make, make.pick(ON_SEAT))
        cluster.put(body, sketch, 3, -32)
    else:
        return
    cluster.relate(placed_on(body), body, chair)


def table(make: Maker) -> Cluster:
    """A table with things on it and perhaps one under it."""
    thing = make.thing("table")
    cluster = Cluster(ground=[thing.number])
    cluster.put(thing, draw_thing("table", thing.attributes))
    row(make, cluster, thing, [make.pick(ON_TABLE) for _ in range(make.rng.choice((1, 2, 2, 3)))], 48, -53)
    if make.chance(0.4):
        noun = make.pick(("dog", "cat", "ball", "box", "basket"), 0.4)
        below, sketch = item(make, noun)
        if -(sketch.extent or (0, 0, 0, 0))[1] * below.scale < 43:
            cluster.put(below, sketch, make.rng.uniform(-12, 12), 2)
            cluster.ground.append(below.number)
            cluster.relate("under", below, thing)
        else:
            make.count -= 1
    return cluster


def row(make: Maker, cluster: Cluster, support: Thing, nouns: Sequence[str], half: float, level: float) -> None:
    """Things side by side on ``support``, as many as there is room for."""
    parts: list[Cluster] = []
    for noun in nouns:
        part = vessel(make, noun) if noun in ("vase", "bowl") and make.chance(0.65) else None
        if part is None:
            thing, sketch = item(make, noun)
            part = Cluster([thing])
            part.put(thing, sketch)
        left, _, right, _ = part.extent()
        used = sum(e[2] - e[0] + 6 for e in (p.extent() for p in parts))
        if parts and used + right - left > 2 * half - 2:
            make.count = min(thing.number for thing in part.things)
            break
        parts.append(part)
    widths = [p.extent()[2] - p.extent()[0] for p in parts]
    spare = 2 * half - 2 - sum(widths)
    gaps: list[float] = []
    for _ in parts[1:]:
        left_over = spare - sum(gaps) - 5 * (len(parts) - 2 - len(gaps))
        gaps.append(24 + 4 * make.rng.random() if left_over > 30 and make.chance(0.4) else 5.0)
    x = -half + 1 + (spare - sum(gaps)) * make.rng.random()
    for i, each in enumerate(parts):
        left = each.extent()[0]
        cluster.merge(each, x - left, level)
        cluster.relate(placed_on(each.things[0]), each.things[0], support)
        x += widths[i] + (gaps[i] if i < len(gaps) else 0)
    neighbours(cluster, [part.things[0] for part in parts])


def neighbours(cluster: Cluster, things: Sequence[Thing]) -> None:
    """Relate things on the same support, left to right, that have at most NEAR pixels between them."""
    for one, other in zip(things, things[1:], strict=False):
        if cluster.extent_of(other.number)[0] - cluster.extent_of(one.number)[2] <= NEAR:
            cluster.relate("next to", one, other)
            cluster.relate("next to", other, one)


def vessel(make: Maker, noun: str) -> Cluster:
    """A vase, bowl, box or basket with something in it (the container is the cluster's first thing)."""
    thing = make.thing(noun)
    cluster = Cluster([thing], ground=[thing.number])
    if noun == "vase":
        flower, sketch = item(make, "flower")
        cluster.put(flower, sketch, 0, -24)
        cluster.put(thing, draw_thing(noun, thing.attributes))
        cluster.relate("in", flower, thing)
        return cluster
    cluster.put(thing, draw_thing(noun, thing.attributes))
    rim = {"bowl": -15, "box": -31, "basket": -23}[noun] * thing.scale
    contents = ("apple",) if noun == "bowl" else IN_CONTAINER
    inner, sketch = item(make, make.pick(contents, 0.4))
    _, top, _, bottom = (inner.scale * value for value in sketch.extent or (0, 0, 0, 0))
    cluster.put(inner, sketch, 0, rim + (bottom - top) * 0.26)
    cluster.put(thing, draw_front(noun, thing.attributes))
    cluster.relate("in", inner, thing)
    return cluster


def container(make: Maker) -> Cluster:
    """A container on the ground, with something in it or on it."""
    noun = make.pick(("box", "basket", "vase"), 0.4)
    if noun != "box" or make.chance(0.6):
        return vessel(make, noun)
    thing = make.thing("box", size="large")
    cluster = Cluster(ground=[thing.number])
    cluster.put(thing, draw_thing("box", thing.attributes))
    if make.chance(0.35):
        upper, body, figure = person(make, make.pick(("boy", "girl"), 0.1), "standing", "down")
        cluster.merge(finish(upper, body, figure), 0, -45)
    else:
        body, sketch = item(make, make.pick(("cat", "bird", "dog", "ball", "book", "hat")))
        cluster.put(body, sketch, 0, -45)
    cluster.relate(placed_on(body), body, thing)
    return cluster


def tree(make: Maker) -> Cluster:
    """A tree, with something under it."""
    thing = make.thing("tree")
    cluster = Cluster(ground=[thing.number])
    cluster.put(thing, draw_thing("tree", thing.attributes))
    clearance = 58 * thing.scale
    if make.chance(0.7):
        noun = make.pick(("dog", "sheep", "cat", "ball", "bird", "box", "flower", "basket"), 0.5)
        below, sketch = item(make, noun)
        left, top, right, _ = (below.scale * value for value in sketch.extent or (0, 0, 0, 0))
        if -top < clearance and right - left < 62 * thing.scale:
            cluster.put(below, sketch, 12 * thing.scale - left + 2, 3)
            cluster.ground.append(below.number)
            cluster.relate("under", below, thing)
        else:
            make.count -= 1
    return cluster


def single(make: Maker) -> Cluster:
    """One animal or thing on the ground; a dog or a cat may wear a hat."""
    noun = make.pick(("dog", "cat", "ball", "bird", "sheep", "horse", "bush", "flower", "bicycle"), 0.4)
    if noun not in POSES:
        thing = make.thing(noun)
        cluster = Cluster(ground=[thing.number])
        cluster.put(thing, draw_thing(noun, thing.attributes))
        return cluster
    thing, sketch, crown = animal(make, noun)
    cluster = Cluster(ground=[thing.number])
    cluster.put(thing, sketch)
    if crown is not None and make.chance(0.25):
        cap, cap_sketch = hat(make)
        cluster.put(cap, cap_sketch, crown[0] * thing.scale, crown[1] * thing.scale)
        cluster.relate("wearing", thing, cap)
    return cluster


def furnishing(make: Maker) -> Cluster:
    """A lamp, an empty seat or a ball on the floor of a room."""
    noun = make.pick(("lamp", "chair", "ball", "box", "basket"), 0.5)
    thing = make.thing(noun)
    cluster = Cluster(ground=[thing.number])
    cluster.put(thing, draw_thing(noun, thing.attributes))
    return cluster


def vehicle(make: Maker) -> Cluster:
    """A car or a truck, perhaps with an animal or a thing on its roof."""
    noun = make.pick(("car", "truck"), 0.4)
    thing = make.thing(noun)
    cluster = Cluster(ground=[thing.number])
    cluster.put(thing, draw_thing(noun, thing.attributes))
    if make.chance(0.4):
        upper, sketch = item(make, make.pick(("cat", "bird", "dog", "box", "basket"), 0.4))
        x, level = (-3, -42) if noun == "car" else (-24, -60)
        cluster.put(upper, sketch, x, level)
        cluster.relate(placed_on(upper), upper, thing)
    return cluster


def depth(make: Maker) -> Cluster:
    """One thing in front of another, which it hides in a small part."""
    back_kind = make.pick(("car", "tree", "truck", "bush", "sofa"), 0.3)
    back = make.thing(back_kind) if back_kind != "bush" else make.thing("bush", size="large")
    if back_kind == "tree":
        back.attributes["size"] = "large"
    cluster = Cluster(ground=[back.number])
    cluster.put(back, draw_thing(back_kind, back.attributes), 0, -13)
    if make.chance(0.4):
        front_cluster, front, figure = person(make, make.pick(PEOPLE, 0.2), "standing", "down")
        finish(front_cluster, front, figure)
    else:
        front, sketch = item(make, make.pick(("dog", "ball", "box", "cat", "flower", "basket", "sheep"), 0.4))
        front_cluster = Cluster(ground=[front.number])
        front_cluster.put(front, sketch)
    b, f = cluster.extent(), front_cluster.extent()
    overlap_height = max(1.0, min(b[3], f[3]) - max(b[1], f[1]))
    wanted = 0.24 * (b[2] - b[0]) * (b[3] - b[1]) / overlap_height
    width = min(0.85 * (f[2] - f[0]), wanted, 0.5 * (b[2] - b[0]))
    cluster.ground.append(front.number)
    cluster.merge(front_cluster, b[2] - width - f[0], 0)
    cluster.relate("in front of", front, back)
    cluster.relate("behind", back, front)
    return cluster


CLUSTERS: dict[str, Callable[[Maker], Cluster]] = {
    "person": standing_person,
    "kite": kite_flyer,
    "kick": kicker,
    "ride": rider,
    "bench": lambda make: seat(make, ("bench",)),
    "seat": lambda make: seat(make, ("sofa", "chair")),
    "table": table,
    "container": container,
    "tree": tree,
    "single": single,
    "furnishing": furnishing,
    "vehicle": vehicle,
    "depth": depth,
}
