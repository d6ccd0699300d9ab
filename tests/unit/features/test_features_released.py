"""Released features in the store: the images of the scenes, each once, as released; what is left out is counted."""

import json

import h5py
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.released.lines import parse
from compvqa.errors import InputError
from compvqa.features import released
from compvqa.features.readers import Detections
from compvqa.features.released import REJECTS, read_released
from compvqa.features.settings import ReleasedSettings, ReleasedSource
from compvqa.features.store import RegionStore, geometry
from compvqa.models.as_released import filled
from compvqa.training.data import collate, examples, word_tokenizer
from fixtures.released import detections, write_covr, write_frcnn, write_h5, write_scenes, write_tsv

SIZE = (64, 48)
PROGRAM = [{"operation": "find", "arguments": ["dog"]}, {"operation": "count", "dependencies": [0]}]
RECORD = {"qid": 1, "utterance": "How many dogs?", "answer": 2, "pattern_name": "count_ref", "program": PROGRAM}
OUT = ("regions.parquet", "features.safetensors", "rejects.parquet")


def source(reader, *files, space="vg"):
    return ReleasedSource(image_space=space, reader=reader, files=files)


def run(folder, images, *sources, size=None, **given):
    """The store of ``images``' features from ``sources``, the counts, and the rejects as tuples."""
    scenes = write_scenes(folder, images, size)
    counts = read_released(scenes, *(folder / name for name in OUT), _settings(sources, given))
    rejects = [tuple(row.values()) for row in tables.read(folder / OUT[2], REJECTS).to_pylist()]
    return RegionStore(*(folder / name for name in OUT[:2])), counts, rejects


def _settings(sources, given) -> ReleasedSettings:
    return ReleasedSettings(sources=sources, **({"most_missing": 1} | given))


def test_a_run_stops_where_more_images_lack_features_than_may(tmp_path):
    draw = np.random.default_rng(1)
    path = write_tsv(tmp_path / "a.tsv", [(str(n), detections(draw, 3, SIZE)) for n in range(8)])
    asked = [f"vg:{n}" for n in range(10)]
    with pytest.raises(InputError) as error:
        run(tmp_path, asked, source("lxmert_tsv", path), most_missing=0.1)
    kept = tmp_path / released.STOPPED
    assert str(error.value) == (
        "features.released: 2 of 10 images were left out (20.0%), mostly because of 'no features' (first: vg:8), and "
        f"{kept} lists all: correct its files, or raise most_missing (0.1)."
    )
    assert tables.read(kept, REJECTS)["image"].to_pylist() == ["vg:8", "vg:9"]
    assert not (tmp_path / OUT[2]).exists()
    assert run(tmp_path, asked, source("lxmert_tsv", path), most_missing=0.2)[1]["out"] == 8 and not kept.exists()


def test_an_image_space_that_no_source_has_must_be_declared(tmp_path):
    draw = np.random.default_rng(1)
    path = write_tsv(tmp_path / "a.tsv", [("1", detections(draw, 3, SIZE))])
    asked = ["vg:1", "imsitu:1", "imsitu:2"]
    with pytest.raises(
        InputError, match="no source for the image space imsitu: add one, or name the space in features"
    ):
        run(tmp_path, asked, source("lxmert_tsv", path))
    _, told, rejects = run(tmp_path, asked, source("lxmert_tsv", path), lacks=["imsitu"], most_missing=0)
    assert told["out"] == 1 and [image for image, *_ in rejects] == ["imsitu:1", "imsitu:2"]
    with pytest.raises(ValueError, match="lacks names vg, which a source has"):
        ReleasedSettings(sources=[source("lxmert_tsv", path)], lacks=["vg"])


@settings(max_examples=20, deadline=None)
@given(
    counts=st.lists(st.integers(1, 50), min_size=1, max_size=6),
    asked=st.sets(st.integers(0, 7), min_size=1),
    kind=st.sampled_from(["lxmert_tsv", "gqa_h5"]),
    dtype=st.sampled_from(["float32", "float16"]),
)
def test_the_store_has_the_released_numbers_of_the_scenes_images(tmp_path_factory, counts, asked, kind, dtype):
    folder, draw = tmp_path_factory.mktemp("released"), np.random.default_rng(1)
    images = [(str(number), detections(draw, k, SIZE)) for number, k in reversed(list(enumerate(counts)))]
    files = [write_tsv(folder / "a.tsv", images)] if kind == "lxmert_tsv" else write_h5(folder, images)
    known = {name for name, _ in images} & set(map(str, asked))
    if not known:
        with pytest.raises(InputError, match="no image of .* is in the files"):
            run(folder, [f"vg:{n}" for n in asked], source(kind, *files))
        return
    store, told, rejects = run(folder, [f"vg:{n}" for n in asked], source(kind, *files), dtype=dtype)
    assert len(store) == told["out"] == len(known)
    for name, found in images:
        assert (f"vg:{name}" in store) == (name in known)
        if name in known:
            regions, boxes = store[f"vg:{name}"], store.boxes(f"vg:{name}")
            assert regions.features.tobytes() == found.features[:36].astype(dtype).tobytes()
            assert np.array_equal(boxes[:, :2], found.boxes[:36, :2])
            assert np.allclose(boxes[:, :2] + boxes[:, 2:], found.boxes[:36, 2:], atol=1e-5)
            assert np.allclose(regions.geometry, geometry(boxes, SIZE)) and regions.geometry[:, :4].max() <= 1 + 1e-6
    missing = sorted(f"vg:{n}" for n in asked if str(n) not in known)
    assert [row[0] for row in rejects] == missing == [image for image, *_, why in rejects if why == released.MISSING]
    assert told["records in"] == len(images) == len(known) + told.get("records dropped: image of no scene", 0)
    assert told["in"] == told["out"] + told["images dropped: no features"]


def test_of_an_image_in_two_sources_the_first_one_s_features_are_taken(tmp_path):
    draw = np.random.default_rng(2)
    first, other = detections(draw, 2, SIZE), detections(draw, 3, SIZE)
    files = write_h5(tmp_path, [("1", first), ("2", first)]), [write_tsv(tmp_path / "b.tsv", [("2", other)])]
    extra = write_tsv(tmp_path / "c.tsv", [("2", other)])
    store, told, rejects = run(
        tmp_path,
        ["vg:1", "vg:2", "imsitu:2"],
        source("gqa_h5", *files[0]),
        source("lxmert_tsv", *files[1]),
        source("lxmert_tsv", extra, space="imsitu"),
    )
    assert [len(store.boxes(image)) for image in ("vg:1", "vg:2", "imsitu:2")] == [2, 2, 3]
    assert rejects == [("vg:2", "b.tsv", 1, released.REPEATED)] and told["rejected: image repeated"] == 1


def test_regions_that_make_no_sense_are_counted_and_an_image_without_any_is_named(tmp_path):
    box = [1.0, 2, 30, 40]
    boxes = np.array([box, [5, 5, 5, 9], [70, 1, 90, 9], [-4, 2, 70, 99], box, box], np.float32)
    features = np.ones((6, 8), np.float32)
    features[4, 0], features[5, 0] = np.nan, 1e6
    nothing = Detections(boxes[1:3], SIZE, features[1:3])
    path = write_tsv(tmp_path / "a.tsv", [("1", Detections(boxes, SIZE, features)), ("2", nothing)])
    store, told, rejects = run(tmp_path, ["vg:1", "vg:2"], source("lxmert_tsv", path))
    assert store.boxes("vg:1").tolist() == [[1, 2, 29, 38], [0, 2, 64, 46]]  # the second one cut at the edges
    assert told["regions dropped: box without a size in the image"] == 4
    assert told["regions dropped: features are not finite"] == 2
    assert rejects == [("vg:2", "a.tsv", 2, "no regions")]


def test_regions_beyond_the_most_and_other_sizes_are_counted(tmp_path):
    draw = np.random.default_rng(3)
    path = write_tsv(tmp_path / "a.tsv", [("1", detections(draw, 9, SIZE)), ("2", detections(draw, 3, (48, 64)))])
    store, told, _ = run(tmp_path, ["vg:1", "vg:2"], source("lxmert_tsv", path), most_regions=4, size=SIZE)
    assert [len(store.boxes(f"vg:{n}")) for n in (1, 2)] == [4, 3]
    assert (told["regions"], told["regions dropped: beyond most_regions"]) == (7, 5)
    assert told["images of another size than their scene's"] == 1


def test_boxes_that_are_shares_are_put_into_pixels_where_the_scene_has_a_size(tmp_path):
    draw = np.random.default_rng(4)
    images = [("1", detections(draw, 3, SIZE)), ("jumping_2", detections(draw, 2, SIZE))]
    files = write_covr(tmp_path, images)
    both = source("covr_h5", *files), source("covr_h5", *files, space="imsitu")
    asked = ["vg:1", "imsitu:jumping_2", "vg:jumping_2"]
    store, told, rejects = run(tmp_path, asked, *both, size=SIZE)
    assert np.allclose(store.boxes("vg:1")[:, :2], images[0][1].boxes[:, :2], atol=1e-4)
    plain, _, _ = run(tmp_path, asked, *both)
    for image, (_, found) in zip(asked, images, strict=False):
        assert np.allclose(plain[image].geometry, store[image].geometry, atol=1e-6)
        assert plain[image].features.tobytes() == found.features.astype(np.float16).tobytes()
    assert np.allclose(plain.boxes("vg:1")[:, :2] * SIZE, images[0][1].boxes[:, :2], atol=1e-4)
    assert told["out"] == 3 and not rejects and told["regions dropped: box without a size in the image"] > 0


def loaded_by_the_authors(store, rows, names, most=5):
    """What their loader makes of a question's images (``names``, most of five): features [5, 36, D] and places [5, 36,
    5], zeros for each image that their index lacks (experiments/src/dataset_readers/vcqa.py)."""
    features = np.zeros((most, *store["features"].shape[1:]), np.float32)
    places = np.zeros((most, 36, 5), np.float32)
    for at, row in enumerate(map(rows.get, names)):
        if row is not None:
            left, top, right, bottom = store["boxes"][row].T
            features[at] = store["features"][row]
            places[at] = np.stack([left, top, right, bottom, (bottom - top) * (right - left)], axis=1)
    return features, places


def test_models_are_shown_what_the_loader_of_covr_s_authors_gives_of_their_files(tmp_path):
    draw, names = np.random.default_rng(5), ["2354786", "jumping_3.jpg", "61512", "erasing_40.jpg", "107900"]
    store, index = write_covr(tmp_path, [(name, detections(draw, 36, (640, 480))) for name in names])
    lines = [["2354786", "gone_7.jpg"], ["erasing_40.jpg", "61512", "jumping_3.jpg"], [*names], ["2354786", "12"]]
    images = [parse(RECORD | {"scenes": scenes}).images for scenes in lines]
    asked = sorted({image for of in images for image in of})
    both = source("covr_h5", store, index), source("covr_h5", store, index, space="imsitu")
    regions, _, rejects = run(tmp_path, asked, *both, dtype="float32")
    assert [row[0] for row in rejects] == ["imsitu:gone_7", "vg:12"]
    words = word_tokenizer([RECORD["utterance"]])
    items = examples([RECORD["utterance"]] * len(lines), images, [0] * len(lines), words, regions, 9)
    batch = collate([items[number] for number in range(len(lines))])
    shown = filled([batch[name] for name in ("features", "geometry", "region_mask", "question_of")], len(lines), 5, 36)
    assert shown[2].all() and torch.bincount(shown[3]).tolist() == [5] * len(lines)
    with h5py.File(store) as file:
        rows = json.loads(index.read_text())
        for number, scenes in enumerate(lines):
            expected = loaded_by_the_authors(file, rows, scenes)
            found = [column[shown[3] == number].numpy() for column in shown[:2]]
            order = [np.lexsort(side[1].reshape(5, -1).T) for side in (found, expected)]  # no model asks for theirs
            for ours, theirs in zip(found, expected, strict=True):
                assert np.allclose(ours[order[0]], theirs[order[1]], atol=1e-6)


def test_clevr_hope_s_padding_is_no_region(tmp_path):
    images = [(f"CLEVR_val_{n:06}", detections(np.random.default_rng(n), k, SIZE)) for n, k in enumerate((3, 36))]
    asked = [f"vg:{name}" for name, _ in images]
    store, told, rejects = run(tmp_path, asked, source("frcnn_h5", *write_frcnn(tmp_path, images)), size=SIZE)
    assert [len(store.boxes(image)) for image in asked] == [3, 36] and not rejects
    assert told["regions dropped: box without a size in the image"] == 33
    for image, (_, found) in zip(asked, images, strict=True):
        assert store[image].features.tobytes() == found.features.astype(np.float16).tobytes()


def test_equal_files_give_equal_bytes(tmp_path):
    images = [(str(n), detections(np.random.default_rng(n), 3, SIZE)) for n in (3, 1, 2)]
    made = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        run(tmp_path / name, ["vg:1", "vg:2", "vg:3"], source("lxmert_tsv", write_tsv(tmp_path / "a.tsv", images)))
        made.append([(tmp_path / name / file).read_bytes() for file in OUT])
    assert made[0] == made[1]


def test_what_does_not_fit_stops_the_run(tmp_path, monkeypatch):
    draw = np.random.default_rng(4)
    wide, narrow = (write_tsv(tmp_path / f"{d}.tsv", [(str(d), detections(draw, 2, SIZE, d))]) for d in (8, 6))
    images = ["vg:8", "vg:6"]
    with pytest.raises(InputError, match=r"6\.tsv, record 1: features of length 6 where those before have 8"):
        run(tmp_path, images, source("lxmert_tsv", wide, narrow))
    with pytest.raises(ValueError, match="there is no such reader, use one of covr_h5, frcnn_h5, gqa_h5, lxmert_tsv"):
        source("csv", wide)
    monkeypatch.setattr(released.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 100})())
    with pytest.raises(InputError, match="GB free where features may take"):
        run(tmp_path, images, source("lxmert_tsv", wide))
    assert not (tmp_path / "features.safetensors").exists()
