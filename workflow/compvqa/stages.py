"""Which modules each stage runs: their digest, and that of all they import, is the stage's code."""

from __future__ import annotations

from compvqa.errors import InputError
from compvqa.plugins import module_name
from compvqa.records.digest import code_digest, exists

# A name in braces is a plugin that the run's config chooses.
MODULES: dict[str, tuple[str, ...]] = {
    "download": ("compvqa.scenes.download",),
    "checkpoint": ("compvqa.models.hub",),
    "sprites": ("compvqa.scenes.worlds.sprites",),
    "simulate": ("compvqa.scenes.worlds.simulate",),
    "lexicon": ("compvqa.scenes.lexicon", "compvqa.scenes.ontology"),
    "ingest": ("compvqa.scenes.ingest", "compvqa.scenes.readers.{reader}"),
    "scenes": ("compvqa.scenes.ingest",),
    "subgraphs": ("compvqa.covr.subgraphs.enumerate",),
    "word_pairs": ("compvqa.covr.filters.names.labels",),
    "word_labels": ("compvqa.covr.filters.names.labels",),
    "word_filter": ("compvqa.covr.filters.names.training",),
    "word_scores": ("compvqa.covr.filters.names.scores",),
    "overlap": ("compvqa.covr.filters.names.overlap", "compvqa.covr.filters.names.methods.{method}"),
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
    "balance": ("compvqa.covr.questions.balance",),
    "read_questions": ("compvqa.covr.released.reader",),
    "read_paraphrases": ("compvqa.questions.paraphrases",),
    "split": ("compvqa.splits.splitters", "compvqa.{language}.properties"),
    "features": ("compvqa.features.extract",),
    "read_features": ("compvqa.features.released", "compvqa.features.readers.{readers}"),
    "pretrain": ("compvqa.covr.pretraining.training", "compvqa.models.{model}"),
    "train": ("compvqa.training.loop", "compvqa.models.{model}"),
    "predict": ("compvqa.training.loop", "compvqa.models.{model}"),
    "baseline": ("compvqa.models.baseline", "compvqa.models.{model}"),
    "scores": ("compvqa.evaluation.scores", "compvqa.{language}.properties"),
    "score": ("compvqa.evaluation.submitted", "compvqa.{language}.properties"),
    "statistics": ("compvqa.covr.statistics",),
    "validity": ("compvqa.covr.judging.validity",),
    "distractors": ("compvqa.covr.judging.distractors",),
    "filters": ("compvqa.covr.judging.filters",),
    "table": ("compvqa.paper.tables", "compvqa.paper.tables.{make}"),
    "figure": ("compvqa.paper.figures", "compvqa.paper.figures.{make}"),
    "publish_questions": ("compvqa.publish.parquet", "compvqa.{language}.properties"),
    "publish_split": ("compvqa.publish.parquet", "compvqa.{language}.properties"),
    "publish_card": ("compvqa.publish.card", "compvqa.publish.croissant", "compvqa.{language}.properties"),
    "crate": ("compvqa.publish.crate",),
    "manifest": ("compvqa.provenance.manifest",),
    "samples": ("compvqa.paper.explorer.questions", "compvqa.{language}.trace"),
    "index": ("compvqa.paper.explorer.index",),
}


def modules_of(stage: str, **plugins: str | list[str]) -> list[str]:
    """The modules of ``stage``; each plugin is given by the name in braces, several as a list.

    A plugin that no module is called like is an :class:`InputError`.
    """
    found = []
    for module in MODULES[stage]:
        before, brace, rest = module.partition("{")
        name, _, after = rest.partition("}")
        chosen = plugins[name] if brace else ""
        for plugin in [chosen] if isinstance(chosen, str) else chosen:
            full = module_name(before.rstrip("."), plugin) + after if brace else before
            if not exists(full):
                path = full.replace(".", "/")
                raise InputError(f"there is no {name} {plugin!r} for {stage}: name another, or write {path}.py.")
            found.append(full)
    return found


def stage_code(stage: str, **plugins: str | list[str]) -> str:
    """The digest of the code that ``stage`` runs with these plugins."""
    return code_digest(*modules_of(stage, **plugins))
