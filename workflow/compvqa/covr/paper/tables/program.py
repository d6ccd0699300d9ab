"""Table 10: a question's program row by row, with what each row gave on its images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compvqa.covr.paper.examples import by_id, readable
from compvqa.covr.trace import traced
from compvqa.paper.data import Inputs, frame, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.programs.rows import from_json
from compvqa.scenes.graph import SceneStore

COLUMNS = ("Operator", "Arguments", "Value")
_READ = ["template", "text", "answer", "program", "scene_ids"]


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a row of the program, the paper's beside ours where both have the same operators, else below.

    The example is of the template ``options.template``, or of any where the dataset has none of it.
    """
    papers: list[Any] = [(label, *(reference.value(label, column) for column in COLUMNS)) for label in reference.rows]
    question = example(inputs, reference.options["template"], [operator for _, operator, *_ in papers])
    lines, notes = [], [f"The paper's question: “{reference.facts['question'].text}”"]
    if question:
        scenes = list(SceneStore(one(inputs, "scenes")).graphs(question["scene_ids"]))
        lines = traced(from_json(question["program"]), scenes)
        told = f"Our question ({question['template']}): “{question['text']}” Its answer: {question['answer']}."
        notes = [told, *notes, "A value lists objects by scene, with name and id."]
    if [operator for _, operator, *_ in lines] == [operator for _, operator, *_ in papers]:
        rows = [_row(line[0], line[1:], paper[1:]) for line, paper in zip(lines, papers, strict=True)]
    else:
        nothing = (None,) * len(COLUMNS)
        rows = [_row(line[0], line[1:], nothing) for line in lines]
        rows += [_row(label, nothing, values, rule_above=label == papers[0][0]) for label, *values in papers]
    notes += reference.notes
    return Table(reference.title, reference.citation, "Index", COLUMNS, tuple(rows), tuple(notes))


def _row(index: str, ours: Sequence, papers: Sequence, rule_above: bool = False) -> Row:
    cells = (Cell(value or "", paper=paper, form="text") for value, paper in zip(ours, papers, strict=True))
    return Row(index, tuple(cells), rule_above=rule_above)


def example(inputs: Inputs, template: str, operators: list[str]) -> dict | None:
    """A readable question of the template, with such a program and with something found, as far as there is one."""
    dataset = one(inputs, "dataset")
    questions = frame(dataset, ["question_id", "template", "text"])
    of_template = questions[questions["template"] == template]
    best = readable((questions if of_template.empty else of_template).to_dict("records"), template)
    rows = by_id(dataset, _READ, [question["question_id"] for question in best])
    found = [rows[question["question_id"]] for question in best]
    found.sort(key=lambda row: (_operators(row) != operators, row["answer"] in ("0", "false")))
    return found[0] if found else None


def _operators(row: dict) -> list[str]:
    return [line.operation for line in from_json(row["program"])]
