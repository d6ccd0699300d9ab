"""One training run: deterministic, and resumed where it was stopped."""

from __future__ import annotations

import shutil
from collections.abc import Sequence, Sized
from inspect import signature
from itertools import product
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch.utils.hooks import RemovableHandle

from compvqa.errors import InputError, disk_full
from compvqa.progress import track
from compvqa.seeds import stable_hash
from compvqa.training import processes, randomness
from compvqa.training.course import Collate, Course, Right
from compvqa.training.data import ByPicture, Examples
from compvqa.training.device import set_deterministic
from compvqa.training.history import write_history
from compvqa.training.settings import OptimisationSettings
from compvqa.weights import save_weights


def prepare(settings: OptimisationSettings, seed: int, *key: object) -> int:
    """Make torch as deterministic as ``settings`` say and seed it for the run named by ``key``; gives the seed (32
    bits)."""
    torch.set_num_threads(settings.threads)
    set_deterministic(settings.deterministic)
    number = stable_hash(seed, *key) & 0xFFFFFFFF
    torch.manual_seed(number)
    return number


def fit(
    model: torch.nn.Module,
    train: torch.utils.data.Dataset,
    dev: torch.utils.data.Dataset,
    out: Path,
    settings: OptimisationSettings,
    seed: int,
    what: str,
    recipe: Sequence[object],
    *,
    collate: Collate,
    right: Right | None = None,
    new: tuple[str, ...] = ("",),
    optimizer: torch.optim.Optimizer | None = None,
) -> dict[str, float]:
    """Train ``model`` on ``train`` and leave it with the weights that were best on ``dev`` (or the last).

    ``collate`` makes a batch of items: the model's arguments, with ``labels``. A dataset that has ``set_epoch`` is told
    each epoch's number before it is read. Writes ``out/model.safetensors`` and ``out/history.parquet``; while it runs,
    a checkpoint in a folder of ``out`` named by a hash of ``recipe`` (all that decides the run), from which it goes on
    if it was stopped.
    ``right`` tells from scores and labels which examples are right (default: the best class is the label). ``new``
    are the beginnings of the names of parameters that no pretraining gave (default: all); ``optimizer`` is used in the
    place of AdamW. Without an example in ``dev`` the last weights are kept. Where several processes share the run
    (:mod:`compvqa.training.processes`), each takes its part of every batch; where the last batch of a pass is not full,
    the pass's first examples fill it up to as many for each. Gives the steps done and the best accuracy on ``dev``.
    """
    share = processes.count()
    if settings.batch_size % share:
        raise InputError(
            f"batch_size {settings.batch_size} can't be shared by {share} processes: make it a multiple of {share}."
        )
    name = stable_hash(*map(str, recipe), seed, *([share] if share > 1 else [])) & 0xFFFFFFFFFFFF
    checkpoints = out / f"checkpoints-{name:012x}"
    if settings.order == "pictures":
        train = _by_picture(model, train, seed)
    randomness.seed(seed if not processes.number() else stable_hash(seed, "process", processes.number()) & 0xFFFFFFFF)
    course = Course(
        model, optimizer or _optimizer(model, settings, new), train, dev, settings,
        steps=_steps(len(cast(Sized, train)), settings), seed=seed,
        collate=collate, right=right or _best_is_label, folder=checkpoints,
    )  # fmt: skip
    hooks = _clipped(model, settings.clip_each)
    try:
        steps = course.run()
        for _ in track(steps, what, course.steps - course.state.step, "step") if processes.is_first() else steps:
            pass
        if settings.keep == "best":
            course.take_best()
    except Exception as error:
        if told := disk_full(error, checkpoints):
            raise told from None
        raise
    for hook in hooks:
        hook.remove()
    if processes.is_first():
        write_history(out / "history.parquet", course.state.log)
        save_weights(out / "model.safetensors", model.state_dict())
        shutil.rmtree(checkpoints, ignore_errors=True)
    return {"steps": course.state.step, "accuracy": course.state.best or 0.0}


def _best_is_label(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return scores.argmax(axis=-1) == labels


def _by_picture(model: torch.nn.Module, train: torch.utils.data.Dataset, seed: int) -> ByPicture:
    """The examples with those about one picture side by side; InputError for a model that can't read them so."""
    if not isinstance(train, Examples) or "picture_of" not in signature(model.forward).parameters:
        raise InputError(
            "optimisation.order: pictures is for a model whose forward takes picture_of (cnn_lstm_sa): take drawn."
        )
    return ByPicture(train, seed)


def _steps(n: int, settings: OptimisationSettings) -> int:
    steps = max(1, round(settings.epochs * -(-n // settings.batch_size)))
    return min(steps, settings.most_steps) if settings.most_steps else steps


def _optimizer(model: torch.nn.Module, settings: OptimisationSettings, new: tuple[str, ...]) -> torch.optim.AdamW:
    """AdamW over all that learns, pretrained or not, and of both what decays and what the settings spare."""
    learnt = [(name, value) for name, value in model.named_parameters() if value.requires_grad]
    rates = {False: settings.pretrained_rate * settings.learning_rate, True: settings.learning_rate}
    decays = {False: settings.weight_decay} | ({True: 0.0} if settings.undecayed else {})
    groups = []
    for (spared, decay), (fresh, rate) in product(decays.items(), rates.items()):
        kind = spared, fresh
        chosen = [value for name, value in learnt if kind == (name.endswith(settings.undecayed), name.startswith(new))]
        groups.append({"params": chosen, "lr": rate, "weight_decay": decay})
    return torch.optim.AdamW(groups, betas=(0.9, settings.beta2), eps=settings.epsilon, fused=True)


def _clipped(model: torch.nn.Module, most: float) -> list[RemovableHandle]:
    """Have each number of a gradient cut at ``most`` as soon as it is known; nothing for 0."""
    learnt = [value for value in model.parameters() if value.requires_grad and most]
    return [value.register_hook(lambda gradient: gradient.clamp(-most, most)) for value in learnt]
