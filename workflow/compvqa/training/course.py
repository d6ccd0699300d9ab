"""The course of a training run: its steps, the looks at held-out examples, and the checkpoint from which it goes on.

A plain loop of torch; accelerate shares the batches among processes. transformers' Trainer would do as well, but to
import it takes longer than a small run.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator, DataLoaderConfiguration, DistributedDataParallelKwargs
from accelerate.data_loader import skip_first_batches
from accelerate.utils import gather_object

from compvqa.models.loss import check_given
from compvqa.tables import replacing
from compvqa.training import processes, randomness
from compvqa.training.device import narrowed
from compvqa.training.settings import OptimisationSettings
from compvqa.weights import load_weights, save_weights

Batch = dict[str, torch.Tensor]
Collate = Callable[[Sequence[Any]], Batch]
Right = Callable[[np.ndarray, np.ndarray], np.ndarray]  # from scores and labels, which examples are right
LAST, BEST = "last.pt", "best.safetensors"  # in the folder of checkpoints


@dataclass
class State:
    """How far a run has come."""

    step: int = 0  # done
    log: list[dict[str, float]] = field(default_factory=list)
    best: float | None = None  # accuracy on held-out examples
    waited: int = 0  # looks without a better one


class Course:
    """A net on its way through ``steps`` steps, from the checkpoint in ``folder`` if there is one.

    ``right`` tells from scores and labels which examples are right.
    """

    def __init__(
        self,
        net: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        learnt: torch.utils.data.Dataset[Any],
        held_out: torch.utils.data.Dataset[Any],
        settings: OptimisationSettings,
        *,
        steps: int,
        seed: int,
        collate: Collate,
        right: Right,
        folder: Path,
    ):
        self.net, self.settings, self.steps, self.right, self.folder = net, settings, steps, right, folder
        self.collate, self.state, self.every = collate, State(), max(1, steps // settings.evaluations)
        self.accelerator = Accelerator(
            cpu=not torch.cuda.is_available(),
            mixed_precision="no",  # narrowed below, by the settings
            dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True, data_seed=seed),
            kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)],
        )
        size = settings.batch_size // processes.count()
        self.batches = self._loader(learnt, size, settings.order == "drawn")
        self.shown = self._loader(held_out, 4 * size)
        self.optimizer, self.schedule = optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, self._rate)
        self.shared = self.accelerator.prepare(net)
        self.lost = torch.zeros((), device=self.accelerator.device)  # the sum of losses since the log's last entry
        self.left = self._resumed()

    def run(self) -> Iterator[int]:
        """Go on to the end and tell each step that is done. The net is left with the last weights."""
        while self.state.step < self.steps and not 0 < self.settings.patience <= self.state.waited:
            rate = float(self.schedule.get_last_lr()[0])
            self.step(next(self.left))
            self.state.step += 1
            if self.state.step % self.every == 0 or self.state.step == self.steps:
                self._log(rate)
                self._look()
                self._save()
            yield self.state.step

    def drawn(self) -> Iterator[Batch]:
        """The batches that are left to learn from, pass after pass."""
        passes, done = divmod(self.state.step, len(self.batches))
        while True:
            batches = skip_first_batches(self.batches, done) if done else self.batches
            batches.set_epoch(passes)
            yield from batches
            passes, done = passes + 1, 0

    def step(self, batch: Batch) -> torch.Tensor:
        """Learn from a batch; gives its loss."""
        self.net.train()
        loss = self._given(self.shared, batch)["loss"]
        loss.backward()
        if self.settings.clip:
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.settings.clip)
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad()
        self.lost += loss.detach()
        return loss.detach()

    def take_best(self) -> None:
        """Give the net the weights that were best on the held-out examples; where there are none it keeps the last."""
        if self.state.best is not None:
            self.accelerator.wait_for_everyone()  # for the process that writes them
            self.net.load_state_dict(load_weights(self.folder / BEST))
            self.accelerator.wait_for_everyone()  # before they are removed

    def _loader(self, examples: torch.utils.data.Dataset[Any], size: int, shuffle: bool = False) -> Any:
        gpu, workers = torch.cuda.is_available(), self.settings.workers
        return self.accelerator.prepare(
            torch.utils.data.DataLoader(
                examples, size, shuffle, num_workers=workers, pin_memory=gpu, collate_fn=self.collate
            )
        )

    def _rate(self, step: int) -> float:
        """The share of the learning rate: linear warm-up, all of it, linear decay to zero."""
        rising, falling = (round(share * self.steps) for share in (self.settings.warmup, self.settings.decay))
        if step < rising:
            return step / rising
        begun = step - (self.steps - falling)
        return 1.0 if begun < 0 else max(0.0, 1.0 - begun / max(1, falling))

    def _given(self, net: torch.nn.Module, batch: Batch) -> dict[str, torch.Tensor]:
        with narrowed(self.settings.precision):
            given: dict[str, torch.Tensor] = net(**batch)
        check_given(self.net, given, "loss", "logits")
        return given

    def _log(self, rate: float) -> None:
        """Note the mean loss of the steps since the last entry, with the learning rate of the last one."""
        passes, done = divmod(self.state.step - 1, len(self.batches))
        entry = {"step": self.state.step, "epoch": passes + (done + 1) / len(self.batches)}
        since = self.state.step - (self.state.log[-1]["step"] if self.state.log else 0)
        loss = self.accelerator.gather(self.lost).mean().item() / since
        self.state.log.append(entry | {"loss": loss, "learning_rate": rate})
        self.lost = torch.zeros_like(self.lost)

    @torch.no_grad()
    def _look(self) -> None:
        """Note how good the net is on the held-out examples, and keep its weights if it never was better."""
        if not len(self.shown.dataset):
            return
        self.net.eval()
        self.shown.set_epoch(0)  # each time it is shown the same
        seen = []
        for batch in self.shown:
            given = self._given(self.net, batch)
            right = self.right(given["logits"].float().cpu().numpy(), batch["labels"].cpu().numpy())
            told = torch.tensor(right, device=self.accelerator.device), given["loss"].float().repeat(len(right))
            seen.append([of.cpu().numpy() for of in self.accelerator.gather_for_metrics(told)])
        accuracy, loss = (float(np.concatenate(of).mean()) for of in zip(*seen, strict=True))
        self.state.log[-1] |= {"eval_loss": loss, "eval_accuracy": accuracy}
        self.state.waited += 1
        if self.state.best is None or accuracy > self.state.best:
            self.state.best, self.state.waited = accuracy, 0
            if processes.is_first() and self.settings.keep == "best":
                save_weights(self.folder / BEST, self.net.state_dict())

    def _save(self) -> None:
        states = gather_object([randomness.state()])  # of each process
        if processes.is_first():
            kept = {
                "state": asdict(self.state),
                "random": states,
                "net": self.net.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "schedule": self.schedule.state_dict(),
            }
            with replacing(self.folder / LAST) as temporary:
                torch.save(kept, temporary)

    def _resumed(self) -> Iterator[Batch]:
        """The batches that are left, all being as it was at the last checkpoint."""
        batches, path = self.drawn(), self.folder / LAST
        if not path.exists():
            return batches
        try:
            kept = torch.load(path, map_location="cpu", weights_only=True)
        except (OSError, EOFError, RuntimeError, pickle.UnpicklingError) as error:
            sys.stderr.write(f"{path} can't be read ({str(error) or 'cut off'}): the training begins anew.\n")
            return batches
        self.state = State(**kept["state"])
        self.net.load_state_dict(kept["net"])
        self.optimizer.load_state_dict(kept["optimizer"])
        self.schedule.load_state_dict(kept["schedule"])
        if self.state.step % len(self.batches):
            batches = chain([next(batches)], batches)  # a pass that is begun moves the generators
        randomness.restore(kept["random"][processes.number()])
        return batches
