"""What a pretraining has asked, as questions of the dataset's language: rows that properties can be asked of.

A pretraining is not made of questions, but its examples amount to some: "how many of these images have a red dog" is a
COUNT over a reference with an attribute. An engine that pretrains models writes what its examples amount to, with the
columns that its language's properties look at; then the property that a split holds out tells which of them have it.
"""

from __future__ import annotations

import pyarrow as pa

from compvqa.questions.dataset import LANGUAGE
from compvqa.tables import Schema

COUNTED = pa.field("n", pa.int64())  # examples that amount to the question


def asked_schema(language: str, fields: pa.Schema) -> Schema:
    """The schema of what a pretraining asked in ``language``: ``fields``, those that properties look at, and ``n``."""
    return Schema(
        "asked",
        fields.append(COUNTED),
        key=("template", "program", "answer"),
        unique=False,
        metadata={LANGUAGE: language},
    )
