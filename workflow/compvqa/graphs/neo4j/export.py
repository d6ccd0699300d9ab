"""Scene graphs as the CSV files that ``neo4j-admin database import`` reads: the quickest way into a large server."""

from __future__ import annotations

import csv
from contextlib import ExitStack
from pathlib import Path

from compvqa import tables
from compvqa.graphs.neo4j.loading import SCHEMA
from compvqa.graphs.neo4j.parts import Parts, graph_id
from compvqa.progress import track

LIST = "\x1f"  # stands between the items of a list: no name has it
# Nodes (N) and relationships (R): file and header by label. Columns without a property's name are ids.
_SCENE = ("scene_id", "source", "split", "image", "width", "height")  # as in Parts.rows
_OBJECT = ("object_id", "name", "x", "y", "w", "h", "attributes", "groups")
_BOX = ["x:double", "y:double", "w:double", "h:double"]
_OF = ["graph:string", "scene_id:string"]
FILES = {
    "Graph": ["N", ":ID(Graph)", "id:string", "batch:long", "parts:long"],
    "Scene": [
        *("N", ":ID(Scene)", *_OF, "part:long", "source:string", "split:string"),
        *("image:string", "width:long", "height:long"),
    ],
    "Object": [
        *("N", ":ID(Object)", *_OF, "object_id:string", "split:string", "name:string"),
        *("attributes:string[]", "groups:string[]", *_BOX),
    ],
    "CONTAINS": ["R", ":START_ID(Scene)", ":END_ID(Object)"],
    "RELATION": ["R", ":START_ID(Object)", "relation_id:string", "name:string", ":END_ID(Object)"],
    "MODIFIER": ["R", ":START_ID(Object)", "relation_id:string", "name:string", ":END_ID(Object)"],
}
_NEXT = """neo4j-admin database import full neo4j {files} --array-delimiter=U+001F
cypher-shell -f schema.cypher
"""


def file_names() -> list[str]:
    """What an export writes."""
    return [*(f"{label.lower()}.csv" for label in FILES), "schema.cypher", "import.sh"]


def export(scenes: Path, out: Path, batch: int) -> dict[str, int]:
    """Write the CSV files, the schema and the import's command line into the folder ``out``; gives their rows.

    The backend takes a graph that was imported so for one that it has loaded itself, in parts of ``batch`` scenes.
    """
    graph, parts = graph_id(scenes), Parts(scenes, batch)
    counts = dict.fromkeys(FILES, 0)
    with ExitStack() as stack:
        writers = {label: csv.writer(_opened(stack, out, label), lineterminator="\n") for label in FILES}
        for label, (_, *header) in FILES.items():
            writers[label].writerow(header)
        writers["Graph"].writerow([0, graph, batch, parts.count])
        for part in track(range(parts.count), "export", total=parts.count, unit="part"):
            at = {"graph": graph, "part": part}
            numbered = _numbered(parts.rows(part), counts["Scene"], counts["Object"])
            for label, rows in numbered.items():
                properties = [column.partition(":")[0] for column in FILES[label][1:]]
                for ids, row in rows:
                    waiting = iter(ids)
                    writers[label].writerow(_text((at | row)[p]) if p else next(waiting) for p in properties)
                    counts[label] += 1
    (out / "schema.cypher").write_text("".join(f"{statement};\n" for statement in SCHEMA), encoding="utf-8")
    options = {"N": "nodes", "R": "relationships"}
    files = (f"--{options[kind]}={label}={label.lower()}.csv" for label, (kind, *_) in FILES.items())
    (out / "import.sh").write_text(_NEXT.format(files=" ".join(files)), encoding="utf-8")
    return counts | {"Graph": 1}


def _opened(stack: ExitStack, out: Path, label: str):
    path = stack.enter_context(tables.replacing(out / f"{label.lower()}.csv"))
    return stack.enter_context(path.open("w", encoding="utf-8", newline=""))


def _numbered(rows: list[list], scenes: int, objects: int) -> dict[str, list[tuple[tuple[int, ...], dict]]]:
    """The rows of one part by label: numbers of nodes (so many scenes and objects came before), and properties."""
    found: dict[str, list] = {label: [] for label in FILES}
    for number, (scene, things, relations, modifiers) in enumerate(rows, start=scenes):
        found["Scene"].append(((number,), dict(zip(_SCENE, scene, strict=True))))
        for place, thing in enumerate(things, start=objects):
            properties = dict(zip(_OBJECT, thing, strict=True)) | {"scene_id": scene[0], "split": scene[2]}
            found["Object"].append(((place,), properties))
            found["CONTAINS"].append(((number, place), {}))
        for label, between in (("RELATION", relations), ("MODIFIER", modifiers)):
            for relation_id, name, subject, target in between:
                ends = objects + subject, objects + target
                found[label].append((ends, {"relation_id": relation_id, "name": name}))
        objects += len(things)
    return found


def _text(value: object) -> object:
    """A value as its column holds it; None is an empty field, which the import takes for no property."""
    return LIST.join(value) if isinstance(value, list) else value
