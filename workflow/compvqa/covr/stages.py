"""Which modules each stage of COVR's own runs, as :mod:`compvqa.stages` has them of shared ones."""

from __future__ import annotations

MODULES: dict[str, tuple[str, ...]] = {
    "subgraphs": ("compvqa.covr.subgraphs.enumerate",),
    "word_pairs": ("compvqa.covr.filters.words.labels",),
    "word_labels": ("compvqa.covr.filters.words.labels",),
    "word_filter": ("compvqa.covr.filters.words.training",),
    "word_scores": ("compvqa.covr.filters.words.scores",),
    "overlap": ("compvqa.covr.filters.words.overlap", "compvqa.covr.filters.words.methods.{method}"),
    "candidates": ("compvqa.covr.subgraphs.search", "compvqa.covr.subgraphs.search.{backend}"),
    "load_neo4j": ("compvqa.covr.subgraphs.search.neo4j.loading",),
    "load_testbed": ("compvqa.covr.subgraphs.search.neo4j.loading", "compvqa.covr.explore.testbed"),
    "export_neo4j": ("compvqa.covr.subgraphs.search.neo4j.export",),
    "image_examples": ("compvqa.covr.filters.images.examples",),
    "image_filter": ("compvqa.covr.filters.images.training", "compvqa.models.{model}"),
    "presence": (
        "compvqa.covr.filters.images.presence",
        "compvqa.covr.filters.images.methods.{method}",
        "compvqa.models.{models}",
    ),
    "others": (
        "compvqa.covr.filters.images.presence",
        "compvqa.covr.filters.images.methods.{method}",
        "compvqa.models.{models}",
        "compvqa.covr.questions.generate",
        "compvqa.covr.questions.kinds.{kinds}",
    ),
    "image_labels": ("compvqa.covr.filters.images.labels",),
    "image_scores": (
        "compvqa.covr.filters.images.presence",
        "compvqa.covr.filters.images.thresholds",
        "compvqa.covr.filters.images.methods.{method}",
        "compvqa.models.{models}",
    ),
    "thresholds": ("compvqa.covr.filters.images.thresholds",),
    "related": ("compvqa.covr.subgraphs.related",),
    "questions": ("compvqa.covr.questions.generate", "compvqa.covr.questions.kinds.{kinds}"),
    "gather_questions": ("compvqa.covr.questions.gather",),
    "risk": (
        "compvqa.covr.risk.assess",
        "compvqa.covr.filters.images.methods.{method}",
        "compvqa.models.{models}",
    ),
    "balance": ("compvqa.covr.questions.balance",),
    "read_questions": ("compvqa.covr.released.reader",),
    "pretrain": ("compvqa.covr.pretraining.training", "compvqa.models.{model}"),
    "statistics": ("compvqa.covr.statistics",),
    "validity": ("compvqa.covr.judging.validity",),
    "distractors": ("compvqa.covr.judging.distractors",),
    "filters": ("compvqa.covr.judging.filters",),
    "judge": ("compvqa.covr.judging.outside",),
}
