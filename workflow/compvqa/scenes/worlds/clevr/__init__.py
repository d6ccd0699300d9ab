"""CLEVR's world: scenes of simple solids, sampled and drawn by rule, in the release's scene files.

A run makes one shard of one side's scenes: their pictures, and a scene file that keeps all that drawing needs. Shards
of all sides are gathered into one folder.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, takewhile
from pathlib import Path

from compvqa.errors import InputError
from compvqa.plugins import find
from compvqa.progress import track
from compvqa.scenes.worlds.clevr import record
from compvqa.scenes.worlds.clevr.picture import Picture
from compvqa.scenes.worlds.clevr.sample import sample_scene
from compvqa.scenes.worlds.clevr.settings import ClevrSettings, ClevrWorld
from compvqa.tables import replacing, running

__all__ = ["SETTINGS", "ClevrSettings", "ClevrWorld", "draw_all", "gather", "gathered", "generate", "outputs"]

SETTINGS = ClevrWorld
RENDERERS = "compvqa.scenes.worlds.clevr.renderers"
KINDS = ("images", "depth")  # of pictures, each in a folder of its own
WORK = ".drawing"  # folder of a run that goes on: its pictures, and a journal
JOURNAL = "scenes.jsonl"  # first what the run was asked for, then each scene whose picture is written


def outputs(out: Path, settings: ClevrSettings) -> list[Path]:
    """What a run writes into ``out``."""
    return [out / "scenes.json", *(out / kind for kind in KINDS[: 1 + settings.depth])]


def generate(out: Path, settings: ClevrSettings, seed: int, shard: tuple[int, int] = (0, 1)) -> dict[str, int]:
    """Sample and draw the scenes of ``shard`` (number from 0, of how many) into the folder ``out``; gives counts.

    Written are ``scenes.json``, ``images/<name>.png``, and ``depth/<name>.png`` where the settings ask for it. The
    scenes of a shard lie side by side, and are the same however many shards there are. A run that was killed is taken
    up after the last picture that it wrote, if it was asked for the same.
    """
    numbers = range(*(settings.scenes * part // shard[1] for part in (shard[0], shard[0] + 1)))
    asked = {"settings": settings.model_dump(mode="json"), "seed": seed, "shard": list(shard), "recipe": running()}
    return draw_all(out, settings, asked, numbers, lambda number: sample_scene(settings, seed, number))


def draw_all(
    out: Path, settings: ClevrSettings, asked: dict, numbers: Sequence[int], sample: Callable[[int], dict]
) -> dict[str, int]:
    """Draw the scenes that ``sample`` gives for some numbers, which they have as ``image_index``, as :func:`generate`
    does; ``asked`` is what tells a run from another (as JSON has it)."""
    find(RENDERERS, settings.renderer, "draw", "renderer")
    work = out / WORK
    for path in outputs(work, settings)[1:]:
        path.mkdir(parents=True, exist_ok=True)
    done = _resumed(work, asked, numbers)
    with (work / JOURNAL).open("a", encoding="utf-8") as journal:
        for number in track(numbers[done:], "clevr world", total=len(numbers) - done, unit="scene"):
            scene = _drawn(work, settings, sample(number))
            journal.write(json.dumps(scene) + "\n")
            journal.flush()
    scenes = islice(_lines(work / JOURNAL), 1, None)
    counts = record.write(out / "scenes.json", record.info_of(settings.split, settings), scenes)
    for path in outputs(out, settings)[1:]:
        shutil.rmtree(path, ignore_errors=True)
        os.replace(work / path.name, path)
    shutil.rmtree(work)
    return dict(sorted(counts.items()))


def gathered(out: Path, folders: Sequence[Path]) -> dict[str, Path]:
    """The scene file that :func:`gather` writes for each side that the shards are of."""
    sides = [record.stream(folder / "scenes.json")[0]["split"] for folder in folders]
    return {side: out / f"CLEVR_{side}_scenes.json" for side in sides}


def gather(out: Path, folders: Sequence[Path]) -> dict[str, int]:
    """Put the scenes of shards, in their order, into one file a side, and all pictures into one folder; gives counts.

    Pictures are linked where the disk lets us, copied elsewhere. InputError where shards of a side are of different
    settings, or scenes are there twice.
    """
    for kind in KINDS:
        shutil.rmtree(out / kind, ignore_errors=True)
    counts = Counter[str]()
    for side, path in gathered(out, folders).items():
        opened = [(folder, *record.stream(folder / "scenes.json")) for folder in folders]
        own = [shard for shard in opened if shard[1]["split"] == side]
        first, told, _ = own[0]
        for folder, info, _ in own:
            if info != told:
                raise InputError(f"{folder} was made with other settings than {first}: make both again.")
        scenes = _linked(out, ((folder, scene) for folder, _, more in own for scene in more))
        counts.update(record.write(path, told, scenes))
    return dict(sorted(counts.items()))


def _linked(out: Path, scenes: Iterable[tuple[Path, dict]]) -> Iterator[dict]:
    """The scenes of some folders, each after its pictures were put into ``out``; InputError where one comes twice."""
    seen: set[str] = set()
    for folder, scene in scenes:
        name = scene["image_filename"]
        if name in seen:
            raise InputError(f"{folder} holds {name} again: name each shard once.")
        seen.add(name)
        for kind in KINDS:
            if (folder / kind).is_dir():
                _link(folder / kind / name, out / kind / name)
        yield scene


def _drawn(out: Path, settings: ClevrSettings, scene: dict) -> dict:
    """Draw a scene and write its pictures; gives it with what they show of each object."""
    renderer = find(RENDERERS, settings.renderer, "draw", "renderer")
    picture: Picture = renderer.draw(scene, settings)
    files = {"images": picture.png()} | ({"depth": picture.depth_png()} if settings.depth else {})
    for kind, content in files.items():
        with replacing(out / kind / scene["image_filename"]) as temporary:
            temporary.write_bytes(content)
    pixels = picture.pixels(len(scene["objects"]))
    for number, item in enumerate(scene["objects"]):
        item["pixels"] = pixels[number]
        item["box"] = picture.box(number)
        item["mask"] = picture.mask(number)
    return scene


def _resumed(work: Path, asked: dict, numbers: Sequence[int]) -> int:
    """How many scenes an earlier run that was asked for the same has finished; another's journal is begun anew."""
    lines = list(_lines(work / JOURNAL))
    done = []
    if lines and lines[0] == asked:
        known = zip(numbers, lines[1:], strict=False)
        done = [scene for number, scene in known if scene["image_index"] == number]
        done = list(takewhile(lambda scene: (work / "images" / scene["image_filename"]).exists(), done))
    with replacing(work / JOURNAL) as temporary:
        temporary.write_text("".join(json.dumps(line) + "\n" for line in [asked, *done]), encoding="utf-8")
    return len(done)


def _lines(journal: Path) -> Iterator[dict]:
    """The lines of a journal; one that was cut off, and what follows, is left out."""
    try:
        text = journal.read_text(encoding="utf-8")
    except FileNotFoundError:
        return
    for line in text.splitlines(keepends=True):
        if not line.endswith("\n"):
            return
        yield json.loads(line)


def _link(source: Path, target: Path) -> None:
    with replacing(target) as temporary:
        try:
            os.link(source, temporary)
        except OSError:
            shutil.copyfile(source, temporary)
