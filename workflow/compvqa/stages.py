"""Which modules each stage runs: their digest, and that of all they import, is the stage's code."""

from __future__ import annotations

from compvqa.errors import InputError
from compvqa.provenance.digest import code_digest, exists

# A name in braces is a plugin that the run's config chooses.
MODULES: dict[str, tuple[str, ...]] = {
    "download": ("compvqa.scenes.download",),
    "checkpoint": ("compvqa.models.hub",),
    "sprites": ("compvqa.scenes.sprites",),
    "simulate": ("compvqa.scenes.simulate",),
    "lexicon": ("compvqa.filters.lexicon", "compvqa.filters.ontology"),
    "ingest": ("compvqa.scenes.ingest", "compvqa.scenes.{reader}"),
    "scenes": ("compvqa.scenes.ingest",),
    "subgraphs": ("compvqa.graphs.enumerate",),
    "word_pairs": ("compvqa.filters.labels",),
    "word_labels": ("compvqa.filters.labels",),
    "word_filter": ("compvqa.training.word_filter",),
    "word_scores": ("compvqa.evaluation.analyses.words",),
    "overlap": ("compvqa.filters.words", "compvqa.filters.overlap.{method}"),
    "candidates": ("compvqa.graphs.backend", "compvqa.graphs.{backend}"),
    "load_neo4j": ("compvqa.graphs.neo4j.loading",),
    "load_testbed": ("compvqa.graphs.neo4j.loading", "compvqa.explore.testbed"),
    "export_neo4j": ("compvqa.graphs.neo4j.export",),
    "image_examples": ("compvqa.filters.examples",),
    "image_filter": ("compvqa.training.presence", "compvqa.models.{model}"),
    "presence": ("compvqa.filters.images", "compvqa.filters.presence.{method}", "compvqa.models.{models}"),
    "others": (
        "compvqa.filters.images",
        "compvqa.filters.presence.{method}",
        "compvqa.models.{models}",
        "compvqa.questions.covr.generate",
        "compvqa.questions.covr.{kinds}",
    ),
    "image_labels": ("compvqa.evaluation.analyses.image_labels",),
    "image_scores": (
        "compvqa.filters.images",
        "compvqa.filters.thresholds",
        "compvqa.filters.presence.{method}",
        "compvqa.models.{models}",
    ),
    "thresholds": ("compvqa.filters.thresholds",),
    "related": ("compvqa.graphs.related",),
    "questions": ("compvqa.questions.covr.generate", "compvqa.questions.covr.{kinds}"),
    "gather_questions": ("compvqa.questions.covr.gather",),
    "balance": ("compvqa.balance",),
    "read_questions": ("compvqa.questions.released.reader",),
    "read_paraphrases": ("compvqa.questions.paraphrases",),
    "split": ("compvqa.splits.splitters",),
    "features": ("compvqa.features.extract",),
    "read_features": ("compvqa.features.released", "compvqa.features.readers.{readers}"),
    "pretrain": ("compvqa.training.match", "compvqa.models.{model}"),
    "train": ("compvqa.training.loop", "compvqa.models.{model}"),
    "predict": ("compvqa.training.loop", "compvqa.models.{model}"),
    "baseline": ("compvqa.models.baseline", "compvqa.models.{model}"),
    "scores": ("compvqa.evaluation.scores",),
    "score": ("compvqa.evaluation.submitted",),
    "statistics": ("compvqa.evaluation.analyses.statistics",),
    "validity": ("compvqa.evaluation.analyses.validity",),
    "distractors": ("compvqa.evaluation.analyses.distractors",),
    "filters": ("compvqa.evaluation.analyses.filters",),
    "table": ("compvqa.paper.tables", "compvqa.paper.tables.{make}"),
    "figure": ("compvqa.paper.figures", "compvqa.paper.figures.{make}"),
    "publish_questions": ("compvqa.publish.parquet",),
    "publish_split": ("compvqa.publish.parquet",),
    "publish_card": ("compvqa.publish.card", "compvqa.publish.croissant"),
    "crate": ("compvqa.provenance.crate",),
    "manifest": ("compvqa.provenance.manifest",),
    "samples": ("compvqa.paper.explorer.questions",),
    "index": ("compvqa.paper.explorer.index",),
}


def modules_of(stage: str, **plugins: str | list[str]) -> list[str]:
    """The modules of ``stage``; each plugin is given by the name in braces, several as a list.

    A plugin that no module is called like is an :class:`InputError`.
    """
    found = []
    for module in MODULES[stage]:
        before, brace, name = module.rstrip("}").partition("{")
        chosen = plugins[name] if brace else ""
        for plugin in [chosen] if isinstance(chosen, str) else chosen:
            if not exists(before + plugin):
                path = f"{before}{plugin}".replace(".", "/")
                raise InputError(f"there is no {name} {plugin!r} for {stage}: name another, or write {path}.py.")
            found.append(before + plugin)
    return found


def stage_code(stage: str, **plugins: str | list[str]) -> str:
    """The digest of the code that ``stage`` runs with these plugins."""
    return code_digest(*modules_of(stage, **plugins))
