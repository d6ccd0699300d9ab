"""Commands of the image filter (App. B)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compvqa.cli.options import Code, Config, Frame, Seed, graph_tables, parquet_in, scene_tables
from compvqa.settings import Settings


class FilterRequest(Settings):
    """A model of ``config/models``: its module, size, and how it is trained to tell which subgraphs an image has."""

    model: str
    settings: dict = {}
    presence: dict = {}


Scenes = Annotated[Path, typer.Option(help="Folder of scene tables.")]
Seeds = Annotated[Path, typer.Option(help="Table of seeds.")]
Features = Annotated[Path | None, typer.Option(help="Folder with regions.parquet and features.safetensors.")]
Models = Annotated[Path | None, typer.Option(help="Folder of the folds' models: 0, 1 …")]
SOME = ["regions.parquet", "features.safetensors"]
SAW = "saw.parquet"


def image_examples(
    out: Annotated[Path, typer.Argument(help="Folder for examples.parquet and texts.parquet.")],
    graphs: Annotated[Path, typer.Option(help="Folder with subgraphs/, occurrences/, seeds/, candidates/.")],
    scenes: Scenes,
    overlap: Annotated[Path, typer.Option(help="Table m(x, y).")],
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Pair simple subgraphs with images that have them, and with images that differ in a node (section 3.2)."""
    from compvqa.covr.filters.images.examples import ExampleSettings, make_examples

    frame = Frame("image_examples", config, seed, code)
    settings = frame.settings(ExampleSettings)
    found = graph_tables(graphs)
    outputs = out / "examples.parquet", out / "texts.parquet"
    frame.run(
        lambda: make_examples(*found, scenes, overlap, *outputs, settings, seed),
        [*(path for paths in found for path in paths), *scene_tables(scenes), overlap],
        outputs,
    )


def image_filter(
    out: Annotated[Path, typer.Argument(help="Folder for the weights.")],
    examples: Annotated[Path, typer.Option(help="Folder with examples.parquet and texts.parquet.")],
    fold: Annotated[int, typer.Option(help="The fold of the images that the model must not see.")],
    scenes: Scenes,
    features: Annotated[Path, typer.Option(help="Folder with regions.parquet and features.safetensors.")],
    start: Annotated[Path | None, typer.Option(help="Folder of a pretraining on images outside all folds.")] = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Train the model that tells which simple subgraphs are in the images of one fold, on all other folds."""
    from compvqa.covr.filters.images.training import FILES, PresenceTraining, train_presence
    from compvqa.run import validate
    from compvqa.training.modules import plugin

    frame = Frame("image_filter", config, seed, code)
    request = frame.settings(FilterRequest)
    size = validate(plugin(request.model).ModelSettings, request.settings, "settings")
    settings = validate(PresenceTraining, request.presence, "presence")
    given = examples / "examples.parquet", examples / "texts.parquet", scenes / "scenes.parquet"
    store = features / SOME[0], features / SOME[1]
    before = [] if start is None else [start / name for name in ("model.safetensors", "model.json", SAW)]
    frame.run(
        lambda: train_presence(request.model, *given, *store, start, fold, out, size, settings, seed),
        [*given[:2], *scene_tables(scenes), *store, *before],
        [out / name for name in FILES],
        model=request.model,
    )


def presence(
    out: Annotated[Path, typer.Argument(help="Table of presence to write.")],
    seeds: Seeds,
    candidates: Annotated[Path, typer.Option(help="Table of candidate images.")],
    scenes: Scenes,
    features: Features = None,
    models: Models = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Score whether candidate images contain simple subgraphs after all (App. B)."""
    from compvqa.covr.filters.images.presence import PresenceSettings, score_candidates

    frame = Frame("presence", config, seed, code)
    settings = frame.settings(PresenceSettings)
    given, inputs = knowledge(scenes, features, models, settings.folds)
    frame.run(
        lambda: score_candidates(seeds, candidates, out, given, settings),
        [seeds, candidates, *inputs],
        [out],
        method=settings.method,
        models=models_of(given),
    )


def others(
    out: Annotated[Path, typer.Argument(help="Table of presence to write.")],
    seeds: Seeds,
    related: Annotated[Path, typer.Option(help="Table of related images.")],
    scenes: Scenes,
    lexicon: Annotated[Path, typer.Option(help="Lexicon of the vocabulary.")],
    templates: Annotated[list[Path], typer.Option(help="Folder of templates (YAML); repeat, the first counts.")],
    questions: Annotated[str | None, typer.Option(help="The settings of the stage questions, as its --config.")] = None,
    features: Features = None,
    models: Models = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Score whether images hold others than the annotated instances, where questions may ask it (App. B)."""
    from compvqa.covr.filters.images.presence import PresenceSettings, score_pairs
    from compvqa.covr.questions.generate import QuestionsSettings, asked_of_others
    from compvqa.covr.questions.templates import load
    from compvqa.run import parse_settings

    frame = Frame("others", config, seed, code)
    settings = frame.settings(PresenceSettings)
    asking = parse_settings(QuestionsSettings, questions, "questions")
    frame.note({"questions": asking.model_dump(mode="json")})
    given, inputs = knowledge(scenes, features, models, settings.folds)
    pairs = asked_of_others(seeds, related, scenes, lexicon, templates, asking, seed)
    frame.run(
        lambda: score_pairs(pairs, True, out, given, settings),
        [seeds, related, lexicon, *templates, *inputs],
        [out],
        method=settings.method,
        models=models_of(given),
        kinds=sorted({template.kind for template in load(*templates)}),
    )


def image_labels(
    out: Annotated[Path, typer.Argument(help="CSV to write.")],
    graphs: Annotated[Path, typer.Option(help="Folder with seeds/ and candidates/.")],
    complete: Annotated[Path, typer.Option(help="Folder of the complete scene tables.")],
    lexicon: Annotated[Path, typer.Option(help="Lexicon of the vocabulary.")],
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Label candidate images of scenes whose truth is known: is the subgraph there after all?"""
    from compvqa.covr.filters.images.labels import ImageLabelSettings, label_images

    frame = Frame("image_labels", config, seed, code)
    settings = frame.settings(ImageLabelSettings)
    seeds, candidates = (parquet_in(graphs / name) for name in ("seeds", "candidates"))
    frame.run(
        lambda: label_images(seeds, candidates, complete, lexicon, out, settings, seed),
        [*seeds, *candidates, *scene_tables(complete), lexicon],
        [out],
    )


def image_scores(
    out: Annotated[Path, typer.Argument(help="Table of presence to write.")],
    annotated: Annotated[Path, typer.Option(help="CSV of annotated pairs.")],
    scenes: Scenes,
    features: Features = None,
    models: Models = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Score annotated pairs of images and subgraphs."""
    from compvqa.covr.filters.images.presence import PresenceSettings, score_pairs
    from compvqa.covr.filters.images.thresholds import pairs_of, read_annotated

    frame = Frame("image_scores", config, seed, code)
    settings = frame.settings(PresenceSettings)
    given, inputs = knowledge(scenes, features, models, settings.folds)
    frame.run(
        lambda: score_pairs(pairs_of(read_annotated(annotated)), False, out, given, settings),
        [annotated, *inputs],
        [out],
        method=settings.method,
        models=models_of(given),
    )


def thresholds(
    out: Annotated[Path, typer.Argument(help="Thresholds to write (JSON).")],
    annotated: Annotated[Path, typer.Option(help="CSV of annotated pairs.")],
    presence: Annotated[Path, typer.Option(help="Their scores.")],
    table: Annotated[
        Path | None, typer.Option(help="Table of what was measured (thresholds.parquet beside it).")
    ] = None,
    config: Config = None,
    code: Code = None,
) -> None:
    """Set the thresholds of presence by annotated pairs (section 3.2)."""
    from compvqa.covr.filters.images.thresholds import ThresholdSettings, set_thresholds

    frame = Frame("thresholds", config, 0, code)
    settings = frame.settings(ThresholdSettings)
    told = table or out.with_suffix(".parquet")
    frame.run(lambda: set_thresholds(annotated, presence, out, settings, told), [annotated, presence], [out, told])


def knowledge(scenes: Path, features: Path | None, models: Path | None, folds: int):  # noqa: ANN202
    """What methods may look at, None where models or features are not given, and its files."""
    from compvqa.covr.filters.images.presence import Knowledge

    if features is None or models is None:
        return None, scene_tables(scenes)
    saw = [features / "encoder_saw.parquet"] if (features / "encoder_saw.parquet").exists() else []
    files = [models / str(fold) / name for fold in range(folds) for name in ("model.safetensors", "model.json", SAW)]
    return Knowledge(scenes, features, models), [*scene_tables(scenes), *(features / n for n in SOME), *saw, *files]


def models_of(given) -> list[str]:  # noqa: ANN001
    """The module of the models that score presence."""
    from compvqa.files import read_json

    return [] if given is None else [read_json(given.models / "0" / "model.json")["model"]]
