"""The tables of CLEVR's questions: a dataset with columns of its own, and what official files say beside it.

``template`` is ``<file>_<number>``, ``answer`` yes, no, a number or a word, ``scene_ids`` the one scene, and ``part``
the same as ``split`` until a split deals parts. Of questions that were read, ``template``, ``program`` and ``answer``
are null where the file keeps them back; ``template`` also where a question's family can't be told.
"""

import pyarrow as pa

from compvqa.clevr.language import LANGUAGE
from compvqa.questions.dataset import CORE, GROUP, dataset_schema
from compvqa.tables import Schema

QUESTIONS = dataset_schema(
    LANGUAGE.name,
    pa.schema(
        [
            *CORE,
            ("number", pa.int64()),  # the order of a part's questions; with gaps where some are left out
            (GROUP, pa.string()),  # of four minimal questions that differ in their pictures; null: in no group
        ]
    ),
)
# What an official file says of a question besides, so that it can be written again; null where the file does not say.
ORIGINS = Schema(
    "clevr_origins",
    pa.schema(
        [
            ("question_id", pa.string()),
            ("question_index", pa.int64()),
            ("image_index", pa.int64()),
            ("image_filename", pa.string()),
            ("split", pa.string()),
            ("family", pa.int64()),
        ]
    ),
    key=("question_id",),
)
REJECTS = Schema(
    "clevr_question_rejects",
    pa.schema(
        [
            ("file", pa.string()),  # its name
            ("number", pa.int64()),  # the question's place in it, from 0
            ("question", pa.string()),  # its question_index; null where it has none
            ("reason", pa.string()),
            ("detail", pa.string()),
        ]
    ),
    key=("file", "number"),
)
