"""Sampling the scenes of the sprites world: themes, and clusters laid out side by side on one ground."""

from __future__ import annotations

from compvqa.scenes.worlds.sprites.clusters import CLUSTERS
from compvqa.scenes.worlds.sprites.scene import FAR, NEAR, Cluster, Link, Maker, Scene
from compvqa.scenes.worlds.sprites.settings import SpritesSettings
from compvqa.scenes.worlds.sprites.situations import VERBS, act, company
from compvqa.seeds import generator

MARGIN = 5.0  # pixels kept free at the picture's edges
ATTEMPTS = 200
# theme -> (backdrop, weight, clusters with their weights)
THEMES: dict[str, tuple[str, float, dict[str, float]]] = {
    "park": ("park", 3, {"bench": 3, "person": 3, "tree": 2.5, "single": 2, "kick": 1, "depth": 2}),
    "meadow": ("field", 2.5, {"kite": 2.5, "ride": 2.5, "single": 2, "person": 2, "tree": 1.5, "depth": 2}),
    "street": (
        "street",
        2.5,
        {"vehicle": 2.5, "depth": 3, "person": 2.5, "ride": 1.5, "single": 1, "bench": 1},
    ),
    "kitchen": ("kitchen", 3, {"table": 4, "seat": 2, "person": 1.5, "container": 1, "furnishing": 1}),
    "room": (
        "room",
        3,
        {"seat": 4, "table": 1.5, "furnishing": 2, "container": 1.5, "person": 1, "single": 0},
    ),
    "yard": ("yard", 2, {"container": 2.5, "person": 2.5, "single": 2, "table": 1, "tree": 1.5, "ride": 1}),
}
GROUNDS = {
    "garden": 0.62,
    "park": 0.62,
    "field": 0.62,
    "street": 0.62,
    "kitchen": 0.72,
    "room": 0.72,
    "yard": 0.62,
}


def sample_scene(image: str, split: str, settings: SpritesSettings, seed: int) -> Scene:
    """The scene of ``image``: depends on the seed and the image's id alone."""
    for attempt in range(ATTEMPTS):
        make = Maker(generator(seed, "sprites scene", image, attempt), settings.repeat)
        scene = _attempt(image, split, settings, make)
        if scene is not None:
            return scene
    raise ValueError(f"no scene could be laid out for image {image} in {ATTEMPTS} attempts")


def _attempt(image: str, split: str, settings: SpritesSettings, make: Maker) -> Scene | None:
    names = list(THEMES)
    theme = make.rng.choices(names, [THEMES[name][1] for name in names])[0]
    backdrop, _, weights = THEMES[theme]
    wanted = make.rng.choices((1, 2, 3, 4), (0.02, 0.3, 0.5, 0.18))[0]
    clusters: list[Cluster] = []
    kind = ""
    for _ in range(wanted):
        if not kind or not make.chance(settings.repeat):
            kind = make.rng.choices(list(weights), list(weights.values()))[0]
        before = make.count
        cluster = CLUSTERS[kind](make)
        if make.count > settings.max_objects:
            make.count = before
            break
        if make.chance(0.5):
            cluster.mirror()
        clusters.append(cluster)
    if make.count < settings.min_objects:
        return None
    return _compose(image, split, backdrop, clusters, settings, make, strict=True)


def sample_situation(image: str, verb: str, split: str, settings: SpritesSettings, seed: int) -> Scene:
    """The scene of ``image`` in which someone does ``verb``."""
    for attempt in range(ATTEMPTS):
        make = Maker(generator(seed, "sprites situation", image, attempt), 0.0)
        cluster, roles = act(make, verb)
        place = make.rng.choice(VERBS[verb].places)
        clusters = [cluster]
        if make.chance(0.45):
            clusters.append(company(make, verb))
        if make.count > settings.max_objects:
            continue
        for part in clusters:
            if make.chance(0.5):
                part.mirror()
        scene = _compose(image, split, place, clusters, settings, make, strict=False)
        if scene is not None:
            scene.verb, scene.roles = verb, {**roles, "place": place}
            return scene
    raise ValueError(f"no situation could be laid out for image {image} in {ATTEMPTS} attempts")


def _compose(
    image: str,
    split: str,
    backdrop: str,
    clusters: list[Cluster],
    settings: SpritesSettings,
    make: Maker,
    strict: bool,
) -> Scene | None:
    """One picture of the clusters; None if they do not fit, or (strict) if a "next to" is doubtful."""
    ground = settings.height - make.rng.uniform(12, 24)
    if not _lay_out(clusters, settings.width, ground, make):
        return None
    scene = Scene(
        image,
        split,
        backdrop,
        settings.width,
        settings.height,
        sorted((thing for cluster in clusters for thing in cluster.things), key=lambda thing: thing.number),
        [layer for cluster in clusters for layer in cluster.layers],
        [link for cluster in clusters for link in cluster.links],
        ground=[number for cluster in clusters for number in cluster.ground],
        horizon=round(settings.height * GROUNDS[backdrop]),
    )
    if min(cluster.extent()[1] for cluster in clusters) < 2:
        return None
    beside = ground_neighbours(clusters, strict)
    if beside is None:
        return None
    scene.links += beside
    return scene


def _lay_out(clusters: list[Cluster], width: int, ground: float, make: Maker) -> bool:
    """Move the clusters side by side; False if they do not fit."""
    make.rng.shuffle(clusters)
    extents = [cluster.extent() for cluster in clusters]
    gaps = [5 + 3 * make.rng.random() for _ in clusters[1:]]
    spare = width - 2 * MARGIN - sum(right - left for left, _, right, _ in extents) - sum(gaps)
    if spare < 0:
        return False
    for i in range(len(gaps)):
        if spare > FAR and make.chance(0.45):
            wider = min(spare, FAR + 14 * make.rng.random())
            gaps[i] += wider
            spare -= wider
    x = MARGIN + spare * make.rng.random()
    for i, cluster in enumerate(clusters):
        left, _, right, _ = extents[i]
        cluster.move(x - left, ground + make.rng.uniform(-4, 4))
        x += right - left + (gaps[i] if i < len(gaps) else 0)
    return True


def ground_neighbours(clusters: list[Cluster], strict: bool) -> list[Link] | None:
    """Who is next to whom on the ground: at most NEAR pixels apart.

    With ``strict``: None where that is a matter of opinion.
    """
    links: list[Link] = []
    ordered = sorted(
        ((*cluster.extent_of(number), number) for cluster in clusters for number in cluster.ground),
    )
    for i, (_, _, right, bottom, one) in enumerate(ordered):
        for left, _, _, other_bottom, other in ordered[i + 1 :]:
            gap = left - right
            if gap < 0 or abs(bottom - other_bottom) > 30:
                continue
            if gap <= NEAR:
                links += [Link("next to", one, other), Link("next to", other, one)]
            elif strict and gap < FAR and not any(right <= at[0] and at[2] <= left for at in ordered):
                return None
    return links
