"""Questions that stand for a split: a test question that has what it holds out, and train questions closest to it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from compvqa.covr.paper.examples import LONG, by_id, readable
from compvqa.covr.properties import Question, held
from compvqa.paper.data import Inputs, one
from compvqa.paper.splits import Split

TRAIN_EXAMPLES = 2
TRIED = 60  # train questions of each template that are looked at for an example
COLUMNS = ("template", "text", "answer", "program", "tree", "properties", "scene_ids")


@dataclass(frozen=True)
class Composition:
    """A test question that has what a split holds out, and train questions that come closest to it; rows with
    :data:`COLUMNS` and the question's id."""

    test: dict
    train: tuple[dict, ...]


def composition(inputs: Inputs, split: Split) -> Composition | None:
    """The example of a split, None where it has no test questions.

    Train questions are chosen one after the other: each has as many as can be of the test question's properties
    (Table 5) that those before it lack, then as many of its names.
    """
    if not split.tested:
        return None
    dataset = one(inputs, "dataset")
    with duckdb.connect() as db:
        sql = """select question_id, text from read_parquet($dataset)
            semi join (select question_id from read_parquet($split) where list_contains($tested, part))
            using (question_id)"""
        given = {"dataset": str(dataset), "split": str(split.file), "tested": [part.name for part in split.tested]}
        tested = [{"question_id": a, "text": b} for a, b in db.execute(sql, given).fetchall()]
        if not tested:
            return None
        best = readable(tested, f"composition {split.name}")[0]["question_id"]
        test = by_id(dataset, COLUMNS, [best])[best]
        trained = _near(db, dataset, split, question_of(test).names())
    lacking = traits(test)
    chosen: list[dict] = []
    described = {row["question_id"]: traits(row) for row in trained}
    while lacking and trained and len(chosen) < TRAIN_EXAMPLES:
        row = max(trained, key=lambda row: _worth(described[row["question_id"]], lacking))
        if not described[row["question_id"]] & lacking:
            break
        chosen.append(row)
        lacking = lacking - described[row["question_id"]]
    return Composition(test, tuple(chosen))


def question_of(row: dict) -> Question:
    """A row of the dataset as properties look at it."""
    return Question(row["template"], row["answer"], row["program"], row["tree"], given=row["properties"])


def traits(row: dict) -> frozenset[tuple[str, str]]:
    """What can be shared with another question: properties and names."""
    question = question_of(row)
    return frozenset({("name", name) for name in question.names()} | {("property", name) for name in held(question)})


def _worth(of: Collection[tuple[str, str]], lacking: Collection[tuple[str, str]]) -> tuple[int, int, int]:
    """How well traits supply those that are lacking: by properties, then names, then by having little else."""
    shared = [kind for kind, _ in set(of) & set(lacking)]
    return shared.count("property"), shared.count("name"), -len(of)


def _near(db: duckdb.DuckDBPyConnection, dataset: Path, split: Split, names: Iterable[str]) -> list[dict]:
    """Train questions of a split: of each template some that have many of ``names`` and are not long, those first."""
    fitted = [part.name for part in split.fitted]
    written = [json.dumps(name, ensure_ascii=False) for name in sorted(names)]
    sql = f"""select question_id,
            {" + ".join(["0", *("contains(program, ?)::integer" for _ in written)])} as shared,
            greatest(len(string_split(text, ' ')) - {LONG}, 0) as long
        from read_parquet(?)
        semi join (select question_id from read_parquet(?) where list_contains(?, part)) using (question_id)
        qualify row_number() over (partition by template order by shared desc, long, md5(question_id)) <= {TRIED}
        order by shared desc, long, md5(question_id)"""
    found = [row[0] for row in db.execute(sql, [*written, str(dataset), str(split.file), fitted]).fetchall()]
    rows = by_id(dataset, COLUMNS, found)
    return [rows[question_id] for question_id in found]
