"""Commands that turn pictures into features: of regions, of whole pictures, and of crops without labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compvqa.cli.options import (
    Code,
    Config,
    Frame,
    Pictures,
    Scenes,
    Seed,
    add,
    image_folders,
    parse_shard,
    scene_tables,
)


def features(
    out: Annotated[Path, typer.Argument(help="Folder for regions, features and the encoder.")],
    scenes: Scenes,
    truth: Annotated[Path, typer.Option(help="Folder of scene tables whose boxes place the regions.")],
    aside: Annotated[Path, typer.Option(help="Folder of scenes outside the test-bed, with encoder/ to learn from.")],
    images: Annotated[Path, typer.Option(help="Folder of pictures.")],
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Place regions on pictures and turn each into a vector."""
    from compvqa.features.extract import FILES, extract
    from compvqa.features.settings import FeatureSettings

    frame = Frame("features", config, seed, code)
    settings = frame.settings(FeatureSettings)
    frame.run(
        lambda: extract(scenes, truth, aside, images, out, settings, seed),
        [*scene_tables(scenes), *scene_tables(truth), aside, images],
        [out / name for name in FILES],
    )


def read_features(
    out: Annotated[Path, typer.Argument(help="Folder for regions, features and rejects.")],
    scenes: Scenes,
    config: Config = None,
    code: Code = None,
) -> None:
    """Take the regions and features of the scenes' images from released files (--config names them)."""
    from compvqa.features.released import read_released
    from compvqa.features.settings import ReleasedSettings

    frame = Frame("read_features", config, None, code)
    settings = frame.settings(ReleasedSettings)
    outputs = out / "regions.parquet", out / "features.safetensors", out / "rejects.parquet"
    frame.run(
        lambda: read_released(scenes, *outputs, settings),
        [scenes / "scenes.parquet", *settings.files],
        outputs,
        readers=settings.readers,
    )


def pictures(
    out: Annotated[Path, typer.Argument(help="Folder for one shard's features.")],
    scenes: Scenes,
    images: Pictures,
    shard: Annotated[str, typer.Option(help="Which part of the pictures: 2-of-4.")] = "1-of-1",
    config: Config = None,
    code: Code = None,
) -> None:
    """Show whole pictures to a frozen network (--config names it) and keep its grids and pooled vectors."""
    from compvqa.features.pictures import FILES, extract
    from compvqa.features.settings import PictureSettings
    from compvqa.scenes.images import pictures_of

    frame = Frame("pictures", config, None, code)
    settings = frame.settings(PictureSettings)
    shown = pictures_of(scenes, image_folders(images), *parse_shard(shard))
    given = [scenes / "scenes.parquet", *(path for _, path in shown)]
    frame.run(lambda: extract(shown, out, settings), given, [out / name for name in FILES])


def gather_pictures(
    out: Annotated[Path, typer.Argument(help="Folder for the tables of the features.")],
    scenes: Scenes,
    images: Pictures,
    shard: Annotated[list[Path], typer.Option(help="Folder of a shard's features; repeat.")],
    config: Config = None,
    code: Code = None,
) -> None:
    """Make one store of the shards' grids, and one of their pooled vectors; no matrix is moved."""
    from compvqa.features.pictures import FILES, GATHERED, gather
    from compvqa.features.settings import PictureSettings
    from compvqa.records.intact import check_intact
    from compvqa.scenes.images import pictures_of

    frame = Frame("gather_pictures", config, None, code)
    settings = frame.settings(PictureSettings)
    check_intact([folder / name for folder in shard for name in FILES])
    # Not the shards: their recipes tell how work was cut, and that changes no picture's features.
    shown = [path for _, path in pictures_of(scenes, image_folders(images))]
    outputs = [out / name for name in GATHERED.values()]
    frame.run(lambda: gather(shard, out, settings), [scenes / "scenes.parquet", *shown], outputs)


def crops(
    out: Annotated[Path, typer.Argument(help="Folder for one shard's regions and features.")],
    scenes: Scenes,
    images: Pictures,
    shard: Annotated[str, typer.Option(help="Which part of the pictures: 2-of-4.")] = "1-of-1",
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Cut regions out of pictures, where scenes have their boxes, and describe each without labels (--config: how)."""
    from compvqa.features.crops import FILES, extract, placed
    from compvqa.features.settings import CropSettings

    frame = Frame("crops", config, seed, code)
    settings = frame.settings(CropSettings)
    found = placed(scenes, image_folders(images), settings, seed, *parse_shard(shard))
    given = [scenes / "scenes.parquet", scenes / "objects.parquet", *(one.shown.path for one in found)]
    frame.run(lambda: extract(found, out, settings), given, [out / name for name in FILES])


def gather_crops(
    out: Annotated[Path, typer.Argument(help="Folder for regions and features.")],
    scenes: Scenes,
    images: Pictures,
    shard: Annotated[list[Path], typer.Option(help="Folder of a shard's regions; repeat.")],
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Make one store of the shards' regions."""
    from compvqa.features.crops import FILES, gather
    from compvqa.features.settings import CropSettings
    from compvqa.records.intact import check_intact
    from compvqa.scenes.images import pictures_of

    frame = Frame("gather_crops", config, seed, code)
    frame.settings(CropSettings)
    check_intact([folder / name for folder in shard for name in FILES])
    # Not the shards: their recipes tell how work was cut, and that changes no picture's features.
    given = [scenes / "scenes.parquet", scenes / "objects.parquet"]
    shown = [path for _, path in pictures_of(scenes, image_folders(images))]
    frame.run(lambda: gather(shard, out), [*given, *shown], [out / name for name in FILES])


def add_to(app: typer.Typer) -> None:
    """Add these commands in the order of the chain."""
    add(app, features, read_features, pictures, gather_pictures, crops, gather_crops)
