"""Questions and scenes of the dataset that are shown as examples: readable ones, the same on every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc

from compvqa.clevr.paper.counts import LAST, rows
from compvqa.clevr.scene import PICTURE
from compvqa.paper.data import Inputs, one
from compvqa.paper.explorer.pictures import find_image
from compvqa.scenes.graph import SceneGraph, SceneStore
from compvqa.seeds import stable_hash

# What questions test, with how it shows in a program; a question is of the first that fits
COMPARED = f"({LAST} like 'equal_%' or {LAST} in ('less_than', 'greater_than'))"
LOGIC = "(program like '%[\"union\",%' or program like '%[\"intersect\",%')"
SPATIAL = "program like '%[\"relate\",%'"
SAME = "program like '%[\"same_%'"
SORTS: dict[str, str] = {
    "comparison": COMPARED,
    "logical operations": LOGIC,
    "spatial relationships": SPATIAL,
    "shared attributes": SAME,
    "attribute identification": f"{LAST} like 'query_%'",
    "counting": f"{LAST} = 'count'",
    "existence": f"{LAST} = 'exist'",
}
SAMPLED = ("attribute identification", "counting", "comparison", "spatial relationships", "logical operations")
SORT = f"case {' '.join(f'''when {holds} then '{sort}' ''' for sort, holds in SORTS.items())} end"
LONG = 24  # words of a question that is easily read
TRIED = 200  # scenes that are looked at


@dataclass(frozen=True)
class Question:
    """A question to show; ``sort``: one of :data:`SORTS`."""

    question_id: str
    text: str
    answer: str
    program: str
    scene_id: str
    template: str
    sort: str


@dataclass(frozen=True)
class Scenery:
    """The scenes, and the folder of pictures of each image space."""

    store: SceneStore
    folders: Mapping[str, Path]

    @staticmethod
    def of(inputs: Inputs) -> Scenery:
        """The scenes and pictures among the inputs of a figure."""
        folders = {name.partition(":")[2]: paths[0] for name, paths in inputs.items() if name.startswith("images:")}
        return Scenery(SceneStore(one(inputs, "scenes")), folders)

    def image(self, scene_id: str) -> str:
        """The name of a scene's image, with its image space."""
        return self._row(scene_id)["image"]

    def size(self, scene_id: str) -> tuple[int, int]:
        """The width and height of a scene's picture in pixels."""
        row = self._row(scene_id)
        return (row["width"], row["height"]) if row["width"] and row["height"] else PICTURE

    def has_picture(self, scene_id: str) -> bool:
        """Whether there is a file of its picture."""
        return find_image(self.image(scene_id), self.folders) is not None

    def graph(self, scene_id: str) -> SceneGraph:
        """The scene's graph."""
        return self.store.graph(scene_id)

    def _row(self, scene_id: str) -> dict:
        return self.store.scenes.filter(pc.equal(self.store.scenes["scene_id"], scene_id)).to_pylist()[0]


_COLUMNS = f"question_id, text, answer, program, scene_ids[1] scene_id, template, {SORT} sort"
_KNOWN = "program is not null and answer is not null"


def sorts_of_one_scene(dataset: Path, scenery: Scenery) -> list[Question]:
    """A question of each sort of :data:`SAMPLED` that one scene has, in their order: a scene with as many as any, a
    picture that is there, and some five to eight objects."""
    sql = f"""with told as (select scene_ids[1] scene_id, {SORT} sort from asked where {_KNOWN})
        select scene_id, count(distinct sort) from told where sort in (select unnest($sorts)) group by scene_id
        order by 2 desc, md5(scene_id) limit {TRIED}"""
    found = rows(dataset, sql, sorts=list(SAMPLED))
    if not found:
        return []

    def cost(scene_id: str, sorts: int) -> tuple:
        crowd = len(scenery.graph(scene_id).objects)
        return not scenery.has_picture(scene_id), -sorts, max(5 - crowd, crowd - 8, 0), stable_hash("sample", scene_id)

    chosen = min(found, key=lambda row: cost(*row))[0]
    sql = f"select {_COLUMNS} from asked where {_KNOWN} and scene_ids[1] = $scene"
    asked = sorted((Question(*row) for row in rows(dataset, sql, scene=chosen)), key=lambda q: rank(q, "sample"))
    by_sort = {question.sort: question for question in reversed(asked)}
    return [by_sort[sort] for sort in SAMPLED if sort in by_sort]


def of_shape(dataset: Path, chain: bool, length: Sequence[int]) -> Question | None:
    """A readable question whose program is a chain, or a tree that joins two sets, of so many functions (from, to) and
    with a spatial relation as far as there is one; None where there is no chain, or tree."""
    shape = f"not {LOGIC} and not {COMPARED}" if chain else LOGIC
    sql = f"""select {_COLUMNS} from asked where {_KNOWN} and {shape}
        order by json_array_length(program) not between {length[0]} and {length[1]}, not ({SPATIAL}),
            greatest(len(string_split(text, ' ')) - {LONG}, 0), md5(question_id) limit 1"""
    return next((Question(*row) for row in rows(dataset, sql)), None)


def rank(question: Question, what: str) -> tuple[int, int]:
    """The place of a question among the examples of ``what``: the lowest is shown."""
    return max(len(question.text.split()) - LONG, 0), stable_hash("example", what, question.question_id)
