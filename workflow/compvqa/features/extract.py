"""Region features of drawn images: boxes from the detector stand-in, vectors from the learned encoder."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from compvqa import tables
from compvqa.errors import InputError
from compvqa.features import encoder as encoding
from compvqa.features.boxes import annotated_boxes, match, true_boxes
from compvqa.features.cuts import cut
from compvqa.features.detector import detect
from compvqa.features.encoder import Labels, Vocabulary
from compvqa.features.seen import write_seen
from compvqa.features.settings import FeatureSettings
from compvqa.features.store import ImageRegions, write
from compvqa.progress import track
from compvqa.scenes.tables import ATTRIBUTES, SCENES

FILES = ("regions.parquet", "features.safetensors", "encoder.safetensors", "encoder_saw.parquet")


def extract(
    scenes: Path,
    truth: Path,
    aside: Path,
    images: Path,
    out: Path,
    settings: FeatureSettings,
    seed: int,
) -> dict[str, int]:
    """Write the regions and features of every image of the scene tables ``scenes``, and of those outside the test-bed
    in ``aside``, into the folder ``out``: the files of :data:`FILES`.

    The encoder learns from the annotated names and attributes of ``aside/encoder`` alone, images about which no
    question and no filter asks; they are in the last file. The scene tables ``truth``, and the complete ones of
    ``aside``, place the boxes, nothing else; ``images`` is the folder of ``<image id>.png``. Raises InputError for a
    missing picture.
    """
    others = sorted(folder for folder in aside.iterdir() if folder.is_dir())
    learnt = tables.read(aside / "encoder/annotated/scenes.parquet", SCENES)["image"].to_pylist()
    known = [scenes, *(folder / "annotated" for folder in others)]
    names = sorted(set(tables.read_all((path / "scenes.parquet" for path in known), SCENES)["image"].to_pylist()))
    places = {image: box for path in (truth, *(f / "complete" for f in others)) for image, box in true_boxes(path)}
    found, shapes, pixels = [], [], []
    for image in track(names, "regions", unit="image"):
        path = images / f"{image.partition(':')[2]}.png"
        if not path.exists():
            raise InputError(f"{path} is missing: make the pictures of {image.partition(':')[0]} again.")
        boxes, size = places.get(image, (np.zeros((0, 4), np.float32), (0.0, 0.0)))
        if not size[0]:
            raise InputError(f"{truth} does not know the size of image {image}: make the scenes again.")
        found.append(ImageRegions(image, detect(image, boxes, size, settings.detector, seed), size, np.zeros(0)))
        shapes.append(encoding.shapes(found[-1].boxes, size))
        pixels.append(cut(path, found[-1].boxes, settings.encoder.pixels, settings.encoder.margin))
    own = set(learnt)
    train = [number for number, image in enumerate(names) if image in own]
    labels = _labels(aside / "encoder/annotated", [found[number] for number in train])
    model, shares = encoding.fit(
        np.concatenate([pixels[n] for n in train]), np.concatenate([shapes[n] for n in train]), labels,
        settings.encoder, seed,
    )  # fmt: skip
    vectors = encoding.encode(model, np.concatenate(pixels), np.concatenate(shapes))
    ends = np.cumsum([len(image.boxes) for image in found])
    filled = (image._replace(features=part) for image, part in zip(found, np.split(vectors, ends[:-1]), strict=True))
    out_regions, out_features, out_encoder, out_seen = (out / name for name in FILES)
    count = write(out_regions, out_features, filled, vectors.shape[1], len(vectors))
    encoding.save(model, out_encoder)
    counts = {"in": len(names), "out": count, "regions": len(vectors)}
    counts["images that the encoder saw"] = write_seen(out_seen, learnt, labels.vocabulary.words)
    counts["regions with an annotated name"] = int((labels.names >= 0).sum())
    return counts | {f"right {what}s in training, per mille": round(1000 * share) for what, share in shares.items()}


def _labels(scenes: Path, found: list[ImageRegions]) -> Labels:
    """What the annotation in ``scenes`` says of the regions ``found``, one after the other."""
    image_of = dict(zip(*_columns(scenes / "scenes.parquet", SCENES, "scene_id", "image"), strict=True))
    objects: dict[str, list] = defaultdict(list)
    for scene_id, rows in annotated_boxes(scenes).items():
        objects[image_of[scene_id]] += rows
    attributes: dict[tuple[str, str], list[str]] = defaultdict(list)
    grouped: dict[str, set[str]] = defaultdict(set)
    for row in tables.read(scenes / "attributes.parquet", ATTRIBUTES).to_pylist():
        attributes[row["scene_id"], row["object_id"]].append(row["name"])
        grouped[row["group"] or ""].add(row["name"])
    nouns = sorted({row["name"] for rows in objects.values() for row, _ in rows})
    noun_at = {noun: number for number, noun in enumerate(nouns)}
    groups = [sorted(grouped[group]) for group in sorted(grouped)]
    column = {name: number for number, name in enumerate(name for group in groups for name in group)}
    group_of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])

    matched = [row for image in found for row in match(image.boxes, objects[image.image])]
    known = np.array([-100 if row is None else noun_at[row["name"]] for row in matched], np.int64)
    wanted = np.zeros((len(matched), len(group_of)), np.float32)
    for number, row in enumerate(matched):
        for name in attributes[row["scene_id"], row["object_id"]] if row else ():
            wanted[number, column[name]] = 1
    for group in range(len(groups)):
        part = wanted[:, group_of == group]
        wanted[:, group_of == group] = part / np.maximum(part.sum(axis=1, keepdims=True), 1)
    return Labels(known, wanted, Vocabulary(tuple(nouns), tuple(map(tuple, groups))))


def _columns(path: Path, schema: tables.Schema, *names: str) -> list[list]:
    table = tables.read(path, schema, names)
    return [table[name].to_pylist() for name in names]
