"""Which questions the sample page shows: evenly over templates, the two answers of a pair together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from compvqa.paper.data import frame
from compvqa.seeds import by_rank

COLUMNS = ("question_id", "template", "text", "answer", "program", "scene_ids")
SHOWN = ("start_scene", "size", "depth")  # where the engine tells them


@dataclass(frozen=True)
class Group:
    """A question text with its one or two image sets and answers (rows of the dataset)."""

    template: str
    text: str
    questions: tuple[dict, ...]


def sample(dataset: Path, part: str, count: int, seed: int) -> list[Group]:
    """About ``count`` questions of ``part`` in groups of one text, sorted by template.

    Templates take turns until ``count`` questions are reached, each giving its texts in a stable random
    order, those with two answers first.
    """
    there = [name for name in SHOWN if name in pq.read_schema(dataset).names]
    questions = frame(dataset, [*COLUMNS, *there], part).astype(object)
    questions = questions.where(questions.notna(), None)  # what is not known of questions that were read
    turns = [_of_template(rows, seed) for _, rows in questions.groupby("template", sort=True)]
    chosen: list[Group] = []
    for group in (group for turn in zip_longest(*turns) for group in turn if group is not None):
        if sum(len(g.questions) for g in chosen) >= count:
            break
        chosen.append(group)
    return sorted(chosen, key=lambda group: group.template)


def _of_template(rows: pd.DataFrame, seed: int) -> list[Group]:
    """The groups of one template in the order in which they are shown."""
    groups = []
    for text, same in rows.groupby("text", sort=True):
        distinct = same.sort_values("question_id").drop_duplicates("answer").head(2)
        groups.append(Group(same["template"].iloc[0], str(text), tuple(distinct.to_dict("records"))))
    ranked = by_rank(seed, "sample page", groups, key=lambda group: group.text)
    return sorted(ranked, key=lambda group: -len(group.questions))
