"""Scene graphs as the CSV files that ``neo4j-admin database import`` reads: the quickest way into a large server."""

from __future__ import annotations

import csv
from contextlib import ExitStack
from pathlib import Path

from compvqa import tables
from compvqa.covr.subgraphs.search.neo4j.parts import Parts, graph_id
from compvqa.errors import InputError
from compvqa.progress import track

LIST = "\x1f"  # stands between the items of a list
# Nodes (N) and relationships (R): file and header by label. Columns without a property's name are ids.
_SCENE = ("scene_id", "source", "split", "image", "width", "height")  # as in Parts.rows
_OBJECT = ("object_id", "name", "x", "y", "w", "h", "attributes", "groups")
_BOX = ["x:double", "y:double", "w:double", "h:double"]
FILES = {
    "Graph": ["N", ":ID(Graph)", "id:string", "batch:long", "parts:long"],
    "Scene": [
        *("N", ":ID(Scene)", "graph:string", "scene_id:string", "part:long", "source:string", "split:string"),
        *("image:string", "width:long", "height:long"),
    ],
    "Object": [
        *("N", ":ID(Object)", "graph:string", "object_id:string", "name:string"),
        *("attributes:string[]", "groups:string[]", *_BOX),
    ],
    "CONTAINS": ["R", ":START_ID(Scene)", ":END_ID(Object)"],
    "RELATION": ["R", ":START_ID(Object)", "relation_id:string", "name:string", ":END_ID(Object)"],
    "MODIFIER": ["R", ":START_ID(Object)", "relation_id:string", "name:string", ":END_ID(Object)"],
}
# bash before 4.4 takes an empty list for a variable that is not set
_IMPORT = """#!/usr/bin/env bash
# Imports the files beside it into a Neo4j that is stopped: import.sh [--overwrite-destination] [DATABASE]
set -euo pipefail
unset CDPATH
cd -- "$(dirname -- "$0")"
options=()
database=neo4j
for argument in "$@"; do
  case $argument in
    --overwrite-destination) options+=("$argument") ;;
    -*)
      echo "import.sh: there is no option $argument: to replace a database, give --overwrite-destination." >&2
      exit 2
      ;;
    *) database=$argument ;;
  esac
done
if ! command -v neo4j-admin > /dev/null && [ -n "${NEO4J_HOME:-}" ]; then
  PATH=$PATH:$NEO4J_HOME/bin
fi
if ! command -v neo4j-admin > /dev/null; then
  echo "import.sh: there is no neo4j-admin on PATH, nor in the folder bin of NEO4J_HOME: set one of them." >&2
  exit 1
fi
neo4j-admin database import full "$database" \\
@FILES@  --id-type=integer --multiline-fields=true --array-delimiter=U+001F ${options[@]+"${options[@]}"}
echo "The graph is imported. Next: start the server, set NEO4J_URI and NEO4J_PASSWORD, and run"
echo "  python -m compvqa load-neo4j --scenes SCENES"
echo "with the folder of its scene tables: that makes constraints and indexes, and reads the graph back."
"""


def file_names() -> list[str]:
    """What an export writes."""
    return [*(f"{label.lower()}.csv" for label in FILES), "import.sh"]


def export(scenes: Path, out: Path, batch: int) -> dict[str, int]:
    """Write the CSV files, and a script that imports them, into the folder ``out``; gives their rows.

    The backend takes a graph that was imported so for one that it has loaded itself, in parts of ``batch`` scenes.
    :class:`InputError` names a text that the import would not take as it is.
    """
    graph, parts = graph_id(scenes), Parts(scenes, batch)
    counts = dict.fromkeys(FILES, 0)
    with ExitStack() as stack:
        # Before Python 3.13 a writer quotes those line breaks alone that its lines end with: here all
        writers = {label: csv.writer(_opened(stack, out, label), lineterminator="\r\n") for label in FILES}
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
                    cells = (_text((at | row)[p], scenes) if p else next(waiting) for p in properties)
                    writers[label].writerow(cells)
                    counts[label] += 1
    options = {"N": "nodes", "R": "relationships"}
    files = (f"  --{options[kind]}={label}={label.lower()}.csv \\\n" for label, (kind, *_) in FILES.items())
    with tables.replacing(out / "import.sh") as script:
        script.write_text(_IMPORT.replace("@FILES@", "".join(files)), encoding="utf-8")
        script.chmod(0o755)
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
            found["Object"].append(((place,), dict(zip(_OBJECT, thing, strict=True))))
            found["CONTAINS"].append(((number, place), {}))
        for label, between in (("RELATION", relations), ("MODIFIER", modifiers)):
            for relation_id, name, subject, target in between:
                ends = objects + subject, objects + target
                found[label].append((ends, {"relation_id": relation_id, "name": name}))
        objects += len(things)
    return found


def _text(value: object, scenes: Path) -> object:
    """A value as its column holds it; None is an empty field, which the import takes for no property."""
    if isinstance(value, list):
        if any(LIST in item or not item for item in value):
            raise _refused("an attribute that is empty or has the character U+001F", value, scenes)
        return LIST.join(value)
    if value == "":
        raise _refused("an empty text", value, scenes)
    return value


def _refused(what: str, value: object, scenes: Path) -> InputError:
    return InputError(
        f"{scenes} holds {what} ({str(value)[:40]!r}), which neo4j-admin would not import as it is: load the graph by "
        "load-neo4j instead."
    )
