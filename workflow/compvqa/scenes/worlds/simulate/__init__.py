"""Raw files of real size and shape in GQA's and imSitu's formats, of scenes that nobody saw: for benchmarks.

Names come from GQA's ontology as often as its lists count them, and keep company as in pictures (a scene has a
setting, a noun its own attributes, a pair of nouns its usual relation), so that subgraphs recur. No picture is made.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from compvqa.progress import track
from compvqa.scenes import ontology as ontologies
from compvqa.scenes.worlds.simulate.gqa import World
from compvqa.scenes.worlds.simulate.imsitu import Situations
from compvqa.settings import Settings
from compvqa.tables import replacing

__all__ = ["DENSE", "SimulateSettings", "files", "simulate"]

DENSE = 2.1  # relations an object in a scene where annotators leave out little
GQA_VAL = 10 / 85  # GQA: 75k train scenes and 10k val scenes
IMSITU_VAL = 1 / 4  # imSitu: 75k train images and 25k dev images


class SimulateSettings(Settings):
    """How many scenes are written, and how dense GQA's are. The defaults are the size of the real downloads.

    Objects and relations an object follow from the totals of COVR's import (1.83 M nodes, 2.26 M relationships);
    spatial relations from real GQA scenes.
    """

    gqa: int = Field(85_000, ge=0, description="Number of scenes in GQA's format, 2 of 17 in val.")
    imsitu: int = Field(100_000, ge=0, description="Number of images in imSitu's format, a quarter in dev.")
    objects: float = Field(16.4, ge=1, le=60, description="Objects a GQA scene, on average.")
    relations: float = Field(0.35, ge=0, le=10, description="Relations an object, without the spatial ones.")
    spatial: float = Field(2.45, ge=0, le=10, description="'To the left of' and 'to the right of' an object.")


def files(out: Path, settings: SimulateSettings) -> list[Path]:
    """The files that are written into ``out``: those of a source without scenes are left out."""
    names = ["train_sceneGraphs.json", "val_sceneGraphs.json"] if settings.gqa else []
    if settings.imsitu:
        names += [f"imsitu/{n}" for n in ("train.json", "dev.json", "imsitu_space.json", "generation_templates.tab")]
    return [out / name for name in names]


def simulate(ontology: Path, out: Path, settings: SimulateSettings, seed: int) -> dict[str, int]:
    """Write the raw files into the folder ``out``, one scene at a time; gives what was written, counted.

    ``ontology`` is the folder of GQA's lists. The bytes depend on the lists, the settings and the seed alone.
    """
    lexicon, frequencies = ontologies.read(ontology), ontologies.frequencies(ontology)
    categories = {name: lexicon.nouns[name].category or "" for name in frequencies["nouns"]}
    counts: Counter[str] = Counter()
    if settings.gqa:
        world = World(frequencies, categories, settings.objects, settings.relations, settings.spatial, seed)
        val = round(settings.gqa * GQA_VAL)
        for name, numbers in (("train", range(val, settings.gqa)), ("val", range(val))):
            records = (world.scene(number, counts) for number in numbers)
            _write(out / f"{name}_sceneGraphs.json", track(records, f"simulate {name}", len(numbers), "scene"))
    if settings.imsitu:
        situations = Situations(frequencies["nouns"], categories, seed)
        dev = round(settings.imsitu * IMSITU_VAL)
        for name, numbers in (("train.json", range(dev, settings.imsitu)), ("dev.json", range(dev))):
            records = (situations.image(number, counts) for number in numbers)
            _write(out / "imsitu" / name, track(records, f"simulate imSitu {name}", len(numbers), "image"))
        _write(out / "imsitu" / "imsitu_space.json", situations.space().items())
        with replacing(out / "imsitu" / "generation_templates.tab") as temporary:
            temporary.write_text(situations.templates(), encoding="utf-8")
    return dict(sorted(counts.items())) | {"bytes": sum(path.stat().st_size for path in files(out, settings))}


def _write(path: Path, members: Iterable[tuple[str, object]]) -> None:
    """Write a JSON object of ``members``, one after the other, as the downloads do: on one line."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        before = "{"
        for key, value in members:
            file.write(f"{before}{json.dumps(key)}: {json.dumps(value)}")
            before = ", "
        file.write("}" if before != "{" else "{}")
