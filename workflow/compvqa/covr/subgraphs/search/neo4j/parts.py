"""Scene tables cut into parts of whole scenes, each a nested row of the graph's nodes and relationships.

The graph has a node ``Scene``, which ``CONTAINS`` nodes ``Object`` (if it has any, with ``attributes`` and, in the same
order, their ``groups``); ``RELATION`` goes from subject to object; ``MODIFIER`` goes from a relation's subject to the
modifier's object, and has the relation's id. Every node says of which graph it is, a scene also of which part. Of which
scene an object is, ``CONTAINS`` alone tells, since it is properties of objects that take the time of loading.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compvqa import tables
from compvqa.scenes.tables import TABLES

COMPONENTS = ("scenes", "objects", "relations", "modifiers")  # of a row
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
        self.sizes = {name: len(self._tables[name]) for name in COMPONENTS}

    def tables(self, part: int) -> dict[str, pa.Table]:
        """The five tables' rows of one part."""
        return {
            name: table.slice(self._bounds[name][part], self._bounds[name][part + 1] - self._bounds[name][part])
            for name, table in self._tables.items()
        }

    def rows(self, part: int) -> list[list]:
        """The part's scenes, each as the lists that :data:`COMPONENTS` names: the scene's id, source, split, image,
        width and height; its objects (id, name, x, y, w, h, attributes, their groups); its relations (id, name, places
        of subject and object among the objects); its modifiers (as a relation: its id, own name, subject, object)."""
        found = {name: table.to_pydict() for name, table in self.tables(part).items()}
        of_scene = {row[0]: [list(row), [], [], []] for row in zip(*found["scenes"].values(), strict=True)}
        place: dict[tuple[str, str], int] = {}
        for scene_id, *thing in zip(*found["objects"].values(), strict=True):
            objects = of_scene[scene_id][1]
            place[scene_id, thing[0]] = len(objects)
            objects.append([*thing, None, None])
        for scene_id, object_id, name, group in zip(*found["attributes"].values(), strict=True):
            thing = of_scene[scene_id][1][place[scene_id, object_id]]
            if thing[-1] is None:
                thing[-2:] = [], []
            thing[-2].append(name)
            thing[-1].append(group or NO_GROUP)
        subjects: dict[tuple[str, str], int] = {}
        for scene_id, relation_id, subject, target, name in zip(*found["relations"].values(), strict=True):
            subjects[scene_id, relation_id] = place[scene_id, subject]
            of_scene[scene_id][2].append([relation_id, name, place[scene_id, subject], place[scene_id, target]])
        for scene_id, relation_id, name, tool in zip(*found["modifiers"].values(), strict=True):
            subject = subjects[scene_id, relation_id]
            of_scene[scene_id][3].append([relation_id, name, subject, place[scene_id, tool]])
        return list(of_scene.values())


def _bounds(table: pa.Table, firsts: list[str]) -> list[int]:
    """Where each part's rows begin in a table sorted by scene, by the parts' first scenes; then its length."""
    if not len(table):
        return [0] * (len(firsts) + 1)
    runs = pc.run_end_encode(table["scene_id"].combine_chunks())
    starts = [0, *runs.run_ends.to_pylist()]
    places = np.searchsorted(np.array(runs.values.to_pylist(), dtype=object), np.array(firsts, dtype=object))
    return [starts[place] for place in places] + [len(table)]
