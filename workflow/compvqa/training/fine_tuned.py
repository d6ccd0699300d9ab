"""Nets that others fine-tuned and released: their weights as those of a run, which is asked and scored like any other.

Nothing that trains is imported here, which takes longer than a short job.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from compvqa import tables
from compvqa.errors import InputError
from compvqa.files import write_json
from compvqa.models.allennlp import Archive
from compvqa.models.task import Task
from compvqa.questions.dataset import DATASET
from compvqa.settings import Settings
from compvqa.training.modules import described, plugin, store_of, tokenizer_of
from compvqa.weights import save_weights

MOST_TOLD = 5  # answers that are named of those left over


class TakenSettings(Settings):
    """The section ``training`` of a model that is not trained here."""

    most_regions: int = Field(36, ge=1, description="regions an image that the model sees, the first in the store")


def take_weights(
    model: str,
    dataset: Path,
    parts: Sequence[str],
    regions: Path | None,
    features: Path | None,
    out: Path,
    settings: Settings,
    taken: TakenSettings,
) -> dict[str, int]:
    """Write ``out/{model.safetensors,model.json}``, a run of ``model`` that was not trained here.

    ``settings.checkpoint`` is the archive (:class:`compvqa.models.allennlp.Archive`). Its classes are called as the
    answers of the dataset's ``parts`` that they are but for case and punctuation; what is left over on either side is
    counted, and a sentence tells it. InputError where nothing fits, or ``model`` makes no net that takes such weights.
    """
    archive = Archive.read(str(getattr(settings, "checkpoint", "")))
    asked = tables.read(dataset, DATASET, ["part", "answer"])
    ours = set(asked.filter(pc.is_in(asked["part"], pa.array(parts)))["answer"].to_pylist())
    if not ours:
        there = ", ".join(sorted(pc.unique(asked["part"]).to_pylist()))
        raise InputError(f"{dataset} has no question in {' and '.join(parts)}: choose of {there}.")
    answers = called(archive.labels, ours)
    strange, lacking = [name for name in answers if name not in ours], sorted(ours - set(answers))
    if len(strange) == len(answers):
        raise InputError(
            f"{archive.path} answers with {_few(archive.labels)}, and none of these is an answer in {dataset}: "
            "name the archive of a model for these questions."
        )
    store = store_of(model, regions, features, taken.most_regions)
    seen = (None, None) if store is None else (store.dimension, taken.most_regions)
    task = Task(tokenizer_of(model, settings, ()), answers, *seen)
    net = plugin(model).build(settings, task)
    if not hasattr(net, "fine_tuned"):
        raise InputError(f"{model} as its settings say takes no weights of {archive.path}: set as_released.")
    net.fine_tuned(archive)
    save_weights(out / "model.safetensors", net.state_dict())
    write_json(out / "model.json", described(model, settings, task))
    for names, what in ((strange, "that no question has here"), (lacking, "of questions here that it can't give")):
        if names:
            warnings.warn(f"{archive.path}: {len(names)} answers {what}: {_few(names)}.", stacklevel=2)
    counts = {"answers": len(answers), "answers of no question": len(strange), "answers it can't give": len(lacking)}
    known = archive.accuracy
    return counts | ({} if known is None else {"accuracy in its metrics, per million": round(1e6 * known)})


def called(theirs: Sequence[str], ours: Collection[str]) -> list[str]:
    """The answers ``theirs`` as ``ours`` call them: those that differ from one of these, and no other, in case and
    punctuation alone."""
    alike: dict[str, list[str]] = {}
    for answer in sorted(ours):
        alike.setdefault(plain(answer), []).append(answer)
    names = []
    for answer in theirs:
        found = alike.get(plain(answer), [])
        names.append(found[0] if len(found) == 1 and answer not in ours else answer)
    return names


def plain(answer: str) -> str:
    """An answer without case, and with spaces for all that is no letter or digit."""
    return " ".join("".join(sign if sign.isalnum() else " " for sign in answer.lower()).split())


def _few(answers: Sequence[str]) -> str:
    """The first answers, in words."""
    return ", ".join([*answers[:MOST_TOLD], *["…"][: len(answers) > MOST_TOLD]])
