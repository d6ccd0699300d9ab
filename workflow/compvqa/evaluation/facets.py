"""Facets: what accuracy is told by beside all questions, such as a question's template and its properties.

Template and properties are always told. A language brings further ones (``FACETS`` of its ``facets.py``), of which the
config names those that scores have rows of (``scores.facets``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from compvqa import tables
from compvqa.errors import InputError
from compvqa.evaluation.properties import asked_questions, properties_of
from compvqa.programs import wings
from compvqa.programs.facets import Facet, FacetsModule, chosen
from compvqa.questions.dataset import language_of
from compvqa.scenes.asked import AskedScenes

ALL, TEMPLATE, PROPERTY = "all", "template", "property"
MANY = (TEMPLATE, PROPERTY)  # facets of so many values that they are not compared between runs
FACETS = pa.schema([("question_id", pa.string()), ("facet", pa.string()), ("value", pa.string())])


def facets_of(dataset: Path, question_ids: pa.Array, names: Sequence[str] = (), scenes: Path | None = None) -> pa.Table:
    """The values that the questions ``question_ids`` of the dataset have: a row for each (question_id, facet, value).

    ``names``: facets of the dataset's language that are told beside template and property; ``scenes``: the scenes
    table, beside which the others lie that a facet may look at. A question has several values of a facet, or none;
    :data:`ALL`, which has one value for all, is left out. Raises :class:`InputError` for a facet that there is not.
    """
    further = of_language(language_of(dataset), names)
    asked = tables.read(dataset, columns=["question_id", "template"])
    asked = asked.filter(pc.and_(pc.is_in(asked["question_id"], question_ids), pc.is_valid(asked["template"])))
    found = {TEMPLATE: asked, PROPERTY: properties_of(dataset, question_ids)}
    parts = [_rows(facet, rows) for facet, rows in found.items()]
    if further:
        parts.append(pa.Table.from_batches(_batches(dataset, question_ids, further, scenes), FACETS))
    return pa.concat_tables(parts)


def of_language(language: str, names: Sequence[str]) -> list[Facet]:
    """The facets ``names`` of a language; raises :class:`InputError` for one that there is not."""
    if not names:
        return []
    module: FacetsModule = wings.part(language, "facets")
    return chosen(names, module.FACETS, language)


def names_of(language: str, scenes: bool) -> tuple[str, ...]:
    """The names of all facets of a language; without ``scenes`` those that look at no question's scenes."""
    module: FacetsModule = wings.part(language, "facets")
    return tuple(facet.name for facet in module.FACETS if scenes or not facet.scenes)


def look_at_scenes(language: str, names: Sequence[str]) -> bool:
    """Whether one of these facets of a language looks at the questions' scenes."""
    return any(facet.scenes for facet in of_language(language, names))


def _rows(facet: str, rows: pa.Table) -> pa.Table:
    named = pa.array([facet] * len(rows), pa.string())
    return pa.Table.from_arrays([rows["question_id"], named, rows[facet]], schema=FACETS)


def _batches(
    dataset: Path, question_ids: pa.Array, facets: Sequence[Facet], scenes: Path | None
) -> Iterator[pa.RecordBatch]:
    looking = [facet.name for facet in facets if facet.scenes]
    if looking and scenes is None:
        raise InputError(
            f"the facet {looking[0]} looks at the questions' scenes: give the folder of their tables by --scenes."
        )
    graphs = AskedScenes(scenes.parent) if scenes and looking else None
    for questions in asked_questions(dataset, question_ids, graphs):
        rows = [
            (question_id, facet.name, str(value))
            for question_id, question in questions
            for facet in facets
            if (value := facet.value(question)) is not None
        ]
        yield pa.record_batch([list(column) for column in zip(*rows, strict=True)] or [[], [], []], FACETS)
