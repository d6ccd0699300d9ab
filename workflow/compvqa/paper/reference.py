"""What a paper prints for a table or figure, and how ours is made: ``config/paper/<paper>/<page>.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from compvqa.errors import InputError
from compvqa.files import read_yaml
from compvqa.paper.data import plain
from compvqa.settings import Settings

Number = int | float
Printed = Number | tuple[Number, Number] | str | None


class Fact(Settings):
    """Something that the paper says in words, with the words."""

    text: str = Field(description="what is shown of it in grey")
    quote: str = Field(description="the paper's own words, as in its text")
    value: Number | None = Field(None, description="its number, if it is one")
    low: Number | None = Field(None, description="the lower end, if it is a range")
    high: Number | None = Field(None, description="the upper end, if it is a range")
    of: tuple[tuple[str, str], ...] = Field(
        (), description="the places (row, column) of the table that have its number"
    )


class Shown(Settings):
    """What a column or a row shows: whose accuracy, on what. A cell joins what its column and its row say."""

    variant: str | None = Field(
        None, description="what the model was trained on: text, iid, easy, or of a split comp and size"
    )
    baseline: str | None = Field(None, description="in place of the page's model, a baseline such as maj")
    model: str | None = Field(
        None,
        description="in place of the page's model, the trained one of this name, or of this name and a size: lstm-tiny",
    )
    part: str | None = Field(None, description="the part that is answered")
    text: str | None = Field(None, description="the text that is asked: generated or paraphrased")
    contrast: str | None = Field(
        None, description="in place of an accuracy, one number made of several: generalization"
    )
    left_out: bool = Field(False, description="in place of an accuracy, how many train questions the split leaves out")
    title: str = Field("", description="what ours is called, where the paper's label does not fit")
    ruled: bool = Field(False, description="a line stands above the row")


class Reference(Settings):
    """One table or figure: its title, what makes ours, and the paper's own numbers.

    ``rows`` hold a value for each of ``columns``: a number, a pair (mean, deviation), words, or null where the
    paper prints a dash or nothing. Accuracies are in percent, generalization scores as fractions.
    """

    title: str = Field(description="the title above it")
    citation: str = Field(description="where the paper's numbers stand, or that there are none")
    whose: str = Field("", description="who gives the numbers in grey, where it is not the paper itself")
    caption: str = Field("", description="what a reader sees there, in plain sentences")
    kind: Literal["table", "figure"] = Field(description="table or figure")
    make: str = Field(
        description="module of paper/tables or paper/figures that makes it; <engine>.<module> for one of an engine's"
    )
    inputs: tuple[str, ...] = Field(
        description="the names of the inputs that it reads; <page>.csv: another table of its paper"
    )
    options: dict[str, Any] = Field({}, description="settings of the module that makes it")
    columns: tuple[str, ...] = Field((), description="the paper's columns")
    rows: dict[str, tuple[Printed, ...]] = Field({}, description="the paper's rows, by label")
    shows: dict[str, Shown] = Field({}, description="what columns, and rows, of accuracies show, by label")
    rows_from: str | dict[str, str] | None = Field(
        None,
        description="another page of the paper whose columns, rows, shows, panels and numbers in words it has; or "
        "several of the same columns, by the words that stand, with a colon, before the labels of each one's rows",
    )
    printed: dict[str, str] = Field({}, description="the label as the paper prints it, where ours differs")
    facts: dict[str, Fact] = Field({}, description="what the paper says in words")
    notes: tuple[str, ...] = Field((), description="sentences below the table or figure")
    apart: str = Field(
        "",
        description="why its numbers can't be compared with ours, if so: it stands after all others, under a heading",
    )

    def value(self, row: str, column: str) -> Printed:
        """The paper's value, or None where it has none; labels match up to case and punctuation.

        It stands in a row, or is said in words (``of`` of a fact).
        """
        said = {(plain(first), plain(second)): fact.value for fact in self.facts.values() for first, second in fact.of}
        if (plain(row), plain(column)) in said:
            return said[plain(row), plain(column)]
        by_row = {plain(label): values for label, values in self.rows.items()}
        by_column = {plain(label): number for number, label in enumerate(self.columns)}
        values, number = by_row.get(plain(row)), by_column.get(plain(column))
        return None if values is None or number is None else values[number]

    def shown(self, *labels: str) -> Shown:
        """What a cell shows, by the labels of its column and row: nothing where they do not say."""
        said = (self.shows[label].model_dump(exclude_unset=True) for label in labels if label in self.shows)
        return Shown.model_validate({key: value for one in said for key, value in one.items()})

    def showing(self, variant: str) -> str:
        """The label of the first column that shows a variant of the page's model; empty if none does."""
        return next((column for column in self.columns if self.shown(column).variant == variant), "")

    def label(self, name: str) -> str:
        """The paper's label of the row called ``name`` up to case and punctuation; else ``name`` itself."""
        return next((label for label in self.rows if plain(label) == plain(name)), name)


def load(path: Path) -> Reference:
    """The reference in a YAML file; what is wrong with it is an :class:`InputError`."""
    try:
        reference = Reference.model_validate(read_yaml(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise InputError(f"{path}: {where} is wrong: {first['msg']}.") from None
    if isinstance(reference.rows_from, dict):
        reference = reference.model_copy(update=_of_several(path, reference.rows_from))
    elif reference.rows_from:
        other = load(path.with_name(f"{reference.rows_from}.yaml"))
        taken = {key: getattr(other, key) for key in ("columns", "rows", "shows", "whose")}
        options = {key: value for key, value in other.options.items() if key == "panels"} | reference.options
        facts = {name: fact for name, fact in other.facts.items() if fact.of} | reference.facts
        reference = reference.model_copy(update=taken | {"options": options, "facts": facts})
    for label, values in reference.rows.items():
        if len(values) != len(reference.columns):
            raise InputError(f"{path}: row {label} has {len(values)} values, the columns are {len(reference.columns)}.")
    if lost := [label for label in reference.shows if label not in (*reference.columns, *reference.rows)]:
        raise InputError(f"{path}: shows names {lost[0]}, which is no column and no row: correct the label.")
    return reference


def _of_several(path: Path, rows_from: Mapping[str, str]) -> dict[str, Any]:
    """The columns, rows and shows of a page with those of several others."""
    others = {words: load(path.with_name(f"{name}.yaml")) for words, name in rows_from.items()}
    first = next(iter(others.values()))
    if unlike := [rows_from[words] for words, other in others.items() if other.columns != first.columns]:
        raise InputError(f"{path}: rows_from names {unlike[0]}, whose columns are others than the first one's.")
    rows = {f"{words}: {label}": values for words, other in others.items() for label, values in other.rows.items()}
    return {"columns": first.columns, "rows": rows, "shows": first.shows}


def pages_of(rows_from: str | Mapping[str, str] | None) -> list[str]:
    """The pages whose rows another one has."""
    return [rows_from] if isinstance(rows_from, str) else list((rows_from or {}).values())
