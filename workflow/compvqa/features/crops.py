"""Regions of our own pictures without labels: the boxes of the detector stand-in, each cut out and described alone.

A crop is described by a rule (``contrast``, ``raw``) or by a frozen network. Scene tables only place the boxes: no name
or attribute is read, and nothing is trained. Each shard is a store of its own, which stays where a run is stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from compvqa import facts, tables
from compvqa.errors import InputError
from compvqa.features.boxes import true_boxes
from compvqa.features.cuts import cut
from compvqa.features.detector import detect
from compvqa.features.settings import CropSettings, PictureSettings
from compvqa.features.store import ImageRegions, RegionStore, write
from compvqa.progress import track
from compvqa.scenes.images import Shown, pictures_of
from compvqa.scenes.tables import OBJECTS, SCENES

REGIONS, FEATURES = FILES = ("regions.parquet", "features.safetensors")  # of a shard, and of all shards
AT_ONCE = 16  # pictures whose crops are described together
LUMA = np.array([0.299, 0.587, 0.114], np.float32)  # of red, green and blue in how bright a pixel is
Describe = Callable[[np.ndarray], np.ndarray]  # of crops uint8 [k, 3, S, S] the vectors [k, D]


class Placed(NamedTuple):
    """A picture, its file, and where its regions are."""

    shown: Shown
    boxes: np.ndarray  # float32 [k, 4]: x, y, w, h in pixels
    size: tuple[float, float]  # width and height in pixels


def placed(
    scenes: Path, images: Mapping[str, Path], settings: CropSettings, seed: int, shard: int = 0, shards: int = 1
) -> list[Placed]:
    """One shard's pictures of the scene tables ``scenes`` with their regions; ``images`` are folders by image space.

    InputError where a picture has no file, or where the tables tell no size of it, or no box of what is in it; one of
    which they tell no object has what the detector takes for one.
    """
    places, found, told = dict(true_boxes(scenes)), [], _with_objects(scenes)
    for shown in pictures_of(scenes, images, shard, shards):
        boxes, size = places[shown.image]
        if not all(size) or (not len(boxes) and (shown.image in told or not told)):
            raise InputError(
                f"{scenes} tells no box, or no size, of the picture {shown.image}: take scenes that do, such as "
                "those of a world of ours, or features.pictures in the place of features.crops."
            )
        found.append(Placed(shown, detect(shown.image, boxes, size, settings.detector, seed), size))
    return found


def _with_objects(scenes: Path) -> set[str]:
    """The images of which the scene tables tell an object."""
    there = set(tables.read(scenes / "objects.parquet", OBJECTS, ["scene_id"])["scene_id"].to_pylist())
    rows = tables.read(scenes / "scenes.parquet", SCENES, ["scene_id", "image"]).to_pylist()
    return {row["image"] for row in rows if row["scene_id"] in there}


def extract(pictures: Sequence[Placed], out: Path, settings: CropSettings) -> dict[str, int]:
    """Write the regions of ``pictures`` and their vectors into the folder ``out``, the files of :data:`FILES`.

    A picture's numbers do not depend on the others of its shard.
    """
    if not pictures:
        raise InputError(f"{out} would have no picture: give fewer shards than there are pictures.")
    describe, dimension = _describe(settings)
    count = write(out / REGIONS, out / FEATURES, _described(pictures, settings, describe), dimension)
    return {"pictures": count, "regions": sum(len(one.boxes) for one in pictures), "numbers": dimension}


def gather(shards: Sequence[Path], out: Path) -> dict[str, int]:
    """Make one store in the folder ``out`` of those of ``shards``, folders that :func:`extract` filled."""
    stores = [RegionStore(shard / REGIONS, shard / FEATURES) for shard in shards]
    count = write(out / REGIONS, out / FEATURES, _all(stores), stores[0].dimension)
    return {"pictures": count, "regions": sum(len(store.features) for store in stores), "shards": len(shards)}


def _all(stores: Sequence[RegionStore]) -> Iterator[ImageRegions]:
    for store in stores:
        yield from store.all()


def _described(pictures: Sequence[Placed], settings: CropSettings, describe: Describe) -> Iterator[ImageRegions]:
    """The pictures' regions with their vectors."""
    for at in track(range(0, len(pictures), AT_ONCE), "crops", unit="batch"):
        some = pictures[at : at + AT_ONCE]
        pixels = [cut(one.shown.path, one.boxes, settings.side, settings.margin) for one in some]
        ends = np.cumsum([len(part) for part in pixels])
        vectors = np.split(describe(np.concatenate(pixels)), ends[:-1])
        for one, part in zip(some, vectors, strict=True):
            yield ImageRegions(one.shown.image, one.boxes, one.size, part)


def _describe(settings: CropSettings) -> tuple[Describe, int]:
    """What describes crops, and how many numbers it gives of each; the record is told whose weights it has."""
    facts.tell(frozen_weights=settings.network.weights if settings.describe == "network" else "none")
    if settings.describe == "network":
        return _by_network(settings.network)
    if settings.describe == "raw":
        return raw, 3 * settings.pixels**2
    return lambda pixels: contrast(pixels, settings.thumbnail), 3 * settings.thumbnail**2 + settings.pixels**2


def raw(pixels: np.ndarray) -> np.ndarray:
    """The pixels themselves, -1 to 1: [k, 3 S S]."""
    return pixels.reshape(len(pixels), -1).astype(np.float32) / 127.5 - 1


def contrast(pixels: np.ndarray, thumbnail: int) -> np.ndarray:
    """Colours without shape, then shape without colours: a thumbnail of so many pixels a side, -1 to 1, and how steep
    brightness is at each pixel, of which the steepest is 1: [k, 3 thumbnail² + S²]."""
    light = pixels.astype(np.float32) / 255
    k, _, side, _ = light.shape
    cells = light.reshape(k, 3, thumbnail, side // thumbnail, thumbnail, side // thumbnail).mean(axis=(3, 5))
    red, green, blue = light.swapaxes(0, 1)  # not summed by BLAS, whose last bits depend on the processor
    down, across = np.gradient(LUMA[0] * red + LUMA[1] * green + LUMA[2] * blue, axis=(1, 2))
    steep = np.hypot(down, across)
    steep /= np.maximum(steep.max(axis=(1, 2), keepdims=True), 1e-6)
    return np.concatenate([2 * cells.reshape(k, -1) - 1, steep.reshape(k, -1)], axis=1)


def _by_network(settings: PictureSettings) -> tuple[Describe, int]:
    """A frozen network's pooled vectors of crops, and their length."""
    import torch  # which the rules above do without

    from compvqa.features.vision import load

    torch.set_num_threads(settings.threads)
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = load(settings).to(place)

    @torch.no_grad()
    def describe(pixels: np.ndarray) -> np.ndarray:
        found = []
        for at in range(0, len(pixels), settings.batch_size):
            some = pixels[at : at + settings.batch_size]
            full = np.zeros((settings.batch_size, *some.shape[1:]), np.float32)  # of one size, as pictures' batches are
            full[: len(some)] = some / np.float32(255)
            found.append(net.pooled(torch.from_numpy(full).to(place))[: len(some)].cpu().numpy())
        return np.concatenate(found)

    nothing = np.zeros((1, 3, settings.side, settings.side), np.uint8)
    return describe, describe(nothing).shape[1]
