"""What the grids of whole pictures cost: a frozen network of the paper's size, whose weights are random.

    python benchmarks/pictures.py FOLDER --pictures 16 64

A network of transformers is made from its configuration alone (ResNet-101), so that nothing is fetched: what it gives
means nothing, what it takes is what the real one does. Each number of pictures is done in a process of its own, whose
start counts in its memory. FOLDER keeps the network, the pictures and the matrices.
"""

from __future__ import annotations

import argparse
import resource
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from measure import print_table
from PIL import Image
from transformers import ResNetConfig, ResNetModel

from compvqa.features.pictures import FILES, extract
from compvqa.features.settings import PictureSettings
from compvqa.scenes.images import Shown

RESNET_101 = {"depths": [3, 4, 23, 3]}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pictures", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    net = options.folder / "resnet-101"
    if not net.exists():
        drawn(net)
    settings = PictureSettings(backbone=str(net), batch_size=options.batch, threads=options.threads)
    rows = []
    for number in options.pictures:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            cpu, peak, written = pool.submit(measured, options.folder, number, settings).result()
        rows.append([f"{number:,}", f"{cpu / number:.2f}", f"{peak:,.0f}", f"{written / number / 1e6:.3f}"])
    print_table(["pictures", "CPU s a picture", "peak MB", "MB a picture"], rows)


def drawn(folder: Path) -> None:
    """Write a network with random weights, of which each layer's numbers are halved: else they grow beyond float16."""
    torch.manual_seed(0)
    net = ResNetModel(ResNetConfig(**RESNET_101))
    for name, value in net.named_parameters():
        if name.endswith("normalization.weight"):
            value.data.fill_(0.5)
    net.save_pretrained(folder)


def measured(folder: Path, number: int, settings: PictureSettings) -> tuple[float, float, int]:
    """CPU seconds, the most memory (MB) and the bytes written for so many pictures."""
    draw, shown = np.random.default_rng(0), []
    (folder / "pictures").mkdir(exist_ok=True)
    for place in range(number):
        path = folder / f"pictures/{place}.png"
        Image.fromarray(draw.integers(0, 256, (320, 480, 3), np.uint8)).save(path)
        shown.append(Shown(f"s:{place}", path))
    before = resource.getrusage(resource.RUSAGE_SELF)
    out = folder / f"features-{number}"
    extract(shown, out, settings)
    after = resource.getrusage(resource.RUSAGE_SELF)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, after.ru_maxrss / 1024, sum((out / name).stat().st_size for name in FILES)


if __name__ == "__main__":
    main()
