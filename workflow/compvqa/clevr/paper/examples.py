"""Questions and scenes of the dataset that are shown as examples: readable ones, the same on every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from compvqa.clevr.paper.counts import LAST, rows
from compvqa.clevr.scene import PICTURE
from compvqa.paper import scenery as shared
from compvqa.programs.rows import Program, from_json
from compvqa.scenes.graph import SceneGraph
from compvqa.seeds import stable_hash

LOGIC = "(program like '%[\"union\",%' or program like '%[\"intersect\",%')"
SPATIAL = "program like '%[\"relate\",%'"
COMPARED = f"({LAST} like 'equal_%' or {LAST} in ('less_than', 'greater_than'))"
# What questions test, with how it shows in a program; a question may test several of these
SORTS: dict[str, str] = {
    "attribute identification": f"{LAST} like 'query_%'",
    "counting": f"{LAST} = 'count'",
    "comparison": COMPARED,
    "spatial relationships": SPATIAL,
    "logical operations": LOGIC,
}
LONG = 24  # words of a question that is easily read
TRIED = 200  # scenes that are looked at


@dataclass(frozen=True)
class Question:
    """A question to show; ``sorts``: those of :data:`SORTS` that it is of."""

    question_id: str
    text: str
    answer: str
    program: str
    scene_id: str
    template: str
    sorts: tuple[str, ...]

    @property
    def rows(self) -> Program:
        """Its program."""
        return from_json(self.program)

    @property
    def type(self) -> str:
        """The function that gives its answer."""
        return self.rows[-1].operation


class Scenery(shared.Scenery):
    """CLEVR's, whose scene files need not tell how large their pictures are."""

    def size(self, scene_id: str) -> tuple[int, int]:
        """The width and height of a scene's picture in pixels."""
        row = self.row(scene_id)
        return (row["width"], row["height"]) if row["width"] and row["height"] else PICTURE

    def graph(self, scene_id: str) -> SceneGraph:
        """The scene's graph."""
        return self.store.graph(scene_id)


_CASES = ", ".join(f"case when {holds} then '{sort}' end" for sort, holds in SORTS.items())
_SORTS = f"list_filter([{_CASES}], lambda sort: sort is not null)"
_COLUMNS = f"question_id, text, answer, program, scene_ids[1] scene_id, template, {_SORTS} sorts"
_KNOWN = "program is not null and answer is not null"


def sorts_of_one_scene(dataset: Path, scenery: Scenery) -> dict[str, Question]:
    """A question of each sort that one scene has, each question once, by sort: of a scene with as many sorts as any, a
    picture that is there, some five to eight objects, and questions that test little else."""
    sql = f"""with told as (select scene_ids[1] scene_id, {_SORTS} sorts from asked where {_KNOWN}),
        best as (select scene_id from told group by scene_id
            order by len(list_distinct(flatten(list(sorts)))) desc, md5(scene_id) limit {TRIED})
        select {_COLUMNS} from asked where {_KNOWN} and scene_ids[1] in (from best)"""
    of_scene: dict[str, list[Question]] = {}
    for question in _questions(dataset, sql):
        of_scene.setdefault(question.scene_id, []).append(question)
    chosen = {scene_id: _each_once(questions) for scene_id, questions in sorted(of_scene.items())}

    def cost(scene_id: str) -> tuple:
        crowd, shown = len(scenery.graph(scene_id).objects), chosen[scene_id]
        mixed = sum(len(question.sorts) - 1 for question in shown.values())
        away = max(5 - crowd, crowd - 8, 0)
        return scenery.picture(scene_id) is None, -len(shown), away > 0, mixed, away, stable_hash("sample", scene_id)

    return chosen[min(chosen, key=cost)] if chosen else {}


def _questions(dataset: Path, sql: str, **given: str) -> Iterator[Question]:
    for question_id, text, answer, program, scene_id, template, sorts in rows(dataset, sql, **given):
        yield Question(question_id, text, answer, program, scene_id, template, tuple(sorts))


def _each_once(questions: Sequence[Question]) -> dict[str, Question]:
    """A question for each sort, none for two; rare sorts choose first, and those that test little else are chosen."""
    of = {sort: [question for question in questions if sort in question.sorts] for sort in SORTS}
    found: dict[str, Question] = {}
    for sort in sorted(SORTS, key=lambda sort: len(of[sort])):
        left = [question for question in of[sort] if question not in found.values()]
        if left:
            found[sort] = min(left, key=lambda question: (_long(question), len(question.sorts), _rank(question)))
    return {sort: found[sort] for sort in SORTS if sort in found}


def of_shape(dataset: Path, chain: bool, length: Sequence[int], scene_id: str) -> Question | None:
    """A readable question whose program is a chain, or a tree that joins two sets, of so many functions (from, to),
    about the scene and with a spatial relation as far as there is one; None where there is no chain, or tree."""
    shape = f"not {LOGIC} and not {COMPARED}" if chain else LOGIC
    sql = f"""select {_COLUMNS} from asked where {_KNOWN} and {shape}
        order by json_array_length(program) not between {length[0]} and {length[1]}, scene_ids[1] <> $scene_id,
            not ({SPATIAL}), greatest(len(string_split(text, ' ')) - {LONG}, 0), md5(question_id) limit 1"""
    return next(_questions(dataset, sql, scene_id=scene_id), None)


def queries_with_relation(dataset: Path) -> Iterator[Question]:
    """Questions of some scenes that query an attribute along a chain with one spatial relation, scene by scene."""
    once = """len(regexp_extract_all(program, '"relate",')) = 1"""
    sql = f"""with few as (select scene_ids[1] scene_id from asked group by 1 order by md5(scene_ids[1]) limit {TRIED})
        select {_COLUMNS} from asked where {_KNOWN} and {LAST} like 'query_%' and not {LOGIC} and {once}
            and scene_ids[1] in (from few) order by scene_ids[1], question_id"""
    return _questions(dataset, sql)


def of_many_types(dataset: Path, scenery: Scenery, scenes: int, each: int) -> dict[str, list[Question]]:
    """So many scenes, as far as there are, with ``each`` questions of different types, by scene: those whose types are
    shown least so far, of scenes with a picture as far as there are any."""
    sql = f"""with few as (select scene_ids[1] scene_id from asked where {_KNOWN}
            group by 1 order by md5(scene_ids[1]) limit {TRIED})
        select {_COLUMNS} from asked where {_KNOWN} and scene_ids[1] in (from few)"""
    of_scene: dict[str, list[Question]] = {}
    for question in _questions(dataset, sql):
        of_scene.setdefault(question.scene_id, []).append(question)
    order = sorted(of_scene, key=lambda scene_id: (scenery.picture(scene_id) is None, stable_hash("many", scene_id)))
    seen: Counter[str] = Counter()
    found: dict[str, list[Question]] = {}
    for scene_id in order[:scenes]:
        found[scene_id] = []
        for _ in range(each):
            shown = {question.type for question in found[scene_id]}
            left = [question for question in of_scene[scene_id] if question.type not in shown]
            if left:
                best = min(left, key=lambda question: (_long(question), seen[question.type], _rank(question)))
                found[scene_id].append(best)
                seen[best.type] += 1
    return found


def _long(question: Question) -> int:
    """How many words a question has more than one that is easily read."""
    return max(len(question.text.split()) - LONG, 0)


def _rank(question: Question) -> int:
    """A question's place in a stable random order."""
    return stable_hash("example", question.question_id)
