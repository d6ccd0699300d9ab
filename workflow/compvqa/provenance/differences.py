"""What differs between two runs: config, code, inputs, versions, counts, and questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any

import duckdb

from compvqa.provenance.history import History, Record
from compvqa.provenance.steps import Step, steps

SHOWN = 5  # questions and files that are named, of how many there are

_QUESTIONS = """
    select question_id, a.part as before, b.part as after, text
    from (select distinct question_id, part, text from read_parquet(?)) a
    full join (select distinct question_id, part, text from read_parquet(?)) b using (question_id, text)
    where a.part is distinct from b.part order by 1, 2"""


def differences(a: tuple[History, Sequence[Record]], b: tuple[History, Sequence[Record]]) -> dict:
    """What differs, from run ``a`` to run ``b``: each a history and the records of it that are compared.

    Stages are compared by name and by the place of what they made in their test-bed's folder. Keys: ``stages`` (only in
    one of them), ``config``, ``code``, ``versions``, ``inputs`` (given files), ``counts``, ``outputs`` (the number of
    equal files, and those that differ or are in one only), ``questions``. A list is empty where nothing differs.
    """
    before, after = _by_place(*a), _by_place(*b)
    both = [place for place in before if place in after]
    result: dict[str, Any] = {
        "stages": [{"stage": place, "in": "A"} for place in before if place not in after]
        + [{"stage": place, "in": "B"} for place in after if place not in before],
        "config": [],
        "code": [],
        "versions": [],
        "counts": [],
    }
    for place in both:
        one, other = before[place].data(), after[place].data()
        for key, name in (("config", "settings"), ("versions", "versions"), ("counts", "counts")):
            found = _changed(one[name], other[name])
            result[key] += [{"stage": place, "key": path, "A": x, "B": y} for path, x, y in found]
        if one["seed"] != other["seed"]:
            result["config"].append({"stage": place, "key": "seed", "A": one["seed"], "B": other["seed"]})
        if one["code"] != other["code"]:
            result["code"].append({"stage": place, "A": one["code"], "B": other["code"]})
    result["inputs"] = _files(_given(before.values()), _given(after.values()))
    result["outputs"] = _outputs(_made(before.values()), _made(after.values()))
    result["questions"] = _questions(a, b)
    return result


def same(result: dict) -> bool:
    """Whether :func:`differences` found none but in versions."""
    outputs = result["outputs"]
    found = [result[key] for key in ("stages", "config", "code", "inputs", "counts")]
    return not any(found) and not outputs["differ"] and not outputs["only A"] and not outputs["only B"]


def _by_place(history: History, records: Sequence[Record]) -> dict[str, Step]:
    """Steps by their stage and the place of their first output."""
    return {f"{step.stage} {_place(min(step.outputs))}": step for step in steps(history, records)}


def _place(path: str) -> str:
    """A file's path without the folder of its test-bed: two runs may differ in its name."""
    parts = PurePosixPath(path).parts
    return "/".join(parts[2:] if parts[0] == "results" else parts)


def _changed(a: object, b: object, path: str = "") -> Iterable[tuple[str, object, object]]:
    """The leaves in which two trees of mappings differ, each with the path of its keys."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted({*a, *b}):
            yield from _changed(a.get(key), b.get(key), f"{path}.{key}" if path else str(key))
    elif a != b:
        yield path, a, b


def _given(made: Iterable[Step]) -> dict[str, str]:
    return {_place(path): digest for step in made for path, digest in step.given.items()}


def _made(made: Iterable[Step]) -> dict[str, str]:
    return {_place(path): digest for step in made for path, digest in step.outputs.items()}


def _files(a: dict[str, str], b: dict[str, str]) -> list[dict]:
    return [
        {"file": path, "A": a.get(path), "B": b.get(path)} for path in sorted({*a, *b}) if a.get(path) != b.get(path)
    ]


def _outputs(a: dict[str, str], b: dict[str, str]) -> dict:
    differ = sorted(path for path in a if path in b and a[path] != b[path])
    return {
        "equal": sum(b.get(path) == digest for path, digest in a.items()),
        "differ": differ,
        "only A": sorted({*a} - {*b}),
        "only B": sorted({*b} - {*a}),
    }


def _questions(a: tuple[History, Sequence[Record]], b: tuple[History, Sequence[Record]]) -> dict:
    """Numbers of questions that only one dataset has, or that changed their part, with the first of each."""
    tables = [_datasets(*run) for run in (a, b)]
    if not all(tables):
        return {}
    with duckdb.connect() as connection:
        rows = connection.sql(_QUESTIONS, params=tables).to_arrow_table().to_pylist()
    groups = {
        "only A": [row for row in rows if row["after"] is None],
        "only B": [row for row in rows if row["before"] is None],
        "other part": [row for row in rows if row["before"] and row["after"]],
    }
    return {name: {"n": len(found), "first": found[:SHOWN]} for name, found in groups.items()}


def _datasets(history: History, records: Sequence[Record]) -> list[str]:
    """The question tables of the datasets among the outputs, whatever stage made them."""
    found = [
        history.root / path
        for record in records
        for path in record.outputs
        if path.endswith("dataset/questions.parquet") and "/easy/" not in path
    ]
    return [str(path) for path in found if path.is_file()]
