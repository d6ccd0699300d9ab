"""Which modules each stage of CLEVR's own runs, as :mod:`compvqa.stages` has them of shared ones."""

from __future__ import annotations

MODULES: dict[str, tuple[str, ...]] = {
    "clevr_questions": ("compvqa.clevr.generate",),
    "read_clevr_questions": ("compvqa.clevr.official",),
    "gather_clevr_questions": ("compvqa.clevr.gather",),
}
