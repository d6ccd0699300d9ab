"""Scene tables cut into parts of whole scenes, as rows of the graph's nodes and relationships.

The graph has a node ``Scene``, which ``CONTAINS`` nodes ``Object`` (with ``attributes`` and, in the same order,
their ``groups``); ``RELATION`` goes from subject to object; ``MODIFIER`` goes from a relation's subject to the
modifier's object, and has the relation's id. Every node says of which graph and part it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compvqa import tables
from compvqa.scenes.tables import ATTRIBUTES, MODIFIERS, OBJECTS, RELATIONS, SCENES, TABLES

NO_GROUP = "-"  # lists in a graph hold no nulls, and the CSV import reads a list of one empty text as none


def graph_id(scenes: Path) -> str:
    """What names the graph of the scene tables in a folder: a hash of them, so that no two graphs mix."""
    digest = blake2b(digest_size=8)
    for schema in TABLES:
        tables.check(scenes / f"{schema.name}.parquet", schema)
        digest.update((scenes / f"{schema.name}.parquet").read_bytes())
    return digest.hexdigest()


class Parts:
    """The scene tables in a folder, in parts of ``batch`` scenes each (the last may be smaller)."""

    def __init__(self, scenes: Path, batch: int):
        self._tables = {
            schema.name: tables.read(scenes / f"{schema.name}.parquet", schema).select(schema.fields.names)
            for schema in TABLES
        }
        firsts = self._tables["scenes"]["scene_id"].to_pylist()[::batch]
        self._bounds = {name: _bounds(table, firsts) for name, table in self._tables.items()}
        self.count = len(firsts)

    def tables(self, part: int) -> dict[str, pa.Table]:
        """The five tables' rows of one part."""
        return {
            name: table.slice(self._bounds[name][part], self._bounds[name][part + 1] - self._bounds[name][part])
            for name, table in self._tables.items()
        }

    def rows(self, part: int) -> dict[str, list[dict]]:
        """The part as rows of scenes, objects, relations and modifiers."""
        found = {name: table.to_pylist() for name, table in self.tables(part).items()}
        splits = {row["scene_id"]: row["split"] for row in found["scenes"]}
        named: dict[tuple[str, str], list[dict]] = {}
        for row in found.pop("attributes"):
            named.setdefault((row["scene_id"], row["object_id"]), []).append(row)
        for row in found["objects"]:
            of_object = named.get((row["scene_id"], row["object_id"]), [])
            row["split"] = splits[row["scene_id"]]
            row["attributes"] = [attribute["name"] for attribute in of_object]
            row["groups"] = [attribute["group"] or NO_GROUP for attribute in of_object]
        subjects = {(row["scene_id"], row["relation_id"]): row["subject_id"] for row in found["relations"]}
        for row in found["modifiers"]:
            row["subject_id"] = subjects[row["scene_id"], row["relation_id"]]
        return found


def as_tables(rows: dict[str, Iterable[dict]]) -> dict[str, pa.Table]:
    """Rows as :meth:`Parts.rows` gives them, as the five scene tables, sorted by their keys."""
    objects = list(rows["objects"])
    attributes = [
        {key: row[key] for key in ("scene_id", "object_id")} | {"name": name, "group": _group(group)}
        for row in objects
        for name, group in zip(row["attributes"], row["groups"], strict=True)
    ]
    found = {**rows, "objects": objects, "attributes": attributes}
    return {
        schema.name: schema.from_rows(found[schema.name]).sort_by([(key, "ascending") for key in schema.key])
        for schema in (SCENES, OBJECTS, ATTRIBUTES, RELATIONS, MODIFIERS)
    }


def _group(name: str) -> str | None:
    return None if name == NO_GROUP else name


def _bounds(table: pa.Table, firsts: list[str]) -> list[int]:
    """Where each part's rows begin in a table sorted by scene, by the parts' first scenes; then its length."""
    if not len(table):
        return [0] * (len(firsts) + 1)
    runs = pc.run_end_encode(table["scene_id"].combine_chunks())
    starts = [0, *runs.run_ends.to_pylist()]
    places = np.searchsorted(np.array(runs.values.to_pylist(), dtype=object), np.array(firsts, dtype=object))
    return [starts[place] for place in places] + [len(table)]
