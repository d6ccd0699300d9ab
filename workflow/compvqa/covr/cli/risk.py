"""The command that tells the risk of questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compvqa.cli.options import Code, Config, Frame, Seed, parquet_in, scene_tables
from compvqa.covr.cli.images import Features, Models, knowledge, models_of
from compvqa.errors import InputError


def risk(
    out: Annotated[Path, typer.Argument(help="Table of the questions' risks to write.")],
    labelled: Annotated[Path, typer.Argument(help="Table of the claims by which they are calibrated to write.")],
    questions: Annotated[Path, typer.Option(help="Table of all questions.")],
    presence: Annotated[Path, typer.Option(help="Folder of tables of presence.")],
    others: Annotated[Path, typer.Option(help="Folder of tables of the 'others exist' check.")],
    apart: Annotated[Path, typer.Option(help="Folder with seeds/ and candidates/ of images apart from all folds.")],
    aside: Annotated[Path, typer.Option(help="Folder with their scene tables, annotated/ and complete/.")],
    scenes: Annotated[Path, typer.Option(help="Folder of scene tables.")],
    lexicon: Annotated[Path, typer.Option(help="Lexicon of the vocabulary.")],
    features: Features = None,
    models: Models = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Tell how likely the answer of each question is wrong about its images, by cause."""
    from compvqa.covr.risk.assess import Apart, AssessSettings, Knowing, assess

    frame = Frame("risk", config, seed, code)
    settings = frame.settings(AssessSettings)
    given, inputs = knowledge(scenes, features, models, settings.folds)
    if given is None:
        raise InputError("risks are told by the folds' models: name the folders of models and of features.")
    known = [*parquet_in(presence), *parquet_in(others)]
    labels = Apart(
        parquet_in(apart / "seeds"), parquet_in(apart / "candidates"), aside / "annotated", aside / "complete"
    )
    knowing = Knowing(given, known, lexicon)
    tables = [*labels.seeds, *labels.candidates, *scene_tables(labels.annotated), *scene_tables(labels.complete)]
    frame.run(
        lambda: assess(questions, knowing, labels, out, labelled, settings, seed),
        [questions, *known, lexicon, *tables, *inputs],
        [out, labelled],
        method=settings.method,
        models=models_of(given),
    )
