"""CLEVR's own question files (``CLEVR_train_questions.json`` …), read into a dataset and written from one.

All dialects are read: that of the release (functions called ``function``, answers as text, families numbered over all
files; nothing but texts for the test part) and that of the released generator (``type``, truth values and numbers,
families numbered within ``template_filename``, outputs of functions left behind). What is written is the release's.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from compvqa import query, tables
from compvqa.clevr.executor import in_words
from compvqa.clevr.families import Families
from compvqa.clevr.language import LANGUAGE, NUMBER, OBJECT, OBJECTS, from_functions, to_functions
from compvqa.clevr.tables import ORIGINS, QUESTIONS, REJECTS
from compvqa.errors import InputError
from compvqa.files import read_json, write_json
from compvqa.programs.language import TRUTH, ProgramTypeError
from compvqa.programs.rows import Row, from_json, to_json
from compvqa.progress import track
from compvqa.scenes.raw import printable
from compvqa.scenes.stream import Repeated, entries_of
from compvqa.seeds import stable_hash

KNOWN = frozenset(
    {"question", "question_index", "image_index", "image_filename", "split", "program", "answer"}
    | {"question_family_index", "template_filename", "image"}
)
ONE, SEVERAL, NONE, DIFFERS = "told", "one of several", "fits none", "program fits another than the number's"
INFO = "info.json"


class Refused(ValueError):
    """Why a record is no question: the reason, and what of it is so (``detail``)."""

    def __init__(self, reason: str, detail: object = None):
        super().__init__(reason)
        self.reason = reason
        self.detail = None if detail is None else printable(str(detail))


@dataclass(frozen=True)
class Record:
    """A question of a file, checked; what the file lacks is None."""

    text: str
    image: str  # the picture's name without its ending
    program: list[Row] | None
    answer: str | None
    origin: dict  # the columns of ORIGINS but the id
    number: int | None  # of the family, over all files or within ``template_file``
    template_file: str | None

    def family(self, families: Families) -> tuple[str | None, str]:
        """The family, None where it can't be told, and how well it is known."""
        fits = families.of_program(self.program, self.text) if self.program else families.of_text(self.text)
        by_number = None if self.number is None else families.named.get(self.number)
        named = f"{self.template_file}_{self.number}" if self.template_file else by_number
        if named in fits or (self.program is None and named in families.templates):
            return named, ONE
        if len(fits) == 1:
            return fits[0], ONE if self.number is None else DIFFERS
        if len(fits) > 1:
            return None, f"{SEVERAL}: {', '.join(fits)}"
        return None, NONE


def read_questions(
    files: Mapping[str, Path], families: Families, out: Path, testbed: str, source: str = "clevr", memory: str = "1GB"
) -> dict[str, int]:
    """Read the file of each part (train, val, test) into ``out/{questions,origins,rejects}.parquet`` and ``info.json``.

    ``source`` begins the scenes' ids, as in the scene tables. A record that is no question is a row of rejects; a file
    that is not JSON, or has no questions, raises :class:`InputError`. Gives counts, among them how many families
    are told by what. Questions are streamed.
    """
    out.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    info: dict[str, object] = {}
    with query.connect(out, memory) as connection:
        intake = query.Intake(connection, QUESTIONS, ORIGINS, REJECTS)
        for part, path in files.items():
            info[part] = None
            for number, record in _numbered(path, info, part):
                counts["in"] += 1
                try:
                    found = parse(record)
                except Refused as why:
                    counts[f"rejected: {why.reason}"] += 1
                    intake.add((REJECTS, _reject(path.name, number, record, why)))
                    continue
                question_id, row = _row(found, part, number, families, counts)
                intake.add((QUESTIONS, row | {"testbed": testbed, "scene_ids": [f"{source}:{found.image}"]}))
                intake.add((ORIGINS, {"question_id": question_id, **found.origin}))
                counts.update(["out", f"out: {part}", *_left(record)])
        for schema, name in ((QUESTIONS, "questions"), (ORIGINS, "origins"), (REJECTS, "rejects")):
            intake.write(schema, out / f"{name}.parquet")
    write_json(out / INFO, {part: told for part, told in info.items() if told is not None}, recipe=False)
    return dict(sorted(counts.items()))


def _numbered(path: Path, info: dict[str, object], part: str) -> Iterator[tuple[int, object]]:
    """The questions of a file with their places; what it says of itself goes to ``info``."""
    number = 0
    for key, value in track(entries_of(path, "questions"), f"reading {path.name}", unit="question"):
        if key == "questions":
            yield number, value
            number += 1
        elif key == "info":
            info[part] = value


def _left(record: Any) -> list[str]:
    """What is counted of a record's keys that no column holds."""
    return [f"left out: {printable(key, 40)}" for key in record if key not in KNOWN]


def _reject(file: str, number: int, record: object, why: Refused) -> dict:
    index = record.get("question_index") if isinstance(record, dict) else None
    question = None if index is None else printable(str(index))
    return {"file": file, "number": number, "question": question, "reason": why.reason, "detail": why.detail}


def _row(
    record: Record, part: str, number: int, families: Families, counts: Counter[str]
) -> tuple[str, dict[str, object]]:
    """A record as a row of questions, without test-bed and scene, and its id; how its family is known is counted."""
    family, known = record.family(families)
    counts[f"family {known}"] += 1
    question_id = f"{stable_hash(record.text, record.image, part, number) & 0xFFFF_FFFF_FFFF_FFFF:016x}"
    return question_id, {
        "question_id": question_id,
        "split": "train" if part == "train" else "val",
        "part": part,
        "template": family,
        "text": record.text,
        "program": None if record.program is None else to_json(record.program),
        "answer": record.answer,
        "properties": None,
        "number": number,
    }


def parse(record: object) -> Record:
    """A question of a file; raises :class:`Refused` where it is none."""
    if not isinstance(record, dict):
        raise Refused("question is no table", json.dumps(record)[:80])
    if isinstance(record, Repeated):
        raise Refused("key repeated", record.keys_repeated[0])
    text, filename = record.get("question"), record.get("image_filename")
    if not isinstance(text, str) or not text.strip():
        raise Refused("without a text")
    if not isinstance(filename, str) or not PurePosixPath(filename).stem:
        raise Refused("without the name of its picture")
    program = _program(record["program"]) if record.get("program") is not None else None
    file = record.get("template_filename")
    if file is not None and not isinstance(file, str):
        raise Refused("template_filename is no text", json.dumps(file)[:80])
    split, family = record.get("split"), _number(record, "question_family_index")
    origin = {
        "question_index": _number(record, "question_index"),
        "image_index": _number(record, "image_index"),
        "image_filename": filename,
        "split": split if isinstance(split, str) else None,
        "family": None if file else family,
    }
    answer = _answer(record.get("answer"), program)
    try:
        f"{text}{filename}{split}{answer}{to_json(program or [])}".encode()
    except UnicodeEncodeError:
        raise Refused("half of a character in it") from None
    file = file and file.removesuffix(".json")
    return Record(text, PurePosixPath(filename).stem, program, answer, origin, family, file)


def _number(record: dict, key: str) -> int | None:
    value = record.get(key)
    if value is not None and (type(value) is not int or not 0 <= value < 1 << 63):
        raise Refused(f"{key} is no number", json.dumps(value)[:80])
    return value


def _program(functions: object) -> list[Row]:
    if not isinstance(functions, list):
        raise Refused("program is no list of functions", json.dumps(functions)[:80])
    try:
        program = from_functions(functions)
        output = LANGUAGE.check(program)
    except ProgramTypeError as fault:
        raise Refused("program is ill-typed", fault) from None
    except ValueError as fault:
        raise Refused("program is malformed", fault) from None
    if output in (OBJECT, OBJECTS):
        raise Refused("program gives objects and no answer", program[-1].operation)
    return program


def _answer(given: object, program: Sequence[Row] | None) -> str | None:
    """The answer in words, as the release has it; refused where the program cannot give such a one."""
    if given is None:
        return None
    if not isinstance(given, str | bool | int) or given == "":
        raise Refused("answer of no known kind", json.dumps(given)[:80])
    answer = in_words(given)
    if program:
        output = LANGUAGE.operators[program[-1].operation].output
        kind = TRUTH if answer in ("yes", "no") else NUMBER if answer and answer.isdecimal() else "a word"
        if kind != (output if output in (TRUTH, NUMBER) else "a word"):
            raise Refused("answer that its program cannot give", f"{answer} of {program[-1].operation}")
    return answer


def write_questions(
    dataset: Path, out: Path, part: str, families: Families, origins: Path | None = None, info: Path | None = None
) -> dict[str, int]:
    """Write the questions of one part of a dataset as a file in the release's dialect, in their order.

    With ``origins`` and ``info``, which :func:`read_questions` wrote, the file says what the one that was read did;
    else questions are numbered as they come, pictures are called as the scenes, and families by their place in
    ``families``. Gives counts.
    """
    tables.check(dataset, QUESTIONS)
    told = read_json(info).get(part) if info else None
    head = json.dumps({"split": part} if told is None else told, ensure_ascii=False)
    out.parent.mkdir(parents=True, exist_ok=True)
    with query.connect(out.parent) as connection:
        connection.read_parquet(str(dataset)).create_view("questions")
        if origins:
            tables.check(origins, ORIGINS)
            connection.read_parquet(str(origins)).create_view("origins")
        else:
            connection.register("origins", ORIGINS.fields.empty_table())
        sql = """SELECT q.text, q.program, q.answer, q.template, q.scene_ids[1], o.* EXCLUDE question_id,
            o.question_id IS NOT NULL FROM questions q LEFT JOIN origins o USING (question_id)
            WHERE part = ? ORDER BY number, q.question_id"""
        found = connection.execute(sql, [part])
        if (row := found.fetchone()) is None:
            raise InputError(f"{dataset} has no question of the part {part!r}: name another part.")
        number = 0
        with tables.replacing(out) as temporary, temporary.open("w", encoding="utf-8") as file:
            file.write(f'{{"info": {head}, "questions": [')
            while row:
                record = _record(number, part, families, *row)
                file.write(("" if number == 0 else ",") + "\n" + json.dumps(record, ensure_ascii=False))
                number += 1
                row = found.fetchone()
            file.write("\n]}\n")
    return {"questions": number}


def _record(number: int, part: str, families: Families, *row) -> dict:
    """A question as the release has it."""
    text, program, answer, template, scene_id, index, image_index, filename, split, family, known = row
    if not known:
        stem = scene_id.partition(":")[2] or scene_id
        digits = stem[len(stem.rstrip("0123456789")) :]
        index, image_index, filename = number, int(digits) if digits else None, f"{stem}.png"
        split = part
    if family is None and program:
        family = families.numbers.get(template)
    record = {
        "question_index": index,
        "image_index": image_index,
        "image_filename": filename,
        "split": split,
        "question": text,
        "answer": answer,
        "question_family_index": family,
        "program": program and to_functions(from_json(program)),
    }
    return {key: value for key, value in record.items() if value is not None}
