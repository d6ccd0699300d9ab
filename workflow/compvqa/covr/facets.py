"""What accuracy on COVR's questions can be told by, beside their templates and properties."""

from __future__ import annotations

from compvqa.covr.properties import Question
from compvqa.programs.facets import Facet
from compvqa.programs.rows import walk


def _size(question: Question) -> int:
    return sum(1 for _ in walk(question.program))


FACETS = (
    Facet("size", "rows of the program, those of conditions inside quantifiers counted too", _size),
    Facet("images", "images that the question is about", lambda question: len(question.scene_ids)),
    Facet("operator", "the operator that gives the answer", lambda question: question.program[-1].operation),
)
