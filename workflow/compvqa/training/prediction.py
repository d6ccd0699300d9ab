"""The answers of trained models to the questions of a split (COVR, section 5).

Nothing that trains is imported here, which takes longer than a short job.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import torch
from tokenizers import Tokenizer

from compvqa import tables
from compvqa.errors import InputError
from compvqa.files import read_json
from compvqa.models.baseline import GENERATED, PARAPHRASED, PREDICTIONS
from compvqa.models.loss import UNKNOWN_LABEL, check_given
from compvqa.models.task import Task
from compvqa.progress import track
from compvqa.training.data import Examples, collate, labelled, paraphrased, read_questions
from compvqa.training.device import device, narrowed, set_deterministic
from compvqa.training.modules import ModelModule, encoder_of, plugin, store_of
from compvqa.training.settings import PredictionSettings
from compvqa.weights import load_weights


def predict(
    run_folder: Path,
    run: str,
    dataset: Path,
    split: Path | None,
    parts: Sequence[str],
    scenes: Path,
    regions: Path | None,
    features: Path | None,
    out: Path,
    paraphrases: Path | None = None,
    settings: PredictionSettings = PredictionSettings(),  # noqa: B008 - frozen
) -> dict[str, int]:
    """Answer the questions of ``parts`` with the model in ``run_folder`` and write the predictions table ``out``.

    Questions in the table ``paraphrases`` are answered once more, by the paraphrase. An answer that no train question
    has can't be given: such questions are counted, and count as wrong. No program is read but by a model that says so
    (``own_programs``): it gets each question's own.
    """
    torch.set_num_threads(settings.threads)
    set_deterministic()
    described = read_json(run_folder / "model.json")
    store = store_of(described["model"], regions, features, described["most_regions"])
    if store is not None and store.dimension != described["dimension"]:
        raise InputError(f"{run_folder} was trained on features of another length than {features}: train it again.")
    module: ModelModule = plugin(described["model"])
    model_settings = module.ModelSettings(**described["settings"])
    answers, dimension, most_regions = (described[name] for name in ("answers", "dimension", "most_regions"))
    tokenizer = Tokenizer.from_str(described["tokenizer"])
    task = Task(tokenizer, answers, dimension, most_regions, described.get("survey", {}))
    model = module.build(model_settings, task)
    model.load_state_dict(load_weights(run_folder / "model.safetensors"))
    encode = encoder_of(module, task)
    texts = {GENERATED: read_questions(dataset, scenes, split, parts, encode is not None)}
    texts |= {PARAPHRASED: paraphrased(texts[GENERATED], paraphrases)} if paraphrases else {}
    found, counts = [], {"in": len(texts[GENERATED])}
    for text, asked in texts.items():
        shown = labelled(asked, task.answers, task.tokenizer, store, model_settings.longest, encode)
        best, p = _answer(model, shown, settings)
        columns = [[run] * len(asked), asked.ids, [text] * len(asked), [task.answers[number] for number in best], p]
        found.append(pa.table(columns, schema=PREDICTIONS.fields))
        counts[text] = len(asked)
        counts[f"{text}: right"] = sum(number == label for number, label in zip(best, shown.labels, strict=True))
        counts[f"{text}: answer not in train"] = sum(label == UNKNOWN_LABEL for label in shown.labels)
    return {**counts, "out": tables.write(out, PREDICTIONS, pa.concat_tables(found))}


@torch.no_grad()
def _answer(model: torch.nn.Module, asked: Examples, settings: PredictionSettings) -> tuple[list[int], list[float]]:
    """The best class of each example and its probability."""
    place = device()
    model = model.to(place).eval()
    loader = torch.utils.data.DataLoader(
        asked,
        settings.batch_size,
        collate_fn=collate,
        num_workers=settings.workers,
        pin_memory=place.type == "cuda",
    )
    best, p = [], []
    for batch in track(loader, "predict", unit="batch"):
        given = {name: value.to(place, non_blocking=True) for name, value in batch.items() if name != "labels"}
        with narrowed(settings.precision):
            gave = model(**given)
        check_given(model, gave, "logits")
        scores = gave["logits"].float()
        probability, answer = torch.softmax(scores, dim=1).max(dim=1)
        best += answer.tolist()
        p += probability.tolist()
    return best, p
