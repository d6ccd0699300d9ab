"""Which questions are invalid, judged against the complete truth of the sprites' scenes, and why.

A question is invalid when its program, run on the complete scenes, gives another answer than the stored one,
or none (COVR, sections 3.4 and E.1). There a name stands for all that may truly be called so. The cause is found
by undoing one error after the other:

* ``overlapping names``: with exact names the complete scenes do give the stored answer, so the annotations
  are not to blame, but that two names are true of one thing;
* ``wrong``: scenes from which annotations are missing, but with none wrong, do not give the stored answer;
* ``other instances``: those scenes do, and so do the complete ones without the objects that the question refers to
  in a scene beside one that is annotated: the annotated instance is right, but not the only one (App. B);
* ``missing``: those scenes do, and something else that is missing is to blame: an attribute or a relation of an
  annotated instance, or one that makes a distractor hold what the question refers to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import Field, PositiveInt

from compvqa import query, tables
from compvqa.covr.executor import ProgramError, answer_text, trace
from compvqa.covr.language import OBJECTS, OPERATORS
from compvqa.errors import InputError
from compvqa.programs.rows import Program, from_json
from compvqa.progress import track
from compvqa.scenes.graph import SceneGraph, SceneStore, without
from compvqa.scenes.lexicon import Lexicon
from compvqa.scenes.tables import SCENES
from compvqa.settings import Settings
from compvqa.tables import Schema

VALIDITY = Schema(
    "validity",
    pa.schema(
        [
            ("question_id", pa.string()),
            ("template", pa.string()),
            ("part", pa.string()),
            ("start_scene", pa.string()),
            ("valid", pa.bool_()),
            ("cause", pa.string()),  # one of CAUSES; "" for a valid question
            ("truth_answer", pa.string()),  # or "no answer: <reason>"
        ]
    ),
    key=("question_id",),
)
CAUSES = ("missing", "wrong", "overlapping names", "other instances")
_BATCH = 4096


class ValiditySettings(Settings):
    """Judging questions against the truth."""

    sample: PositiveInt | None = Field(
        None, description="judge so many questions of each template, drawn by stable rank; null: all of them"
    )


def validity(
    dataset: Path,
    scenes: Path,
    truth: Path,
    lexicon: Path,
    out: Path,
    settings: ValiditySettings | None = None,
    seed: int = 0,
) -> dict[str, int]:
    """Judge the questions of ``dataset`` (balanced, or all generated ones) and write the validity table.

    ``scenes`` and ``truth`` are folders of scene tables: the annotated ones, and one with the folders
    ``complete`` and ``missing_only``; scenes of one image belong together. Counts: judged, valid, invalid by
    cause. Raises :class:`InputError` for a question about a scene whose truth is not known.
    """
    settings = settings or ValiditySettings()
    judge = Judge.load(scenes, truth, lexicon)
    with pq.ParquetFile(dataset) as file:
        has_part = "part" in file.schema_arrow.names
    chosen = _sample(dataset, settings.sample, seed, out.parent)
    counts = {"in": 0, "out": 0, "valid": 0, **{f"invalid: {cause}": 0 for cause in CAUSES}}
    judged = _judged(dataset, "part" if has_part else "split", chosen, judge, counts)
    batches = query.rebatch(judged, VALIDITY.fields)
    tables.write(out, VALIDITY, pa.RecordBatchReader.from_batches(VALIDITY.fields, batches))
    return counts


def _sample(dataset: Path, size: int | None, seed: int, beside: Path) -> pa.Array | None:
    """The ids of the questions to judge, so many of each template; None for all."""
    if size is None:
        return None
    with query.connect(beside) as connection:
        ids = connection.sql(
            """select unnest(min_by(question_id, md5($seed || ' validity ' || question_id), $size)) as question_id
            from read_parquet($dataset) group by template order by 1""",
            params={"seed": str(seed), "size": size, "dataset": str(dataset)},
        ).to_arrow_table()
    return ids["question_id"].combine_chunks()


def _judged(
    dataset: Path, part: str, chosen: pa.Array | None, judge: Judge, counts: dict[str, int]
) -> Iterator[pa.RecordBatch]:
    """The rows of the validity table, batch by batch; ``counts`` is counted on."""
    columns = ["question_id", "template", part, "start_scene", "program", "answer", "scene_ids"]
    with pq.ParquetFile(dataset) as file:
        batches = file.iter_batches(_BATCH, columns=columns)
        for batch in track(batches, "judging questions", -(-file.metadata.num_rows // _BATCH), "batch"):
            counts["in"] += batch.num_rows
            if chosen is not None:
                batch = batch.filter(pc.is_in(batch["question_id"], value_set=chosen))
            rows = []
            for values in zip(*(batch[column].to_pylist() for column in columns), strict=True):
                *known, program, answer, scene_ids = values
                cause, truth_answer = judge(from_json(program), answer, scene_ids)
                counts[f"invalid: {cause}" if cause else "valid"] += 1
                rows.append((*known, not cause, cause, truth_answer))
            counts["out"] += len(rows)
            if rows:
                yield pa.RecordBatch.from_pylist(
                    [dict(zip(VALIDITY.fields.names, row, strict=True)) for row in rows],
                    schema=VALIDITY.fields,
                )


@dataclass(frozen=True)
class Judge:
    """The truth of scenes, which tells why a question is invalid.

    Called with a program, its stored answer and its scenes' ids, it gives the cause ("" if the question is
    valid) and the true answer.
    """

    complete: SceneStore
    missing_only: SceneStore
    lexicon: Lexicon
    true_ids: dict[str, tuple[str, str]]  # scene id -> its ids in complete and in missing_only

    @staticmethod
    def load(scenes: Path, truth: Path, lexicon: Path) -> Judge:
        """The judge of the scenes in the folder ``scenes``."""
        complete, missing_only = SceneStore(truth / "complete"), SceneStore(truth / "missing_only")
        of_image = [dict(_pairs(store.scenes, "image", "scene_id")) for store in (complete, missing_only)]
        annotated = tables.read(scenes / "scenes.parquet", SCENES)
        true_ids = {
            scene: (of_image[0][image], of_image[1][image])
            for scene, image in _pairs(annotated, "scene_id", "image")
            if image in of_image[0] and image in of_image[1]
        }
        return Judge(complete, missing_only, Lexicon.load(lexicon), true_ids)

    def __call__(self, program: Program, answer: str, scene_ids: Sequence[str]) -> tuple[str, str]:
        complete, present = self.scenes(scene_ids)
        true_answer = _answer(program, complete, self.lexicon)
        if true_answer == answer:
            return "", true_answer
        if _answer(program, complete, None) == answer:
            return "overlapping names", true_answer
        if _answer(program, present, None) != answer:
            return "wrong", true_answer
        alone = _without_others(program, complete, present)
        return ("other instances" if _answer(program, alone, None) == answer else "missing"), true_answer

    def scenes(self, scene_ids: Sequence[str]) -> tuple[list[SceneGraph], list[SceneGraph]]:
        """The true scenes: the complete ones, and those from which annotations are missing, with none wrong."""
        unknown = [scene for scene in scene_ids if scene not in self.true_ids]
        if unknown:
            raise InputError(f"scene {unknown[0]} has no truth: judge only questions of the sprites world.")
        complete = self.complete.graphs(self.true_ids[scene][0] for scene in scene_ids)
        present = self.missing_only.graphs(self.true_ids[scene][1] for scene in scene_ids)
        return list(complete), list(present)


def _without_others(
    program: Program, complete: Sequence[SceneGraph], present: Sequence[SceneGraph]
) -> Sequence[SceneGraph]:
    """The complete scenes without other instances: what the program refers to in a scene in which it refers to
    something ``present``, on which it has an answer, as well."""
    annotated = trace(program, present)
    while True:
        found: list = []
        _answer(program, complete, None, found)
        others: list[set[str]] = [set() for _ in complete]
        for row in _references(program):
            if row < len(found):
                for ids, known, true in zip(others, annotated[row], found[row], strict=True):
                    ids.update(set(true) - set(known) if known else ())
        if not any(others):
            return complete
        complete = [without(scene, ids) for scene, ids in zip(complete, others, strict=True)]


def _references(program: Program) -> list[int]:
    """The rows with the objects that the program refers to: those that it does not look for among further ones."""
    used = {
        index
        for row in program
        for index in row.dependencies
        if OPERATORS[row.operation].output != OBJECTS or row.operation == "AssertUnique"
    }
    return sorted(index for index in used if OPERATORS[program[index].operation].output == OBJECTS)


def _pairs(table: pa.Table, key: str, value: str) -> Iterator[tuple[str, str]]:
    return zip(table[key].to_pylist(), table[value].to_pylist(), strict=True)


def _answer(program: Program, scenes: Sequence[SceneGraph], lexicon: Lexicon | None, values: list | None = None) -> str:
    """The program's answer, or why there is none; its rows' values are appended to ``values``."""
    try:
        return answer_text(trace(program, scenes, lexicon, values)[-1])
    except ProgramError as error:
        return f"no answer: {error.reason}"
