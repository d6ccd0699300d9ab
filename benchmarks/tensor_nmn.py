"""Samples a second of training Tensor-NMN: with calls batched over questions, and by recursion through each question.

    python benchmarks/clevr.py FOLDER --grow 1000
    python benchmarks/tensor_nmn.py FOLDER/sampled-1000/{questions,scenes}.parquet --size small large

The questions are a dataset's of one picture each, here CLEVR's, with their programs; the features of pictures are
random numbers. In both ways a step is of the same net, whose stem and classifier run for all questions at once, and of
the same Adam; by recursion, as in the released code of IEP, each function is called for a question alone, on the same
convolutions. Both start from the same weights (their scores for a batch are compared first), train on the same batches
and take turns, round after round, each with a warm-up that does not count. Phases: engine, on the questions' own
programs, and joint, on drawn ones, by a generator that has been taught them for a while. Sizes: small is our small
model on 8 x 8 cells; large is the paper's on its 14 x 14 cells, but 32 wide; paper is the paper's.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from measure import ROOT, print_table
from torch import nn

from compvqa.files import read_yaml
from compvqa.models import tensor_nmn
from compvqa.models.execution_engine import Engine
from compvqa.models.lstm_program import END, Programs, Taught, with_programs
from compvqa.models.task import Task
from compvqa.models.tensor_nmn import SPECIAL, Executed, ModelSettings, TensorNmn
from compvqa.programs.prefix import Tree, nodes, tree_of
from compvqa.programs.rows import from_json
from compvqa.training.data import collate, examples, read_questions, word_tokenizer
from compvqa.training.settings import OptimisationSettings

SMALL = read_yaml(ROOT / "config/models/tensor-nmn-small.yaml")["settings"]
# The model, cells of a grid's side, numbers of a cell.
SIZES = {"small": (SMALL, 8, 112), "large": ({"width": 32}, 14, 1024), "paper": ({}, 14, 1024)}
PHASES = {"engine": Executed, "joint": lambda net: net}
RATE, TAUGHT = 1e-3, 150  # of Adam; steps in which the generator is taught
TARGETS = {"cpu": 2.0, "cuda": 5.0}  # times as many samples a second, the engine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path, help="a dataset")
    parser.add_argument("scenes", type=Path, help="the table of its scenes")
    parser.add_argument("--size", nargs="+", choices=SIZES, default=["small"])
    parser.add_argument("--phase", nargs="+", choices=PHASES, default=list(PHASES))
    parser.add_argument("--batch", type=int, default=64, help="questions a step (paper: 64)")
    parser.add_argument("--steps", type=int, default=12, help="of a turn")
    parser.add_argument("--warm-up", type=int, default=4, help="first steps of each turn that do not count")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    for size in options.size:
        measure(size, options)


class Recursive(Engine):
    """The same functions, called for each question alone."""

    def _executed(self, seen: torch.Tensor, programs: torch.Tensor) -> torch.Tensor:
        trees = map(self.tree, programs.tolist())
        return torch.cat([self._run(seen[at : at + 1], tree) for at, tree in enumerate(trees)])

    def _run(self, grid: torch.Tensor, tree: Tree[int]) -> torch.Tensor:
        given = [self._run(grid, taken) for taken in tree.inputs] or [grid]
        return self.functions[tree.token](*given)


def recursive(net: TensorNmn) -> TensorNmn:
    """A net with the same weights that runs question by question."""
    other = deepcopy(net)
    other.engine.__class__ = Recursive
    return other


@dataclass(frozen=True)
class Turn:
    """Seconds that a step took on average, on the clock and of the processor."""

    step: float
    cpu: float


def measure(name: str, options: argparse.Namespace) -> None:
    """Let both ways take turns, and print what they did."""
    changes, side, dimension = SIZES[name]
    place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    task, data = read(options, side, dimension)
    torch.manual_seed(1)
    net = tensor_nmn.build(ModelSettings(**changes), task).to(place)
    batches = list(batched(data, options, torch.randn(options.batch, side**2, dimension), place))
    taught(net, batches)
    apart = difference(net, batches[0])
    for phase in options.phase:
        turns: dict[str, list[Turn]] = {"by recursion": [], "batched": []}
        for _ in range(options.rounds):
            for way, made in (("by recursion", recursive(net)), ("batched", deepcopy(net))):
                turns[way].append(trained(PHASES[phase](made), phase, batches, options))
        report(f"{name}, {phase}", turns, apart, options)


def read(options: argparse.Namespace, side: int, dimension: int) -> tuple[Task, Programs]:
    """What a net is made for, and the questions with the tokens of their programs."""
    asked = read_questions(options.questions, options.scenes, None, ["train"], programs=True)
    answers, tokenizer = sorted(set(asked.answers)), word_tokenizer(asked.texts)
    task = Task(tokenizer, answers, dimension, side**2, tensor_nmn.survey(asked))
    number = {token: at for at, token in enumerate(task.survey["functions"], SPECIAL)}
    tokens = [[number[node.token] for node in nodes(tree_of(from_json(text)))] for text in asked.programs]
    labels = [answers.index(answer) for answer in asked.answers]
    return task, Programs(examples(asked.texts, asked.images, labels, tokenizer, None, 64), tokens)


def batched(
    data: Programs, options: argparse.Namespace, features: torch.Tensor, place: torch.device
) -> Iterator[dict[str, torch.Tensor]]:
    """The batches of a turn, all of whose pictures have these ``features`` [B, K, D]."""
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(1)).tolist()
    made: Callable[[Sequence], dict[str, torch.Tensor]] = partial(
        with_programs, collate, column="programs", padding=END
    )
    for step in range(options.steps):
        chosen = order[step * options.batch : (step + 1) * options.batch]
        batch = made([data[number] for number in chosen])
        shape = features.shape[:2]
        batch |= {"features": features, "geometry": torch.zeros(*shape, 5), "region_mask": torch.ones(shape)}
        batch |= {"question_of": torch.arange(len(features))}
        yield {name: value.to(place) for name, value in batch.items()}


def taught(net: TensorNmn, batches: Sequence[dict[str, torch.Tensor]]) -> None:
    """Teach the generator, so that what it draws is like programs."""
    optimizer = torch.optim.Adam(net.generator.parameters(), 5e-3)
    for step in range(TAUGHT):
        batch = batches[step % len(batches)]
        words = {name: batch[name] for name in ("input_ids", "attention_mask")}
        optimizer.zero_grad()
        Taught(net.generator)(**words, labels=batch["programs"])["loss"].backward()
        optimizer.step()


@torch.no_grad()
def difference(net: TensorNmn, batch: dict[str, torch.Tensor]) -> float:
    """By how much the scores of a batch differ between the ways, at most."""
    one, other = (Executed(made).eval()(**batch)["logits"] for made in (net, recursive(net)))
    return float((one - other).abs().max())


def trained(
    net: nn.Module, phase: str, batches: Sequence[dict[str, torch.Tensor]], options: argparse.Namespace
) -> Turn:
    """Train for a turn."""
    torch.manual_seed(1)
    optimizer = tensor_nmn.optimizer(net, OptimisationSettings(learning_rate=RATE, weight_decay=0))
    begun, cpu = [], []
    for batch in batches:
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        begun.append(time.perf_counter())
        cpu.append(time.process_time())
        given = {name: value for name, value in batch.items() if phase == "engine" or name != "programs"}
        optimizer.zero_grad()
        net.train()(**given)["loss"].backward()
        optimizer.step()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    lengths = [np.diff([*part, now()]) for part, now in ((begun, time.perf_counter), (cpu, time.process_time))]
    return Turn(*(float(part[options.warm_up :].mean()) for part in lengths))


def report(name: str, turns: dict[str, list[Turn]], apart: float, options: argparse.Namespace) -> None:
    """Print the medians of the rounds, and the least and the most of the ratios."""
    theirs, ours = turns.values()
    ratios = [one.step / other.step for one, other in zip(theirs, ours, strict=True)]
    work = [one.cpu / other.cpu for one, other in zip(theirs, ours, strict=True)]
    rates = [f"{options.batch / np.median([one.step for one in done]):,.1f}" for done in turns.values()]
    cpu = [f"{1e3 * np.median([one.cpu for one in done]) / options.batch:,.2f}" for done in turns.values()]
    rows = [
        ["samples a second", *rates],
        ["CPU ms a sample", *cpu],
        ["times as many samples a second", "1", f"{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"],
        ["times less CPU", "1", f"{np.median(work):.2f} ({min(work):.2f} to {max(work):.2f})"],
        ["largest difference of a score, same weights", "", f"{apart:.1e}"],
    ]
    place = "cuda" if torch.cuda.is_available() else "cpu"
    where = f"on {torch.cuda.get_device_name()}" if place == "cuda" else f"{options.threads} threads"
    did = f"batch {options.batch}, {options.steps} steps, {options.rounds} rounds"
    print(f"{name}: {did}, {where} (target {TARGETS[place]:g})")
    print_table(["", *turns], rows)


if __name__ == "__main__":
    main()
