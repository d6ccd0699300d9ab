"""The guard of shots, run on what a model was asked: each is of what its run may take, and shares no image with its
question."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc

from compvqa import tables
from compvqa.asking.replies import REPLIES
from compvqa.errors import InputError
from compvqa.evaluation.answers import IID, Run
from compvqa.scenes.tables import SCENES
from compvqa.splits.setups import Setup
from compvqa.splits.splitters import parts_of


def check_shots(replies: Path, setup: Setup, made: Path, dataset: Path, scenes: Path) -> int:
    """How many shots the run of ``replies`` had, whose split has the ``setup`` and the table ``made``.

    :class:`InputError` for the first that is not of what the run takes, or shares an image with its question.
    """
    run = Run.parse(replies.name.removesuffix(".replies.parquet"))
    rows = tables.read(dataset, columns=["question_id", "part", "scene_ids"]).to_pylist()
    known = tables.read(scenes, SCENES, ["scene_id", "image"])
    image = dict(zip(known["scene_id"].to_pylist(), known["image"].to_pylist(), strict=True))
    images = {row["question_id"]: {image[scene] for scene in row["scene_ids"]} for row in rows}
    allowed = _allowed(run, setup, made, {row["question_id"]: row["part"] for row in rows})
    asked = tables.read(replies, REPLIES, ["question_id", "shots"])
    asked = asked.filter(pc.greater(pc.list_value_length(asked["shots"]), 0))
    for question, shots in zip(asked["question_id"].to_pylist(), asked["shots"].to_pylist(), strict=True):
        for shot in shots:
            if shot not in allowed:
                raise InputError(f"{replies}: the shot {shot} is not of what {run.variant} takes: ask anew.")
            if common := images[question] & images[shot]:
                raise InputError(f"{replies}: {question} and its shot {shot} share the image {min(common)}: ask anew.")
    return pc.sum(pc.list_value_length(asked["shots"])).as_py() or 0


def _allowed(run: Run, setup: Setup, made: Path, side_of: dict[str, str]) -> set[str]:
    """The questions that shots of a run may be."""
    variant, parts = setup.variant(run.variant), parts_of(made)
    if run.split == IID or variant.left_out:
        sides = {setup.part(name).side for name in variant.left_out or variant.fit}
        kept = {question for name in variant.left_out for question in parts.get(name, [])}
        return {question for question, side in side_of.items() if side in sides} - kept
    return {question for name in variant.fit for question in parts.get(name, [])}
