"""The tables that question generation makes."""

import pyarrow as pa

from compvqa.tables import Schema

# Of questions that were read, not made, all from seed on is null: nobody released their subgraphs.
QUESTIONS = Schema(
    "questions",
    pa.schema(
        [
            ("question_id", pa.string()),  # hash of text, ordered scenes and answer, in hexadecimal
            ("testbed", pa.string()),
            ("split", pa.string()),  # train or val: the side its scenes are from
            ("template", pa.string()),
            ("text", pa.string()),
            ("annotator_text", pa.string()),  # nested references in parentheses
            ("program", pa.string()),  # JSON, programs/rows.py
            ("answer", pa.string()),  # "true", "false", "3", "red"
            ("scene_ids", pa.list_(pa.string())),  # 2-5 of them, in the order shown
            ("seed", pa.int64()),
            ("subgraph_key", pa.int64()),
            ("tree", pa.string()),
            ("start_scene", pa.string()),
            ("size", pa.int16()),  # nodes of the seed's subgraph
            ("depth", pa.int16()),
        ]
    ),
    key=("question_id",),
)
PARTS = ("train", "dev", "test")
# The questions that models are trained and tested on.
DATASET = Schema(
    "dataset",
    pa.schema(
        [
            *QUESTIONS.fields,
            ("part", pa.string()),  # train, dev or test
            ("properties", pa.list_(pa.string())),  # those that a released file says it has; null for our own
        ]
    ),
    key=("question_id",),
)
DROPPED = Schema(
    "dropped",
    pa.schema([("template", pa.string()), ("reason", pa.string()), ("n", pa.int64())]),
    key=("template", "reason"),
)
# What people made of questions' texts (COVR, section 3.4); not every question has one.
PARAPHRASES = Schema(
    "paraphrases",
    pa.schema([("question_id", pa.string()), ("text", pa.string())]),
    key=("question_id",),
)
