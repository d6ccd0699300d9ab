"""Accuracy by the values of a facet, a panel of them at a time: what tables and figures of analyses show.

A page lists its panels under ``options.panels``. Its columns are models; its rows, by which the paper's numbers and
findings know a place, are called ``<title of the panel>: <label of the value>``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError

from compvqa.errors import InputError
from compvqa.evaluation.answers import IID
from compvqa.evaluation.facets import ALL
from compvqa.models.baseline import GENERATED
from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Printed, Reference
from compvqa.paper.scores import Results, Score, differences
from compvqa.paper.splits import TESTED
from compvqa.settings import Settings

TREND = "change a step"  # the row of how much accuracy changes from one number to the next


class Panel(Settings):
    """The values of one facet: those that are named, or all that are some words and a number."""

    title: str = Field(description="what it is called")
    facet: str = Field(ALL, description="by what the accuracies are told")
    values: dict[str, str] = Field({}, description="the values that are shown, in order, with what they are called")
    number_after: str | None = Field(
        None, description="in place of values: all that are these words and a number, which is what they are called"
    )
    split: str = Field(IID, description="the split whose parts are shown")
    parts: dict[str, str] = Field({}, description="its parts, with what they are called; none: the page's part")
    axis: str = Field("", description="what the numbers are, in a figure")

    def place(self, value: str, part: str = "") -> str:
        """What the row of a value, or number, in a part is called."""
        return ": ".join(filter(None, [self.title, self.label(value, part)]))

    def label(self, value: str, part: str) -> str:
        """The same without the panel's title."""
        return ", ".join(filter(None, [self.values.get(value, value), self.parts.get(part, "")]))


@dataclass(frozen=True)
class Point:
    """The scores of one value in one part, by column; ``number`` where it is one."""

    place: str
    label: str
    number: int | None
    scores: dict[str, Score | None]

    @property
    def questions(self) -> int:
        """How many questions have the value."""
        return max((score.questions for score in self.scores.values() if score), default=0)


def panels(reference: Reference) -> list[Panel]:
    """The panels of a page; what is wrong with them is an :class:`InputError`."""
    try:
        return [Panel.model_validate(panel) for panel in reference.options.get("panels", [])]
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise InputError(f"{reference.title}: options.panels, {where}: {error.errors()[0]['msg']}.") from None


def parts_of(panel: Panel, reference: Reference) -> list[str]:
    """The parts that a panel shows."""
    return list(panel.parts) or [reference.options.get("part", TESTED)]


def places(panel: Panel, reference: Reference) -> list[str]:
    """The rows of a panel as far as they are known without scores."""
    if panel.number_after is not None:
        return [panel.place(TREND)]
    return [panel.place(value, part) for value in panel.values for part in parts_of(panel, reference)]


@dataclass(frozen=True)
class Told:
    """What a page's numbers are of: accuracies, or, with ``options.above``, how far they are above those of a column,
    on the same questions, with paired intervals."""

    reference: Reference
    results: Results
    contrasts: Path | None

    @staticmethod
    def of(inputs: Inputs, reference: Reference) -> Told:
        """That of a page with these inputs."""
        above = above_of(reference)
        results = Results.load(one(inputs, "scores"), reference.options)
        return Told(reference, results, one(inputs, "contrasts") if above else None)

    def by(self, panel: Panel, column: str, part: str) -> dict[str, Score]:
        """What stands in a column, by the values of a panel's facet."""
        shown = self.reference.shown(column)
        text = shown.text or GENERATED
        if self.contrasts is None:
            return self.results.by(panel.facet, shown, part, text, panel.split)
        models = (self.results.named(shown), self.results.named(self.reference.shown(above_of(self.reference))))
        found = differences(self.contrasts, *models, part, text, panel.split)
        return {value: score for (facet, value), score in found.items() if facet == panel.facet}

    def paper(self, place: str, column: str) -> Printed:
        """The paper's number."""
        value, above = self.reference.value(place, column), above_of(self.reference)
        if not above or value is None:
            return value
        other = self.reference.value(place, above)
        if not isinstance(value, int | float) or not isinstance(other, int | float):
            return None
        return round(value - other, 3)


def above_of(reference: Reference) -> str:
    """The column that a page's others are compared with; empty where none is."""
    return reference.options.get("above", "")


def columns_of(reference: Reference) -> list[str]:
    """The columns that a page shows: all but the one that they are compared with."""
    return [column for column in reference.columns if column != above_of(reference)]


def points(panel: Panel, reference: Reference, told_of: Told) -> Iterator[Point]:
    """The points of a panel in its order, or that of their numbers."""
    found: dict[tuple[str, str], dict[str, Score]] = {}
    for column in columns_of(reference):
        for part in parts_of(panel, reference):
            told = told_of.by(panel, column, part)
            found[column, part] = {value: score for value, score in told.items() if _has(panel, value)}
    values = list(panel.values)
    if panel.number_after is not None:
        values = sorted({value for told in found.values() for value in told}, key=lambda value: _number(value))
    for value in values:
        for part in parts_of(panel, reference):
            number = None if panel.number_after is None else _number(value)
            name = value if number is None else str(number)
            scores = {column: found[column, part].get(value) for column in columns_of(reference)}
            yield Point(panel.place(name, part), panel.label(name, part), number, scores)


def _has(panel: Panel, value: str) -> bool:
    """Whether a value is shown in a panel."""
    if panel.number_after is None:
        return value in panel.values
    words, _, number = value.rpartition(" ")
    return words == panel.number_after and number.isdecimal()


def _number(value: str) -> int:
    return int(value.rpartition(" ")[2])


def trend(found: Sequence[tuple[int, Score]]) -> tuple[float, tuple[float, float]] | None:
    """How many points accuracy changes from a number to the next, by weighted least squares, with its interval.

    Each number counts by its questions; the interval follows from those of the accuracies. None of fewer than two.
    """
    if len(found) < 2:
        return None
    n = sum(score.questions for _, score in found)
    middle = sum(number * score.questions for number, score in found) / n
    spread = sum(score.questions * (number - middle) ** 2 for number, score in found)
    weights = [score.questions * (number - middle) / spread for number, score in found]
    slope = sum(weight * score.mean for weight, (_, score) in zip(weights, found, strict=True))
    halves = [(score.interval[1] - score.interval[0]) / 2 for _, score in found]
    half = sum((weight * half) ** 2 for weight, half in zip(weights, halves, strict=True)) ** 0.5
    return slope, (slope - half, slope + half)
