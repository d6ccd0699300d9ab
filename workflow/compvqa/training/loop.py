"""The training of question models (COVR, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field
from tokenizers import Tokenizer

from compvqa import tables
from compvqa.files import read_json, write_json
from compvqa.models.declared import OWN_PROGRAMS, PROGRAMS
from compvqa.models.task import Task
from compvqa.settings import Settings
from compvqa.training import processes
from compvqa.training.data import Questions, read_questions, shared_words
from compvqa.training.fit import OptimisationSettings, prepare
from compvqa.training.job import Job
from compvqa.training.modules import ModelModule, described, encoder_of, plugin, reads_of, store_of, tokenizer_of
from compvqa.weights import load_weights


class TrainingSettings(Settings):
    """Training of a question model."""

    optimisation: OptimisationSettings = Field(OptimisationSettings(), description="steps and learning rate")
    most_dev: int = Field(0, ge=0, description="use so many questions of the dev part at most; 0: all")
    most_regions: int = Field(36, ge=1, description="regions an image that models see, the first in the store")


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
    store = store_of(model, regions, features, settings.most_regions)
    programs = bool({PROGRAMS, OWN_PROGRAMS} & {*reads_of(module)})
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
    recipe = [model, model_settings.model_dump_json(), settings.model_dump_json(), start, *asked.ids, "held out"]
    recipe += [*held_out.ids, None if store is None or regions is None else tables.recipe_of(regions)]
    job = Job(
        net, model_settings, task, asked, held_out, store, out, settings.optimisation, number,
        f"train {model}", tuple(recipe), getattr(module, "optimizer", None), encoder_of(module, task),
    )  # fmt: skip
    done = getattr(module, "train", _train)(job)
    if processes.is_first():
        write_json(out / "model.json", described(model, model_settings, task))
    unseen = sum(answer not in set(task.answers) for answer in held_out.answers)
    return {
        "in": len(asked),
        "held out": len(held_out),
        "held out: answer not in train": unseen,
        "answers": len(task.answers),
        "steps": int(done["steps"]),
        **({"held-out accuracy, per mille": round(1000 * done["accuracy"])} if dev_parts else {}),
    }


def _train(job: Job) -> dict[str, float]:
    """The training of a model that brings none: one phase, on the answers."""
    return job.fit(job.net, job.examples(job.learnt), job.examples(job.held_out))


def _first(questions: Questions, most: int) -> Questions:
    """The first ``most`` questions (ids are hashes, so these are a random choice); all for 0."""
    return Questions(*(column[: most or None] for column in vars(questions).values()))
