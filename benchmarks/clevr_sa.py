"""Samples a second of training CLEVR's CNN+LSTM+SA: this workflow's loop beside one in the manner of clevr-iep.

    python benchmarks/clevr_sa.py FOLDER --testbed results/clevr-cogent-small --size small paper

The questions are a test-bed's, the features random numbers for as many pictures as are asked for; FOLDER keeps them,
float16 in our store and float32 in HDF5, as clevr-iep has them. Its loop reads a picture's features and a question,
padded to the longest of all, for each sample, in one process beside; all tokens go through the LSTM, cells are a
picture with convolutions of 1 x 1 over it, and Adam is PyTorch's default. Ours has the ten questions about a picture
side by side, and reads it once for those in a batch (--order drawn: not so). Both start from the same weights (what
they give for a batch is compared first) and take turns, round after round, each with a warm-up that does not count.
Waiting is the time from the end of a step to the next batch. Sizes: small is our small model on features of
EfficientNet-lite0 at 128 pixels; small-features is clevr-iep's model on these; paper is that on conv4 of ResNet-101.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import torch
from filter_gpu import Clocked
from measure import print_table
from torch import nn

from compvqa import tables
from compvqa.features.grids import GRIDS, GridStore
from compvqa.features.store import appending
from compvqa.models import cnn_lstm_sa
from compvqa.models.lstm import last_of
from compvqa.models.task import Task
from compvqa.training import fit as fitting
from compvqa.training.course import Batch
from compvqa.training.data import Examples, collate, examples, read_questions, word_tokenizer
from compvqa.training.device import device
from compvqa.training.fit import OptimisationSettings, fit, prepare

SMALL = {"word_size": 64, "hidden_size": 128, "layers": 1, "attention_size": 128, "classifier": (128,)}
PAPER = {"word_size": 300, "hidden_size": 256, "layers": 2, "attention_size": 512, "classifier": (1024,)}
# The model, cells of a grid's side, numbers of a cell; and how many times as many samples a second are wanted.
SIZES = {"small": (SMALL, 8, 112), "small-features": (PAPER, 8, 112), "paper": (PAPER, 14, 1024)}
TARGETS = {"small": 2.0, "small-features": 2.0, "paper": 1.0}
RATE, THEIR_WORKERS = 5e-4, 1
A_PICTURE = 10  # questions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where features are made and kept")
    parser.add_argument("--testbed", type=Path, required=True, help="folder with dataset/ and scenes/")
    parser.add_argument("--size", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--batch", type=int, default=64, help="questions a step (clevr-iep: 64)")
    parser.add_argument("--pictures", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=0, help="processes that load data of our loop")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", default="auto", help="of our loop: auto, float32 or bfloat16; theirs is float32")
    parser.add_argument(
        "--order", default="pictures", choices=("pictures", "drawn"), help="of the questions, in our loop"
    )
    parser.add_argument("--warm-up", type=int, default=8, help="first steps of each turn that do not count")
    options = parser.parse_args()
    for size in options.size:
        measure(size, options)


@dataclass(frozen=True)
class Turn:
    """Steps of one loop: their mean length and what of it was waiting for data (s), and the CPU seconds of each."""

    step: float
    waited: float
    cpu: float


def measure(name: str, options: argparse.Namespace) -> None:
    """Let both loops take turns, and print what they did."""
    size, side, dimension = SIZES[name]
    store, h5 = features(options.folder / name, options.pictures, side, dimension)
    asked, tokenizer, answers = read(options.testbed, store, options.pictures)
    settings = cnn_lstm_sa.ModelSettings(**size)
    task = Task(tokenizer, answers, dimension)
    ours = cnn_lstm_sa.build(settings, task)
    apart = difference(ours, asked, h5, side)
    turns: dict[str, list[Turn]] = {"clevr-iep's way": [], "this workflow": []}
    for _ in range(options.rounds):
        prepare(OptimisationSettings(threads=options.threads), 1, "benchmark")
        theirs = InTheirWay(cnn_lstm_sa.build(settings, task), side)
        turns["clevr-iep's way"].append(theirs_trained(theirs, asked, h5, options))
        turns["this workflow"].append(ours_trained(cnn_lstm_sa.build(settings, task), asked, options))
    report(name, turns, apart, options)


def features(folder: Path, pictures: int, side: int, dimension: int) -> tuple[GridStore, Path]:
    """Random features of pictures, in our store and in clevr-iep's format."""
    folder.mkdir(parents=True, exist_ok=True)
    table, matrix, h5 = folder / "regions.parquet", folder / "grid.safetensors", folder / f"{pictures}.h5"
    if not h5.exists():
        draw, rows = np.random.default_rng(0), []
        with h5py.File(h5, "w") as file, appending(matrix, dimension) as append:
            kept = file.create_dataset("features", (pictures, dimension, side, side), np.float32)
            for number in range(pictures):
                cells = draw.standard_normal((side**2, dimension)).astype(np.float16)
                append(cells)
                kept[number] = cells.astype(np.float32).T.reshape(dimension, side, side)
                row = {"image": f"s:{number}", "file": matrix.name, "row": number * side**2, "cells": side}
                rows.append(row | {"image_w": 480.0, "image_h": 320.0})
        tables.write(table, GRIDS, rows)
    return GridStore(table), h5


def read(testbed: Path, store: GridStore, pictures: int) -> tuple[Examples, object, list[str]]:
    """Train questions of a test-bed, as many about each of our pictures as CLEVR has."""
    dataset, scenes = testbed / "dataset/questions.parquet", testbed / "scenes/scenes.parquet"
    found = read_questions(dataset, scenes, None, ["train"])
    answers = sorted(set(found.answers))
    tokenizer = word_tokenizer(found.texts)
    many = min(len(found), pictures * A_PICTURE)
    shown = [[f"s:{number // A_PICTURE}"] for number in range(many)]
    labels = [answers.index(answer) for answer in found.answers[:many]]
    return examples(found.texts[:many], shown, labels, tokenizer, store, 64), tokenizer, answers


class InTheirWay(nn.Module):
    """The same function of the same weights, computed as clevr-iep does: convolutions over a picture of cells, and an
    LSTM over all tokens, padding among them."""

    def __init__(self, net: cnn_lstm_sa.CnnLstmSa, side: int):
        super().__init__()
        self.words, self.lstm, self.classifier = net.reader.words, net.reader.lstm, net.classifier
        self.project = convolution(net.cells)
        self.of_cell = nn.ModuleList(convolution(part.of_cell) for part in net.rounds)
        self.of_state = nn.ModuleList(part.of_state for part in net.rounds)
        self.weight = nn.ModuleList(convolution(part.weight) for part in net.rounds)

    def forward(self, tokens: torch.Tensor, pictures: torch.Tensor) -> torch.Tensor:
        """The scores of questions [B, L], 0 for padding, about ``pictures`` [B, D, S, S]."""
        states, _ = self.lstm(self.words(tokens))
        state, cells = last_of(states, tokens != 0), self.project(pictures)
        for of_cell, of_state, weight in zip(self.of_cell, self.of_state, self.weight, strict=True):
            hidden = torch.tanh(of_cell(cells) + of_state(state)[:, :, None, None].expand(-1, -1, *cells.shape[2:]))
            share = weight(hidden).flatten(1).softmax(dim=1).view(len(tokens), 1, *cells.shape[2:])
            state = state + (share.expand_as(cells) * cells).sum(dim=(2, 3))
        return self.classifier(state)


def convolution(linear: nn.Linear) -> nn.Conv2d:
    """A linear layer as a convolution of 1 x 1."""
    made = nn.Conv2d(linear.in_features, linear.out_features, 1, bias=linear.bias is not None)
    made.load_state_dict(
        {name: value.view(made.state_dict()[name].shape) for name, value in linear.state_dict().items()}
    )
    return made


class TheirData(torch.utils.data.Dataset):
    """A sample at a time: the picture's features from HDF5, and a question padded to the longest of all."""

    def __init__(self, asked: Examples, h5: Path):
        self.asked, self.path = asked, h5
        self.longest = max(map(len, asked.tokens))
        self.file: h5py.File | None = None

    def __len__(self) -> int:
        return len(self.asked)

    def __getitem__(self, number: int) -> tuple[torch.Tensor, torch.Tensor, int]:
        self.file = self.file or h5py.File(self.path, "r")
        picture = int(self.asked.images[number][0].partition(":")[2])
        tokens = torch.zeros(self.longest, dtype=torch.long)
        tokens[: len(self.asked.tokens[number])] = torch.tensor(self.asked.tokens[number])
        return tokens, torch.from_numpy(self.file["features"][picture]), self.asked.labels[number]


def difference(ours: cnn_lstm_sa.CnnLstmSa, asked: Examples, h5: Path, side: int) -> float:
    """By how much the two ways differ for a batch, at most."""
    data = TheirData(asked, h5)
    tokens, pictures, _ = (list(column) for column in zip(*(data[number] for number in range(8)), strict=True))
    batch = collate([asked[number] for number in range(8)])
    batch.pop("labels")
    with torch.no_grad():
        theirs = InTheirWay(ours, side)(torch.stack(tokens), torch.stack(pictures))
        return float((ours(**batch)["logits"] - theirs).abs().max())


def theirs_trained(net: InTheirWay, asked: Examples, h5: Path, options: argparse.Namespace) -> Turn:
    place = device()
    loader = torch.utils.data.DataLoader(TheirData(asked, h5), options.batch, shuffle=True, num_workers=THEIR_WORKERS)
    optimizer = torch.optim.Adam(net.to(place).parameters(), RATE)
    begun, waited, cpu = [], [], []
    batches = endless(loader)
    for _ in range(options.steps + 1):
        begun.append(time.perf_counter())
        cpu.append(time.process_time())
        tokens, pictures, labels = (given.to(place) for given in next(batches))
        waited.append(time.perf_counter() - begun[-1])
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(tokens, pictures), labels)
        loss.backward()
        optimizer.step()
        loss.item()
    return turn(begun, waited, cpu, options)


def endless(loader: torch.utils.data.DataLoader) -> Iterator:
    while True:
        yield from loader


def ours_trained(net: cnn_lstm_sa.CnnLstmSa, asked: Examples, options: argparse.Namespace) -> Turn:
    class Clock(Clocked):
        begun: list[float] = []
        waited: list[float] = []
        cpu: list[float] = []

        def step(self, batch: Batch) -> torch.Tensor:
            self.cpu.append(time.process_time())
            return super().step(batch)

    settings = OptimisationSettings(
        epochs=999, most_steps=options.steps + 1, batch_size=options.batch, learning_rate=RATE, warmup=0, decay=0,
        weight_decay=0, evaluations=1, patience=0, keep="last", workers=options.workers, threads=options.threads,
        precision=options.precision, order=options.order,
    )  # fmt: skip
    fitting.Course = Clock
    number = prepare(settings, 1, "benchmark")
    out, dev = options.folder / "run", torch.utils.data.Subset(asked, range(options.batch))
    made = cnn_lstm_sa.optimizer(net, settings)
    fit(net, asked, dev, out, settings, number, "ours", [time.time()], collate=collate, optimizer=made)
    shutil.rmtree(out)
    return turn(Clock.begun, Clock.waited, Clock.cpu, options)


def turn(begun: list[float], waited: list[float], cpu: list[float], options: argparse.Namespace) -> Turn:
    """What the steps after the warm-up took."""
    first = min(options.warm_up, options.steps // 2)
    return Turn(*(float(np.mean(part[first:])) for part in (np.diff(begun), waited[:-1], np.diff(cpu))))


def report(name: str, turns: dict[str, list[Turn]], apart: float, options: argparse.Namespace) -> None:
    """Print the medians of the rounds, and the least and the most of the ratios."""
    theirs, ours = turns.values()
    rates = {way: options.batch / np.median([one.step for one in done]) for way, done in turns.items()}
    ratios = [one.step / other.step for one, other in zip(theirs, ours, strict=True)]
    work = [one.cpu / other.cpu for one, other in zip(theirs, ours, strict=True)]
    waits = [100 * np.median([one.waited / one.step for one in done]) for done in turns.values()]
    cpu = [1e3 * np.median([one.cpu for one in done]) / options.batch for done in turns.values()]
    spread = f"{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}; target {TARGETS[name]:g})"
    rows = [
        ["samples a second", *(f"{rate:,.1f}" for rate in rates.values())],
        ["CPU ms a sample, workers apart", *(f"{value:.2f}" for value in cpu)],
        ["share of the time waiting for data", *(f"{wait:.1f} %" for wait in waits)],
        ["times as many samples a second", "1", spread],
        ["times less CPU", "1", f"{np.median(work):.2f}"],
        ["largest difference of a score, same weights", "", f"{apart:.1e}"],
    ]
    print(
        f"{name}: batch {options.batch}, {options.steps} steps, {options.rounds} rounds, {options.threads} threads, "
        f"{options.workers} workers of ours"
    )
    print_table(["", *turns], rows)


if __name__ == "__main__":
    main()
