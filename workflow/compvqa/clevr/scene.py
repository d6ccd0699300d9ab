"""A scene as bit masks: object i of the scene is bit i of an integer, and a set of objects is one integer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from compvqa import tables
from compvqa.clevr.language import GROUPS
from compvqa.errors import InputError
from compvqa.scenes.graph import SceneGraph, SceneStore, Space
from compvqa.scenes.spatial import all_related
from compvqa.scenes.tables import DIRECTIONS, POSITIONS, SCENES

Attributes = tuple[str, str, str, str]  # size, color, material, shape
RELATIONS = ("left", "right", "behind", "front")
AT_ONCE = 4_000  # scenes whose rows are in memory: in scenes of CLEVR's size as many as a row group of attributes has
PICTURE = (480, 320)  # width and height of the official pictures, whose scene files don't tell them


@dataclass(frozen=True)
class Scene:
    """A scene: its objects' attributes, and for each relation the mask of what stands in it to each object.

    ``halves``: for each relation the mask of what lies in that half of the picture; none where no source tells.
    """

    scene_id: str
    split: str
    objects: tuple[Attributes, ...]
    relations: Mapping[str, tuple[int, ...]]
    halves: Mapping[str, int] | None = None

    @cached_property
    def everything(self) -> int:
        """The mask of all objects."""
        return (1 << len(self.objects)) - 1

    @cached_property
    def having(self) -> Mapping[str, Mapping[str, int]]:
        """By group and attribute, the mask of the objects that have it."""
        found: dict[str, dict[str, int]] = {group: {} for group in GROUPS}
        for number, attributes in enumerate(self.objects):
            for group, value in zip(GROUPS, attributes, strict=True):
                found[group][value] = found[group].get(value, 0) | 1 << number
        return found

    @cached_property
    def described(self) -> Mapping[tuple[str | None, ...], int]:
        """By each description that fits any object (an attribute or None for each group), the mask of those it fits."""
        found: dict[tuple[str | None, ...], int] = {}
        for number, attributes in enumerate(self.objects):
            for backwards in product(*((None, value) for value in reversed(attributes))):
                key = backwards[::-1]
                found[key] = found.get(key, 0) | 1 << number
        return found

    @cached_property
    def absolute(self) -> Scene | None:
        """The scene with relations that ask where in the picture a thing is, whatever it is related to (CLEVR, 4.6);
        None where the halves of the picture are not known."""
        if self.halves is None:
            return None
        return replace(self, relations={name: (half,) * len(self.objects) for name, half in self.halves.items()})

    def fitting(self, description: Sequence[str | None]) -> int:
        """The mask of the objects that a description fits."""
        mask = self.everything
        for group, value in zip(GROUPS, description, strict=True):
            if value is not None:
                mask &= self.having[group].get(value, 0)
        return mask


def masks(lists: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Lists of objects' numbers as masks."""
    return tuple(sum(1 << number for number in numbers) for numbers in lists)


class Known(NamedTuple):
    """What a scene is known by before it is built: its id, and its side (train, val)."""

    scene_id: str
    split: str


def known_scenes(folder: Path) -> list[Known]:
    """All scenes of a folder of scene tables, in the order of their ids."""
    columns = tables.read(folder / f"{SCENES.name}.parquet", SCENES, Known._fields).select(Known._fields).to_pydict()
    return [Known(*values) for values in zip(*columns.values(), strict=True)]


def chosen_scenes(folder: Path, chosen: Sequence[str]) -> list[Known]:
    """The scenes of a folder that have these ids, in their order. InputError where there is none of an id."""
    of = dict(known_scenes(folder))
    if missing := [scene_id for scene_id in chosen if scene_id not in of]:
        raise InputError(f"{folder} has no scene {missing[0]}: choose among its own.")
    return [Known(scene_id, of[scene_id]) for scene_id in chosen]


def read_scenes(folder: Path, known: Sequence[Known] | None = None) -> Iterator[Scene]:
    """The scenes of a folder of scene tables, in the order of their ids, or those of ``known``, in theirs.

    Of the tables, the rows of some thousand scenes are in memory at a time, and no others are read. InputError where an
    object lacks a size, colour, material or place, or a scene its directions.
    """
    for name in (POSITIONS.name, DIRECTIONS.name):
        if not (folder / f"{name}.parquet").exists():
            raise InputError(f"{folder} has no table {name}: CLEVR's questions need scenes whose source tells places.")
    return _built(folder, known_scenes(folder) if known is None else known)


def _built(folder: Path, known: Sequence[Known]) -> Iterator[Scene]:
    for start in range(0, len(known), AT_ONCE):
        few = known[start : start + AT_ONCE]
        store = SceneStore(folder, cache=1, only=[scene_id for scene_id, _ in few])
        yield from (of_graph(store.graph(scene_id), split) for scene_id, split in few)


def of_graph(graph: SceneGraph, split: str = "") -> Scene:
    """The scene of a graph; its objects are in the order of :func:`ordered`. InputError as of :func:`read_scenes`."""
    order, space = ordered(graph), graph.space or Space({}, {}, {})
    if order and not space.directions and not graph.relations:
        raise InputError(f"The scene {graph.scene_id} has no directions: read it from a file that tells them.")
    objects: list[Any] = []
    for key in order:
        item = graph.objects[key]
        found = {"shape": item.name} | {group: name for name, group in item.attributes.items() if group in GROUPS}
        if missing := [group for group in GROUPS if group not in found]:
            raise InputError(f"Object {key} of the scene {graph.scene_id} has no {missing[0]}: correct its file.")
        if key not in space.places:
            raise InputError(f"Object {key} of the scene {graph.scene_id} has no place: correct its file.")
        objects.append(tuple(found[group] for group in GROUPS))
    if space.directions:
        related = all_related([space.places[key] for key in order], space.directions)
    else:
        related = _told(graph, order)
    relations = {name: masks(lists) for name, lists in related.items()}
    centres = [space.centres[key] for key in order]
    return Scene(graph.scene_id, split, tuple(objects), relations, halves(centres, space.picture or PICTURE))


def _told(graph: SceneGraph, order: Sequence[str]) -> dict[str, list[list[int]]]:
    """For each relation and object the numbers of what stands in it to that object, by the scene's own relations."""
    number = {key: i for i, key in enumerate(order)}
    found: dict[str, list[list[int]]] = {name: [[] for _ in order] for name in RELATIONS}
    for relation in graph.relations:
        found.setdefault(relation.name, [[] for _ in order])[number[relation.object_id]].append(
            number[relation.subject_id]
        )
    return found


def ordered(graph: SceneGraph) -> list[str]:
    """The ids of the objects in the order of their numbers."""
    return sorted(graph.objects, key=int) if all(key.isdecimal() for key in graph.objects) else sorted(graph.objects)


def halves(centres: Sequence[tuple[float, float]], picture: tuple[int, int]) -> dict[str, int]:
    """For each of CLEVR's relations the mask of the objects in that half of the picture; front is the lower one.

    ``centres``: x and y of each object in pixels; ``picture``: its width and height. Pixels are counted from 0, so that
    with an even number of them the one in the middle is right, or in front.
    """
    found = dict.fromkeys(RELATIONS, 0)
    for number, centre in enumerate(centres):
        for place, size, (before, after) in zip(centre, picture, (RELATIONS[:2], RELATIONS[2:]), strict=True):
            found[before] |= (place < size / 2) << number
            found[after] |= (place >= size / 2) << number
    return found
