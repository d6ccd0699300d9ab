"""The table that CLEVR's question generation makes: a dataset of core columns alone.

``template`` is ``<file>_<number>``, ``answer`` yes, no, a number or a word, ``scene_ids`` the one scene, and ``part``
the same as ``split`` until a split deals parts.
"""

from compvqa.clevr.language import LANGUAGE
from compvqa.questions.dataset import CORE, dataset_schema

QUESTIONS = dataset_schema(LANGUAGE.name, CORE)
