"""What is counted of a dataset of CLEVR's questions: parts, lengths, types and functions, by DuckDB in bounded memory.

Questions that were read may lack a program and an answer; they are in no type, and use no function.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from compvqa import query
from compvqa.clevr.analysis import TYPES
from compvqa.clevr.language import LANGUAGE
from compvqa.questions.dataset import require

PARTS = {"train": "Train", "val": "Validation", "dev": "Validation", "test": "Test"}  # in this order, others after them
ALL = ""  # in place of a part: all questions
LAST = "json_extract_string(program, '$[#-1][0]')"  # the function that gives the answer
FUNCTION = r'\["([a-z_]+)",\s*\['  # how a row begins in a program's JSON


@dataclass(frozen=True)
class Size:
    """How large a part is; ``in_train``: how many of its questions have a text that train has too (None of train)."""

    images: int
    questions: int
    texts: int
    in_train: int | None


@dataclass(frozen=True)
class Type:
    """The questions of one type: how many, of how many templates, with how many answers, and the most frequent one."""

    questions: int
    templates: int
    answers: int
    most: str
    most_questions: int


def rows(dataset: Path, sql: str, **given) -> list[tuple]:
    """The rows of a query over the dataset's table, which is called ``asked`` there."""
    require(LANGUAGE.name, dataset)
    with query.connect(tempfile.gettempdir(), memory="1GB") as db:
        db.read_parquet(str(dataset)).create_view("asked")
        return db.execute(sql, given).fetchall() if given else db.execute(sql).fetchall()


def parts(dataset: Path) -> list[str]:
    """The parts of the dataset, train first."""
    found = [part for (part,) in rows(dataset, "select distinct part from asked")]
    order = list(PARTS)
    return sorted(found, key=lambda part: (order.index(part) if part in order else len(order), part))


def sizes(dataset: Path) -> dict[str, Size]:
    """The size of each part, and of all together (:data:`ALL`)."""
    sql = """with train as (select distinct text from asked where part = 'train')
        select part, count(distinct scene_ids[1]), count(*), count(distinct text),
            count(*) filter (text in (from train)) from asked group by grouping sets ((part), ()) order by 1"""
    found = {part or ALL: numbers for part, *numbers in rows(dataset, sql)}
    compared = {*found} - {"train", ALL} if "train" in found else set()
    return {
        part: Size(images, n, texts, seen if part in compared else None)
        for part, (images, n, texts, seen) in found.items()
    }


def lengths(dataset: Path) -> dict[str, dict[int, int]]:
    """By part the number of questions of each number of words."""
    sql = "select part, len(string_split(trim(text), ' ')) words, count(*) from asked group by all order by all"
    found: dict[str, dict[int, int]] = {part: {} for part in parts(dataset)}
    for part, words, n in rows(dataset, sql):
        found[part][words] = n
    return found


def types(dataset: Path) -> dict[str, Type]:
    """The types of questions that there are, in the order of :data:`TYPES`, then others."""
    sql = f"""with typed as (select {LAST} type, template, answer from asked where program is not null),
        given as (select type, answer, count(*) n from typed group by all)
        select type, count(*), count(distinct template), count(distinct answer),
            (select arg_max(answer, (n, answer)) from given where given.type = typed.type),
            coalesce((select max(n) from given where given.type = typed.type and answer is not null), 0)
        from typed group by type order by type"""
    found = {
        name: Type(n, templates, answers, most or "", top)
        for name, n, templates, answers, most, top in rows(dataset, sql)
    }
    order = list(TYPES)
    return dict(sorted(found.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)))


def functions(dataset: Path) -> dict[str, int]:
    """By function the number of questions whose program has it."""
    sql = """select unnest(list_distinct(regexp_extract_all(program, $function, 1))) name, count(*)
        from asked where program is not null group by name"""
    return dict(rows(dataset, sql, function=FUNCTION))
