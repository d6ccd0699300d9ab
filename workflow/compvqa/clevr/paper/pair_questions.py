"""Questions of a held-out pair's dataset that figures show, by DuckDB in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from compvqa.clevr.paper.counts import rows
from compvqa.clevr.paper.examples import Scenery
from compvqa.programs.rows import from_json

TRIED = 40  # questions, or groups, of which one is chosen whose pictures are there
LONGEST = 90  # characters of a complex question that is shown
GROUP = 4  # questions of a group of a minimal test
MINIMAL = "minimal_ood"


@dataclass(frozen=True)
class Asked:
    """A question with its answer and its scene."""

    text: str
    answer: str
    scene_id: str


def pair_of(dataset: Path) -> str:
    """The pair that a dataset is made for, in words: what its minimal test asks for; empty where it has none."""
    found = rows(dataset, "select program from asked where part = $part order by number limit 1", part=MINIMAL)
    return " ".join(value for (program,) in found for row in from_json(program) for value in row.arguments)


def example_of(dataset: Path, part: str, scenery: Scenery) -> Asked | None:
    """A question of the parts whose names start so, not too long, and with a picture as far as one is there; None of
    none."""
    sql = """select text, answer, scene_ids[1] from asked where starts_with(part, $part)
        order by length(text) > $longest, md5(question_id) limit $tried"""
    found = [Asked(*row) for row in rows(dataset, sql, part=part, longest=LONGEST, tried=TRIED)]
    return next((one for one in found if scenery.picture(one.scene_id)), found[0] if found else None)


def group_of(dataset: Path, scenery: Scenery) -> list[Asked]:
    """A group of the minimal test with the pair, its yes first, with pictures as far as they are there; empty if there
    is none."""
    sql = f"""select number // {GROUP} "group", text, answer, scene_ids[1] from asked where part = $part
        qualify dense_rank() over (order by md5((number // {GROUP})::text)) <= $tried
        order by md5((number // {GROUP})::text), number"""
    found = rows(dataset, sql, part=MINIMAL, tried=TRIED)
    groups = [[Asked(*row[1:]) for row in of] for _, of in groupby(found, key=lambda row: row[0])]
    drawn = (group for group in groups if all(scenery.picture(one.scene_id) for one in group))
    return next(drawn, groups[0] if groups else [])
