"""The modules of trained models, by their names: what is asked of them in training and when they answer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from tokenizers import Tokenizer

from compvqa import plugins
from compvqa.errors import InputError
from compvqa.features.grids import open_store
from compvqa.models.declared import PICTURES
from compvqa.models.task import Task
from compvqa.settings import Settings
from compvqa.training.data import Encode, Store, word_tokenizer


class ModelModule(Protocol):
    """What each module of a trained model has; :mod:`compvqa.models` says what it may have besides."""

    @property
    def ModelSettings(self) -> type[Any]: ...

    def build(self, settings: Any, task: Task, /) -> Any: ...


def plugin(model: str) -> ModuleType:
    """The module of the model named ``model``; InputError where there is none, or it lacks what each has."""
    for needed in ("build", "ModelSettings"):
        module = plugins.find("compvqa.models", model, needed, "model")
    if "longest" not in module.ModelSettings.model_fields:
        raise InputError(f"ModelSettings of the model {model} has no longest: say how many tokens of a text it reads.")
    return module


def tokenizer_of(model: str, settings: Settings, texts: Iterable[str], base: Tokenizer | None = None) -> Tokenizer:
    """The tokenizer of the released weights of ``model``; without such, one of the words of ``texts``, after those of
    ``base``."""
    own = getattr(plugin(model), "tokenizer", lambda settings: None)(settings)
    return own or word_tokenizer(texts, base)


def reads_of(module: ModelModule) -> tuple[str, ...]:
    return getattr(module, "READS", ())


def encoder_of(module: ModelModule, task: Task) -> Encode | None:
    """What makes rows of a question's own program, for a model that reads it."""
    found: Encode | None = getattr(module, "encoder", lambda task: None)(task)
    return found


def store_of(model: str, regions: Path | None, features: Path | None, most: int | None) -> Store | None:
    """What the model sees of images; None for one that sees none."""
    kind = next((kind for kind in PICTURES if kind in reads_of(plugin(model))), None)
    if kind is None:
        return None
    if regions is None or features is None:
        raise InputError(f"the model {model} reads {kind}: name the folder of features (--features).")
    return open_store([regions, features], most)


def described(model: str, settings: Settings, task: Task) -> dict:
    """What is kept beside the weights: all that it takes to build the net again."""
    kept: dict[str, Any] = {"model": model, "settings": settings.model_dump(), "dimension": task.dimension}
    kept |= {"most_regions": task.most_regions, "answers": task.answers, "tokenizer": task.tokenizer.to_str()}
    return kept | ({"survey": task.survey} if task.survey else {})
