"""The multi-image generators of ProVision, run as they are on a test-bed's scenes, and their questions as claims.

They read labels, attributes and relations of scenes as annotated (a relation's modifiers have no place there), and draw
until they have so many questions. Of four images some never have, so they give up after so many draws. What they make
depends on the order of sets: give Python a PYTHONHASHSEED.

What a question claims (:mod:`compvqa.covr.judging.claimed`), by its generator:

* ``Has…``: the one image that holds, or lacks, a subgraph; ``HasMost``, ``HasLeast``: that holds most of it, or fewest;
* ``Count…``: how many there are in all images;
* ``CommonObject``: that the listed objects are in all images, and no others; names of many kinds of things left out
  (hats and shirts have clothing in common, but no object);
* ``CommonAttribute``: that the listed attributes are in all images; if others are too, there are several answers;
* ``CompareRelation``: that each relation that is named is there in the images that it is said of, and in no others;
* ``CompareAttribute``: the same of attributes; where some of an image's dogs are red, red and not red are both answers.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from compvqa.covr.questions.references import condition_rows
from compvqa.programs.rows import Row, to_json
from compvqa.scenes.graph import SceneGraph, SceneStore
from compvqa.scenes.lexicon import Lexicon
from compvqa.seeds import stable_hash

DRAWS = 400  # for each question; nearly all generators need fewer than ten
SUFFIX = "MultiGenerator"
WHICH = {
    "HasObject": "only",
    "HasAttributedObject": "only",
    "HasRelation": "only",
    "HasNotObject": "but",
    "HasNotAttributedObject": "but",
    "HasNotRelation": "but",
    "HasMostObject": "most",
    "HasLeastObject": "least",
}
COUNTS = ("CountObject", "CountAttributeObject")


class Unclaimed(Exception):
    """A question that cannot be put as a claim, and why."""


@dataclass(frozen=True)
class Words:
    """What the annotators call things, by kind, and which names are true of what is called by others."""

    names: Mapping[str, frozenset[str]]
    lexicon: Lexicon

    @staticmethod
    def of(graphs: Iterable[SceneGraph], lexicon: Lexicon) -> Words:
        """The words of these scenes."""
        names: dict[str, set[str]] = {"noun": set(), "attribute": set(), "relation": set()}
        for graph in graphs:
            names["noun"].update(graph.by_name)
            names["relation"].update(graph.by_relation)
            names["attribute"].update(name for item in graph.objects.values() for name in item.attributes)
        return Words({kind: frozenset(found) for kind, found in names.items()}, lexicon)

    def known(self, kind: str, name: object) -> str:
        """The name, where annotators use it."""
        if str(name) not in self.names[kind]:
            raise Unclaimed(f"no {kind} of the annotators is called {name}")
        return str(name)

    def others(self, kind: str, listed: Sequence[str]) -> list[str]:
        """The names that are not listed, nor synonyms of what is, nor stand for things of several kinds."""

        def below(name: str) -> frozenset[str]:
            return self.lexicon.entailed(kind, name)

        special = [n for n in self.names[kind] - set(listed) if all(n in below(other) for other in below(n))]
        return sorted(name for name in special if not below(name) & set(listed))


def write_annotations(store: SceneStore, scene_ids: Sequence[str], file: Path) -> None:
    """Write the scenes in the form that ProVision reads; a scene's id stands for its picture's path."""
    scenes = {graph.scene_id: _annotated(graph) for graph in store.graphs(scene_ids)}
    file.write_text(json.dumps(scenes), encoding="utf-8")


def _annotated(graph: SceneGraph) -> dict[str, Any]:
    places = {object_id: number for number, object_id in enumerate(graph.objects)}
    annotation = {
        "height": 0, "width": 0,  # nobody asks for them here
        "labels": [item.name for item in graph.objects.values()],
        "attributes": [list(item.attributes) for item in graph.objects.values()],
        "relations": [(places[r.subject_id], r.name, places[r.object_id]) for r in graph.relations],
    }  # fmt: skip
    return {"data_path": graph.scene_id, "annotation": annotation}


class ProVision:
    """Its multi-image generators on the scenes of one file."""

    def __init__(self, code: Path, scenes: Path):
        """``code`` is a checkout; ``scenes`` is what :func:`write_annotations` made."""
        sys.path.insert(0, str(code))
        from provision.dataset import JointDataset
        from provision.generators.multi_image import aggregate, compare, select

        every = (
            select.MultiSelectGeneratorList,
            aggregate.MultiAggregateGeneratorList,
            compare.MultiCompareGeneratorList,
        )
        self.kinds = [kind for kinds in every for kind in kinds]
        self._scenes = JointDataset(str(scenes))

    def records(self, kind: type, images: int, most: int, seed: int) -> list[dict[str, Any]]:
        """What a generator makes of so many images a question: ``most`` questions, or as many as it comes to."""
        own = stable_hash(seed, "provision", kind.__name__, images) % 2**32
        made = kind(self._scenes, n_sample=most, n_data=images, number_mode="numeric", seed=own)
        return list(_records(made, most * DRAWS))


def _records(generator: Any, draws: int) -> Iterator[dict[str, Any]]:
    """What a generator makes, each with its text and the answer in words."""
    found: list[dict] = []
    make, rng = generator.make_one_data, generator.rng

    def kept(source: dict) -> list[dict]:
        made = make(source)
        found.extend(made)
        return made

    generator.make_one_data, generator.rng = kept, _Bounded(rng, draws)
    with warnings.catch_warnings(), redirect_stderr(StringIO()), suppress(_Enough):  # without its bar of progress,
        warnings.simplefilter("ignore")  # and without a warning of each noun that it does not know how to count
        generator.generate()
    generator.make_one_data, generator.rng = make, rng
    for record in found:
        for said in make(record, force=True, multiple_choice_ratio=0):
            yield {**record, **said, "generator": type(generator).__name__}


class _Enough(Exception):
    """So many draws were made."""


class _Bounded:
    """A random generator of which so many draws may be made."""

    def __init__(self, rng: Any, draws: int):
        self._rng, self._left = rng, draws

    def __getattr__(self, name: str) -> Any:
        self._left -= 1
        if self._left < 0:
            raise _Enough
        return getattr(self._rng, name)


def claimed(record: Mapping[str, Any], words: Words) -> dict[str, Any]:
    """A record as a question that ``judge`` reads; :class:`Unclaimed` says why there is none."""
    template = str(record["generator"]).removesuffix(SUFFIX)
    return {
        "template": template,
        "text": str(record["prompt"]),
        "images": [str(path) for path in record["data_path"]],
        "answer": str(record["response"]),
        "claim": _claim(template, record, words),
    }


def _claim(template: str, record: Mapping[str, Any], words: Words) -> dict | list[dict]:
    if template in WHICH:
        return {
            "subgraph": _tree(record, words),
            WHICH[template]: int(str(record["answer"]).removeprefix("Image ")) + 1,
        }
    if template in COUNTS:
        return {"subgraph": _tree(record, words), "count": int(record["answer"])}
    make = LISTED.get(template)
    if make is None:
        raise Unclaimed("the generator is not known")
    return make(record, words)


def _tree(record: Mapping[str, Any], words: Words) -> list:
    """The subgraph that a record asks for, as a tree."""
    if "relation" in record:
        subject, target = (words.known("noun", record[key]) for key in ("object1", "object2"))
        return [subject, None, [[words.known("relation", record["relation"]), [target, None, []], []]]]
    attribute = words.known("attribute", record["attribute"]) if "attribute" in record else None
    return [words.known("noun", record["object"]), attribute, []]


def _common_object(record: Mapping[str, Any], words: Words) -> list[dict]:
    listed, images = [words.known("noun", name) for name in record["objects"]], len(record["data_path"])
    return [
        _in_all([Row("Find", (name,))], images, there)
        for names, there in ((listed, True), (words.others("noun", listed), False))
        for name in names
    ]


def _common_attribute(record: Mapping[str, Any], words: Words) -> list[dict]:
    noun, images = words.known("noun", record["object"]), len(record["data_path"])
    listed = [words.known("attribute", name) for name in record["attributes"]]
    return [
        _in_all([Row("Find", (noun,)), Row("Filter", (name,), (0,))], images, there)
        | ({} if there else {"alone": True})
        for names, there in ((listed, True), (words.others("attribute", listed), False))
        for name in names
    ]


def _in_all(found: list[Row], images: int, there: bool) -> dict:
    """That the objects of these rows are, or are not, in all images."""
    last = len(found)
    rows = [*found, Row("UniqueImages", (), (last - 1,)), Row("Count", (), (last,)), Row("eq", (images,), (last + 1,))]
    return _program(rows, there)


def _program(rows: Sequence[Row], true: bool) -> dict:
    return {"program": json.loads(to_json(rows)), "answer": str(true).lower()}


def _compared_attributes(record: Mapping[str, Any], words: Words) -> list[dict]:
    noun = words.known("noun", record["object"])
    said = [[words.known("attribute", n) for n in names] for names in described(record["answer"], noun)]
    found = Row("Find", (noun,))
    parts: list[dict] = []
    for place, name, there in _of_each(said):
        some = [found, Row("Filter", (name,), (0,)), Row("Exists", (), (1,))]
        every = [found, Row("All", (condition_rows(name, ()),), (0,))]
        asked, alone = (some, every) if there else (every, some)
        parts += [_program(asked, there) | {"at": place}, _program(alone, there) | {"at": place, "alone": True}]
    return parts


def _compared_relations(record: Mapping[str, Any], words: Words) -> list[dict]:
    subject, target = (words.known("noun", record[key]) for key in ("object1", "object2"))
    said = [[words.known("relation", n) for n in names] for names in described(record["answer"], subject, target)]
    ends = [Row("Find", (target,)), Row("Find", (subject,))]
    return [
        _program([*ends, Row("WithRelation", (name,), (1, 0)), Row("Exists", (), (2,))], there) | {"at": place}
        for place, name, there in _of_each(said)
    ]


def _of_each(said: Sequence[Sequence[str]]) -> Iterator[tuple[int, str, bool]]:
    """Each image's place and each name that is said of any, with whether it is said of this one."""
    names = dict.fromkeys(name for of_image in said for name in of_image)
    for place, of_image in enumerate(said, 1):
        yield from ((place, name, name in of_image) for name in names)


def described(answer: str, subject: str, target: str = "") -> list[list[str]]:
    """What an answer says of each image: ``a dog is old and red in Image 0, a dog is black in Image 1.``"""
    parts = re.split(r" in Image \d+(?:, |\.$)", answer)[:-1]
    said = [part.removeprefix(f"{subject} is ").removesuffix(f" {target}" if target else "") for part in parts]
    return [re.split(", and |, | and ", names) for names in said]


LISTED = {
    "CommonObject": _common_object,
    "CommonAttribute": _common_attribute,
    "CompareAttribute": _compared_attributes,
    "CompareRelation": _compared_relations,
}
