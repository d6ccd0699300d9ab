"""A small random world's questions in COVR's released files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from compvqa import tables
from compvqa.covr.properties import Question, predicate
from compvqa.covr.questions.generate import QuestionsSettings, generate
from compvqa.covr.questions.tables import QUESTIONS
from compvqa.covr.released.reader import PROPERTIES
from compvqa.programs.rows import from_json, to_json
from compvqa.seeds import stable_hash
from fixtures.covr_files import line, write_lines
from unit.covr.questions.question_worlds import write_world

FILES = {"train": "train.jsonl", "dev": "val.jsonl", "test": "test.jsonl"}
DRAWN = ("program_1", "lexical_1")  # properties that are not ours to define


@dataclass(frozen=True)
class Released:
    """The files of each part, the questions as they were made by the ids of their lines, and their lines."""

    files: dict[str, Path]
    questions: dict[str, dict]
    lines: dict[str, dict]
    untold: int  # questions that the files cannot say


def release(folder: Path, templates: Path, scenes: int = 40, most_seeds: int = 150) -> Released:
    """Write the files of two worlds, one for train and one whose texts are dealt to dev and test."""
    found: dict[str, list[dict]] = {part: [] for part in FILES}
    questions, lines, untold = {}, {}, 0
    for first, side in ((0, "train"), (500, "val")):
        for question in _made(folder / side, templates, scenes, most_seeds, first):
            part = "train" if side == "train" else ("dev", "test")[stable_hash("deal", question["text"]) % 2]
            rephrase = (
                f"In other words: {question['text']}" if stable_hash("reword", question["question_id"]) % 3 else None
            )
            made = line(question, part, len(found[part]), _properties(question), rephrase)
            if made is None:
                untold += 1
                continue
            found[part].append(made)
            questions[made["qid"]], lines[made["qid"]] = question, made
    files = {part: write_lines(folder / FILES[part], records) for part, records in found.items()}
    return Released(files, questions, lines, untold)


def _made(folder: Path, templates: Path, scenes: int, most_seeds: int, first: int) -> list[dict]:
    write_world(folder, scenes, most_seeds, first)
    tables_of = {name: folder / f"{name}.parquet" for name in ("seeds", "related")}
    out = folder / "questions.parquet"
    generate(
        scenes=folder / "scenes", lexicon=None, templates=[templates], out=out, dropped=folder / "dropped.parquet",
        settings=QuestionsSettings(), seed=1, testbed="world", **tables_of,
    )  # fmt: skip
    rows = tables.read(out, QUESTIONS).to_pylist()
    for row in rows:
        row["program"] = from_json(row["program"])
        row["scene_ids"] = [_image(scene) for scene in row["scene_ids"]]
    return rows


def _image(scene_id: str) -> str:
    """Every third image of the world is one of imSitu's."""
    number = scene_id.partition(":")[2]
    return f"imsitu:jumping_{number}" if int(number) % 3 == 0 else f"vg:{number}"


def _properties(question: dict) -> list[str]:
    """What the authors would list: their definitions, and what they drew."""
    asked = as_asked(question)
    drawn = [name for name in DRAWN if stable_hash(name, question["text"]) % 4 == 0]
    return [name for name, ours in PROPERTIES.items() if predicate(ours)(asked)] + drawn


def as_asked(question: dict, tree: bool = False) -> Question:
    """The question as properties look at it, with its subgraph or without."""
    known = question["tree"] if tree else None
    return Question(question["template"], question["answer"], to_json(question["program"]), known)
