"""One scene's graph in memory, and a store that gives any scene's graph without holding them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from compvqa import tables
from compvqa.scenes.tables import ATTRIBUTES, DIRECTIONS, MODIFIERS, OBJECTS, POSITIONS, RELATIONS, SCENES
from compvqa.tables import Schema

Box = tuple[float, float, float, float]
Place = tuple[float, float, float]


@dataclass(frozen=True)
class Object:
    """An object: name, attributes (name -> group or None) and box (x, y, w, h in pixels, None if unknown)."""

    object_id: str
    name: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    box: Box | None = None


@dataclass(frozen=True)
class Relation:
    """A relation from subject to object, with modifiers ((name, object id), …)."""

    name: str
    subject_id: str
    object_id: str
    modifiers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Space:
    """Where a scene's objects are: by object id their places (x, y, z) and centres in the picture (x, y, pixels), by
    name the directions that relations follow from, and the picture's width and height, where they are known."""

    places: dict[str, Place]
    centres: dict[str, tuple[float, float]]
    directions: dict[str, Place]
    picture: tuple[int, int] | None = None


@dataclass(frozen=True)
class SceneGraph:
    """The graph of one scene (COVR, section 3.1), and its space where the source tells of it."""

    scene_id: str
    objects: dict[str, Object]
    relations: tuple[Relation, ...] = ()
    space: Space | None = None

    @cached_property
    def outgoing(self) -> dict[str, list[Relation]]:
        """The relations of each subject, by its object id."""
        result: dict[str, list[Relation]] = {}
        for relation in self.relations:
            result.setdefault(relation.subject_id, []).append(relation)
        return result

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """The ids of the objects of each name."""
        result: dict[str, list[str]] = {}
        for object_id, item in self.objects.items():
            result.setdefault(item.name, []).append(object_id)
        return result

    @cached_property
    def by_relation(self) -> dict[str, list[Relation]]:
        """The relations of each name."""
        result: dict[str, list[Relation]] = {}
        for relation in self.relations:
            result.setdefault(relation.name, []).append(relation)
        return result

    @cached_property
    def names(self) -> frozenset[str]:
        """All names in the scene: of objects, attributes and relations, and those of :attr:`by_modifier`."""
        attributes = {name for item in self.objects.values() for name in item.attributes}
        return frozenset(attributes.union(self.by_name, self.by_relation, self.by_modifier))

    @cached_property
    def by_modifier(self) -> dict[str, list[Relation]]:
        """What modifiers lead to, as relations of their subjects, by both names: "cutting with" → (man, knife)."""
        result: dict[str, list[Relation]] = {}
        for relation in self.relations:
            for modifier, object_id in relation.modifiers:
                name = f"{relation.name} {modifier}"
                result.setdefault(name, []).append(Relation(name, relation.subject_id, object_id))
        return result

    @cached_property
    def leading(self) -> dict[str, list[Relation]]:
        """The relations of each name; of a name that is none's, what a modifier leads to by both their names."""
        return self.by_modifier | self.by_relation


def without(scene: SceneGraph, ids: Set[str]) -> SceneGraph:
    """The scene without some of its objects and their relations."""
    return SceneGraph(
        scene.scene_id,
        {object_id: item for object_id, item in scene.objects.items() if object_id not in ids},
        tuple(
            replace(relation, modifiers=tuple(m for m in relation.modifiers if m[1] not in ids))
            for relation in scene.relations
            if relation.subject_id not in ids and relation.object_id not in ids
        ),
    )


class SceneStore:
    """The graphs of the scenes in a folder of scene tables.

    Keeps the tables as Arrow (compact) and builds a :class:`SceneGraph` only when it is asked for; the last
    ``cache`` graphs are kept. With ``only``, it knows these scenes and reads no others.
    """

    def __init__(self, folder: Path | str, cache: int = 20_000, only: Sequence[str] | None = None):
        folder = Path(folder)

        def rows(schema: Schema) -> pa.Table:
            path = folder / f"{schema.name}.parquet"
            return tables.read(path, schema) if only is None else tables.read_keys(path, schema, only)

        self.scenes = rows(SCENES)
        self._parts = {schema.name: Slices(rows(schema), columns) for schema, columns in _COLUMNS}
        self._space = {
            schema.name: Slices(rows(schema), columns)
            for schema, columns in _SPACE
            if (folder / f"{schema.name}.parquet").exists()
        }
        if self._space:
            self._space["scenes"] = Slices(self.scenes, ("width", "height"))
        self.graph = lru_cache(maxsize=cache)(self._build)

    def graphs(self, scene_ids: Iterable[str]) -> Iterator[SceneGraph]:
        """The graphs of the named scenes, in that order."""
        return (self.graph(scene_id) for scene_id in scene_ids)

    def _build(self, scene_id: str) -> SceneGraph:
        rows = {name: part.rows(scene_id) for name, part in self._parts.items()}
        attributes: dict[str, dict[str, str | None]] = {}
        for object_id, name, group in rows["attributes"]:
            attributes.setdefault(object_id, {})[name] = group
        modifiers: dict[str, list[tuple[str, str]]] = {}
        for relation_id, name, object_id in rows["modifiers"]:
            modifiers.setdefault(relation_id, []).append((name, object_id))
        objects = {
            object_id: Object(object_id, name, attributes.get(object_id, {}), None if box[0] is None else tuple(box))
            for object_id, name, *box in rows["objects"]
        }
        relations = tuple(
            Relation(name, subject_id, object_id, tuple(modifiers.get(relation_id, ())))
            for relation_id, name, subject_id, object_id in rows["relations"]
        )
        return SceneGraph(scene_id, objects, relations, self._space_of(scene_id) if self._space else None)

    def _space_of(self, scene_id: str) -> Space | None:
        rows = {name: list(part.rows(scene_id)) for name, part in self._space.items()}
        positions, directions = rows.get("positions", []), rows.get("directions", [])
        if not positions and not directions:
            return None
        ((width, height),) = rows["scenes"]
        return Space(
            {object_id: (x, y, z) for object_id, x, y, z, *_ in positions},
            {object_id: (x, y) for object_id, *_, x, y in positions},
            {name: (x, y, z) for name, x, y, z in directions},
            (width, height) if width and height else None,
        )


# What a graph is made of, by table
_COLUMNS = (
    (OBJECTS, ("object_id", "name", "x", "y", "w", "h")),
    (ATTRIBUTES, ("object_id", "name", "group")),
    (RELATIONS, ("relation_id", "name", "subject_id", "object_id")),
    (MODIFIERS, ("relation_id", "name", "object_id")),
)
# What its space is made of, of sources that tell it
_SPACE = (
    (POSITIONS, ("object_id", "x", "y", "z", "pixel_x", "pixel_y")),
    (DIRECTIONS, ("name", "x", "y", "z")),
)


class Slices:
    """Columns of a table sorted by scene_id, and where each scene's rows are."""

    def __init__(self, table: pa.Table, columns: tuple[str, ...]):
        self.columns = [table[name].combine_chunks() for name in columns]
        runs = pc.run_end_encode(table["scene_id"].combine_chunks()) if len(table) else None
        self.at: dict[str, tuple[int, int]] = {}
        if runs is not None:
            start = 0
            for value, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
                self.at[value] = (start, end)
                start = end

    def rows(self, scene_id: str) -> Iterator[tuple]:
        """A scene's rows, in a third of the time that dicts of them take."""
        start, end = self.at.get(scene_id, (0, 0))
        return zip(*(column.slice(start, end - start).to_pylist() for column in self.columns), strict=True)
