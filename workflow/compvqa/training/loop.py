"""Training of question models and their predictions (COVR, section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import pyarrow as pa
import torch
from pydantic import Field
from tokenizers import Tokenizer

from compvqa import plugins, tables
from compvqa.errors import InputError
from compvqa.features.grids import open_store
from compvqa.files import read_json, write_json
from compvqa.models.baseline import GENERATED, PARAPHRASED, PREDICTIONS
from compvqa.models.declared import OWN_PROGRAMS, PICTURES, PROGRAMS
from compvqa.models.loss import UNKNOWN_LABEL
from compvqa.models.task import Task
from compvqa.progress import track
from compvqa.settings import Settings
from compvqa.training import processes
from compvqa.training.data import (
    Encode,
    Examples,
    Questions,
    Store,
    collate,
    labelled,
    paraphrased,
    read_questions,
    shared_words,
    word_tokenizer,
)
from compvqa.training.device import device, narrowed, set_deterministic
from compvqa.training.fit import OptimisationSettings, prepare
from compvqa.training.job import Job
from compvqa.training.settings import PredictionSettings
from compvqa.weights import load_weights


class TrainingSettings(Settings):
    """Training of a question model."""

    optimisation: OptimisationSettings = Field(OptimisationSettings(), description="steps and learning rate")
    most_dev: int = Field(0, ge=0, description="use so many questions of the dev part at most; 0: all")
    most_regions: int = Field(36, ge=1, description="regions an image that models see, the first in the store")


class ModelModule(Protocol):
    """What each module of a trained model has; :mod:`compvqa.models` says what it may have besides."""

    @property
    def ModelSettings(self) -> type[Any]: ...

    def build(self, settings: Any, task: Task, /) -> Any: ...


def plugin(model: str) -> ModuleType:
    """The module of the model named ``model``; InputError where there is none."""
    return plugins.find("compvqa.models", model, "build", "model")


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
    regions: Path | None,
    features: Path | None,
    start: Path | None,
    out: Path,
    model_settings: Settings,
    settings: TrainingSettings,
    seed: int,
) -> dict[str, int]:
    """Train ``model`` on parts of a split and write ``out/{model.safetensors,model.json,history.parquet}``.

    ``dataset`` is the questions table, ``split`` a split table (None: the dataset's own parts), ``scenes`` the scenes
    table, ``regions`` and ``features`` the store, which a model that sees no images does without (None): a table and
    its matrix, or of grids one of those that the table names.
    ``dev_parts`` decide which weights are kept; without any, the last are. ``start`` is a pretraining folder that gives
    all layers but the classifier; None: the model starts from released weights, where its settings name some, or from
    random ones. Dev questions with an answer that no training question has count as wrong. Several processes may run
    this together (:mod:`compvqa.training.processes`): the first one writes.
    """
    number = prepare(settings.optimisation, seed, "train", model)
    module: ModelModule = plugin(model)
    store = _store(model, regions, features, settings.most_regions)
    programs = bool({PROGRAMS, OWN_PROGRAMS} & {*_reads(module)})
    asked = read_questions(dataset, scenes, split, train_parts, programs)
    held_out = Questions([], [], [], [], [])
    if dev_parts:
        held_out = read_questions(dataset, scenes, split, dev_parts, programs)
        held_out = _first(held_out, settings.most_dev)
    base = None if start is None else Tokenizer.from_str(read_json(start / "model.json")["tokenizer"])
    task = Task(
        tokenizer_of(model, model_settings, asked.texts, base),
        sorted(set(asked.answers)),
        None if store is None else store.dimension,
        None if store is None else settings.most_regions,
        getattr(module, "survey", lambda questions: {})(asked),
    )
    net = module.build(model_settings, task)
    if start is not None and base is not None:
        net.start_from(load_weights(start / "model.safetensors"), shared_words(task.tokenizer, base))
    recipe = [model, model_settings.model_dump_json(), settings.model_dump_json(), start, *asked.ids, "dev"]
    recipe += [*held_out.ids, None if store is None or regions is None else tables.recipe_of(regions)]
    job = Job(
        net, model_settings, task, asked, held_out, store, out, settings.optimisation, number,
        f"train {model}", tuple(recipe), getattr(module, "optimizer", None), _encode(module, task),
    )  # fmt: skip
    done = getattr(module, "train", _train)(job)
    if processes.is_first():
        write_json(out / "model.json", _described(model, model_settings, task))
    unseen = sum(answer not in set(task.answers) for answer in held_out.answers)
    return {
        "in": len(asked),
        "dev": len(held_out),
        "dev: answer not in train": unseen,
        "answers": len(task.answers),
        "steps": int(done["steps"]),
        **({"dev accuracy, per mille": round(1000 * done["accuracy"])} if dev_parts else {}),
    }


def _train(job: Job) -> dict[str, float]:
    """The training of a model that brings none: one phase, on the answers."""
    return job.fit(job.net, job.examples(job.learnt), job.examples(job.held_out))


def _described(model: str, settings: Settings, task: Task) -> dict:
    """What is kept beside the weights: all that it takes to build the net again."""
    described: dict[str, Any] = {"model": model, "settings": settings.model_dump(), "dimension": task.dimension}
    described |= {"most_regions": task.most_regions, "answers": task.answers, "tokenizer": task.tokenizer.to_str()}
    return described | ({"survey": task.survey} if task.survey else {})


def _reads(module: ModelModule) -> tuple[str, ...]:
    return getattr(module, "READS", ())


def _encode(module: ModelModule, task: Task) -> Encode | None:
    """What makes rows of a question's own program, for a model that reads it."""
    found: Encode | None = getattr(module, "encoder", lambda task: None)(task)
    return found


def _store(model: str, regions: Path | None, features: Path | None, most: int | None) -> Store | None:
    """What the model sees of images; None for one that sees none."""
    kind = next((kind for kind in PICTURES if kind in _reads(plugin(model))), None)
    if kind is None:
        return None
    if regions is None or features is None:
        raise InputError(f"the model {model} reads {kind}: name the folder of features (--features).")
    return open_store([regions, features], most)


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
    store = _store(described["model"], regions, features, described["most_regions"])
    if store is not None and store.dimension != described["dimension"]:
        raise InputError(f"{run_folder} was trained on features of another length than {features}: train it again.")
    module: ModelModule = plugin(described["model"])
    model_settings = module.ModelSettings(**described["settings"])
    answers, dimension, most_regions = (described[name] for name in ("answers", "dimension", "most_regions"))
    tokenizer = Tokenizer.from_str(described["tokenizer"])
    task = Task(tokenizer, answers, dimension, most_regions, described.get("survey", {}))
    model = module.build(model_settings, task)
    model.load_state_dict(load_weights(run_folder / "model.safetensors"))
    encode = _encode(module, task)
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
            scores = model(**given)["logits"].float()
        probability, answer = torch.softmax(scores, dim=1).max(dim=1)
        best += answer.tolist()
        p += probability.tolist()
    return best, p


def _first(questions: Questions, most: int) -> Questions:
    """The first ``most`` questions (ids are hashes, so these are a random choice); all for 0."""
    return Questions(*(column[: most or None] for column in vars(questions).values()))
