"""What a step of training costs for the models of config/models, each at its real size, by the workflow's own stages.

    python benchmarks/steps.py FOLDER --testbed results/covr-sprites --model visualbert-covr vilbert-covr
    python benchmarks/steps.py FOLDER --testbed results/clevr-cogent-small --model cnn-lstm-sa tensor-nmn lxmert-s
    python benchmarks/steps.py … --costs config/costs.tsv       # also for `make plan`

The questions are a test-bed's; features are random numbers of the size that the model's file tells: 36 regions of 2,048
numbers, 14 x 14 cells of 1,024, or 2,048 for a picture. What a file has from released weights is random here, of their
size. A model is trained for so many steps (in several phases, if it has such, by their shares) and answers all train
questions then, in the precision that the file says. Waiting is the time from the end of a step to the next batch, when
the card has nothing to do. With --costs, rows of what was measured go into the table of costs: what a job takes without
a step, and with all of them. FOLDER keeps the features.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import torch
from filter_gpu import Clocked
from measure import ROOT, print_table

from compvqa import tables
from compvqa.features.grids import GRIDS
from compvqa.features.store import ImageRegions, appending, write
from compvqa.files import read_yaml
from compvqa.models.declared import OWN_PROGRAMS, PROGRAMS, reads, sees
from compvqa.planning.costs import Row, read_costs, write_costs
from compvqa.planning.jobs import MB, Job, load_of, models_of
from compvqa.training import fit as fitting
from compvqa.training.data import read_questions
from compvqa.training.loop import TrainingSettings, train
from compvqa.training.modules import plugin
from compvqa.training.prediction import predict
from compvqa.training.settings import PredictionSettings

PART = "train"
SIZE = (480.0, 320.0)
REGIONS, DIMENSION = 36, 2048  # of an image, as detectors give them
SIDE, CELL = 14, 1024  # of conv4 of ResNet-101
BERT = {"checkpoint": "", "words": "", "hidden_size": 768, "heads": 12}
LXMERT = BERT | {"language_layers": 9, "region_layers": 5, "cross_layers": 5}
# What random weights must be told, for a model whose file names released ones.
SIZES: dict[str, dict[str, Any]] = {
    "visualbert": BERT | {"layers": 12},
    "vilbert": BERT | {"text_layers": 6, "blocks": 6},
    "lxmert": {name: value for name, value in LXMERT.items() if name != "words"},
    "lxmert_vqa": LXMERT | {"answers": ""},
    "cnn_bow": {"words": ""},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where features are made and kept")
    parser.add_argument("--testbed", type=Path, required=True, help="folder with dataset/ and scenes/")
    parser.add_argument("--model", nargs="+", required=True, help="files of config/models, without .yaml")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, help="questions a step, in the place of the file's")
    parser.add_argument("--warm-up", type=int, default=10, help="first steps of each phase that do not count")
    parser.add_argument("--costs", type=Path, help="the table of costs that gets the rows")
    options = parser.parse_args()
    fitting.Course = Timed
    measured = [measure(name, options) for name in options.model]
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "processor (these are no figures of a GPU)"
    print(f"{options.testbed.name}, {options.steps} steps, {device}")
    print_table(HEADS, [one.cells() for one in measured])
    if options.costs:
        costs, testbed = read_costs(options.costs), f"steps: {options.testbed.name}"
        new = [row for one in measured for row in one.rows(testbed, device)]
        named = {row.model for row in new}
        kept = [row for row in costs.rows if row.testbed == testbed and row.model not in named]
        head = [line[2:] for line in options.costs.read_text("utf-8").splitlines() if line.startswith("# ")]
        write_costs(options.costs, costs.replaced(testbed, kept + new), "\n".join(head))


class Timed(Clocked):
    """Notes the steps of each training by itself, in the order in which they begin."""

    phases: list[Timed] = []

    def __init__(self, *arguments: Any, **named: Any):
        super().__init__(*arguments, **named)
        self.begun, self.waited = [], []
        Timed.phases.append(self)

    def counted(self, warm_up: int) -> tuple[np.ndarray, np.ndarray]:
        """Seconds of the steps that count, and what of each was waiting for data."""
        first = min(warm_up, len(self.begun) // 2)
        return np.diff(self.begun)[first:], np.array(self.waited)[first:-1]


HEADS = [
    "model", "parameters", "batch", "precision", "samples a second", "ms a step", "of it waiting", "peak GB",
    "answers a second",
]  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """A model's steps and answers.

    Seconds of a step, of it waiting, and of a training without its steps; the processor's seconds for one on the clock;
    seconds of answering ``questions``, and one; gigabytes at most on the card; ``trained`` and ``asked``
    are the jobs as a plan sees them, whose files have ``sizes``, and MB ``written``.
    """

    name: str
    parameters: int
    batch: int
    precision: str
    step: float
    waited: float
    start: float
    cpu: float
    answering: float
    empty: float
    questions: int
    peak: float
    trained: Job
    asked: Job
    sizes: dict[str, float]
    written: dict[str, float]

    def cells(self) -> list[str]:
        return [
            self.name,
            f"{self.parameters:,}",
            f"{self.batch}",
            self.precision,
            f"{self.batch / self.step:,.1f}",
            f"{1e3 * self.step:,.1f}",
            f"{100 * self.waited / self.step:.1f} %",
            f"{self.peak:.1f}",
            f"{self.questions / self.answering:,.0f}",
        ]

    def rows(self, testbed: str, machine: str) -> list[Row]:
        """Rows of the table of costs: without work and with a pass over the questions, and of answering them."""
        load, answers = (load_of(job, self.sizes) for job in (self.trained, self.asked))
        [model] = models_of([self.trained])
        steps = load.work / self.batch
        if load.unit != "examples":
            steps *= self.questions / load.mb
        row = Row("train", model, testbed, 1, 0.0, 0.0, 0.0, load.mb, 0.0, load.unit, self.trained.gpus, machine)
        row = replace(row, outputs={"weights": self.written["weights"]})
        asked = replace(row, rule="predict", input_mb=answers.mb, unit=answers.unit)
        asked = replace(asked, outputs={"predictions": self.written["predictions"]})
        spent = [
            (row, 0.0, self.start),
            (row, load.work, self.start + steps * self.step),
            (asked, 0.0, self.empty),
            (asked, answers.work, self.answering),
        ]
        return [replace(of, work=work, wall_s=wall, cpu_s=self.cpu * wall) for of, work, wall in spent]


def measure(name: str, options: argparse.Namespace) -> Measured:
    """Train a model for some steps and let it answer."""
    told = read_yaml(ROOT / f"config/models/{name}.yaml")
    model, most = told["model"], told["training"].get("most_regions", REGIONS)
    changed = told["settings"] | SIZES.get(model, {}) if needs_weights(told["settings"]) else told["settings"]
    optimisation = told["training"]["optimisation"] | {"most_steps": options.steps, "epochs": 1e6, "evaluations": 1}
    optimisation |= {"keep": "last", "patience": 0} | ({"batch_size": options.batch} if options.batch else {})
    settings = TrainingSettings(**told["training"] | {"optimisation": optimisation})
    dataset, scenes = options.testbed / "dataset/questions.parquet", options.testbed / "scenes/scenes.parquet"
    asked = read_questions(dataset, scenes, None, [PART], bool({PROGRAMS, OWN_PROGRAMS} & {*reads(model)}))
    store = features_of(model, most, sorted({image for row in asked.images for image in row}), options.folder)
    out, Timed.phases = options.folder / "run", []
    shutil.rmtree(out, ignore_errors=True)
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    size = plugin(model).ModelSettings(**changed)
    fitted = timed(lambda: train(model, dataset, None, [PART], [], scenes, *store, None, out, size, settings, 1))
    answering = PredictionSettings(**told.get("prediction", {}))
    answers, one = out / "answers.parquet", out / "one.parquet"
    table = pq.read_table(dataset)
    pq.write_table(table.filter(pc.equal(table["question_id"], asked.ids[0])), one)
    answered, empty = (
        timed(lambda of=of: predict(out, name, of, None, [PART], scenes, *store, answers, settings=answering))
        for of in (dataset, one)
    )
    steps, waits = (
        np.concatenate(part) for part in zip(*(one.counted(options.warm_up) for one in Timed.phases), strict=True)
    )
    done = sum(len(one.begun) for one in Timed.phases)
    gpus = int(torch.cuda.is_available())
    job = Job("", "train", "train", (str(dataset), str(scenes)), settings=told, gpus=gpus)
    return Measured(
        name=name,
        parameters=sum(value.numel() for value in Timed.phases[-1].net.parameters()),
        batch=settings.optimisation.batch_size,
        precision=told["training"]["optimisation"].get("precision", "auto"),
        step=float(steps.mean()),
        waited=float(waits.mean()),
        start=max(0.0, fitted.wall - done * float(steps.mean())),
        cpu=fitted.cpu / fitted.wall,
        answering=answered.wall,
        empty=empty.wall,
        questions=len(asked),
        peak=torch.cuda.max_memory_allocated() / 1e9 if gpus else 0.0,
        trained=job,
        asked=replace(job, rule="predict", settings={"settings": told["settings"], "model": model}),
        sizes={path: Path(path).stat().st_size for path in job.inputs},
        written={"weights": megabytes(out / "model.safetensors"), "predictions": megabytes(answers)},
    )


def needs_weights(settings: dict[str, Any]) -> bool:
    """Whether a file's settings name files that must be fetched."""
    return any(settings.get(name) for name in ("checkpoint", "words", "answers"))


def megabytes(path: Path) -> float:
    return path.stat().st_size / MB


@dataclass(frozen=True)
class Spent:
    """Seconds on the clock and of the processor."""

    wall: float
    cpu: float


def timed(work: Callable[[], Any]) -> Spent:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


def features_of(model: str, most: int, images: list[str], folder: Path) -> tuple[Path | None, Path | None]:
    """Random features of ``images`` as the model reads them, made once."""
    kind = sees(model)
    if not kind:
        return None, None
    side, dimension = (1, DIMENSION) if kind == "pooled" else (SIDE, CELL) if most == SIDE**2 else (0, DIMENSION)
    place = folder / f"{side or REGIONS}-{dimension}-{len(images)}"
    regions, matrix = place / "regions.parquet", place / "features.safetensors"
    if not regions.exists():
        place.mkdir(parents=True, exist_ok=True)
        draw = np.random.default_rng(1)
        block = np.maximum(draw.normal(0.3, 1, (max(side**2, REGIONS), dimension)), 0).astype(np.float16)
        if side:
            with appending(matrix, dimension) as append:
                for number in range(len(images)):
                    append(np.roll(block[: side**2], number))
            row = {"file": matrix.name, "cells": side, "image_w": SIZE[0], "image_h": SIZE[1]}
            rows = [row | {"image": image, "row": number * side**2} for number, image in enumerate(images)]
            tables.write(regions, GRIDS, rows)
        else:
            boxes = draw.uniform(1, 200, (REGIONS, 4)).astype(np.float32)
            made = (ImageRegions(image, boxes, SIZE, np.roll(block, at)) for at, image in enumerate(images))
            write(regions, matrix, made, dimension)
    return regions, matrix


if __name__ == "__main__":
    main()
