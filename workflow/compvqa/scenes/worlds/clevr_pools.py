"""CLEVR's world for held-out pairs: pools of scenes that all pairs share, each drawn once (CLEVR-HOPE, section 3).

A pool is an ordered list of scenes for each number of objects, without end. A pair walks each list from its start and
takes what fits (scenes without the pair, or with it), the same number from each list. What no pair takes is not drawn.
What a pair takes so depends on no other pair, and scenes that many take are there once.

Two sides are apart, whose variants fix camera, lamps, places and turns. In each variant of ``minimal`` stands one
object, of each combination of attributes in turn. In each variant of ``counted``, for each attribute's value, stand
five objects, of which none to all have the value, one more in each picture (CLEVR-PRELIM, appendix B).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from compvqa.errors import InputError
from compvqa.scenes.pairs import Among, Pair, combinations, diversity, occurs, unseen, within
from compvqa.scenes.worlds.clevr import draw_all
from compvqa.scenes.worlds.clevr.sample import Studio, Values, scene_in, scene_with, studio_of, values_of
from compvqa.scenes.worlds.clevr.settings import ClevrSettings, Contents, SideName
from compvqa.seeds import generator
from compvqa.settings import Settings
from compvqa.tables import running

MINIMAL = "minimal"  # the side of single objects
COUNTED = "counted"  # the side of pictures in which objects with a value are counted
MANY = 5  # objects in these
LIST, VARIANT = 1_000_000, 1_000  # numbers of scenes with so many objects, of a variant
CROWDED = 10  # so many objects are not all of the largest size: they would find no place
MOST = 20_000_000  # scenes of a list that are looked at
LOOKED = 400  # scenes of a list from which a forecast is made


class Pool(Settings):
    """One pool."""

    scenes: PositiveInt = Field(description="scenes that each pair takes")
    pair: Literal["absent", "present"] = Field(description="whether these are without the pair, or with it")
    common: bool = Field(
        False,
        description="whether it is for tests that several vocabularies around a pair share: pairs whose vocabulary is "
        "whole don't walk it",
    )


class ClevrPools(Settings):
    """The pools of all pairs, and the pictures of single objects."""

    pools: dict[SideName, Pool] = Field(
        {
            "train": Pool(scenes=63_000, pair="absent"),
            "iid": Pool(scenes=13_500, pair="absent"),
            "ood": Pool(scenes=15_000, pair="present"),
            "commoniid": Pool(scenes=1_700, pair="absent", common=True),
            "commonood": Pool(scenes=15_000, pair="present", common=True),
        },
        description="the pools, each a side of the scenes",
    )
    variants: NonNegativeInt = Field(
        40, le=999, description="variants of the side minimal, in each of which there is each object; 0: no such side"
    )
    counted: NonNegativeInt = Field(
        0,
        le=999,
        description="variants of the side counted, in each of which there are six pictures a value; 0: no such side",
    )
    all: Contents = Field(Contents(), description="What stands in the scenes of all pools, and how they are drawn.")

    @model_validator(mode="after")
    def _apart(self) -> ClevrPools:
        if taken := {MINIMAL, COUNTED} & self.pools.keys():
            raise ValueError(f"{min(taken)} is a side of its own: call the pool otherwise")
        if not self.sides:
            raise ValueError("nothing is drawn: name pools, or give variants or counted")
        if len(list(self.all.combinations())) > VARIANT:
            raise ValueError(f"there are more than {VARIANT} kinds of objects: give fewer attributes")
        return self

    @property
    def sides(self) -> list[str]:
        """The sides that are made."""
        return [*self.pools, *[MINIMAL] * bool(self.variants), *[COUNTED] * bool(self.counted)]

    @property
    def vocabulary(self) -> Mapping[str, Sequence[str]]:
        """The values of each type."""
        look = self.all
        return {
            "size": tuple(look.sizes),
            "color": tuple(look.colors),
            "material": tuple(look.materials),
            "shape": tuple(look.shapes),
        }


SETTINGS = ClevrPools


class Walk(Settings):
    """A pair that walks the pools, in the whole vocabulary or a part of it."""

    pair: Pair
    among: Among | None = None
    common: Among | None = Field(None, description="the part of the vocabulary in which it walks the common pools")


class PoolSettings(Settings):
    """What makes one side's scenes."""

    world: ClevrPools = Field(ClevrPools(), description="the world's settings")
    side: str = Field(description="the pool, minimal, or counted")
    walks: tuple[Walk, ...] = Field((), description="the pairs that walk it")
    scenes: NonNegativeInt = Field(0, description="about how many scenes there will be, for plans")

    @property
    def clevr(self) -> ClevrSettings:
        """The settings of the side's scenes as CLEVR's world has them."""
        return ClevrSettings.model_validate({**self.world.all.model_dump(), "split": self.side, "scenes": self.scenes})


@dataclass(frozen=True)
class Listed:
    """A scene: its number, the name of its picture, and what its objects are; and where scenes share a variant, which,
    and what the objects of all of them are."""

    number: int
    filename: str
    values: tuple[Values, ...]
    variant: int | str | None = None
    beside: tuple[tuple[Values, ...], ...] = ()


def generate(out: Path, settings: PoolSettings, seed: int, shard: tuple[int, int] = (0, 1)) -> dict[str, int]:
    """Sample and draw a shard of a side's scenes, as :func:`compvqa.scenes.worlds.clevr.generate` does."""
    scenes = list(scenes_of(settings, seed))
    places = range(*(len(scenes) * part // shard[1] for part in (shard[0], shard[0] + 1)))
    asked = {"settings": settings.model_dump(mode="json"), "seed": seed, "shard": list(shard), "recipe": running()}
    sample = Sampling(settings, seed)
    return draw_all(out, settings.clevr, asked, places, lambda place: sample.scene(scenes[place], place))


class Sampling:
    """Places objects in the scenes of a side; where scenes share a variant, its studio is found once."""

    def __init__(self, settings: PoolSettings, seed: int):
        self.clevr, self.seed = settings.clevr, seed
        self.studios: dict[int | str, Studio] = {}

    def scene(self, scene: Listed, place: int) -> dict:
        """A scene as in the scene file, where it has this place."""
        if scene.variant is None:
            return scene_with(self.clevr, self.seed, place, scene.filename, scene.values)
        if scene.variant not in self.studios:
            self.studios[scene.variant] = studio_of(self.clevr, self.seed, scene.variant, scene.beside)
        return scene_in(self.clevr, self.seed, place, scene.filename, self.studios[scene.variant], scene.values)


def scenes_of(settings: PoolSettings, seed: int) -> Iterator[Listed]:
    """The scenes of a side, in the order in which it has them."""
    if settings.side == MINIMAL:
        return singles(settings)
    return counted(settings, seed) if settings.side == COUNTED else listed(settings, seed)


def singles(settings: PoolSettings) -> Iterator[Listed]:
    """The scenes of single objects, variant by variant."""
    every = tuple((values,) for values in settings.world.all.combinations())
    for variant in range(settings.world.variants):
        for place, values in enumerate(every):
            number = variant * VARIANT + place
            yield Listed(number, f"CLEVR_{settings.side}_{number:06d}.png", values, variant, every)


def counted(settings: PoolSettings, seed: int) -> Iterator[Listed]:
    """The scenes in which objects with a value are counted: variant by variant and value by value, from none with it to
    all. An object that has the value in one picture and not in another differs in nothing else."""
    there = list(settings.world.all.combinations())
    groups = list(zip(*there, strict=True))
    values = [(place, value) for place, of in enumerate(groups) for value in dict.fromkeys(of)]
    for variant in range(settings.world.counted):
        for number, (place, value) in enumerate(values):
            changes = [(other, one) for one in there if one[place] == value for other in _without(one, place, there)]
            rng = generator(seed, "clevr counted", settings.side, variant, value)
            drawn = [rng.choice(changes) for _ in range(MANY)] if changes else []
            scenes = tuple(tuple(pair[n < many] for n, pair in enumerate(drawn)) for many in range(MANY + 1))
            for many, things in enumerate(scenes if drawn else ()):
                whole = variant * VARIANT + number * (MANY + 1) + many
                filename = f"CLEVR_{settings.side}-{slug(value)}_{whole:06d}.png"
                yield Listed(whole, filename, things, f"{variant} {value}", scenes)


def _without(one: Values, place: int, there: Sequence[Values]) -> list[Values]:
    """The objects that there are which differ from one in nothing but the value in this place."""
    return [
        other for other in there if [a != b for a, b in zip(one, other, strict=True)] == [n == place for n in range(4)]
    ]


def variant_of(scene_id: str) -> int:
    """The variant of a scene of the sides minimal and counted."""
    return int(scene_id.rpartition("_")[2]) // VARIANT


def listed(settings: PoolSettings, seed: int) -> Iterator[Listed]:
    """The scenes of a pool that some pair takes: by vocabulary, number of objects, and place in the list."""
    for tag, (cut, pairs) in _walkers(settings).items():
        for many, wanted in _lists(settings).items():
            yield from _taken(settings, seed, tag, cut, pairs, many, wanted)


def _taken(
    settings: PoolSettings, seed: int, tag: str, cut: Contents, pairs: Sequence[Pair], many: int, wanted: int
) -> Iterator[Listed]:
    """The scenes of one list up to where the last pair has what it wants."""
    left = dict.fromkeys(pairs, wanted)
    present = settings.world.pools[settings.side].pair == "present"
    for place in count():
        left = {pair: n for pair, n in left.items() if n}
        if not left:
            return
        if place == MOST:
            raise InputError(f"of {MOST:,} scenes of {many} objects too few are of use to {' '.join(min(left))}.")
        values = contents(cut, seed, settings.side, tag, many, place)
        takers = [pair for pair in left if occurs(pair, values) == present]
        for pair in takers:
            left[pair] -= 1
        if takers:
            number = many * LIST + place
            yield Listed(number, f"CLEVR_{settings.side}{tag and f'-{tag}'}_{number:08d}.png", tuple(values))


def forecast(settings: PoolSettings, seed: int) -> int:
    """About how many scenes a side will have, from the first ones of each list that several pairs walk."""
    if settings.side in (MINIMAL, COUNTED):
        return sum(1 for _ in scenes_of(settings, seed))
    present, whole = settings.world.pools[settings.side].pair == "present", 0.0
    for tag, (cut, pairs) in _walkers(settings).items():
        for many, wanted in _lists(settings).items():
            if len(pairs) == 1:
                whole += wanted
                continue
            looked = [contents(cut, seed, settings.side, tag, many, place) for place in range(LOOKED)]
            fits = {pair: [occurs(pair, values) == present for values in looked] for pair in pairs}
            ends = {pair: wanted * LOOKED / max(1, sum(flags)) for pair, flags in fits.items()}
            before = 0.0
            for end in sorted(ends.values()):  # up to which those pairs walk whose ends are not before it
                walking = [flags for pair, flags in fits.items() if ends[pair] >= end]
                whole += (end - before) * sum(map(any, zip(*walking, strict=True))) / LOOKED
                before = end
    return math.ceil(whole)


def contents(cut: Contents, seed: int, pool: str, tag: str, many: int, place: int) -> list[Values]:
    """What the objects of a scene are, by its place in a list: uniform and independent, each of its attributes."""
    rng = generator(seed, "clevr pool", pool, tag, many, place)
    largest = max(cut.sizes.values())
    while True:
        values = values_of(cut, rng, many)
        if values is not None and (many < CROWDED or any(cut.sizes[size] < largest for *_, size in values)):
            return values


def _lists(settings: PoolSettings) -> dict[int, int]:
    """For each number of objects, how many scenes of it a pair takes."""
    numbers = range(settings.world.all.min_objects, settings.world.all.max_objects + 1)
    return dict(zip(numbers, shares(settings.world.pools[settings.side].scenes, len(numbers)), strict=True))


def shares(scenes: int, lists: int) -> list[int]:
    """How many scenes are taken from each of some lists, as even as can be; the first ones give one more."""
    return [scenes // lists + (number < scenes % lists) for number in range(lists)]


def _walkers(settings: PoolSettings) -> dict[str, tuple[Contents, list[Pair]]]:
    """By the tag of each vocabulary what there is in it, and the pairs that walk its lists."""
    world, found = settings.world, dict[str, tuple[Contents, list[Pair]]]()
    common = world.pools[settings.side].common
    for walk in settings.walks:
        among = walk.common if common else walk.among
        if common and among is None:
            continue
        tag = tag_of(walk.pair, world.vocabulary, among)
        pairs = found.setdefault(tag, (_cut(world, walk.pair, among if tag else None), []))[1]
        if walk.pair not in pairs:
            pairs.append(walk.pair)
    return found


def _cut(world: ClevrPools, pair: Pair, among: Among | None) -> Contents:
    """What stands in scenes of a part of the vocabulary."""
    kept = within(pair, world.vocabulary, among)
    look = {"size": "sizes", "color": "colors", "material": "materials", "shape": "shapes"}
    changed = {
        field: {name: value for name, value in getattr(world.all, field).items() if name in kept[kind]}
        for kind, field in look.items()
    }
    forbidden = [*world.all.forbidden, *unseen(pair, world.vocabulary, among)]
    return world.all.model_copy(update={**changed, "forbidden": forbidden})


def tag_of(pair: Pair, vocabulary: Mapping[str, Sequence[str]], among: Among | None) -> str:
    """What names of pictures say of a part of the vocabulary around a pair; nothing where it is the whole."""
    if among is None or len(combinations(pair, vocabulary, among)) == diversity(pair, vocabulary):
        return ""
    size = [f"{kind}{many}" for kind, many in sorted(among.grid.items())] or [f"subset{among.subset}"]
    return "-".join(slug(str(word)) for word in (*pair, *size, among.draw))


def slug(word: str) -> str:
    """A word as names of pictures have it."""
    return re.sub(r"[^a-z0-9]", "", word.lower())


def tag_in(scene_id: str) -> str:
    """The tag that the name of a scene has, on the side counted the value; none of scenes of the whole vocabulary, and
    of other sources."""
    name = PurePosixPath(scene_id).name.rpartition(":")[2]
    return name.rpartition("_")[0].partition("-")[2]
