"""The sprites world: small drawn scenes whose whole truth is known, with careless annotations.

It is a source like the others: its annotations come in GQA's format for most scenes and in imSitu's for those
with ternary relations. The truth, and what only misses annotations, are kept beside them as scene tables for
evaluation. Further scenes, outside the test-bed, are written as scene tables alone: what a filter or an encoder
learns from or is set by must not be what it is asked about.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from compvqa import tables
from compvqa.files import write_json
from compvqa.progress import track
from compvqa.scenes.worlds.sprites import annotate
from compvqa.scenes.worlds.sprites.draw import render
from compvqa.scenes.worlds.sprites.graph import careless, complete
from compvqa.scenes.worlds.sprites.scene import Scene
from compvqa.scenes.worlds.sprites.settings import SpritesSettings
from compvqa.scenes.worlds.sprites.situations import VERBS
from compvqa.scenes.worlds.sprites.vocabulary import lexicon
from compvqa.scenes.worlds.sprites.world import sample_scene, sample_situation

__all__ = ["SETTINGS", "SpritesSettings", "generate", "plan"]

SETTINGS = SpritesSettings
FIRST_IMAGE = {"train": 100_001, "val": 200_001, "encoder": 300_001, "calibration": 400_001}
ASIDE = ("encoder", "calibration")  # outside the test-bed
CHUNK = 16
FEW = 64  # scenes are drawn in the time in which a pool of processes would start


def plan(settings: SpritesSettings) -> Iterator[tuple[str, str, str]]:
    """Each scene's image id, split and verb ("": a scene in GQA's format), in the order of the files."""
    for split in FIRST_IMAGE:
        for number in range(getattr(settings, f"{split}_scenes")):
            before, after = (int(settings.situations * n + 1e-9) for n in (number, number + 1))
            identity = FIRST_IMAGE[split] + number
            verb = list(VERBS)[before % len(VERBS)] if after > before else ""
            yield (f"{verb}_{identity - 100_000}" if verb else str(identity)), split, verb


def draw(item: tuple[str, str, str], settings: SpritesSettings, seed: int, images: Path) -> Scene:
    """Sample and draw one scene of the plan, and write its picture."""
    image, split, verb = item
    scene = sample_situation(image, verb, split, settings, seed) if verb else sample_scene(image, split, settings, seed)
    with tables.replacing(images / f"{image}.png") as temporary:
        temporary.write_bytes(render(scene))
    return scene


def generate(out: Path, settings: SpritesSettings, seed: int) -> dict[str, int]:
    """Write the whole world into the folder ``out`` and give what was counted.

    Written are ``images/<image>.png``, GQA's ``{train,val}_sceneGraphs.json``, imSitu's in ``imsitu/``,
    ``lexicon.json``, and the scene tables in ``truth/complete`` and ``truth/missing_only``; of scenes outside the
    test-bed, the scene tables in ``aside/<what for>/annotated`` and ``aside/<what for>/complete``. The bytes depend on
    the settings (except ``workers``) and the seed alone.
    """
    out = Path(out)
    counts: Counter[str] = Counter()
    gqa: dict[str, dict] = {"train": {}, "val": {}}
    imsitu: dict[str, dict] = {"train": {}, "val": {}}
    truth, missing_only = annotate.Tables(), annotate.Tables()
    aside = {split: (annotate.Tables(), annotate.Tables()) for split in ASIDE}
    todo = list(plan(settings))
    for scene in track(_drawn(todo, settings, seed, out / "images"), "sprites", total=len(todo), unit="scene"):
        whole = complete(scene)
        if scene.split in ASIDE:
            annotated_tables, complete_tables = aside[scene.split]
            annotated_tables.add(scene, annotate.annotated_graph(scene, whole, settings, seed))
            complete_tables.add(scene, whole)
            counts[f"scenes: {scene.split}"] += 1
            continue
        if scene.verb:
            missing_nouns, nouns = annotate.agreed_nouns(scene, settings, seed)
            missing = annotate.roles_graph(scene, whole, missing_nouns)
            record = annotate.imsitu_record(scene, nouns, settings, seed)
            imsitu[scene.split][f"{scene.image}.jpg"] = record
        else:
            missing, annotated = careless(whole, scene.image, settings, seed)
            gqa[scene.split][scene.image] = annotate.gqa_record(scene, annotated, seed)
            counts["relations annotated"] += len(annotated.edges)
            counts["objects annotated"] += len(annotated.nodes)
        truth.add(scene, whole)
        missing_only.add(scene, missing)
        counts["scenes: imSitu" if scene.verb else "scenes: GQA"] += 1
        counts["objects"] += len(whole.nodes)
        counts["relations"] += len(whole.edges)
    _write(out, gqa, imsitu)
    truth.write(out / "truth" / "complete")
    missing_only.write(out / "truth" / "missing_only")
    for split, (annotated_tables, complete_tables) in aside.items():
        annotated_tables.write(out / "aside" / split / "annotated")
        complete_tables.write(out / "aside" / split / "complete")
    return {"in": len(todo), "out": len(todo), **dict(sorted(counts.items()))}


def _drawn(todo: list, settings: SpritesSettings, seed: int, images: Path) -> Iterator[Scene]:
    """The drawn scenes in the order of the plan, by as many processes as the settings say."""
    images.mkdir(parents=True, exist_ok=True)
    work = partial(draw, settings=settings, seed=seed, images=images)
    workers = settings.workers or len(os.sched_getaffinity(0))
    if workers == 1 or len(todo) <= FEW:
        yield from map(work, todo)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, todo, chunksize=CHUNK)


def _write(out: Path, gqa: dict[str, dict], imsitu: dict[str, dict]) -> None:
    for split, name in (("train", "train.json"), ("val", "dev.json")):
        write_json(out / f"{split}_sceneGraphs.json", gqa[split], indent=None, recipe=False)
        write_json(out / "imsitu" / name, imsitu[split], indent=None, recipe=False)
    write_json(out / "imsitu" / "imsitu_space.json", annotate.imsitu_space(), recipe=False)
    annotate.write_text(out / "imsitu" / "generation_templates.tab", annotate.generation_templates())
    write_json(out / "lexicon.json", lexicon({verb: () for verb in VERBS}))
