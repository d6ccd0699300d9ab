"""Accuracy of vision-language models by the values of a facet, such as property: a column a model and its shots."""

from __future__ import annotations

from compvqa.evaluation.answers import IID
from compvqa.evaluation.facets import PROPERTY
from compvqa.paper.asked import NONE_ASKED, models_of
from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference, Shown
from compvqa.paper.render import Cell, Row, Table
from compvqa.paper.scores import Results, beside
from compvqa.paper.splits import TESTED

NONE_THERE = "No question that was asked has any."


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a value of ``options.facet`` (property), of the runs that are asked of the whole dataset, on the part
    ``options.part`` (test), sorted; reads the scores and the models' files."""
    facet, part = reference.options.get("facet", PROPERTY), reference.options.get("part", TESTED)
    results = Results.load(one(inputs, "scores"), {})
    asked = [model for model in models_of(inputs, results.rows["model"]) if model.shots is not None]
    columns = {
        f"{model.name}, {told}": results.by(facet, Shown(model=model.name, variant=variant), part)
        for model in asked
        for variant, told in (("text", "blind"), (IID, model.told))
    }
    columns = {name: scores for name, scores in columns.items() if scores}
    values = sorted({value for scores in columns.values() for value in scores})
    questions = {value: max(of[value].questions for of in columns.values() if value in of) for value in values}
    rows = tuple(
        Row(value, (_count(questions[value]), *(beside(of.get(value), None, reference) for of in columns.values())))
        for value in values
    )
    notes = [] if asked else [NONE_ASKED]
    notes += [NONE_THERE] if asked and not rows else []
    notes += [f"Accuracy in percent on {part}.", *reference.notes]
    head = f"{facet.title()} ({part})"
    return Table(reference.title, reference.citation, head, ("Questions", *columns), rows, tuple(notes))


def _count(questions: int) -> Cell:
    return Cell(questions, form="count")
