"""Table 10: a question's program row by row, with what each row gave on its images."""

from __future__ import annotations

from itertools import zip_longest

from compvqa.paper.data import Inputs, frame, one
from compvqa.paper.examples import by_id, readable
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.programs.operators import from_json
from compvqa.programs.trace import traced
from compvqa.scenes.graph import SceneStore

COLUMNS = ("Operator", "Arguments", "Value")
_READ = ["template", "text", "answer", "program", "scene_ids"]


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a row of the program, the paper's beside ours.

    The example is of the template ``options.template``, or of any where the dataset has none of it; one whose rows
    have the paper's operators is preferred.
    """
    wanted = [str(reference.value(label, "Operator")) for label in reference.rows]
    question = example(inputs, reference.options["template"], wanted)
    lines, notes = [], [f"The paper's question: {reference.facts['question'].text}"]
    if question:
        scenes = list(SceneStore(one(inputs, "scenes")).graphs(question["scene_ids"]))
        lines = traced(from_json(question["program"]), scenes)
        told = f"Our question ({question['template']}): {question['text']} The answer is {question['answer']}."
        notes = [told, *notes, "A value lists objects by scene, with name and id."]
    rows = []
    for line, label in zip_longest(lines, reference.rows):
        index, *texts = line or (label, *[""] * len(COLUMNS))
        papers = [label and reference.value(label, column) for column in COLUMNS]
        cells = (Cell(ours, paper=paper, form="text") for ours, paper in zip(texts, papers, strict=True))
        rows.append(Row(index, tuple(cells)))
    notes = (*notes, *reference.notes)
    return Table(reference.title, reference.citation, "Index", COLUMNS, tuple(rows), notes)


def example(inputs: Inputs, template: str, operators: list[str]) -> dict | None:
    """A readable question of the template with such a program, as far as there is one."""
    dataset = one(inputs, "dataset")
    questions = frame(dataset, ["question_id", "template", "text"])
    of_template = questions[questions["template"] == template]
    best = readable((questions if of_template.empty else of_template).to_dict("records"), template)
    rows = by_id(dataset, _READ, [question["question_id"] for question in best])
    found = [rows[question["question_id"]] for question in best]
    return next(iter(sorted(found, key=lambda row: _operators(row) != operators)), None)


def _operators(row: dict) -> list[str]:
    return [line.operation for line in from_json(row["program"])]
