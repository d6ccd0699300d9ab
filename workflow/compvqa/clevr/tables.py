"""The table that CLEVR's question generation makes."""

import pyarrow as pa

from compvqa.tables import Schema

QUESTIONS = Schema(
    "clevr_questions",
    pa.schema(
        [
            ("question_id", pa.string()),  # hash of text, scene, template and answer, in hexadecimal
            ("testbed", pa.string()),
            ("split", pa.string()),  # train or val: the side its scene is from
            ("part", pa.string()),  # the same, until a split deals parts
            ("template", pa.string()),  # "<file>_<number>"
            ("text", pa.string()),
            ("program", pa.string()),  # JSON, programs/rows.py
            ("answer", pa.string()),  # "yes", "no", "3", "red"
            ("scene_ids", pa.list_(pa.string())),  # the one scene
            ("properties", pa.list_(pa.string())),  # those that a released file says it has; null for our own
        ]
    ),
    key=("question_id",),
)
