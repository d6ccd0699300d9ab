"""Tables of questions beside the dataset's."""

import pyarrow as pa

from compvqa.tables import Schema

# What an engine made no question of, by its reason.
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
