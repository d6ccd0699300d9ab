"""Scene graphs as the CSV files that ``neo4j-admin database import`` reads: the quickest way into a large server."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from compvqa import tables
from compvqa.graphs.neo4j.loading import SCHEMA
from compvqa.graphs.neo4j.parts import Parts, graph_id
from compvqa.progress import track

LIST = "\x1f"  # stands between the items of a list: no name has it
# Nodes (N) and relationships (R): file and header by label. Columns without a property's name are ids.
_BOX = ["x:double", "y:double", "w:double", "h:double"]
_OF = ["graph:string", "part:long", "scene_id:string"]
FILES = {
    "Graph": ["N", ":ID(Graph)", "id:string", "loaded:long", "batch:long", "parts:long"],
    "Scene": ["N", ":ID(Scene)", *_OF, "source:string", "split:string", "image:string", "width:long", "height:long"],
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
        writers["Graph"].writerow([0, graph, parts.count, batch, parts.count])
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


def _numbered(
    rows: dict[str, list[dict]], scenes: int, objects: int
) -> dict[str, Iterable[tuple[tuple[int, ...], dict]]]:
    """The rows of one part by label, with the numbers of the nodes: so many scenes and objects came before."""
    of_scene = {row["scene_id"]: scenes + i for i, row in enumerate(rows["scenes"])}
    of_object = {(row["scene_id"], row["object_id"]): objects + i for i, row in enumerate(rows["objects"])}

    def between(name: str) -> Iterator[tuple[tuple[int, ...], dict]]:
        for row in rows[name]:
            yield tuple(of_object[row["scene_id"], row[end]] for end in ("subject_id", "object_id")), row

    return {
        "Scene": [((of_scene[row["scene_id"]],), row) for row in rows["scenes"]],
        "Object": [((of_object[row["scene_id"], row["object_id"]],), row) for row in rows["objects"]],
        "CONTAINS": [
            ((of_scene[row["scene_id"]], of_object[row["scene_id"], row["object_id"]]), row) for row in rows["objects"]
        ],
        "RELATION": between("relations"),
        "MODIFIER": between("modifiers"),
    }


def _text(value: object) -> object:
    """A value as its column holds it; None is an empty field, which the import takes for no property."""
    return LIST.join(value) if isinstance(value, list) else value
