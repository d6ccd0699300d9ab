"""Training of question models and their predictions (COVR, section 5)."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import torch
from pydantic import Field
from tokenizers import Tokenizer

from compvqa import tables
from compvqa.errors import InputError
from compvqa.features.store import RegionStore
from compvqa.files import read_json, write_json
from compvqa.models.baseline import GENERATED, PARAPHRASED, PREDICTIONS
from compvqa.models.multi_image import MultiImageModel, load_pretrained
from compvqa.progress import track
from compvqa.settings import Settings
from compvqa.training.data import (
    Examples,
    Questions,
    collate,
    examples,
    paraphrased,
    read_questions,
    shared_words,
    word_tokenizer,
)
from compvqa.training.fit import OptimisationSettings, fit, prepare
from compvqa.weights import load_weights

UNKNOWN_ANSWER = -100  # the label of what no train question has for its answer; losses leave it out
NEW = ("over_images.", "cls", "classifier.")  # parameters that no released weights give


class TrainingSettings(Settings):
    """Training of a question model."""

    optimisation: OptimisationSettings = Field(OptimisationSettings(), description="steps and learning rate")
    most_dev: int = Field(0, ge=0, description="use so many questions of the dev part at most; 0: all")
    most_regions: int = Field(36, ge=1, description="regions an image that models see, the first in the store")


def plugin(model: str) -> ModuleType:
    """The module of the model named ``model``; InputError where there is none."""
    name = f"compvqa.models.{model}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise InputError(f"there is no model {model}: write compvqa/models/{model}.py or name another.") from None


def tokenizer_of(model: str, settings: Settings, texts: Iterable[str], base: Tokenizer | None = None) -> Tokenizer:
    """The tokenizer of the released weights of ``model``; without such, one of the words of ``texts``, after those of
    ``base``."""
    own = getattr(plugin(model), "tokenizer", lambda settings: None)(settings)
    return own or word_tokenizer(texts, base)


def train(
    model: str,
    dataset: Path,
    split: Path | None,
    train_parts: Sequence[str],
    dev_parts: Sequence[str],
    scenes: Path,
    regions: Path,
    features: Path,
    start: Path | None,
    out: Path,
    model_settings: Settings,
    settings: TrainingSettings,
    seed: int,
) -> dict[str, int]:
    """Train ``model`` on parts of a split and write ``out/{model.safetensors,model.json,history.parquet}``.

    ``dataset`` is the questions table, ``split`` a split table (None: the dataset's own parts), ``scenes`` the scenes
    table. ``dev_parts`` decide which weights are kept. ``start`` is a pretraining folder that gives all layers but the
    classifier; None: the model starts from released weights, where its settings name some, or from random ones. Dev
    questions with an answer that no training question has count as wrong.
    """
    number = prepare(settings.optimisation, seed, "train", model)
    store = RegionStore(regions, features, settings.most_regions)
    asked = read_questions(dataset, scenes, split, train_parts)
    held_out = _first(read_questions(dataset, scenes, split, dev_parts), settings.most_dev)
    answers = sorted(set(asked.answers))
    base = None if start is None else Tokenizer.from_str(read_json(start / "model.json")["tokenizer"])
    tokenizer = tokenizer_of(model, model_settings, asked.texts, base)
    backbone = plugin(model).Backbone(model_settings, tokenizer.get_vocab_size(), store.dimension)
    made = MultiImageModel(backbone, model_settings, len(answers))
    if start is not None:
        load_pretrained(made, load_weights(start / "model.safetensors"), shared_words(tokenizer, base))
    released = NEW if getattr(model_settings, "checkpoint", "") else ("",)
    longest = model_settings.longest
    recipe = [
        model,
        model_settings.model_dump_json(),
        settings.model_dump_json(),
        *asked.ids,
        "dev",
        *held_out.ids,
    ]
    done = fit(
        made,
        _examples(asked, answers, tokenizer, store, longest),
        _examples(held_out, answers, tokenizer, store, longest),
        out, settings.optimisation, number, f"train {model}", [*recipe, tables.recipe_of(regions), start],
        collate=collate, new=released if start is None else ("classifier.",),
    )  # fmt: skip
    described = {
        "model": model,
        "settings": model_settings.model_dump(),
        "dimension": store.dimension,
        "most_regions": settings.most_regions,
        "answers": answers,
        "tokenizer": tokenizer.to_str(),
    }
    write_json(out / "model.json", described)
    unseen = sum(answer not in set(answers) for answer in held_out.answers)
    return {
        "in": len(asked),
        "dev": len(held_out),
        "dev: answer not in train": unseen,
        "answers": len(answers),
        "steps": int(done["steps"]),
        "dev accuracy, per mille": round(1000 * done["accuracy"]),
    }


def predict(
    run_folder: Path,
    run: str,
    dataset: Path,
    split: Path | None,
    parts: Sequence[str],
    scenes: Path,
    regions: Path,
    features: Path,
    out: Path,
    paraphrases: Path | None = None,
    threads: int = 1,
    batch_size: int = 128,
) -> dict[str, int]:
    """Answer the questions of ``parts`` with the model in ``run_folder`` and write the predictions table ``out``.

    Questions in the table ``paraphrases`` are answered once more, by the paraphrase. An answer that no train question
    has can't be given: such questions are counted, and count as wrong.
    """
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    described = read_json(run_folder / "model.json")
    module = plugin(described["model"])
    model_settings = module.ModelSettings(**described["settings"])
    tokenizer = Tokenizer.from_str(described["tokenizer"])
    answers = described["answers"]
    store = RegionStore(regions, features, described["most_regions"])
    if store.dimension != described["dimension"]:
        raise InputError(f"{run_folder} was trained on features of another length than {features}: train it again.")
    backbone = module.Backbone(model_settings, tokenizer.get_vocab_size(), store.dimension)
    model = MultiImageModel(backbone, model_settings, len(answers))
    model.load_state_dict(load_weights(run_folder / "model.safetensors"))
    texts = {GENERATED: read_questions(dataset, scenes, split, parts)}
    texts |= {PARAPHRASED: paraphrased(texts[GENERATED], paraphrases)} if paraphrases else {}
    found, counts = [], {"in": len(texts[GENERATED])}
    for text, asked in texts.items():
        shown = _examples(asked, answers, tokenizer, store, model_settings.longest)
        best, p = _answer(model, shown, batch_size)
        columns = [[run] * len(asked), asked.ids, [text] * len(asked), [answers[number] for number in best], p]
        found.append(pa.table(columns, schema=PREDICTIONS.fields))
        counts[text] = len(asked)
        counts[f"{text}: right"] = sum(number == label for number, label in zip(best, shown.labels, strict=True))
        counts[f"{text}: answer not in train"] = sum(label == UNKNOWN_ANSWER for label in shown.labels)
    return {**counts, "out": tables.write(out, PREDICTIONS, pa.concat_tables(found))}


@torch.no_grad()
def _answer(model: torch.nn.Module, asked: Examples, batch_size: int) -> tuple[list[int], list[float]]:
    """The best class of each example and its probability."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = model.to(device).eval()
    loader = torch.utils.data.DataLoader(asked, batch_size, collate_fn=collate)
    best, p = [], []
    for batch in track(loader, "predict", unit="batch"):
        labels = batch.pop("labels")
        scores = model(**{name: value.to(device) for name, value in batch.items()})["logits"].float()
        probability, answer = torch.softmax(scores, dim=1).max(dim=1)
        best += answer.tolist()
        p += probability.tolist()
        del labels
    return best, p


def _first(questions: Questions, most: int) -> Questions:
    """The first ``most`` questions (ids are hashes, so these are a random choice); all for 0."""
    return Questions(*(column[: most or None] for column in vars(questions).values()))


def _examples(
    questions: Questions, answers: list[str], tokenizer: Tokenizer, store: RegionStore, longest: int
) -> Examples:
    number = {answer: at for at, answer in enumerate(answers)}
    labels = [number.get(answer, UNKNOWN_ANSWER) for answer in questions.answers]
    return examples(questions.texts, questions.images, labels, tokenizer, store, longest)
