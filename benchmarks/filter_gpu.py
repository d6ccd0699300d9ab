"""One fold of the image filter at real size: LXMERT-base, 36 x 2048 features read from disk, batch 256, 1,000 steps.

    python benchmarks/filter_gpu.py FOLDER
    python benchmarks/filter_gpu.py FOLDER --steps 4 --batch 4 --images 50 --workers 0    # on a processor: does it run?

The features are random numbers in a store as the stage `features` writes it, out of the page cache when training
begins; the weights are random ones of LXMERT's size. Trains by `compvqa.training.fit`, as the filter does, and prints
samples a second, the share of the card's peak, and how long the loop waits for data. FOLDER keeps the store: 150 KB an
image, and 5 GB for weights.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measure import print_table
from torch.utils.flop_counter import FlopCounterMode
from transformers import LxmertConfig, LxmertModel

from compvqa.features.store import ImageRegions, RegionStore, write
from compvqa.models import lxmert
from compvqa.models.multi_image import MatchModel
from compvqa.training import fit as fitting
from compvqa.training.course import Batch, Course
from compvqa.training.data import Examples, collate
from compvqa.training.fit import OptimisationSettings, fit, prepare

DIMENSION = 2048
REGIONS = 36  # of an image, as LXMERT's detector gives them
WORDS = 20  # tokens of a text, as LXMERT was trained with
ZEROED = 0.15  # share of regions that training hides (COVR, App. B)
SIZE = (640.0, 480.0)
PEAKS = {  # TFLOP/s of dense bfloat16 by the makers' data sheets; the first name that the card's holds
    "H100 PCIe": 756,
    "H100 NVL": 835,
    "H100": 989,
    "H200": 989,
    "B200": 2250,
    "A100": 312,
    "L40S": 362,
    "A10": 125,
    "L4": 121,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the store of features is made and kept")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=256, help="examples a step")
    parser.add_argument("--images", type=int, default=20_000, help="images in the store")
    parser.add_argument("--workers", type=int, default=max(1, min(12, (os.cpu_count() or 1) - 1)))
    parser.add_argument("--dtype", choices=["float16", "float32"], default="float16", help="of the store")
    parser.add_argument("--warm-up", type=int, default=20, help="first steps that do not count")
    options = parser.parse_args()
    options.warm_up = min(options.warm_up, options.steps // 2)
    store = made_store(options.folder / f"{options.images}-{options.dtype}", options.images, options.dtype)
    settings = OptimisationSettings(
        epochs=options.steps,
        most_steps=options.steps,
        batch_size=options.batch,
        learning_rate=5e-5,
        evaluations=1,
        patience=0,
        keep="last",
        workers=options.workers,
    )
    number = prepare(settings, 1, "filter benchmark")
    model = made_model(options.folder)
    train, dev = made_examples(store, options.steps * options.batch), made_examples(store, options.batch)
    flops, making = flops_of(model, train), batch_time(train, options.batch)
    out = options.folder / "run"
    fitting.Course = Clocked
    fit(model, train, dev, out, settings, number, "filter benchmark", [time.time()], collate=collate)
    shutil.rmtree(out)
    report(options, flops, making)


def made_store(folder: Path, images: int, dtype: str) -> RegionStore:
    """A store of so many images with random boxes and features, made once; its file is put out of the page cache."""
    paths = folder / "regions.parquet", folder / "features.safetensors"
    if not paths[0].exists():
        write(*paths, random_images(images), DIMENSION, dtype=dtype)
    with paths[1].open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return RegionStore(*paths)


def random_images(images: int) -> Iterator[ImageRegions]:
    """Features like those after a ReLU: two of five are zero, the others about 1."""
    draw = np.random.default_rng(1)
    block = np.maximum(draw.normal(0.3, 1, (REGIONS, DIMENSION)), 0).astype(np.float32)
    for number in range(images):
        boxes = draw.uniform(1, 200, (REGIONS, 4)).astype(np.float32)
        yield ImageRegions(f"vg:{number}", boxes, SIZE, np.roll(block, number))


def made_model(folder: Path) -> torch.nn.Module:
    """The filter's model, LXMERT of the released size, its weights random, loaded as released ones are."""
    weights = folder / "lxmert-base"
    if not weights.exists():
        LxmertModel(LxmertConfig()).save_pretrained(weights)
    size = lxmert.ModelSettings(checkpoint=str(weights))
    backbone = lxmert.Backbone(size, LxmertConfig().vocab_size, DIMENSION)
    return MatchModel(backbone, size, 2, ZEROED)


def made_examples(store: RegionStore, n: int) -> Examples:
    """So many random texts of random images, with random labels."""
    draw = np.random.default_rng(n)
    images = [[f"vg:{number}"] for number in draw.integers(0, len(store), n)]
    tokens = draw.integers(1000, 30_000, (n, WORDS), dtype=np.int32)
    return Examples(tokens, images, draw.integers(0, 2, n).tolist(), store)


def flops_of(model: torch.nn.Module, train: Examples) -> float:
    """Floating-point operations of a forward and backward pass for one example: torch counts those of matrix products,
    two for each multiplication and addition."""
    batch = collate([train[number] for number in range(2)])
    with FlopCounterMode(display=False) as counter:
        model(**batch)["loss"].backward()
    model.zero_grad()
    return counter.get_total_flops() / 2


def batch_time(train: Examples, size: int, batches: int = 10) -> float:
    """CPU seconds that one process takes to make a batch, the median (the first reads are from disk)."""
    spent = []
    for start in range(0, batches * size, size):
        begin = time.process_time()
        collate([train[number % len(train)] for number in range(start, start + size)])
        spent.append(time.process_time() - begin)
    return float(np.median(spent))


class Clocked(Course):
    """A course that notes when each step begins, and how long it has waited for its batch.

    The card has done all its work when the clock is read, so what is counted as waiting is time in which it idles: for
    the batch to be made, and to be copied to it.
    """

    begun: list[float] = []
    waited: list[float] = []

    def __init__(self, *given: Any, **named: Any):
        super().__init__(*given, **named)
        self.left = self._clocked(self.left)

    def _clocked(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        while True:
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            begin = time.perf_counter()
            batch = next(batches)
            self.begun.append(begin)
            self.waited.append(time.perf_counter() - begin)
            yield batch


def report(options: argparse.Namespace, flops: float, making: float) -> None:
    """Print what the steps after the warm-up took."""
    gpu = torch.cuda.is_available()
    device = torch.cuda.get_device_name() if gpu else "processor (this is no figure of a GPU)"
    lengths, waits = np.diff(Clocked.begun)[options.warm_up :], np.array(Clocked.waited)[options.warm_up : -1]
    rate = options.batch / lengths.mean()
    peak = next((peak for name, peak in PEAKS.items() if name in device), None)
    share = f"{100e-12 * flops * rate / peak:.1f} % of {peak}" if peak else "its peak is not known here"
    memory = torch.cuda.max_memory_allocated() if gpu else 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = [
        ["device", device],
        ["precision, store, workers", f"{'bfloat16' if gpu else 'float32'}, {options.dtype}, {options.workers}"],
        ["steps counted, batch", f"{len(lengths):,}, {options.batch}"],
        ["samples a second", f"{rate:,.1f}"],
        ["ms a step: mean, median", f"{1e3 * lengths.mean():,.1f}, {1e3 * np.median(lengths):,.1f}"],
        ["GFLOP a sample, forward and backward", f"{flops / 1e9:,.1f}"],
        ["TFLOP/s, share of the card's peak", f"{1e-12 * flops * rate:,.2f}, {share}"],
        ["ms a step waiting for data: mean, most", f"{1e3 * waits.mean():,.2f}, {1e3 * waits.max():,.2f}"],
        ["CPU ms a worker needs for a batch", f"{1e3 * making:,.1f}"],
        ["share of the time waiting for data", f"{100 * waits.sum() / lengths.sum():.1f} %"],
        ["peak memory, GB", f"{memory / 1e9:,.1f}"],
        ["blocking launches, cuBLAS workspace", ", ".join(os.environ.get(name, "not set") for name in SWITCHES)],
    ]
    print_table(["", "measured"], rows)


SWITCHES = ("CUDA_LAUNCH_BLOCKING", "CUBLAS_WORKSPACE_CONFIG")  # both cost time; training sets the second


if __name__ == "__main__":
    main()
