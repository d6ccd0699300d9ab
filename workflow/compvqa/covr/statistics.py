"""The numbers behind COVR's Table 3 and Figures 4, 5 and 6, as one tidy table.

With an empty ``item``:

* ``questions``, ``unique_questions``, ``unique_answers``, ``unique_images``, ``unique_anonymized_programs``;
* ``true_false``, ``x_or_y``, ``how_many``, ``open``: numbers of questions of these kinds;
* ``words``, ``images``: means over the questions;
* ``two_answers``: the share of questions whose text has another answer too.

With an item: ``answer`` (the 30 most frequent but true and false, Figure 4), ``images_per_question`` (Figure
5), ``occurrences_<operator>`` (how many questions have so many of it, Figure 6) and ``operator`` (how many questions
have it, Table 11).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from compvqa import tables
from compvqa.covr.language import LANGUAGE
from compvqa.programs.rows import Program, anonymize, from_json, walk
from compvqa.progress import track
from compvqa.questions.dataset import require
from compvqa.tables import Schema

STATISTICS = Schema(
    "statistics",
    pa.schema([("stat", pa.string()), ("part", pa.string()), ("item", pa.string()), ("value", pa.float64())]),
    key=("stat", "part", "item"),
)
COLUMNS = ["part", "text", "answer", "program", "scene_ids"]
OPERATORS = ("Find", "Filter", "WithRelation")
TOP_ANSWERS = 30
PARTS = {"train": ("train", "all"), "dev": ("dev", "dev+test", "all"), "test": ("test", "dev+test", "all")}
_BATCH = 16_384


def statistics(dataset: Path, out: Path) -> dict[str, int]:
    """Write the statistics of the balanced data set for train, dev, test, dev+test and all."""
    require(LANGUAGE.name, dataset)
    tallies = {part: Tally() for part in ("train", "dev", "test", "dev+test", "all")}
    with pq.ParquetFile(dataset) as file:
        batches = file.iter_batches(_BATCH, columns=COLUMNS)
        for batch in track(batches, "statistics", -(-file.metadata.num_rows // _BATCH), "batch"):
            for part, *question in zip(*(batch[column].to_pylist() for column in COLUMNS), strict=True):
                text, answer, program_json, scene_ids = question
                program = from_json(program_json)
                for name in PARTS[part]:
                    tallies[name].add(text, answer, program, scene_ids)
    rows = [
        {"stat": stat, "part": part, "item": item, "value": float(value)}
        for part, tally in tallies.items()
        for stat, item, value in tally.rows()
    ]
    tables.write(out, STATISTICS, rows)
    return {"in": tallies["all"].questions, "out": len(rows)}


def kind(answer: str, program: Program) -> str:
    """Which of Table 3's four kinds a question is: true_false, x_or_y, how_many or open."""
    if answer in ("true", "false"):
        return "true_false"
    if program[-1].operation.startswith("Choose"):
        return "x_or_y"
    return "how_many" if answer.isdecimal() else "open"


@dataclass
class Tally:
    """The counts of one part."""

    questions: int = 0
    words: int = 0
    answers: Counter = field(default_factory=Counter)
    answers_of_text: dict[str, Counter] = field(default_factory=dict)
    images: Counter = field(default_factory=Counter)  # images in a question -> questions
    scenes: set[str] = field(default_factory=set)
    programs: set[str] = field(default_factory=set)
    kinds: Counter = field(default_factory=Counter)
    occurrences: dict[str, Counter] = field(default_factory=lambda: {name: Counter() for name in OPERATORS})
    operators: Counter = field(default_factory=Counter)  # operator -> questions that have it

    def add(self, text: str, answer: str, program: Program, scene_ids: list[str]) -> None:
        """Count one question."""
        self.questions += 1
        self.words += len(text.split())
        self.answers[answer] += 1
        self.answers_of_text.setdefault(text, Counter())[answer] += 1
        self.images[len(scene_ids)] += 1
        self.scenes.update(scene_ids)
        self.programs.add(anonymize(program))
        self.kinds[kind(answer, program)] += 1
        used = Counter(row.operation for row in walk(program))
        self.operators.update(used.keys())
        for name in OPERATORS:
            self.occurrences[name][used[name]] += 1

    def rows(self) -> Iterator[tuple[str, str, float]]:
        """The statistics as (stat, item, value)."""
        n = max(self.questions, 1)
        paired = sum(c.total() for c in self.answers_of_text.values() if len(c) > 1)
        yield "questions", "", self.questions
        yield "unique_questions", "", len(self.answers_of_text)
        yield "unique_answers", "", len(self.answers)
        yield "unique_images", "", len(self.scenes)
        yield "unique_anonymized_programs", "", len(self.programs)
        for name in ("true_false", "x_or_y", "how_many", "open"):
            yield name, "", self.kinds[name]
        yield "words", "", self.words / n
        yield "images", "", sum(k * count for k, count in self.images.items()) / n
        yield "two_answers", "", paired / n
        named = [a for a in self.answers if a not in ("true", "false")]
        for answer in sorted(named, key=lambda a: (-self.answers[a], a))[:TOP_ANSWERS]:
            yield "answer", answer, self.answers[answer]
        for k, count in self.images.items():
            yield "images_per_question", str(k), count
        for name, counts in self.occurrences.items():
            for k, count in counts.items():
                yield f"occurrences_{name}", str(k), count
        for name, count in self.operators.items():
            yield "operator", name, count
