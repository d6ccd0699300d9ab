"""One scene's graph in memory, and a store that gives any scene's graph without holding them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from compvqa import tables
from compvqa.scenes.tables import ATTRIBUTES, MODIFIERS, OBJECTS, RELATIONS, SCENES

Box = tuple[float, float, float, float]


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
class SceneGraph:
    """The graph of one scene (COVR, section 3.1)."""

    scene_id: str
    objects: dict[str, Object]
    relations: tuple[Relation, ...] = ()

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


class SceneStore:
    """The graphs of the scenes in a folder of scene tables.

    Keeps the tables as Arrow (compact) and builds a :class:`SceneGraph` only when it is asked for; the last
    ``cache`` graphs are kept.
    """

    def __init__(self, folder: Path | str, cache: int = 20_000):
        folder = Path(folder)
        self.scenes = tables.read(folder / "scenes.parquet", SCENES)
        self._parts = {
            schema.name: _Slices(tables.read(folder / f"{schema.name}.parquet", schema))
            for schema in (OBJECTS, ATTRIBUTES, RELATIONS, MODIFIERS)
        }
        self.graph = lru_cache(maxsize=cache)(self._build)

    def graphs(self, scene_ids: Iterable[str]) -> Iterator[SceneGraph]:
        """The graphs of the named scenes, in that order."""
        return (self.graph(scene_id) for scene_id in scene_ids)

    def _build(self, scene_id: str) -> SceneGraph:
        rows = {name: part.rows(scene_id) for name, part in self._parts.items()}
        attributes: dict[str, dict[str, str | None]] = {}
        for row in rows["attributes"]:
            attributes.setdefault(row["object_id"], {})[row["name"]] = row["group"]
        modifiers: dict[str, list[tuple[str, str]]] = {}
        for row in rows["modifiers"]:
            modifiers.setdefault(row["relation_id"], []).append((row["name"], row["object_id"]))
        objects = {
            row["object_id"]: Object(
                row["object_id"],
                row["name"],
                attributes.get(row["object_id"], {}),
                None if row["x"] is None else (row["x"], row["y"], row["w"], row["h"]),
            )
            for row in rows["objects"]
        }
        relations = tuple(
            Relation(row["name"], row["subject_id"], row["object_id"], tuple(modifiers.get(row["relation_id"], ())))
            for row in rows["relations"]
        )
        return SceneGraph(scene_id, objects, relations)


class _Slices:
    """A table sorted by scene_id, and where each scene's rows are."""

    def __init__(self, table: pa.Table):
        self.table = table.combine_chunks()
        runs = pc.run_end_encode(self.table["scene_id"].combine_chunks()) if len(table) else None
        self.at: dict[str, tuple[int, int]] = {}
        if runs is not None:
            start = 0
            for value, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
                self.at[value] = (start, end)
                start = end

    def rows(self, scene_id: str) -> list[dict]:
        start, end = self.at.get(scene_id, (0, 0))
        return self.table.slice(start, end - start).to_pylist()
