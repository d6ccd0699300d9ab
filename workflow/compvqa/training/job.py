"""The training of one net on the questions of a split, as a model's own ``train`` gets it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from compvqa.files import read_json, write_json
from compvqa.models.task import Task
from compvqa.seeds import stable_hash
from compvqa.training import processes
from compvqa.training.data import Encode, Examples, Questions, Store, collate, labelled
from compvqa.training.fit import fit
from compvqa.training.history import gather_histories
from compvqa.training.settings import OptimisationSettings
from compvqa.weights import load_weights

DONE = "done.json"  # what a finished phase gave, in its folder
Optimizer = Callable[[torch.nn.Module, OptimisationSettings], torch.optim.Optimizer]


@dataclass(frozen=True)
class Job:
    """A net, what it learns from, and how.

    A model's own ``train`` may fit in phases, each by :meth:`fit` with a name, and gather them in the end, or go its
    own way and write the files itself. In training by several processes it runs in each of them.
    """

    net: torch.nn.Module
    model_settings: Any  # the model's own
    task: Task
    learnt: Questions
    held_out: Questions  # tell which weights to keep
    store: Store | None  # None where the model sees no images
    out: Path
    settings: OptimisationSettings
    seed: int
    what: str  # for people who watch
    recipe: tuple[Any, ...]
    optimizer: Optimizer | None = None  # the model's own
    encode: Encode | None = None  # the model's own, of one that reads each question's own program

    collate = staticmethod(collate)

    def examples(self, questions: Questions) -> Examples:
        """The questions as the net reads them, labelled by the numbers of their answers."""
        longest = self.model_settings.longest
        return labelled(questions, self.task.answers, self.task.tokenizer, self.store, longest, self.encode)

    def fit(
        self,
        net: torch.nn.Module,
        learnt: torch.utils.data.Dataset[Any],
        held_out: torch.utils.data.Dataset[Any],
        *,
        phase: str = "",
        settings: OptimisationSettings | None = None,
        collate: Callable[[Sequence[Any]], dict[str, torch.Tensor]] = collate,
        right: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    ) -> dict[str, float]:
        """Train ``net``, the job's own or one around it, by :func:`compvqa.training.fit.fit`, with the model's
        optimiser.

        A named ``phase`` has its files in a folder of its own until :meth:`gather`; one that was finished before the
        run was stopped is not done again: ``net`` gets its weights.
        """
        folder, settings = self.out / phase, settings or self.settings
        recipe = [*self.recipe, phase, settings.model_dump_json()]
        name = f"{stable_hash(*map(str, recipe), self.seed):x}"
        if phase and (folder / DONE).exists() and (known := read_json(folder / DONE))["of"] == name:
            net.load_state_dict(load_weights(folder / "model.safetensors"))
            done: dict[str, float] = known["done"]
            return done
        done = fit(
            net, learnt, held_out, folder, settings, self.seed, f"{self.what} {phase}".strip(), recipe,
            collate=collate, right=right, new=getattr(self.net, "new", ("",)),
            optimizer=self.optimizer and self.optimizer(net, settings),
        )  # fmt: skip
        if phase and processes.is_first():
            write_json(folder / DONE, {"of": name, "done": done})
        return done

    def gather(self, *phases: str) -> None:
        """Keep the weights of the last phase and the history of all."""
        if processes.is_first():
            gather_phases(self.out, phases)


def gather_phases(out: Path, phases: Sequence[str]) -> None:
    """Make ``out/{model.safetensors,history.parquet}`` of the phases' folders in ``out``, which end."""
    gather_histories(out / "history.parquet", {phase: out / phase / "history.parquet" for phase in phases})
    (out / phases[-1] / "model.safetensors").replace(out / "model.safetensors")
    for phase in phases:
        shutil.rmtree(out / phase)
