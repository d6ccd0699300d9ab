"""Which modules each stage runs: their digest, and that of all they import, is the stage's code."""

from __future__ import annotations

from functools import cache

from compvqa.errors import InputError
from compvqa.plugins import engine_part, engines, file_of, module_name
from compvqa.records.digest import code_digest, exists

# A name in braces is a plugin that the run's config chooses.
SHARED: dict[str, tuple[str, ...]] = {
    "download": ("compvqa.scenes.download",),
    "checkpoint": ("compvqa.models.hub",),
    "sprites": ("compvqa.scenes.worlds.sprites",),
    "simulate": ("compvqa.scenes.worlds.simulate",),
    "clevr_world": ("compvqa.scenes.worlds.clevr", "compvqa.scenes.worlds.clevr.renderers.{renderer}"),
    "clevr_pool": ("compvqa.scenes.worlds.clevr_pools", "compvqa.scenes.worlds.clevr.renderers.{renderer}"),
    "gather_clevr": ("compvqa.scenes.worlds.clevr",),
    "lexicon": ("compvqa.scenes.lexicon", "compvqa.scenes.ontology", "compvqa.scenes.wordnet"),
    "ingest": ("compvqa.scenes.ingest", "compvqa.scenes.readers.{reader}"),
    "scenes": ("compvqa.scenes.merge",),
    "read_paraphrases": ("compvqa.questions.paraphrases",),
    "split": ("compvqa.splits.splitters", "compvqa.splits.setups.{setup}", "compvqa.{language}.properties"),
    "seen_before": ("compvqa.splits.seen_before", "compvqa.splits.setups.{setup}", "compvqa.{language}.properties"),
    "features": ("compvqa.features.extract",),
    "read_features": ("compvqa.features.released", "compvqa.features.readers.{readers}"),
    "pictures": ("compvqa.features.pictures",),
    "gather_pictures": ("compvqa.features.pictures",),
    "crops": ("compvqa.features.crops",),
    "gather_crops": ("compvqa.features.crops",),
    "train": ("compvqa.training.loop", "compvqa.models.{model}"),
    "take_weights": ("compvqa.training.fine_tuned", "compvqa.models.{model}"),
    "predict": ("compvqa.training.prediction", "compvqa.models.{model}"),
    "baseline": ("compvqa.models.baseline", "compvqa.models.{model}", "compvqa.{language}.trace"),
    "ask_cost": ("compvqa.asking.cost", "compvqa.asking.questions"),
    "chats": ("compvqa.asking.chats", "compvqa.asking.questions"),
    "export_tasks": ("compvqa.publish.tasks", "compvqa.asking.questions"),
    "read_replies": ("compvqa.asking.given",),
    "ask": ("compvqa.asking.harness", "compvqa.asking.replies"),
    "scores": (
        "compvqa.evaluation.scores",
        "compvqa.evaluation.contrasts.{contrast}",
        "compvqa.{language}.properties",
        "compvqa.{language}.facets",
    ),
    "gather_scores": ("compvqa.evaluation.scores",),
    "score": (
        "compvqa.evaluation.submitted",
        "compvqa.evaluation.contrasts.{contrast}",
        "compvqa.{language}.properties",
        "compvqa.{language}.facets",
    ),
    "table": ("compvqa.paper.tables", "compvqa.paper.tables.{make}"),
    "figure": ("compvqa.paper.figures", "compvqa.paper.figures.{make}"),
    "publish_questions": ("compvqa.publish.parquet", "compvqa.{language}.properties"),
    "publish_split": ("compvqa.publish.parquet", "compvqa.{language}.properties"),
    "publish_pictures": ("compvqa.publish.pictures",),
    "publish_card": (
        "compvqa.publish.card",
        "compvqa.publish.croissant",
        "compvqa.splits.setups.{setups}",
        "compvqa.{language}.properties",
    ),
    "crate": ("compvqa.publish.crate",),
    "manifest": ("compvqa.provenance.manifest",),
    "samples": ("compvqa.paper.explorer.questions", "compvqa.{language}.trace"),
    "index": ("compvqa.paper.explorer.index",),
    "contents": ("compvqa.paper.explorer.contents",),
}


@cache
def all_stages() -> dict[str, tuple[str, ...]]:
    """The modules of every stage, engines' own among them (``MODULES`` of their ``stages.py``)."""
    own = [engine_part(engine, "stages").MODULES for engine in engines()]
    return {stage: modules for known in (SHARED, *own) for stage, modules in known.items()}


def modules_of(stage: str, **plugins: str | list[str]) -> list[str]:
    """The modules of ``stage``; each plugin is given by the name in braces, several as a list.

    A plugin that no module is called like is an :class:`InputError`.
    """
    found = []
    for module in all_stages()[stage]:
        before, brace, rest = module.partition("{")
        name, _, after = rest.partition("}")
        chosen = plugins[name] if brace else ""
        for plugin in [chosen] if isinstance(chosen, str) else chosen:
            full = module_name(before.rstrip("."), plugin) + after if brace else before
            if not exists(full):
                raise InputError(
                    f"there is no {name} {plugin!r} for {stage}: name another, or write {file_of(full, plugin)}."
                )
            found.append(full)
    return found


def stage_code(stage: str, **plugins: str | list[str]) -> str:
    """The digest of the code that ``stage`` runs with these plugins."""
    return code_digest(*modules_of(stage, **plugins))
