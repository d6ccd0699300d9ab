"""The dataset's questions as nodes of a graph: what each is about, and which objects its answer is read off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from compvqa import tables
from compvqa.covr.executor import Groups, Images, ProgramError, Relations, trace
from compvqa.covr.properties import Question, held
from compvqa.covr.questions.references import matches
from compvqa.covr.questions.tables import DATASET
from compvqa.errors import InputError
from compvqa.programs.rows import Program
from compvqa.scenes.graph import SceneGraph, SceneStore

COPIED = ("question_id", "part", "template", "text", "answer", "program", "tree", "size", "depth")
_READ = (*COPIED, "scene_ids", "properties")
_BATCH = 4096
_CACHED = 2000  # scene graphs in memory: questions of one scene do not stand together


class Questions:
    """The questions of a dataset, in the order of its table, with the scenes that they are about."""

    def __init__(self, dataset: Path, scenes: Path):
        """Raises :class:`InputError` where a question is about a scene that is not in the tables ``scenes``."""
        tables.check(dataset, DATASET)
        self.dataset, self.count = dataset, pq.read_metadata(dataset).num_rows
        self._scenes = scenes
        self._store: SceneStore | None = None
        self._refuse_other_scenes()

    def _refuse_other_scenes(self) -> None:
        known = tables.read(self._scenes / "scenes.parquet", columns=["scene_id"])["scene_id"].combine_chunks()
        with pq.ParquetFile(self.dataset) as file:
            for batch in file.iter_batches(_BATCH * 16, columns=["scene_ids"]):
                asked = pc.list_flatten(batch["scene_ids"])
                strange = asked.filter(pc.invert(pc.is_in(asked, known)))
                if len(strange):
                    raise InputError(
                        f"{self.dataset} asks about scenes that {self._scenes} does not hold (the first is "
                        f"{strange[0].as_py()}): give the scene tables that the dataset was made from."
                    )

    def testbed(self) -> str:
        """The name of the test-bed; empty where there is no question."""
        names = tables.read(self.dataset, columns=["testbed"])["testbed"].unique().to_pylist()
        return " ".join(sorted(filter(None, names)))

    def rows(self) -> Iterator[dict]:
        """The table's rows with the columns that :meth:`as_nodes` takes."""
        with pq.ParquetFile(self.dataset) as file:
            for batch in file.iter_batches(_BATCH, columns=list(_READ)):
                yield from batch.to_pylist()

    def as_nodes(self, rows: Sequence[dict]) -> list[dict]:
        """Rows of the table as those of the graph: the node's properties, and ``about``, its scenes in their order,
        each with ``contains``, whether the question's subgraph is in it (None where that is not known), and ``focus``,
        the ids of its objects that :func:`focus` finds."""
        self._store = self._store or SceneStore(self._scenes, _CACHED)
        return [_as_node(row, list(self._store.graphs(row["scene_ids"]))) for row in rows]


def _as_node(row: dict, scenes: Sequence[SceneGraph]) -> dict:
    question = Question(row["template"], row["answer"], row["program"], row["tree"], None, row["properties"])
    subgraph = row["tree"] and question.subgraph
    focused = focus(question.program, scenes)
    return {column: row[column] for column in COPIED} | {
        "properties": held(question),
        "names": sorted(question.names()),
        "about": [
            {
                "scene_id": scene.scene_id,
                "place": place,
                "contains": bool(matches(scene, subgraph)) if subgraph else None,
                "focus": sorted(object_id for at, object_id in focused if at == place),
            }
            for place, scene in enumerate(scenes)
        ],
    }


def focus(program: Program, scenes: Sequence[SceneGraph]) -> set[tuple[int, str]]:
    """The objects that the program's answer is read off, as (index of the scene, object id).

    From the last row upwards they are, on each way, the value of the first row that gives objects: those that are
    counted, compared, asked for an attribute, or of which a quantifier says something. There are none where nothing
    was found (the count of 0), or where the program has no answer on the scenes.
    """
    try:
        values = trace(program, scenes)
    except ProgramError:
        return set()
    found: set[tuple[int, str]] = set()
    waiting = [len(program) - 1]
    while waiting:
        index = waiting.pop()
        objects = _objects(values[index])
        if objects is None:
            waiting += program[index].dependencies
        else:
            found |= objects
    return found


def _objects(value: Any) -> set[tuple[int, str]] | None:
    """The objects that a row's value consists of; None where it is of another kind."""
    if isinstance(value, tuple):
        return {value}
    if not isinstance(value, list) or isinstance(value, Images | Relations):
        return None
    by_image = value if isinstance(value, Groups) else enumerate(value)
    return {(image, object_id) for image, ids in by_image for object_id in ids}
