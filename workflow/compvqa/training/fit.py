"""One training run by the transformers Trainer: deterministic, resumed where it was stopped."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence, Sized
from inspect import signature
from itertools import product
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch.utils.hooks import RemovableHandle
from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from compvqa.errors import InputError, disk_full
from compvqa.models.loss import check_given
from compvqa.progress import track
from compvqa.seeds import stable_hash
from compvqa.training import processes
from compvqa.training.data import ByPicture, Examples
from compvqa.training.device import in_bfloat16, set_deterministic
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
    collate: Callable[[Sequence], dict[str, torch.Tensor]],
    right: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    new: tuple[str, ...] = ("",),
    optimizer: torch.optim.Optimizer | None = None,
) -> dict[str, float]:
    """Train ``model`` on ``train`` and leave it with the weights that were best on ``dev`` (or the last).

    ``collate`` makes a batch of items: the model's arguments, with ``labels``. A dataset that has ``set_epoch`` is told
    each epoch's number before it is read. Writes ``out/model.safetensors`` and ``out/history.parquet``; while it runs,
    checkpoints in a folder of ``out`` named by a hash of ``recipe`` (all that decides the run), from the last of which
    it goes on if it was stopped.
    ``right`` tells from scores and labels which examples are right (default: the best class is the label). ``new``
    are the beginnings of the names of parameters that no pretraining gave (default: all); ``optimizer`` is used in the
    place of AdamW. Without an example in ``dev`` the last weights are kept. Where several processes share the run
    (:mod:`compvqa.training.processes`), each takes its part of every batch; where the last batch of a pass is not full,
    the pass's first examples fill it up to as many for each. Gives the steps done and the best accuracy on ``dev``.
    """
    checkpoints = out / f"checkpoints-{stable_hash(*map(str, recipe), seed) & 0xFFFFFFFFFFFF:012x}"
    steps = _steps(len(cast(Sized, train)), settings)
    every, looks = max(1, steps // settings.evaluations), bool(len(cast(Sized, dev)))
    right = right or (lambda scores, labels: scores.argmax(axis=-1) == labels)
    if settings.order == "pictures":
        train = _by_picture(model, train, seed)
    trainer = Trainer(
        model=model,
        args=_arguments(settings, checkpoints, steps, every, seed, looks),
        data_collator=collate,
        train_dataset=train,
        eval_dataset=dev,
        optimizers=(optimizer or _optimizer(model, settings, new), None),
        compute_metrics=lambda seen: {"accuracy": float(right(seen.predictions, seen.label_ids).mean())},
        callbacks=[
            *([_Progress(what)] if processes.is_first() else []),
            *([EarlyStoppingCallback(settings.patience)] if settings.patience and looks else []),
        ],
    )
    trainer.remove_callback(PrinterCallback)
    hooks = [*_clipped(model, settings.clip_each), model.register_forward_hook(_check_given)]
    if processes.number():  # the Trainer seeds all alike: they would drop out the same of different examples
        torch.manual_seed(stable_hash(seed, "process", processes.number()) & 0xFFFFFFFF)
    try:
        trainer.train(resume_from_checkpoint=last_checkpoint(checkpoints))
    except Exception as error:
        if told := disk_full(error, checkpoints):
            raise told from None
        raise
    for hook in hooks:
        hook.remove()
    trainer.accelerator.wait_for_everyone()  # to read the checkpoint that is kept
    if processes.is_first():
        write_history(out / "history.parquet", trainer.state.log_history)
        save_weights(out / "model.safetensors", model.state_dict())
        shutil.rmtree(checkpoints, ignore_errors=True)
    return {"steps": trainer.state.global_step, "accuracy": float(trainer.state.best_metric or 0)}


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


def _check_given(net: torch.nn.Module, _: object, given: object) -> None:
    """A hook that refuses a net without loss or scores before the Trainer stumbles over it."""
    check_given(net, given, "loss", "logits")


class _Arguments(TrainingArguments):
    """The Trainer's arguments, with one GPU a process however many are visible: it would wrap the model in
    DataParallel, which cuts batches where they can't be cut (``question_of`` counts on from question to question)."""

    @property
    def n_gpu(self) -> int:
        return min(1, super().n_gpu)


def _arguments(
    settings: OptimisationSettings, checkpoints: Path, steps: int, every: int, seed: int, looks: bool
) -> TrainingArguments:
    gpu, share = torch.cuda.is_available(), processes.count()
    if settings.batch_size % share:
        raise InputError(
            f"batch_size {settings.batch_size} can't be shared by {share} processes: make it a multiple of {share}."
        )
    return _Arguments(
        output_dir=str(checkpoints),
        max_steps=steps,
        per_device_train_batch_size=settings.batch_size // share,
        per_device_eval_batch_size=4 * settings.batch_size // share,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="warmup_stable_decay",
        lr_scheduler_kwargs={"num_decay_steps": round(settings.decay * steps), "decay_type": "linear"},
        warmup_steps=round(settings.warmup * steps),
        max_grad_norm=settings.clip,
        train_sampling_strategy="random" if settings.order == "drawn" else "sequential",
        eval_strategy="steps" if looks else "no",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=1,
        logging_steps=every,
        load_best_model_at_end=settings.keep == "best" and looks,
        metric_for_best_model="accuracy",
        restore_callback_states_from_checkpoint=True,
        seed=seed,
        data_seed=seed,
        use_cpu=not gpu,
        bf16=in_bfloat16(settings.precision),
        dataloader_num_workers=settings.workers,
        dataloader_pin_memory=gpu,
        remove_unused_columns=False,
        label_names=["labels"],
        report_to="none",
        disable_tqdm=True,
    )


def last_checkpoint(folder: Path) -> str | None:
    """The latest complete checkpoint in ``folder``: the Trainer writes its state file last."""
    complete = []
    for state in folder.glob("checkpoint-*/trainer_state.json"):
        try:
            json.loads(state.read_text(encoding="utf-8"))
        except ValueError:
            continue
        complete.append((int(state.parent.name.rpartition("-")[2]), str(state.parent)))
    return max(complete)[1] if complete else None


class _Progress(TrainerCallback):
    """Shows the steps of a run like all other long work."""

    def __init__(self, what: str):
        self.what = what
        self.bar: Iterator[int] = iter(())

    def on_train_begin(self, args, state, control, **_):  # noqa: ANN001 - the Trainer's own types
        self.bar = track(range(state.max_steps - state.global_step), self.what, unit="step")

    def on_step_end(self, args, state, control, **_):  # noqa: ANN001
        next(self.bar, None)
