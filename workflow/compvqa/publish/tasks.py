"""The tested parts of splits as tasks of other harnesses, which ask and score by themselves: lmms-eval and VLMEvalKit.

Both show all pictures before the text: a prompt with a text before each picture cannot be exported.
"""

from __future__ import annotations

import base64
import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from compvqa import tables
from compvqa.asking import parsing
from compvqa.asking.prompts import Prompt
from compvqa.asking.questions import Asked
from compvqa.errors import InputError
from compvqa.publish import lmms_utils
from compvqa.publish.pictures import PICTURE, as_picture, with_features
from compvqa.tables import Schema

OPEN = "openended"  # in a name, by which VLMEvalKit knows that answers are no choices
QUESTIONS = with_features(
    Schema(
        "lmms_eval",
        pa.schema(
            [
                *((name, pa.string()) for name in ("question_id", "text", "prompt", "answer")),
                ("pictures", pa.list_(PICTURE)),
            ]
        ),
        key=("question_id",),
    )
)


@dataclass(frozen=True)
class Task:
    """A part of a split as a task: its name in the harness, and its questions."""

    name: str
    asked: Sequence[Asked]


def task_name(testbed: str, split: str, part: str = "") -> str:
    """What a task is called: in words that both harnesses take for one; ``part`` where a split tests on several."""
    return "_".join(filter(None, [testbed, split, part])).replace("-", "_")


def files_of(form: str, testbed: str, names: Sequence[str]) -> list[str]:
    """The files that an export makes, by their paths in its folder."""
    if form == "vlmevalkit":
        return [f"{name}_{OPEN}.tsv" for name in [*names, task_name(testbed, "all")]]
    shared = ["utils.py", "parsing.py", "told.json", f"{task_name(testbed, 'all')}.yaml"]
    return [*shared, *(file for name in names for file in (f"{name}.yaml", f"data/{name}.parquet"))]


def lmms_eval(tasks: Sequence[Task], testbed: str, answers: Sequence[str], prompt: Prompt, out: Path) -> None:
    """Write a folder for lmms-eval's ``--include_path``: a task each, and a group of all, scored by our parser."""
    for module, name in ((lmms_utils, "utils.py"), (parsing, "parsing.py")):
        _write(out / name, Path(str(module.__file__)).read_text(encoding="utf-8"))
    told = {"answers": sorted(answers), "synonyms": {}, "cue": prompt.cue}
    _write(out / "told.json", json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    for task in tasks:
        tables.write(out / f"data/{task.name}.parquet", QUESTIONS, [_row(one, answers, prompt) for one in task.asked])
        _write(out / f"{task.name}.yaml", _TASK.format(name=task.name, tokens=prompt.tokens))
    listed = "\n".join(f"  - {task.name}" for task in tasks)
    _write(out / f"{task_name(testbed, 'all')}.yaml", _GROUP.format(name=task_name(testbed, "all"), tasks=listed))


def vlmevalkit(tasks: Sequence[Task], testbed: str, answers: Sequence[str], prompt: Prompt, out: Path) -> None:
    """Write a TSV each for VLMEvalKit's folder of data (``LMUData``), and one of all: each question once."""
    every = {one.question_id: one for task in tasks for one in task.asked}
    for task in [*tasks, Task(task_name(testbed, "all"), list(every.values()))]:
        path = out / f"{task.name}_{OPEN}.tsv"
        with tables.replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, delimiter="\t", lineterminator="\n")
            lines.writerow(["index", "image", "question", "answer"])
            for one in task.asked:
                pictures = [base64.b64encode(path.read_bytes()).decode() for path in one.shown.pictures]
                image = pictures[0] if len(pictures) == 1 else repr(pictures)
                lines.writerow([one.question_id, image, said(one, answers, prompt), one.shown.answer])


FORMS: dict[str, Callable[[Sequence[Task], str, Sequence[str], Prompt, Path], None]] = {
    "lmms-eval": lmms_eval,
    "vlmevalkit": vlmevalkit,
}


def export(
    form: str, tasks: Sequence[Task], testbed: str, answers: Sequence[str], prompt: Prompt, out: Path
) -> dict[str, int]:
    """Write tasks in a form of :data:`FORMS`; counts. :class:`InputError` for a prompt that the harness cannot say."""
    if prompt.label:
        raise InputError("the prompt has a text before each picture, which no export can say: take one without.")
    FORMS[form](tasks, testbed, answers, prompt, out)
    return {"out": len(tasks), "questions": sum(len(task.asked) for task in tasks)}


def said(one: Asked, answers: Sequence[str], prompt: Prompt) -> str:
    """All that is said to a model beside the pictures."""
    text = prompt.asked(one.shown.question, answers, len(one.shown.pictures))
    return f"{prompt.system}\n{text}" if prompt.system else text


def _row(one: Asked, answers: Sequence[str], prompt: Prompt) -> dict[str, Any]:
    shown = {"text": one.shown.question, "prompt": said(one, answers, prompt), "answer": one.shown.answer}
    return {"question_id": one.question_id, **shown, "pictures": list(map(as_picture, one.shown.pictures))}


def _write(path: Path, text: str) -> None:
    with tables.replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


_TASK = """task: {name}
dataset_path: parquet
dataset_kwargs:
  data_files: {{test: data/{name}.parquet}}
test_split: test
output_type: generate_until
doc_to_visual: !function utils.shown
doc_to_text: !function utils.asked
doc_to_target: answer
process_results: !function utils.scored
generation_kwargs: {{max_new_tokens: {tokens}, temperature: 0, do_sample: false}}
metric_list:
  - {{metric: accuracy, aggregation: mean, higher_is_better: true}}
metadata: {{version: 1.0}}
"""
_GROUP = """group: {name}
task:
{tasks}
aggregate_metric_list:
  - {{metric: accuracy, aggregation: mean, weight_by_size: false}}
metadata: {{version: 1.0}}
"""
