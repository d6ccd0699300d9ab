"""The guard against what a model has seen before it is trained on a split: by its region encoder and its pretraining.

An image of dev or test that either was trained on is refused, and so is an encoder that was taught to name, on our
pictures, words whose combination a split holds out. A pretraining that asked questions with the very property that a
split holds out makes a zero-shot test none: such runs are marked wherever a score of theirs is shown, or refused, as
the config says (``models.seen_before``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compvqa import tables
from compvqa.errors import InputError
from compvqa.features.seen import check_unseen, named_in
from compvqa.programs import wings
from compvqa.programs.properties import AttributeGroups, Predicate, PropertiesModule
from compvqa.questions.asked import COUNTED
from compvqa.questions.dataset import LANGUAGE, language_of
from compvqa.scenes.graph import SceneGraph
from compvqa.scenes.lexicon import Lexicon
from compvqa.scenes.tables import SCENES
from compvqa.splits.setups import ASKED, FEW, FIT, IMAGE, NO, Definition, Setup, find_setup
from compvqa.splits.splitters import SPLITS, held_out_of, read_definition
from compvqa.tables import Schema

SEEN_BEFORE = Schema(
    "seen_before",
    pa.schema(
        [
            ("model", pa.string()),
            ("split", pa.string()),
            ("variant", pa.string()),  # that is kept from what is held out; without the number of one named m125
            ("property", pa.string()),  # what is held out, as the split's file tells it
            ("asked", pa.int64()),  # examples of the pretraining that have it; null: it looks at scenes, not told
        ]
    ),
    key=("model", "split", "variant"),
)
MARK, REFUSE = "mark", "refuse"
Policy = Literal["mark", "refuse"]


def seen_before(
    model: str,
    dataset: Path,
    made: Path,
    definition: dict[str, Any],
    lexicon: Path | None,
    scenes: Path,
    saw: Sequence[Path],
    asked: Path | None,
    out: Path,
    policy: Policy,
    seed: int,
) -> dict[str, int]:
    """Write how much of what the split ``made`` holds out the pretraining of ``model`` asked, by variant of its runs.

    ``saw`` are the tables of images that the model's encoder and pretraining were trained on: :class:`InputError` names
    one that a part of the split asks about and its setup holds apart, or a word that its definition wants ``unnamed``.
    ``asked`` are the questions that the pretraining amounts to (:mod:`compvqa.questions.asked`); None: the model has
    none of ours. ``scenes`` is the scenes table.
    """
    described = read_definition(definition)
    setup, name = find_setup(described.setup), described.name
    images = _kept_apart(made, setup, dataset, scenes)
    held_out, _ = held_out_of(dataset, described, seed, scenes)
    unnamed = described.unnamed() | {*(held_out.pair or () if held_out else ())}
    named: set[str] = set()
    for path in saw:
        named |= _named(path, described, unnamed)
        try:
            check_unseen(path, images)
        except InputError as error:
            raise InputError(f"split {name}: {error}") from None
    words = Lexicon.load(lexicon) if lexicon else None
    n = count(asked, dataset, held_out.asked, words) if asked and held_out else 0
    if n and policy == REFUSE:
        _refuse(model, described, n)
    rows = [
        {"model": model, "split": name, "variant": variant, "property": described.told(), "asked": n}
        for variant in kept_from(setup)
    ]
    tables.write(out, SEEN_BEFORE, rows)
    told = "not told, since the property looks at scenes" if n is None else "that have what the split holds out"
    found = {"images that neither saw": len(images), f"examples of the pretraining {told}": n or 0}
    return found | {"words that its encoder was taught to name": len(named)}


def kept_from(setup: Setup) -> list[str]:
    """The variants of a setup that are fitted on a part which lacks what is held out, but for a few questions."""
    few = {part.name for part in setup.parts if part.role == FIT and part.held_out in (NO, FEW)}
    return [name for name, of in setup.variants.items() if few & {*of.fit} and of.asked != ASKED]


def count(asked: Path, dataset: Path, held_out: Predicate, lexicon: AttributeGroups | None) -> int | None:
    """How many examples of a pretraining have a property; None where that looks at scenes, which are not told."""
    language = language_of(dataset)
    if (other := tables.metadata(asked).get(LANGUAGE)) != language:
        raise InputError(
            f"{asked} has programs in the language {other}, those of {dataset} are {language}: pretrain anew."
        )
    properties: PropertiesModule = wings.part(language, "properties")
    total = 0
    with pq.ParquetFile(asked) as file:
        for batch in file.iter_batches(16_384, columns=[*properties.COLUMNS, COUNTED.name]):
            asks = properties.questions(batch, lexicon, _NoScenes())
            try:
                total += sum(
                    n for n, question in zip(batch[COUNTED.name].to_pylist(), asks, strict=True) if held_out(question)
                )
            except _LooksAtScenes:
                return None
    return total


def _kept_apart(made: Path, setup: Setup, dataset: Path, scenes: Path) -> set[str]:
    """The images of those parts that the setup holds apart from others and that no run is fitted on."""
    others = {apart.other for apart in setup.apart if apart.what == IMAGE}
    parts = [part.name for part in setup.parts if part.role != FIT and part.side in others]
    table = tables.read(made, SPLITS, ["part", "question_id"])
    ids = table.filter(pc.is_in(table["part"], pa.array(parts, pa.string())))["question_id"]
    questions = tables.read(dataset, columns=["question_id", "scene_ids"])
    shown = pc.list_flatten(questions.filter(pc.is_in(questions["question_id"], ids.combine_chunks()))["scene_ids"])
    image_of = tables.read(scenes, SCENES, ["scene_id", "image"])
    return set(image_of.filter(pc.is_in(image_of["scene_id"], shown.combine_chunks()))["image"].to_pylist())


def _named(path: Path, described: Definition, unnamed: frozenset[str]) -> frozenset[str]:
    """The words that the training of the table ``path`` taught; InputError where the split wants one unnamed."""
    named = named_in(path)
    if words := sorted(named & unnamed):
        raise InputError(
            f"split {described.name} holds out {described.told()}, and the encoder of {path.parent} was trained on our "
            f"pictures to name {' and '.join(words)}: take features that nobody taught these words on them "
            "(features.crops, features.pictures or features.released), or leave the split out."
        )
    return named


def _refuse(model: str, described: Definition, n: int) -> NoReturn:
    raise InputError(
        f"split {described.name} holds out {described.told()}, and {n:,} examples of the pretraining of {model} have "
        "it: change what the model's file says of pretraining, leave the split out of models.splits and "
        "models.curve.splits, or write models.seen_before: mark."
    )


class _LooksAtScenes(Exception):
    """A property asks for the scenes of a pretraining's question."""


class _NoScenes:
    """The scenes of a pretraining's questions, which are many and not told."""

    def graphs(self, scene_ids: Iterable[str]) -> Iterator[SceneGraph]:
        raise _LooksAtScenes
