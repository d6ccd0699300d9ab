"""The tables that question generation makes."""

import pyarrow as pa

from compvqa.covr.language import LANGUAGE
from compvqa.questions.dataset import CORE, dataset_schema
from compvqa.tables import Schema

# Of questions that were read, not made, all from seed on is null: nobody released their subgraphs.
QUESTIONS = Schema(
    "questions",
    pa.schema(
        [
            ("question_id", pa.string()),  # hash of text, set of scenes and answer, in hexadecimal
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
# Probabilities that the answer is wrong by one of the claims that it needs: that something is not there, that it is
# there, that a name is not true of a thing, that there is no more of it; and by any. Null where nobody looked.
RISKS = pa.schema(
    [(f"risk_{cause}", pa.float32()) for cause in ("absence", "presence", "names", "others")] + [("risk", pa.float32())]
)
# Of a shard's questions. Of the same question from other shards, with another program perhaps, the seed is another.
RISK = Schema("risk", pa.schema([("question_id", pa.string()), ("seed", pa.int64()), *RISKS]), key=("question_id",))
DATASET = dataset_schema(
    LANGUAGE.name, pa.schema([*QUESTIONS.fields, CORE.field("part"), CORE.field("properties"), *RISKS])
)
