"""Facets: what accuracy is told by beside all questions, such as a question's template and its properties."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from compvqa import tables
from compvqa.evaluation.properties import properties_of

ALL, TEMPLATE, PROPERTY = "all", "template", "property"
FACETS = pa.schema([("question_id", pa.string()), ("facet", pa.string()), ("value", pa.string())])


def facets_of(dataset: Path, question_ids: pa.Array) -> pa.Table:
    """The values that the questions ``question_ids`` of the dataset have: a row for each (question_id, facet, value).

    A question has several values of a facet, or none; :data:`ALL`, which has one value for all, is left out.
    """
    asked = tables.read(dataset, columns=["question_id", "template"])
    asked = asked.filter(pc.and_(pc.is_in(asked["question_id"], question_ids), pc.is_valid(asked["template"])))
    found = {TEMPLATE: asked, PROPERTY: properties_of(dataset, question_ids)}
    return pa.concat_tables(_rows(facet, rows) for facet, rows in found.items())


def _rows(facet: str, rows: pa.Table) -> pa.Table:
    named = pa.array([facet] * len(rows), pa.string())
    return pa.Table.from_arrays([rows["question_id"], named, rows[facet]], schema=FACETS)
