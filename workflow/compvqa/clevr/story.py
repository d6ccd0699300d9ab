"""The whole story of CLEVR's questions: from the text back to the scene's raw record, and what analyses say of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from compvqa.clevr.facets import FACETS
from compvqa.clevr.families import Families
from compvqa.clevr.properties import Question
from compvqa.clevr.scene import of_graph
from compvqa.clevr.templates import read_file
from compvqa.clevr.trace import traced
from compvqa.clevr.words import read_words
from compvqa.files import read_text
from compvqa.programs.rows import from_json
from compvqa.provenance.stories import Tables, membership
from compvqa.records.record import sha256
from compvqa.scenes.graph import SceneGraph, SceneStore
from compvqa.scenes.stream import elements_of

_QUESTION = "question_id, text, answer, template, program, scene_ids, part, split"


def stories(sources: Tables, question_ids: Iterable[str], splits: Iterable[Path] = ()) -> list[dict]:
    """The story of each question (see the keys below); :class:`InputError` of one that the dataset does not have.

    ``question`` (its row), ``splits`` (split to part), ``drawn`` (in lines: with which seeds scene and question were
    drawn, and what the template's slots were filled with), ``trace`` (program rows with their values in the scene),
    ``again`` (the answer that the program gives now), ``facets`` (name to value, where the scene is there), ``scenes``
    (the one scene: image, raw file and record number).
    """
    rows = sources.questions(_QUESTION, question_ids)
    parts = membership(splits, [row["question_id"] for row in rows])
    places = sources.places({scene for row in rows for scene in row["scene_ids"]}, _numbers)
    objects = sources.there("objects")
    store = SceneStore(Path(objects[0]).parent) if objects else None
    drawn = [*_seeds(sources)]
    families = _families(sources)
    return [
        _story(row, parts.get(row["question_id"], {}), places, store) | {"drawn": [*drawn, *_slots(row, families)]}
        for row in rows
    ]


def _seeds(sources: Tables) -> Iterator[str]:
    """With which seeds scenes and questions were drawn, where they were."""
    if world := sources.of_stage("clevr_world"):
        yield f"scene drawn with seed {world.data['seed']}, its side and its number as the key"
    if made := sources.of_stage("clevr_questions"):
        by = "scene and template as the key" if made.data["settings"]["mode"] == "keyed" else "one stream for its side"
        yield f"question drawn with seed {made.data['seed']}, {by}"


def _families(sources: Tables) -> Families | None:
    """The templates that questions were made of, or were told to be of, where their files still are as they were."""
    record = sources.of_stage("clevr_questions") or sources.of_stage("read_clevr_questions")
    given = (
        {sources.root / path: digest for path, digest in record.inputs.items() if path.endswith(".json")}
        if record
        else {}
    )
    if any(not path.is_file() or sha256(path) != digest for path, digest in given.items()):
        return None
    listed = {path: isinstance(json.loads(read_text(path)), list) for path in given}  # templates, not words
    words = [path for path, templates in listed.items() if not templates]
    templates = [template for path, lists in listed.items() if lists for template in read_file(path)]
    return Families(templates, read_words(words[0])) if templates and len(words) == 1 else None


def _slots(row: dict, families: Families | None) -> Iterator[str]:
    """What the slots of a question's template hold, in each way that gives its program."""
    ways = families.fitting(from_json(row["program"])).get(row["template"], []) if families else []
    for filled in ways:
        told = ", ".join(f"{slot} {value}" for slot, value in filled.items() if value)
        yield f"slots of {row['template']}: {told or 'all empty'}"


def _story(row: dict, parts: dict[str, str], places: dict[str, dict], store: SceneStore | None) -> dict:
    graphs = list(store.graphs(row["scene_ids"])) if store else []
    listing = [list(line) for line in traced(from_json(row["program"]), graphs)] if graphs else []
    scenes = [
        {"scene_id": scene, **places.get(scene, {}), "role": "the scene asked about", "presence": []}
        for scene in row["scene_ids"]
    ]
    told = {"question": row, "splits": parts, "trace": listing, "again": listing[-1][-1] if listing else None}
    return told | {"facets": _facets(row, graphs[0]) if graphs else {}, "scenes": scenes}


def _facets(row: dict, graph: SceneGraph) -> dict[str, str]:
    asked = Question(row["template"], row["answer"], row["program"], None, row["scene_ids"], lambda _: of_graph(graph))
    values = {facet.name: facet.value(asked) for facet in FACETS}
    return {name: str(value) for name, value in values.items() if value is not None}


def _numbers(path: Path, wanted: set[str]) -> Iterator[tuple[str, int]]:
    """The wanted ids in a file of scenes with the numbers of their records, from 1; read no further than the last."""
    left = set(wanted)
    for number, record in enumerate(elements_of(path, "scenes"), start=1):
        name = PurePosixPath(str(record.get("image_filename"))).stem if isinstance(record, dict) else None
        if name in left:
            left.remove(name)
            yield name, number
            if not left:
                return
