"""The commands that tell the risk of questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compvqa.cli.options import NOTHING, Code, Config, Frame, Seed, parquet_in, scene_tables
from compvqa.covr.cli.images import Features, Models, knowledge, models_of
from compvqa.errors import InputError

if TYPE_CHECKING:
    from compvqa.covr.filters.images.presence import Knowledge


def risk_labels(
    out: Annotated[Path, typer.Argument(help="Table of the claims by which risks are calibrated to write.")],
    apart: Annotated[Path, typer.Option(help="Folder with seeds/ and candidates/ of images apart from all folds.")],
    aside: Annotated[Path, typer.Option(help="Folder with their scene tables, annotated/ and complete/.")],
    lexicon: Annotated[Path, typer.Option(help="Lexicon of the vocabulary.")],
    features: Features = None,
    models: Models = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Draw claims about images that somebody looked at, and score them, to calibrate the risk of questions by."""
    from compvqa.covr.risk.labels import Apart, LabelSettings, label

    frame = Frame("risk_labels", config, seed, code)
    settings = frame.settings(LabelSettings)
    labels = Apart(
        parquet_in(apart / "seeds"), parquet_in(apart / "candidates"), aside / "annotated", aside / "complete"
    )
    given, inputs = _known(labels.annotated, features, models, settings.folds)
    complete = scene_tables(labels.complete)
    frame.run(
        lambda: label(labels, lexicon, given, out, settings, seed),
        [*labels.seeds, *labels.candidates, *complete, lexicon, *inputs],
        [out],
        method=settings.method,
        models=models_of(given),
    )


def risk(
    out: Annotated[Path, typer.Argument(help="Table of the questions' risks to write.")],
    questions: Annotated[Path, typer.Option(help="Table of questions, a shard.")],
    labelled: Annotated[Path, typer.Option(help="Table of claims by which risks are calibrated (risk_labels).")],
    scenes: Annotated[Path, typer.Option(help="Folder of scene tables.")],
    presence: Annotated[list[Path], typer.Option(help="Table of presence that is there already; repeat.")] = NOTHING,
    features: Features = None,
    models: Models = None,
    config: Config = None,
    code: Code = None,
) -> None:
    """Tell how likely the answer of each question is wrong about its images, by cause."""
    from compvqa.covr.filters.images.presence import PresenceSettings
    from compvqa.covr.risk.assess import assess

    frame = Frame("risk", config, None, code)
    settings = frame.settings(PresenceSettings)
    given, inputs = _known(scenes, features, models, settings.folds)
    frame.run(
        lambda: assess(questions, labelled, presence, given, out, settings),
        [questions, labelled, *presence, *inputs],
        [out],
        method=settings.method,
        models=models_of(given),
    )


def _known(scenes: Path, features: Path | None, models: Path | None, folds: int) -> tuple[Knowledge, list[Path]]:
    """What the folds' models look at, and its files."""
    given, inputs = knowledge(scenes, features, models, folds)
    if given is None:
        raise InputError("risks are told by the folds' models: name the folders of models and of features.")
    return given, inputs
