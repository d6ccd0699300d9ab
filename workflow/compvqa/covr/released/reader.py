"""The released COVR files into the tables of the data set, of paraphrases, and of the scenes that questions name.

Nobody released the scene graphs with them: scenes are images alone, and the tables of objects and relations are empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
from pydantic import Field

from compvqa import query, tables
from compvqa.covr.properties import Question, predicate
from compvqa.covr.questions.tables import DATASET
from compvqa.covr.released.lines import UNANSWERED, Line, Refused, read_lines
from compvqa.errors import InputError
from compvqa.progress import track
from compvqa.questions.tables import PARAPHRASES
from compvqa.scenes.tables import SCENES
from compvqa.scenes.tables import TABLES as SCENE_TABLES
from compvqa.seeds import stable_hash
from compvqa.settings import Settings
from compvqa.tables import Schema

REJECTS = Schema(
    "question_rejects",
    pa.schema(
        [
            ("file", pa.string()),  # its name
            ("line", pa.int64()),  # from 1
            ("question_id", pa.string()),  # null where the line has none
            ("reason", pa.string()),
            ("detail", pa.string()),
        ]
    ),
    key=("file", "line"),
    unique=False,
)
REPEATED = "qid repeated"
# What we call the properties that the authors' splits hold out; those drawn at random have no such name.
PROPERTIES = {
    "answer_attribute": "TPL-QUERYATTR",
    "answer_number": "ANS-NUM",
    "has_attribute": "HAS-ATTR",
    "has_compare": "HAS-COMPAR",
    "has_compare_more": "HAS-COMPAR-MORE",
    "has_complex_quantifier_scope": "HAS-QUANT-COMPSCOPE",
    "has_count": "HAS-COUNT",
    "has_group_by": "HAS-GROUPBY",
    "has_logic": "HAS-LOGIC",
    "has_logic_and": "HAS-LOGIC-AND",
    "has_num_3": "HAS-NUM-3",
    "has_num_3_ans_3": "HAS-NUM-3 or ANS-3",
    "has_num_2_ans_2": "HAS-NUM-2 or ANS-2",
    "has_number": "HAS-NUM",
    "has_quantifier": "HAS-QUANT",
    "has_quantifier_all": "HAS-QUANT-ALL",
    "has_same_attribute_color": "HAS-SAMEATTR-COLOR",
    "number": "HAS-NUM",
    "number_2_answer_2": "HAS-NUM-2 or ANS-2",
    "rm_v_c": "RM/V/C",
    "tpl_choose_object": "TPL-CHOOSEOBJECT",
    "tpl_verify_attribute": "TPL-VERIFYATTR",
    "tpl_verify_count_union_tpl_verify_count_group_by": "TPL-VERIFYCOUNT or TPL-VERIFYCOUNTGROUPBY",
    "tpl_verify_quantifier_attribute": "TPL-VERIFYQUANTATTR",
}


class ReleasedQuestions(Settings):
    """COVR's released files."""

    train: Path = Field(description="train.jsonl")
    dev: Path = Field(description="val.jsonl")
    test: Path | None = Field(
        None, description="test.jsonl with answers; without it, the texts of dev are dealt to dev and test"
    )

    @property
    def parts(self) -> dict[str, Path]:
        """The file of each part that has one."""
        return {"train": self.train, "dev": self.dev} | ({"test": self.test} if self.test else {})


def read_questions(
    parts: Mapping[str, Path], out: Path, scenes: Path, testbed: str, seed: int, memory: str = "1GB"
) -> dict[str, int]:
    """Read the file of each part into ``out/{questions,paraphrases,rejects}.parquet``, and what images they name into
    the scene tables in ``scenes``.

    Where no file is for test, each text of dev is dealt to dev or test, by lot. A line that is no question is a row of
    rejects; a file without a JSON object, or without an answer, raises :class:`InputError`. Counts: lines,
    questions by part, paraphrases, images, rejects by reason, and for each property that files name how many questions
    have it by the file alone or by our definition alone. Question ids and scene ids are held, all else is streamed.
    """
    out.mkdir(parents=True, exist_ok=True)
    reading = _Reading(testbed, None if "test" in parts else seed)
    with query.connect(out, memory) as connection:
        intake = query.Intake(connection, DATASET, PARAPHRASES, REJECTS)
        for part, path in parts.items():
            for number, line in track(read_lines(path), f"reading {path.name}", unit="line"):
                intake.add(*reading.row(part, path.name, number, line))
            reading.check(path)
        for schema, name in ((DATASET, "questions"), (PARAPHRASES, "paraphrases"), (REJECTS, "rejects")):
            intake.write(schema, out / f"{name}.parquet")
    tables.write(scenes / "scenes.parquet", SCENES, reading.scenes())
    for schema in SCENE_TABLES:
        if schema is not SCENES:
            tables.write(scenes / f"{schema.name}.parquet", schema, [])
    return reading.result()


class _Reading:
    """What is kept of all lines: their ids, their images, and what is counted."""

    def __init__(self, testbed: str, deal: int | None):
        self.testbed = testbed
        self.deal = deal  # the seed by which the texts of dev are dealt; None: they are not
        self.answered: Counter[str] = Counter()  # file -> questions
        self.unanswered: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.seen: set[str] = set()
        self.side: dict[str, str] = {}  # image -> train or val
        self.asked = {name: predicate(ours) for name, ours in PROPERTIES.items()}
        self.named: Counter[str] = Counter()  # property -> questions that the files say have it
        self.differs: Counter[tuple[str, str]] = Counter()  # property, by whom alone -> questions

    def row(self, part: str, file: str, number: int, line: Line | Refused) -> Iterator[tuple[Schema, dict]]:
        """The rows that a line becomes."""
        self.counts["in"] += 1
        if isinstance(line, Line) and line.question_id in self.seen:
            line = Refused(REPEATED, question_id=line.question_id)
        if isinstance(line, Refused):
            self.counts[f"rejected: {line.reason}"] += 1
            self.unanswered[file] += line.reason == UNANSWERED
            refused = {"question_id": line.question_id, "reason": line.reason, "detail": line.detail}
            yield REJECTS, {"file": file, "line": number, **refused}
            return
        if part == "dev" and self.deal is not None:
            part = ("dev", "test")[stable_hash(self.deal, "dealt to test", line.text) % 2]
        self.answered[file] += 1
        self.counts["out"] += 1
        self.counts[f"out: {part}"] += 1
        self.seen.add(line.question_id)
        side = "train" if part == "train" else "val"
        for image in line.images:
            self.side.setdefault(image, side)
        self._compare(line)
        yield DATASET, self._question(line, part, side)
        if line.paraphrase is not None:
            self.counts["paraphrases"] += 1
            yield PARAPHRASES, {"question_id": line.question_id, "text": line.paraphrase}

    def check(self, path: Path) -> None:
        """Raise :class:`InputError` if the file's questions have no answers."""
        if self.unanswered[path.name] and not self.answered[path.name]:
            raise InputError(
                f"{path} has no answers, as COVR's test.jsonl: leave it out, and dev is dealt to dev and test."
            )

    def _question(self, line: Line, part: str, side: str) -> dict:
        return {
            **{"question_id": line.question_id, "testbed": self.testbed, "split": side, "part": part},
            **{"template": line.template, "text": line.text, "annotator_text": line.text},
            **{"program": line.program, "answer": line.answer, "scene_ids": list(line.images)},
            "properties": None if line.properties is None else list(line.properties),
        }

    def _compare(self, line: Line) -> None:
        """Count the properties on which a question's file and our definitions differ."""
        if line.properties is None:
            return
        question = Question(line.template, line.answer, line.program, None)
        self.named.update(line.properties)
        for name, holds in self.asked.items():
            theirs, ours = name in line.properties, holds(question)
            if theirs != ours:
                self.differs[name, "file" if theirs else "definition"] += 1

    def scenes(self) -> list[dict]:
        """The rows of the scenes table: one an image that questions name."""
        return [
            {"scene_id": image, "source": image.partition(":")[0], "split": side, "image": image}
            for image, side in self.side.items()
        ]

    def result(self) -> dict[str, int]:
        """All that was counted."""
        differs = {
            f"property {name}: only by the {whom}": number
            for (name, whom), number in self.differs.items()
            if self.named[name]
        }
        return {**dict(sorted(self.counts.items())), "images": len(self.side), **dict(sorted(differs.items()))}
