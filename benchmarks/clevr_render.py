"""What a picture of CLEVR's world costs, and how like the official pictures ours are.

    OMP_NUM_THREADS=1 python benchmarks/clevr_render.py --scenes 50
    python benchmarks/clevr_render.py --scenes 100 --beside blender
    python benchmarks/clevr_render.py --official CLEVR_val_scenes.json --pictures images/val --figure pairs.png

CPU seconds a picture of 480x320, over scenes of the release's sizes: sampling (with its look for what is hidden), an
unshaded pass (ids and depth alone, the reference of the same run), drawing, and packing as PNG. With --beside, another
renderer draws the same scenes: the share of pixels with the same id, whether both see the same objects well enough, how
far apart depths and colours are, and what each costs. With --official, official scenes are drawn again from recovered
cameras: decibels beside their pictures.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from measure import print_table

from compvqa.plugins import find
from compvqa.scenes.worlds.clevr import RENDERERS, record
from compvqa.scenes.worlds.clevr.redraw import figure, redraw
from compvqa.scenes.worlds.clevr.sample import sample_scene
from compvqa.scenes.worlds.clevr.seen import look
from compvqa.scenes.worlds.clevr.settings import ClevrSettings

T = TypeVar("T")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=50)
    parser.add_argument("--samples", type=int, default=16, help="light samples")
    parser.add_argument("--renderer", default="caster")
    parser.add_argument("--width", type=int, default=480)
    parser.add_argument("--height", type=int, default=320)
    parser.add_argument("--beside", help="another renderer")
    parser.add_argument("--official", type=Path, help="official scene file")
    parser.add_argument("--pictures", type=Path, help="folder of its pictures")
    parser.add_argument("--figure", type=Path, help="where to put the pairs (PNG)")
    arguments = parser.parse_args()
    if arguments.official:
        compare(arguments)
    elif arguments.beside:
        beside(arguments)
    else:
        costs(arguments)


def costs(arguments: argparse.Namespace) -> None:
    """CPU seconds of each part, over scenes."""
    size = {"width": arguments.width, "height": arguments.height, "light_samples": arguments.samples}
    settings = ClevrSettings(**size, renderer=arguments.renderer)
    draw = find(RENDERERS, settings.renderer, "draw", "renderer").draw
    spent: dict[str, list[float]] = {name: [] for name in ("sample", "unshaded pass", "draw", "PNG")}
    for number in range(-1, arguments.scenes):  # the first one warms up
        scene, first = timed(lambda n=number: sample_scene(settings, 1, n))
        camera, solids = record.camera_of(scene, settings), record.solids_of(scene, settings)
        _, second = timed(lambda c=camera, s=solids: look(s, c))
        picture, third = timed(lambda s=scene: draw(s, settings))
        _, fourth = timed(picture.png)
        if number >= 0:
            for name, seconds in zip(spent, (first, second, third, fourth), strict=True):
                spent[name].append(seconds)
    spent["all but the pass"] = list(np.sum([spent[name] for name in ("sample", "draw", "PNG")], axis=0))
    rows = []
    for name, values in spent.items():
        told = [np.mean(values), *np.percentile(values, (5, 50, 95)), max(values)]
        rows.append([name, *(f"{value:.3f}" for value in told)])
    print_table(["CPU seconds", "mean", "5 %", "50 %", "95 %", "most"], rows)


def beside(arguments: argparse.Namespace) -> None:
    """How two renderers agree about the same scenes; a verdict in doubt is about a count within 5 % of the least."""
    size = {"width": arguments.width, "height": arguments.height, "light_samples": arguments.samples}
    settings = ClevrSettings(**size)
    names = (arguments.renderer, arguments.beside)
    renderers = [find(RENDERERS, name, "draw", "renderer").draw for name in names]
    rows: dict[str, list[float]] = {"% of ids that agree": [], "% of depths within .01": [], "decibels": []}
    rows |= {f"CPU seconds, {name}": [] for name in names}
    rows |= {"peak memory, GB": []}
    least, judged, differ, doubt = settings.least_pixels, 0, 0, 0
    for number in range(-1, arguments.scenes):  # the first one warms up
        scene = sample_scene(settings, 1, number)
        (one, first), (other, second) = (timed(lambda d=draw, s=scene: d(s, settings)) for draw in renderers)
        if number < 0:
            continue
        counts = np.array([picture.pixels(len(scene["objects"])) for picture in (one, other)])
        verdicts = counts >= least
        near = (np.abs(counts - least) <= 0.05 * least).any(0)
        judged, doubt = judged + near.size, doubt + int(near.sum())
        differ += int(((verdicts[0] != verdicts[1]) & ~near).sum())
        same = one.ids == other.ids
        wrong = np.mean((one.color.astype(float) - other.color) ** 2)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        deep = np.abs(one.depth[same] - other.depth[same]) < 0.01
        values = (100 * same.mean(), 100 * deep.mean(), 10 * np.log10(255**2 / wrong), first, second, memory)
        for name, value in zip(rows, values, strict=True):
            rows[name].append(float(value))
    told = [(name, np.mean(v), min(v), *np.percentile(v, (5, 50, 95)), max(v)) for name, v in rows.items()]
    table = [[name, *(f"{value:.3f}" for value in values)] for name, *values in told]
    print_table([f"{arguments.scenes} scenes", "mean", "least", "5 %", "50 %", "95 %", "most"], table)
    print(f"{judged} objects: other verdict about {differ}, beside {doubt} whose counts are within 5 % of {least}")


def compare(arguments: argparse.Namespace) -> None:
    """Decibels of each official picture that is there, and the figure."""
    _, scenes = record.read(arguments.official)
    pairs = []
    rows = []
    for scene in scenes:
        picture = arguments.pictures / scene["image_filename"]
        if picture.exists() and len(pairs) < arguments.scenes:
            pair = redraw(scene, picture, arguments.renderer)
            pairs.append(pair)
            rows.append([scene["image_filename"], f"{pair.psnr:.1f}", f"{pair.residual:.2f}"])
    rows.append(["mean", f"{np.mean([pair.psnr for pair in pairs]):.1f}", ""])
    print_table(["picture", "decibels", "camera's worst residual, pixels"], rows)
    if arguments.figure:
        figure(pairs, arguments.figure)


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What ``work`` gives, and its CPU seconds."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


if __name__ == "__main__":
    main()
