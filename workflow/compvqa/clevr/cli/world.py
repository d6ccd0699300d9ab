"""Commands that make CLEVR's scenes and their pictures."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from compvqa.cli.options import Code, Config, Frame, Seed, parse_shard


def world(
    out: Annotated[Path, typer.Argument(help="Folder for the scene file (scenes.json) and the pictures (images).")],
    config: Config = None,
    shard: Annotated[str, typer.Option(help="Which part of the scenes: 2-of-4; gather-world puts them together.")] = (
        "1-of-1"
    ),
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Sample and draw scenes of CLEVR's world: pictures, and a scene file in the release's format."""
    from compvqa.scenes.worlds.clevr import ClevrSettings, generate, outputs

    frame = Frame("clevr_world", config, seed, code)
    settings = frame.settings(ClevrSettings)
    part = parse_shard(shard)
    note = out / "clevr_world.prov.json"
    work = partial(generate, out, settings, seed, part)
    frame.run(work, [], outputs(out, settings), note, renderer=settings.renderer)


def pool(
    out: Annotated[Path, typer.Argument(help="Folder for the scene file (scenes.json) and the pictures (images).")],
    config: Config = None,
    shard: Annotated[str, typer.Option(help="Which part of the scenes: 2-of-4; gather-world puts them together.")] = (
        "1-of-1"
    ),
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Sample and draw scenes that held-out pairs share: a pool, of which each takes what fits, or single objects."""
    from compvqa.scenes.worlds.clevr import outputs
    from compvqa.scenes.worlds.clevr_pools import PoolSettings, generate

    frame = Frame("clevr_pool", config, seed, code)
    settings = frame.settings(PoolSettings)
    part = parse_shard(shard)
    note = out / "clevr_pool.prov.json"
    work = partial(generate, out, settings, seed, part)
    frame.run(work, [], outputs(out, settings.clevr), note, renderer=settings.clevr.renderer)


def gather_world(
    out: Annotated[Path, typer.Argument(help="Folder for a scene file a side, and the pictures (images).")],
    shard: Annotated[list[Path], typer.Option(help="Folder of a shard that world made; repeat, in their order.")],
    code: Code = None,
) -> None:
    """Put the shards of CLEVR's world into one folder: a scene file a side, and the pictures (linked, not copied)."""
    from compvqa.scenes.worlds.clevr import KINDS, gather, gathered

    frame = Frame("gather_clevr", None, 0, code)
    pictures = [out / kind for kind in KINDS if (shard[0] / kind).is_dir()]
    inputs = [folder / "scenes.json" for folder in shard]
    work = partial(gather, out, shard)
    frame.run(work, inputs, [*gathered(out, shard).values(), *pictures], out / "gather_clevr.prov.json")
