"""The table of CLEVR's questions: a dataset with one column of its own.

``template`` is ``<file>_<number>``, ``answer`` yes, no, a number or a word, ``scene_ids`` the one scene, and ``part``
the same as ``split`` until a split deals parts.
"""

import pyarrow as pa

from compvqa.clevr.language import LANGUAGE
from compvqa.questions.dataset import CORE, dataset_schema

QUESTIONS = dataset_schema(
    LANGUAGE.name,
    CORE.append(pa.field("number", pa.int64())),  # the order of a part's questions; with gaps where some are left out
)
