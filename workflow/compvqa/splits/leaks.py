"""The guard against leaks between the sides of a split (COVR, sections 3.4 and 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from compvqa import tables
from compvqa.errors import InputError
from compvqa.programs import wings
from compvqa.programs.properties import AttributeGroups, Predicate
from compvqa.questions.dataset import language_of
from compvqa.scenes.tables import SCENES


def check_leaks(
    dataset: Path,
    name: str,
    parts: Mapping[str, Sequence[str]],
    held_out: Predicate | None = None,
    few: int = 0,
    lexicon: AttributeGroups | None = None,
    scenes: Path | None = None,
) -> dict[str, int]:
    """Raise :class:`InputError` if the parts (name to question ids) of the split ``name`` leak.

    * No image is in a train part and in a dev or test part. With ``scenes`` (a scenes table) images are
      compared; without, scenes, of which there is one an image after merging.
    * No question text is in a dev part and in a test part.
    * In ``train`` exactly ``few`` questions have the property ``held_out`` (all of train's, if it has fewer).

    Gives, for the record, the numbers of images, texts and questions that were compared, by side.
    """
    sides = {
        side: pa.array(sorted({q for part, ids in parts.items() if part.startswith(side) for q in ids}), pa.string())
        for side in ("train", "dev", "test")
    }
    table = tables.read(dataset, columns=["question_id", "text", "scene_ids"])
    rows = {side: table.filter(pc.is_in(table["question_id"], ids)) for side, ids in sides.items()}
    for side, ids in sides.items():
        if len(rows[side]) != len(ids):
            raise InputError(
                f"split {name} names {len(ids) - len(rows[side])} {side} questions that {dataset} does not "
                "hold: split it again."
            )
    image_of = _images(scenes)
    seen = _shown(rows["train"], image_of)
    compared = {"leak guard: images of train": len(seen)}
    for side in ("dev", "test"):
        shown = _shown(rows[side], image_of)
        _refuse_common(seen, shown, f"split {name} leaks: train and {side} share the image")
        compared[f"leak guard: images of {side}, none of train's"] = len(shown)
    _refuse_common(rows["dev"]["text"], rows["test"]["text"], f"split {name} leaks: dev and test share the text")
    compared["leak guard: questions of dev, with no text of test"] = rows["dev"].num_rows
    if held_out is not None:
        found = _check_property(dataset, name, parts, held_out, few, lexicon)
        compared["leak guard: questions of train with what is held out"] = found
    return compared


def _images(scenes: Path | None) -> pa.Table | None:
    return None if scenes is None else tables.read(scenes, SCENES, ["scene_id", "image"])


def _shown(questions: pa.Table, image_of: pa.Table | None) -> pa.ChunkedArray:
    """The images (or scenes) of the questions, each once."""
    scene_ids = pc.list_flatten(questions["scene_ids"]).unique()
    if image_of is None:
        return pa.chunked_array([scene_ids])
    return image_of.filter(pc.is_in(image_of["scene_id"], scene_ids))["image"]


def _refuse_common(a: pa.ChunkedArray, b: pa.ChunkedArray, message: str) -> None:
    common = b.filter(pc.is_in(b, a.combine_chunks() if len(a) else pa.array([], pa.string())))
    if len(common):
        first = pc.min(common).as_py()
        raise InputError(f"{message} {first!r} ({len(common.unique())} in all): check the stages before it.")


def _check_property(
    dataset: Path,
    name: str,
    parts: Mapping[str, Sequence[str]],
    held_out: Predicate,
    few: int,
    lexicon: AttributeGroups | None,
) -> int:
    """Count the property again in what the split keeps of train, and see that dev and test agree with it."""
    properties = wings.part(language_of(dataset), "properties")
    table = tables.read(dataset, columns=["question_id", "part", *properties.COLUMNS])
    kept = {part: set(ids) for part, ids in parts.items()}
    found = {"train": 0, "in all": 0}
    for batch in table.to_batches(16_384):
        ids, of_part = (batch[column].to_pylist() for column in ("question_id", "part"))
        for question_id, part, question in zip(ids, of_part, properties.questions(batch, lexicon), strict=True):
            holds = held_out(question)
            found["in all"] += holds and part == "train"
            found["train"] += holds and question_id in kept["train"]
            wrong = "dev_iid" if holds else "dev_comp" if part == "dev" else "test_comp"
            if question_id in kept.get(wrong, ()):
                verb = "has" if holds else "lacks"
                raise InputError(f"split {name}: question {question_id} in {wrong} {verb} the held-out property.")
    expected = min(few, found["in all"])
    if found["train"] != expected:
        raise InputError(
            f"split {name} leaks: {found['train']} questions in train have the held-out property instead of {expected}."
        )
    return expected
