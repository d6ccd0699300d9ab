"""Region features from released files into the store, in one pass: only the images that scenes are of."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from compvqa import plugins, tables
from compvqa.errors import InputError
from compvqa.features.readers import SHARES, Detections, Reader, Record
from compvqa.features.settings import ReleasedSettings, ReleasedSource
from compvqa.features.store import ImageRegions, write
from compvqa.progress import track
from compvqa.scenes.tables import SCENES

REJECTS = tables.Schema(
    "feature_rejects",
    pa.schema(
        [
            ("image", pa.string()),
            ("file", pa.string()),  # the released file's name; empty where no file has the image
            ("record", pa.int64()),  # its number in the file, from 1; 0 where no file has the image
            ("reason", pa.string()),
        ]
    ),
    key=("image", "file", "record", "reason"),
    unique=False,
)
STOPPED = "stopped.rejects.parquet"  # no output of the rule: it stays where the run stops
MISSING = "no features"
REPEATED = "image repeated"


def read_released(
    scenes: Path, regions: Path, features: Path, rejects: Path, settings: ReleasedSettings
) -> dict[str, int]:
    """Write the regions and features of every image in the scene tables ``scenes`` that a source has, and ``rejects``:
    the images that none has, and the records that were refused.

    Gives the counts of what came in, went out, and was left out. Raises InputError where a file is broken, where no
    image is found or more are missing than ``most_missing`` (the file ``STOPPED`` beside ``rejects`` then lists them),
    where sources differ in the length of features, and where the disk lacks the space.
    """
    kept = rejects.with_name(STOPPED)
    kept.unlink(missing_ok=True)
    wanted = tables.read(scenes / "scenes.parquet", SCENES, ["image", "width", "height"]).to_pylist()
    intake = _Intake({row["image"]: (row["width"], row["height"]) for row in wanted}, settings)
    try:
        settings.check_spaces(_space(image) for image in intake.wanted)
    except ValueError as error:
        raise InputError(f"{error}.") from None
    found = intake.images()
    first = next(found, None)
    if first is None:
        raise InputError(
            f"features.released: no image of {scenes / 'scenes.parquet'} is in the files of its sources; "
            "correct their image_space or files."
        )
    dimension = first.features.shape[1]
    most = intake.expected * settings.most_regions * dimension * np.dtype(settings.dtype).itemsize
    _check_space(features.parent, most)
    images = track(chain([first], found), f"features, at most {most / 1e9:,.2f} GB", intake.expected, "image")
    written = write(regions, features, images, dimension, dtype=settings.dtype)
    left_out = intake.rejects + intake.missing()
    if why := intake.too_many(left_out, kept):
        tables.write(kept, REJECTS, left_out)
        raise InputError(why)
    tables.write(rejects, REJECTS, left_out)
    return {"in": len(intake.wanted), "out": written, **dict(sorted(intake.counts.items()))}


class _Intake:
    """What is taken from the sources, and what not."""

    def __init__(self, wanted: dict[str, tuple[int | None, int | None]], settings: ReleasedSettings):
        self.wanted = wanted
        self.settings = settings
        self.counts: Counter[str] = Counter()
        self.rejects: list[dict] = []
        self._taken: set[str] = set()
        self._dimension = 0

    @property
    def expected(self) -> int:
        """The number of images that the sources might have."""
        spaces = {source.image_space for source in self.settings.sources}
        return sum(_space(image) in spaces for image in self.wanted)

    def images(self) -> Iterator[ImageRegions]:
        """The wanted images of all sources, each once, in the order of the files."""
        for source in self.settings.sources:
            for record in _reader(source).read(source.files):
                self.counts["records in"] += 1
                image = f"{source.image_space}:{record.image_id}"
                if image not in self.wanted:
                    self.counts["records dropped: image of no scene"] += 1
                elif image in self._taken:
                    self._reject(image, record, REPEATED)
                else:
                    kept = self._kept(image, record)
                    if kept is not None:
                        self._taken.add(image)
                        yield kept

    def missing(self) -> list[dict]:
        """A reject for each image that no source has, counted."""
        refused = {row["image"] for row in self.rejects}
        images = [image for image in self.wanted if image not in self._taken and image not in refused]
        self.counts[f"images dropped: {MISSING}"] += len(images)
        return [{"image": image, "file": "", "record": 0, "reason": MISSING} for image in images]

    def too_many(self, left_out: list[dict], place: Path) -> str:
        """Why the run must stop: of the images that a source might have, too many are in ``left_out``, the rows of the
        rejects at ``place``; empty if not."""
        lost = {row["image"]: row["reason"] for row in left_out if row["image"] not in self._taken}
        lost = {image: reason for image, reason in lost.items() if _space(image) not in self.settings.lacks}
        if len(lost) <= self.settings.most_missing * self.expected:
            return ""
        why = Counter(lost.values())
        often = min(why, key=lambda reason: (-why[reason], reason))
        share = len(lost) / self.expected
        example = min(image for image, reason in lost.items() if reason == often)
        return (
            f"features.released: {len(lost):,} of {self.expected:,} images were left out ({share:.1%}), "
            f"mostly because of '{often}' (first: {example}), and {place} lists all: "
            f"correct its files, or raise most_missing ({self.settings.most_missing:g})."
        )

    def _reject(self, image: str, record: Record, reason: str) -> None:
        self.rejects.append({"image": image, "file": record.file, "record": record.number, "reason": reason})
        self.counts[f"rejected: {reason}"] += 1

    def _kept(self, image: str, record: Record) -> ImageRegions | None:
        """The first regions of a record that have a box in the image and finite features; None: it was refused."""
        detections = _in_pixels(record.decode(), self.wanted[image])
        width, height = size = detections.size
        if not (width > 0 and height > 0):
            self._reject(image, record, "image without a size")
            return None
        boxes, vectors, empty, strange = _usable(detections, self.settings.dtype)
        self.counts["regions dropped: box without a size in the image"] += empty
        self.counts["regions dropped: features are not finite"] += strange
        if not len(boxes):
            self._reject(image, record, "no regions")
            return None
        self._dimension = self._dimension or vectors.shape[1]
        if vectors.shape[1] != self._dimension:
            raise InputError(
                f"{record.file}, record {record.number}: features of length {vectors.shape[1]} where those before have "
                f"{self._dimension}: download the file again, or take files of one detector."
            )
        if None not in self.wanted[image] and self.wanted[image] != size:
            self.counts["images of another size than their scene's"] += 1
        most = self.settings.most_regions
        self.counts["regions"] += len(boxes[:most])
        self.counts["regions dropped: beyond most_regions"] += len(boxes[most:])
        return ImageRegions(image, boxes[:most], size, vectors[:most])


def _space(image: str) -> str:
    return image.partition(":")[0]


def _in_pixels(detections: Detections, size: tuple[int | None, int | None]) -> Detections:
    """Boxes that are shares of the image in pixels, if the scene says its ``size``; others as they are."""
    width, height = size
    if detections.size != SHARES or width is None or height is None:
        return detections
    edges = detections.boxes * np.array([width, height, width, height], np.float32)
    return Detections(edges, (float(width), float(height)), detections.features)


def _usable(detections: Detections, dtype: str) -> tuple[np.ndarray, np.ndarray, int, int]:
    """The boxes (x, y, w, h), cut at the image's edges, and features of ``dtype`` of the regions that have both; then
    how many have an empty box, and how many of the others have features that are not finite in ``dtype``."""
    width, height = detections.size
    edges = np.clip(detections.boxes, 0, np.array([width, height, width, height], np.float32))
    boxes = np.concatenate([edges[:, :2], edges[:, 2:] - edges[:, :2]], axis=1)
    with np.errstate(over="ignore"):
        vectors = detections.features.astype(dtype)
    whole = np.isfinite(boxes).all(axis=1) & (boxes[:, 2:] > 0).all(axis=1)
    finite = np.isfinite(vectors).all(axis=1)
    return boxes[whole & finite], vectors[whole & finite], int((~whole).sum()), int((whole & ~finite).sum())


def _check_space(folder: Path, needed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise InputError(
            f"{folder} has {free / 1e9:,.1f} GB free where features may take {needed / 1e9:,.1f} GB: make room, keep "
            "fewer regions (features.released.most_regions), or take float16."
        )


def _reader(source: ReleasedSource) -> Reader:
    return plugins.find("compvqa.features.readers", source.reader, "read", "reader of features")
