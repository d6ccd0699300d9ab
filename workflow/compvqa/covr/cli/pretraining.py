"""The command that pretrains a model's backbone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compvqa.cli.models import Features, ModelRequest
from compvqa.cli.options import Code, Config, Frame, Scenes, Seed, graph_tables, scene_tables


def pretrain(
    out: Annotated[Path, typer.Argument(help="Folder for the weights.")],
    graphs: Annotated[Path, typer.Option(help="Folder with subgraphs/, occurrences/, seeds/, candidates/.")],
    scenes: Scenes,
    features: Features,
    encoder: Annotated[Path | None, typer.Option(help="Encoder whose words the columns of features are.")] = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Teach a model's backbone to match subgraphs with single images of the train side."""
    from compvqa.covr.pretraining.training import MatchSettings
    from compvqa.covr.pretraining.training import pretrain as work
    from compvqa.run import validate
    from compvqa.training.modules import plugin

    frame = Frame("pretrain", config, seed, code)
    request = frame.settings(ModelRequest)
    size = validate(plugin(request.model).ModelSettings, request.settings, "settings")
    settings = validate(MatchSettings, request.pretraining, "pretraining")
    found = graph_tables(graphs)
    store = features / "regions.parquet", features / "features.safetensors"
    frame.run(
        lambda: work(request.model, *found, scenes / "scenes.parquet", *store, encoder, out, size, settings, seed),
        [*(path for paths in found for path in paths), *scene_tables(scenes), *store, *([encoder] if encoder else [])],
        [out / name for name in ("model.safetensors", "model.json", "history.parquet", "saw.parquet", "asked.parquet")],
        model=request.model,
    )
