"""Which questions the sample page shows: evenly over templates, the two answers of a pair together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compvqa.paper.data import frame
from compvqa.seeds import by_rank

CHOSEN_BY = ("question_id", "template", "text", "answer")
COLUMNS = (*CHOSEN_BY, "program", "scene_ids")
SHOWN = ("start_scene", "size", "depth")  # where the engine tells them
UNKNOWN = "no template"  # of questions that were read and whose template can't be told


@dataclass(frozen=True)
class Group:
    """A question text with its one or two image sets and answers (rows of the dataset)."""

    template: str
    text: str
    questions: tuple[dict, ...]


def sample(dataset: Path, part: str, count: int, seed: int) -> list[Group]:
    """About ``count`` questions of ``part`` in groups of one text, sorted by template.

    Templates take turns, in a stable random order, until ``count`` questions are reached, each giving its texts in such
    an order too, those with two answers first.
    """
    questions = frame(dataset, CHOSEN_BY, part).astype(object)
    questions = questions.where(questions.notna(), None)  # what is not known of questions that were read
    questions["template"] = questions["template"].fillna(UNKNOWN)
    rows_of = dict(list(questions.groupby("template")))
    ranked = by_rank(seed, "templates of the sample page", sorted(rows_of), key=str)
    turns = [_of_template(rows_of[template], seed, count) for template in ranked]
    chosen: list[tuple[str, str, list[str]]] = []
    for group in (group for turn in zip_longest(*turns) for group in turn if group is not None):
        if sum(len(keys) for *_, keys in chosen) >= count:
            break
        chosen.append(group)
    rows = _rows(dataset, [key for *_, keys in chosen for key in keys])
    return [
        Group(template, text, tuple(rows[key] for key in keys))
        for template, text, keys in sorted(chosen, key=lambda group: group[0])
    ]


def parts_of(dataset: Path) -> list[str]:
    """The parts that have questions."""
    return sorted(pq.read_table(dataset, columns=["part"])["part"].unique().to_pylist())


def _of_template(rows: pd.DataFrame, seed: int, count: int) -> list[tuple[str, str, list[str]]]:
    """The first ``count`` groups of one template in the order in which they are shown: template, text, question ids."""
    answers = rows.groupby("text")["answer"].nunique(dropna=False).to_dict()
    ranked = by_rank(seed, "sample page", sorted(answers), key=str)
    wanted = sorted(ranked, key=lambda text: -min(answers[text], 2))[:count]
    groups = dict(list(rows[rows["text"].isin(wanted)].groupby("text")))
    found = []
    for text in wanted:
        distinct = groups[text].sort_values("question_id").drop_duplicates("answer").head(2)
        found.append((distinct["template"].iloc[0], text, distinct["question_id"].to_list()))
    return found


def _rows(dataset: Path, question_ids: list[str]) -> dict[str, dict]:
    """Rows of the dataset by question id, with what is shown of them."""
    there = [name for name in SHOWN if name in pq.read_schema(dataset).names]
    wanted = pc.field("question_id").isin(pa.array(question_ids, pa.string()))
    table = pq.read_table(dataset, columns=[*COLUMNS, *there], filters=wanted)
    return {row["question_id"]: row for row in table.to_pylist()}
