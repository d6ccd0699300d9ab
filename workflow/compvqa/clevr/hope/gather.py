"""The dataset of a held-out pair: all its sets of questions, train in the pieces of its sizes; and the pair's guard.

The guard looks at every program and every scene again and refuses the dataset where the pair is what it must not be.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import duckdb

from compvqa import query, tables
from compvqa.clevr import analysis
from compvqa.clevr.hope.minimal import OOD
from compvqa.clevr.hope.sets import SETS, TRAIN, PairSettings
from compvqa.clevr.tables import QUESTIONS
from compvqa.errors import InputError
from compvqa.programs.rows import from_json
from compvqa.scenes.values import WITH_PAIR, open_scenes

SIZES = ("train_small", "train_medium", "train_large")  # parts: the beginning of train, and what each size adds
WITH = {OOD, *(name for name, found in SETS.items() if found.has == "pair")}  # parts whose questions all have the pair
BATCH = 20_000  # rows


def gather(
    made: Sequence[Path], scenes: Path, settings: PairSettings, out: Path, memory: str = "2GB"
) -> dict[str, int]:
    """Write the questions of all sets of a pair as its dataset, with their parts; gives counts.

    InputError where the pair is in a question or a scene that must be without it, or missing where it has to be, or
    where scenes of train are in a test, or complex tests with the pair and without it share one.
    """
    for path in made:
        tables.check(path, QUESTIONS)
    with query.connect(out.parent, memory) as connection:
        connection.read_parquet([str(path) for path in made]).create_view("made")
        connection.execute(f"CREATE TABLE sized AS {_sized(settings)}")
        ((whole,),) = connection.execute("SELECT count(*) FROM made").fetchall()
        parts = dict(connection.execute("SELECT part, count(*) FROM sized GROUP BY part ORDER BY part").fetchall())
        open_scenes(connection, scenes)
        found = guard(connection, settings)
        sql = "SELECT made.* EXCLUDE part, sized.part FROM made JOIN sized USING (question_id)"
        rows = query.write(connection, sql, out, QUESTIONS)
    sizes = {f"out: {part}": n for part, n in parts.items()}
    wanted = {TRAIN: settings.hope.sizes[-1]} | settings.hope.most
    there = parts | {TRAIN: sum(parts.get(part, 0) for part in SIZES)}
    fewer = {f"fewer than wanted: {part}": n - there[part] for part, n in wanted.items() if there.get(part, n) < n}
    return {"in": whole, "out": rows} | sizes | fewer | found


def _sized(settings: PairSettings) -> str:
    """The part of each question that is kept: the first ones of train by size, of tests as many as are wanted."""
    small, medium, large = settings.hope.sizes
    most = " ".join(f"WHEN '{part}' THEN {n}" for part, n in settings.hope.most.items())
    return f"""SELECT question_id, CASE WHEN part <> '{TRAIN}' THEN part WHEN place <= {small} THEN '{SIZES[0]}'
            WHEN place <= {medium} THEN '{SIZES[1]}' ELSE '{SIZES[2]}' END AS part
        FROM (SELECT question_id, part, row_number() OVER (PARTITION BY part ORDER BY number, question_id) AS place
            FROM made)
        WHERE place <= CASE part WHEN '{TRAIN}' THEN {large} {most} ELSE place END"""


def guard(connection: duckdb.DuckDBPyConnection, settings: PairSettings) -> dict[str, int]:
    """Refuse what breaks the pair's rules; gives how often it occurs, by part: in programs, as the release counts and
    strictly, and in scenes."""
    pair, told = " ".join(settings.pair), dict[str, int]()
    counted, strict = _programs(connection, settings), settings.hope.questions.occurrence == "strict"
    for part, n in _count(connection, "SELECT part, count(*) FROM sized GROUP BY part").items():
        told |= {f"with the pair, {how}: {part}": counted[part, how] for how in ("released", "strict")}
        having = counted[part, "strict" if strict and part not in WITH else "released"]
        if having != (n if part in WITH else 0):
            wrong, what = (n - having, "without") if part in WITH else (having, "with")
            raise InputError(f"the pair {pair} leaks: {part} has {wrong:,} of {n:,} questions {what} it.")
    connection.execute(
        """CREATE TABLE shown AS SELECT DISTINCT sized.part, scene_ids[1] AS scene_id FROM made
        JOIN sized USING (question_id)"""
    )
    sql = f"SELECT part, count(*) FROM shown WHERE scene_id IN ({WITH_PAIR}) GROUP BY part"
    there = _count(connection, sql, {"x": settings.pair[0], "y": settings.pair[1]})
    for part, n in _count(connection, "SELECT part, count(*) FROM shown GROUP BY part").items():
        told |= {f"scenes: {part}": n, f"scenes with the pair: {part}": there.get(part, 0)}
        expected = n if part in WITH else 0
        if part != OOD and there.get(part, 0) != expected:  # of minimal groups one picture in four has it
            raise InputError(
                f"the pair {pair} leaks: {there.get(part, 0):,} of {n:,} scenes of {part} have it, not {expected:,}."
            )
    return told | _apart(connection)


def _programs(connection: duckdb.DuckDBPyConnection, settings: PairSettings) -> Counter[tuple[str, str]]:
    """How many questions of each part have the pair, as each occurrence has it."""
    found: Counter[tuple[str, str]] = Counter()
    one, other = (json.dumps(value) for value in settings.pair)
    rows = connection.execute(
        """SELECT sized.part, program, count(*) FROM made JOIN sized USING (question_id)
        WHERE contains(program, $one) AND contains(program, $other) GROUP BY ALL ORDER BY ALL""",
        {"one": one, "other": other},
    )
    while batch := rows.fetchmany(BATCH):
        for part, program, n in batch:
            for how in ("released", "strict"):
                found[part, how] += n * analysis.occurs(settings.pair, from_json(program), how)
    return found


def _apart(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Refuse a scene that is in train and in a test, or in complex tests with the pair and without it."""
    told = {}
    for what, one, others in (
        ("train", f"IN {SIZES}", f"NOT IN {SIZES}"),
        ("complex_ood", "= 'complex_ood'", "IN ('complex_iid', 'complex_matched')"),
    ):
        sql = f"""SELECT min(one.scene_id), min(other.part), count(*) FROM shown one JOIN shown other USING (scene_id)
            WHERE one.part {one} AND other.part {others}"""
        ((scene, part, n),) = connection.execute(sql).fetchall()
        if n:
            raise InputError(
                f"{what} and {part} share {n:,} scenes, such as {scene}: take them from pools of their own."
            )
        ((told[f"scenes of {what}, in none of its opposites"],),) = connection.execute(
            f"SELECT count(DISTINCT scene_id) FROM shown WHERE part {one}"
        ).fetchall()
    return told


def _count(connection: duckdb.DuckDBPyConnection, sql: str, values: dict[str, str] | None = None) -> dict[str, int]:
    return dict(connection.execute(f"{sql} ORDER BY ALL", values).fetchall())
