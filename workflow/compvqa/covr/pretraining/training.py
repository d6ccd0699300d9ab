"""Pretraining on simple subgraphs: on single images, then on several.

The per-image half of every question, taught first: a tiny model that starts from the questions themselves stays near
the text-only baseline. On single images there are two objectives, in the manner of VisualBERT's own (sentence-image
match and masked words): how often is this subgraph in this image (and, as in phrase grounding, which regions show its
root), and which name is masked in this subgraph of it. Then the layers over the images learn in which of several images
the subgraph is, and in how many, or whether in any. Numbers are told where settings count: by default nowhere, since
splits hold counting out. Uses train scenes alone; some of them are held out to tell how well it went.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field
from tokenizers import Tokenizer

from compvqa import tables
from compvqa.covr.pretraining.asked import ASKED, asked
from compvqa.covr.pretraining.examples import KINDS, Match, Matches, MatchExamples, read_distractors, read_known
from compvqa.features.boxes import annotated_boxes, match
from compvqa.features.encoder import read_vocabulary
from compvqa.features.seen import write_seen
from compvqa.features.store import RegionStore
from compvqa.files import write_json
from compvqa.models.backbone import BackboneSettings
from compvqa.models.multi_image import NEW, MatchModel, MultiImageModel, WhichModel
from compvqa.scenes.tables import SCENES
from compvqa.settings import Settings
from compvqa.training.data import UNKNOWN, Examples, collate, examples
from compvqa.training.fit import OptimisationSettings, fit, prepare
from compvqa.training.job import gather_phases
from compvqa.training.modules import plugin, tokenizer_of


class MatchOptimisation(OptimisationSettings):
    """As for questions, with what suits pretraining: no weights are chosen, since what is held out is easier."""

    epochs: float = Field(99, gt=0, description="passes over the examples")
    most_steps: int = Field(3000, ge=0, description="end after so many steps; 0: no such end")
    batch_size: int = Field(64, ge=1, description="examples a step")
    evaluations: int = Field(4, ge=1, description="times that the held-out examples are looked at, in each phase")
    patience: int = Field(0, ge=0, description="stop after so many looks without a better accuracy; 0: never")
    decay: float = Field(0.4, ge=0, le=1, description="share of the steps, at a phase's end, over which the rate falls")
    keep: Literal["best", "last"] = Field("last", description="weights to keep: best on held-out examples, or the last")


class SeveralOptimisation(MatchOptimisation):
    """As for single images, with what suits layers that are new over a backbone that is not."""

    most_steps: int = Field(500, ge=1, description="end after so many steps")
    batch_size: int = Field(32, ge=1, description="examples a step")
    learning_rate: float = Field(2e-3, gt=0, description="peak")
    pretrained_rate: float = Field(0.25, gt=0, description="share of the learning rate for the backbone")


class MatchSettings(Settings):
    """The examples of pretraining and the training on them."""

    optimisation: MatchOptimisation = Field(MatchOptimisation(), description="steps and rate with single images")
    several: SeveralOptimisation = Field(SeveralOptimisation(), description="steps and rate with several images")
    objects_first: float = Field(
        0.5,
        gt=0,
        lt=1,
        description="share of the steps with single images that sees single objects alone: names and attributes first",
    )
    examples: MatchExamples = Field(MatchExamples(), description="the examples")
    most_regions: int = Field(36, ge=1, description="regions an image that models see, the first in the store")


def pretrain(
    model: str,
    subgraphs: Sequence[Path],
    occurrences: Sequence[Path],
    seeds: Sequence[Path],
    candidates: Sequence[Path],
    scenes: Path,
    regions: Path,
    features: Path,
    encoder: Path | None,
    out: Path,
    model_settings: BackboneSettings,
    settings: MatchSettings,
    seed: int,
) -> dict[str, int]:
    """Teach ``model`` to match images and simple subgraphs (at most two objects, one relation, one attribute each);
    write ``out/{model.safetensors,model.json,history.parquet}``, where question models start from, the images that it
    saw, ``out/saw.parquet``, and the questions that its examples amount to, ``out/asked.parquet``: the guard of splits
    reads both.

    Positives are occurrences in train scenes, negatives the candidates of their subgraph (one node differs) and
    scenes without it, both only of scenes with boxes: one without tells a single event, and absence there means
    little. ``scenes`` is the scenes table, that of the objects beside it. Where ``encoder`` names the words of feature
    columns, these start from the words' embeddings (the detector's tags as anchors, as in Oscar, Li et al., 2020).
    The counts tell accuracy on held-out train images.
    """
    number = prepare(settings.optimisation, seed, "pretrain", model)
    store = RegionStore(regions, features, settings.most_regions)
    known = read_known(subgraphs, occurrences, scenes, settings.examples)
    maker = Matches(known, read_distractors(seeds, candidates), settings.examples, seed)
    single, several = maker.single(), maker.several()
    tokenizer = tokenizer_of(model, model_settings, (found.text for found in single[0]))
    counts = settings.examples.classes(settings.examples.most_count)
    names = sorted({found.label for found in single[0] if isinstance(found.label, str)})
    classes: list[int | str] = [*range(counts), *names]
    backbone = plugin(model).Backbone(model_settings, tokenizer.get_vocab_size(), store.dimension)
    matching = MatchModel(backbone, model_settings, len(classes))
    if encoder is not None:
        backbone.anchor(_columns(read_vocabulary(encoder).words, tokenizer))
    several_counts = settings.examples.classes(settings.examples.most_images)
    several_model = WhichModel if settings.examples.which else MultiImageModel
    counting = several_model(backbone, model_settings, several_counts)
    objects = tuple([found for found in part if found.kind in KINDS[:2]] for part in single)
    first = settings.optimisation.part(settings.objects_first)
    second = settings.optimisation.part(1 - settings.objects_first)
    shown = _objects_of(scenes, store)
    recipe = [model, model_settings.model_dump_json(), settings.model_dump_json(), tables.recipe_of(regions)]
    accuracy = {}
    # Where it is not told which, as for image filters, numbers above those of single images are left out, as ever
    of_several = range(several_counts) if settings.examples.which else classes
    phases = (
        ("objects", matching, objects, classes, first),
        ("single", matching, single, classes, second),
        ("several", counting, several, of_several, settings.several),
    )
    for phase, made, (learnt, held_out), labels, optimisation in phases:
        to_learn, to_keep_by = (
            _examples(part, labels, tokenizer, store, shown, model_settings.longest) for part in (learnt, held_out)
        )
        done = fit(
            made,
            to_learn,
            to_keep_by,
            out / phase,
            optimisation,
            number,
            f"pretrain {model}: {phase}",
            [*recipe, *learnt],
            collate=collate,
            right=None if made is counting else (lambda scores, labels: right(scores, labels, counts)),
            new=NEW if made is counting else ("",),
        )
        accuracy[f"{phase}: held-out accuracy, per mille"] = round(1000 * done["accuracy"])
    gather_phases(out, [phase for phase, *_ in phases])
    described = {
        "model": model,
        "settings": model_settings.model_dump(),
        "dimension": store.dimension,
        "tokenizer": tokenizer.to_str(),
    }
    write_json(out / "model.json", described)
    questions = tables.write(out / "asked.parquet", ASKED, asked([*single[0], *single[1], *several[0], *several[1]]))
    told = {"in": len(single[0]), "of several images": len(several[0]), "held out": len(single[1])}
    told |= {"images that it saw": write_seen(out / "saw.parquet", known.images), "questions that it asked": questions}
    return told | accuracy


def _columns(words: Sequence[str], tokenizer: Tokenizer) -> dict[int, list[int]]:
    """The columns of features that stand for ``words`` the tokenizer knows, and these words' tokens."""
    tokens = (tokenizer.encode(word, add_special_tokens=False).ids for word in words)
    return {column: ids for column, ids in enumerate(tokens) if tokenizer.token_to_id(UNKNOWN) not in ids}


def _examples(
    matches: Sequence[Match],
    classes: Sequence[int | str],
    tokenizer: Tokenizer,
    store: RegionStore,
    shown: dict[str, list[str | None]],
    longest: int,
) -> Examples:
    """What models read; ``shown`` are the annotated objects in the regions of each image."""
    number = {label: at for at, label in enumerate(classes)}
    texts, images = [found.text for found in matches], [found.images for found in matches]
    labels = [number.get(found.label, -100) for found in matches]
    alone = all(len(row) == 1 for row in images)
    about = [found.about(shown[found.images[0]]) for found in matches] if alone else None
    present = [found.present for found in matches] if matches and matches[0].present else None
    return examples(texts, images, labels, tokenizer, store, longest, about, present=present)


def _objects_of(scenes: Path, store: RegionStore) -> dict[str, list[str | None]]:
    """The annotated object in each region of every image; ``scenes`` is the scenes table."""
    known = annotated_boxes(scenes.parent)
    found = {
        row["image"]: match(store.boxes(row["image"]), known[row["scene_id"]])
        for row in tables.read(scenes, SCENES, ["scene_id", "image"]).to_pylist()
    }
    return {image: [thing["object_id"] if thing else None for thing in things] for image, things in found.items()}


def right(scores: np.ndarray, labels: np.ndarray, counts: int) -> np.ndarray:
    """Which examples are right, by their ``scores`` [n, classes], of which the first ``counts`` are numbers of
    instances: whether there is any, or the masked name itself."""
    present = (scores[:, :counts].argmax(axis=1) > 0) == (labels > 0)
    named = scores[:, counts:].argmax(axis=1) + counts == labels if scores.shape[1] > counts else present
    return np.where(labels < counts, present & (labels >= 0), named)
