"""Commands from models to scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from compvqa.cli.options import NOTHING, Code, Config, Frame, Scenes, Seed, add, optional, scene_tables
from compvqa.settings import Settings


class ModelRequest(Settings):
    """A model of ``config/models``: its module, size, and how it is pretrained, trained and asked."""

    model: str
    settings: dict = {}
    pretraining: dict = {}
    training: dict = {}
    prediction: dict = {}


class SeenRequest(Settings):
    """A split's definition (a file of config/splits), and what becomes of a model that has seen what it holds out."""

    definition: dict
    seen_before: Literal["mark", "refuse"] = "mark"


Dataset = Annotated[Path, typer.Option(help="Table of the balanced dataset.")]
Split = Annotated[Path, typer.Option(help="Table of the split.")]
SomeSplit = Annotated[Path | None, typer.Option(help="Table of the split; without it, parts are the dataset's own.")]
Features = Annotated[Path, typer.Option(help="Folder with regions.parquet and features.safetensors.")]
SomeFeatures = Annotated[Path | None, typer.Option(help="The same, for a model that sees images; others do without.")]
Parts = Annotated[list[str], typer.Option(help="A part of the split; repeat for more.")]
Paraphrases = Annotated[Path | None, typer.Option(help="Table of paraphrases, which are asked too.")]
Predictions = Annotated[list[Path], typer.Option(help="A run's predictions; repeat for more.")]


def seen_before(
    out: Annotated[Path, typer.Argument(help="Table to write.")],
    model: Annotated[str, typer.Option(help="The model's name in tables.")],
    dataset: Dataset,
    split: Split,
    scenes: Annotated[Path, typer.Option(help="The scenes table, for its images.")],
    saw: Annotated[
        list[Path], typer.Option(help="Table of images that its encoder or pretraining saw; repeat for more.")
    ] = NOTHING,
    asked: Annotated[Path | None, typer.Option(help="Table of what its pretraining asked.")] = None,
    lexicon: Annotated[Path | None, typer.Option(help="Lexicon that knows the attributes' groups.")] = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Check what a model saw before it is trained on a split; --config holds the split's definition."""
    from compvqa.questions.dataset import language_of
    from compvqa.splits.seen_before import seen_before as work
    from compvqa.splits.setups import module_of
    from compvqa.splits.splitters import read_definition

    frame = Frame("seen_before", config, seed, code)
    request = frame.settings(SeenRequest)
    given = [dataset, split, scenes, *saw, *optional(asked), *optional(lexicon)]
    frame.run(
        lambda: work(
            model, dataset, split, request.definition, lexicon, scenes, saw, asked, out, request.seen_before, seed
        ),
        given,
        [out],
        language=language_of(dataset),
        setup=module_of(read_definition(request.definition).setup),
    )


def train(
    out: Annotated[Path, typer.Argument(help="Folder for the run's weights.")],
    dataset: Dataset,
    part: Parts,
    scenes: Scenes,
    dev_part: Annotated[
        list[str], typer.Option(help="A part that decides which weights are kept; repeat for more; none: the last are.")
    ] = NOTHING,
    asked_part: Annotated[
        list[str], typer.Option(help="A part of the split that the model is to answer: refused where all are empty.")
    ] = NOTHING,
    features: SomeFeatures = None,
    start: Annotated[Path | None, typer.Option(help="Folder of the pretrained backbone, if it is one of ours.")] = None,
    split: Annotated[Path | None, typer.Option(help="Table of the split; without, the dataset's own parts.")] = None,
    processes: Annotated[int, typer.Option(min=1, help="Processes that share the training, one a GPU.")] = 1,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Train a model on the questions of a split's part (section 5)."""
    from compvqa.run import validate
    from compvqa.training.data import check_asked
    from compvqa.training.loop import TrainingSettings
    from compvqa.training.loop import train as work
    from compvqa.training.modules import plugin
    from compvqa.training.processes import share

    frame = Frame("train", config, seed, code)
    request = frame.settings(ModelRequest)
    size = validate(plugin(request.model).ModelSettings, request.settings, "settings")
    settings = validate(TrainingSettings, request.training, "training")
    if processes > 1:  # which give other last bits
        frame.note({"processes": processes})
    store = _store(features)
    shown = scenes / "scenes.parquet"
    released = Path(getattr(size, "checkpoint", ""))
    given = [*optional(split), *([released] if released.is_file() else [])]
    before = [] if start is None else [start / "model.safetensors", start / "model.json"]
    regions, vectors = store[:2] or (None, None)
    asked = (request.model, dataset, split, part, dev_part, shown, regions, vectors, start, out)

    def trained() -> dict[str, int]:
        if split is not None and asked_part:
            check_asked(split, asked_part)
        return share(processes, work, *asked, size, settings, seed)

    frame.run(
        trained,
        [dataset, *given, shown, *_hashed(store), *before],
        [out / name for name in ("model.safetensors", "model.json", "history.parquet")],
        model=request.model,
    )


def take_weights(
    out: Annotated[Path, typer.Argument(help="Folder for the run's weights.")],
    dataset: Dataset,
    part: Parts,
    features: SomeFeatures = None,
    config: Config = None,
    code: Code = None,
) -> None:
    """Make a run of a model that was fine-tuned elsewhere and released, without training it."""
    from compvqa.run import validate
    from compvqa.training.fine_tuned import TakenSettings
    from compvqa.training.fine_tuned import take_weights as work
    from compvqa.training.modules import plugin

    frame = Frame("take_weights", config, None, code)
    request = frame.settings(ModelRequest)
    size = validate(plugin(request.model).ModelSettings, request.settings, "settings")
    settings = validate(TakenSettings, request.training, "training")
    store, released = _store(features), Path(getattr(size, "checkpoint", ""))
    regions, vectors = store[:2] or (None, None)
    frame.run(
        lambda: work(request.model, dataset, part, regions, vectors, out, size, settings),
        [dataset, *_hashed(store), released],
        [out / name for name in ("model.safetensors", "model.json")],
        model=request.model,
    )


def predict(
    out: Annotated[Path, typer.Argument(help="Table of predictions to write.")],
    run: Annotated[str, typer.Option(help="The run's name.")],
    weights: Annotated[Path, typer.Option(help="The run's folder.")],
    dataset: Dataset,
    part: Parts,
    scenes: Scenes,
    split: SomeSplit = None,
    features: SomeFeatures = None,
    paraphrases: Paraphrases = None,
    config: Config = None,
    code: Code = None,
) -> None:
    """Answer the questions of a split's parts with a trained model."""
    from compvqa.run import validate
    from compvqa.training.prediction import predict as work
    from compvqa.training.settings import PredictionSettings

    frame = Frame("predict", config, 0, code)
    request = frame.settings(ModelRequest)
    settings = validate(PredictionSettings, request.prediction, "prediction")
    store, run_files = _store(features), [weights / "model.safetensors", weights / "model.json"]
    shown = scenes / "scenes.parquet"
    regions, vectors = store[:2] or (None, None)
    frame.run(
        lambda: work(weights, run, dataset, split, part, shown, regions, vectors, out, paraphrases, settings),
        [dataset, *optional(split), shown, *_hashed(store), *run_files, *optional(paraphrases)],
        [out],
        model=request.model,
    )


def _store(features: Path | None) -> list[Path]:
    """The files of features, where there are any: a table, then its matrices."""
    from compvqa.features.grids import files_of

    return [] if features is None else files_of(features)


def _hashed(store: list[Path]) -> list[Path]:
    """Of a store's files those that a run's recipe is made from: of grids the table alone, whose recipe tells what the
    matrices hold. They were read when they were gathered, and it may take minutes to read them whole again."""
    from compvqa.features.grids import is_grids

    return store[:1] if store and store[0].exists() and is_grids(store[0]) else store


def baseline(
    out: Annotated[Path, typer.Argument(help="Table of predictions to write.")],
    model: Annotated[str, typer.Option(help="maj, majtempl, qtype, executor, or a module of your own.")],
    run: Annotated[str, typer.Option(help="The run's name.")],
    dataset: Dataset,
    train_part: Annotated[list[str], typer.Option(help="A part to learn from; repeat for more.")],
    part: Parts,
    split: SomeSplit = None,
    paraphrases: Paraphrases = None,
    scenes: Annotated[Path | None, typer.Option(help="Folder of the scene tables, for one that looks at them.")] = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Answer questions without training: by the most frequent answers (MAJ, MAJTEMPL, Q-type mode), or by running the
    questions' own programs on their scenes (executor)."""
    from compvqa.models.baseline import predict as work
    from compvqa.models.declared import SCENES, reads
    from compvqa.questions.dataset import language_of

    frame = Frame("baseline", None, seed, code)
    frame.run(
        lambda: work(model, run, dataset, split, train_part, part, out, seed, paraphrases, scenes),
        [dataset, *optional(split), *optional(paraphrases), *(scene_tables(scenes) if scenes else [])],
        [out],
        model=model,
        language=language_of(dataset) if SCENES in reads(model) else [],
    )


def scores(
    out: Annotated[Path, typer.Argument(help="Table of scores to write.")],
    contrasts: Annotated[Path, typer.Option(help="Table of contrasts to write.")],
    predictions: Predictions,
    dataset: Dataset,
    splits: Annotated[list[Path], typer.Option(help="A split's table; repeat for more.")],
    paraphrases: Paraphrases = None,
    scenes: Annotated[Path | None, typer.Option(help="Folder of the scene tables, if a facet looks at them.")] = None,
    seen: Annotated[list[Path], typer.Option(help="Table of what a model saw of a split; repeat for more.")] = NOTHING,
    tallies: Annotated[
        Path | None, typer.Option(help="Table to write of how many scenes have so many questions answered right.")
    ] = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Score runs on all parts of all splits, and contrast their accuracies (how far do they generalize?)."""
    from compvqa.evaluation.scores import ScoreSettings, score
    from compvqa.questions.dataset import language_of

    frame = Frame("scores", config, seed, code)
    settings = frame.settings(ScoreSettings)
    shown = scenes / "scenes.parquet" if scenes else None
    frame.run(
        lambda: score(predictions, dataset, splits, out, contrasts, settings, seed, paraphrases, shown, seen, tallies),
        [*predictions, dataset, *splits, *seen, *optional(paraphrases), *(scene_tables(scenes) if scenes else [])],
        [out, contrasts, *optional(tallies)],
        language=language_of(dataset),
        contrast=list(settings.contrasts),
    )


def gather_scores(
    out: Annotated[Path, typer.Argument(help="Table of scores to write.")],
    contrasts: Annotated[Path, typer.Option(help="Table of contrasts to write.")],
    tallies: Annotated[Path, typer.Option(help="Table of tallies to write.")],
    evaluation: Annotated[list[Path], typer.Option(help="Folder of a chain's own; repeat for more.")],
    code: Code = None,
) -> None:
    """Put the scores, contrasts and tallies of several chains together."""
    from compvqa.evaluation.scores import FILES, gather

    made = dict(zip(FILES, (out, contrasts, tallies), strict=True))
    Frame("gather_scores", None, None, code).run(
        lambda: gather(evaluation, made), [folder / name for folder in evaluation for name in FILES], [*made.values()]
    )


def add_to(app: typer.Typer) -> None:
    """Add these commands in the order of the chain."""
    add(app, seen_before, train, take_weights, predict, baseline, scores, gather_scores)
