"""Readers of released features: what the files hold comes back bit for bit; a broken file is told in one sentence."""

import json
import re

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compvqa.errors import InputError
from compvqa.features.readers import SHARES, Detections, covr_h5, frcnn_h5, gqa_h5, lxmert_tsv
from fixtures.released import detections, tsv_line, write_covr, write_frcnn, write_h5, write_tsv

COUNTS = st.lists(st.integers(1, 6), min_size=1, max_size=5)


def drawn(counts, dimension=8):
    draw = np.random.default_rng(0)
    return [(f"n{number}", detections(draw, k, (64, 48 + number), dimension)) for number, k in enumerate(counts)]


def same(found: Detections, told: Detections) -> bool:
    """Whether both are equal, the arrays bit for bit."""
    arrays = [(found.boxes, told.boxes), (found.features, told.features)]
    return found.size == told.size and all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in arrays)


@settings(max_examples=15, deadline=None)
@given(counts=COUNTS)
def test_a_tsv_gives_what_was_written_in_its_order(tmp_path_factory, counts):
    images = drawn(counts)
    path = write_tsv(tmp_path_factory.mktemp("tsv") / "a.tsv", images)
    read = [(r.image_id, r.file, r.number, r.decode()) for r in lxmert_tsv.read([path])]
    assert [row[:3] for row in read] == [(name, "a.tsv", n) for n, (name, _) in enumerate(images, 1)]
    assert all(same(row[3], told) for row, (_, told) in zip(read, images, strict=True))


def test_an_image_of_a_tsv_may_have_no_regions(tmp_path):
    path = write_tsv(tmp_path / "a.tsv", drawn([0, 2]))
    none, some = (record.decode() for record in lxmert_tsv.read([path]))
    assert none.boxes.shape == (0, 4) and none.size == (64, 48) and len(some.boxes) == 2


@settings(max_examples=15, deadline=None)
@given(counts=COUNTS, per_shard=st.integers(1, 3))
def test_shards_give_the_objects_of_each_image_and_no_padding(tmp_path_factory, counts, per_shard):
    images = drawn(counts)
    files = write_h5(tmp_path_factory.mktemp("h5"), images, per_shard)
    read = [(r.image_id, r.decode()) for r in gqa_h5.read(files[::-1])]
    assert [name for name, _ in read] == [name for name, _ in images]
    assert all(same(found, told) for (_, found), (_, told) in zip(read, images, strict=True))


def test_compressed_shards_are_read_as_well(tmp_path):
    images = drawn([3, 1, 4])
    files = write_h5(tmp_path, images, 3, compression="gzip", chunks=True)
    assert all(same(r.decode(), told) for r, (_, told) in zip(gqa_h5.read(files), images, strict=True))


def test_a_line_of_lxmert_has_its_columns_in_order():
    """Boxes stand before features, height before width: a wrong order must not go unseen."""
    (name, found), line = drawn([2])[0], tsv_line(*drawn([2])[0]).rstrip().split(b"\t")
    assert (name.encode(), b"48", b"64", b"2") == (line[0], line[1], line[2], line[7])
    assert found.size == (64.0, 48.0)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (lambda line: line[: len(line) // 4], r"a\.tsv, record 2 has \d columns where LXMERT's files have 10"),
        (lambda line: line[:-29], r"a\.tsv, record 2: features is not base64, or was cut off"),
        (lambda line: line[:-6] + b"\r\n", r"a\.tsv, record 2: features has \d+ bytes, not those of 3 boxes"),
        (lambda line: line[:-20] + b"!" + line[-19:], r"a\.tsv, record 2: features is not base64"),
        (lambda line: line.replace(b"\t3\t", b"\tthree\t"), r"a\.tsv, record 2: num_boxes is not a whole number"),
        (lambda line: line.replace(b"\t3\t", b"\t%d\t" % 10**9), r"a\.tsv, record 2: num_boxes is not a whole number"),
        (lambda line: line.replace(b"\t3\t", b"\t4\t"), r"a\.tsv, record 2: boxes have 3 numbers|has \d+ bytes"),
    ],
)
def test_a_broken_line_is_named(tmp_path, broken, words):
    first, second = drawn([2, 3])
    path = tmp_path / "a.tsv"
    path.write_bytes(tsv_line(*first) + broken(tsv_line(*second)))
    with pytest.raises(InputError, match=words):
        for record in lxmert_tsv.read([path]):
            record.decode()


def test_a_missing_tsv_is_named(tmp_path):
    with pytest.raises(InputError, match=r"gone\.tsv cannot be read \(No such file"):
        list(lxmert_tsv.read([tmp_path / "gone.tsv"]))


def edit_info(files, **changed):
    info = json.loads(files[-1].read_text())
    info["n1"] |= changed
    files[-1].write_text(json.dumps(info))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda files: files.pop(), "comes without gqa_objects_info.json"),
        (lambda files: files.pop(1), "tells of images in gqa_objects_1.h5: name it"),
        (lambda files: files[0].write_bytes(files[0].read_bytes()[:900]), "gqa_objects_0.h5 is no readable HDF5 file"),
        (lambda files: files[-1].write_text('{"1": '), "gqa_objects_info.json is not valid JSON"),
        (lambda files: edit_info(files, idx=7), "gqa_objects_0.h5, record 8: .* the shard has 2 records"),
        (lambda files: edit_info(files, objectsNum=101), "gqa_objects_0.h5, record 2: .* 101 objects"),
        (lambda files: edit_info(files, width=None), "image n1 has no whole number width"),
        (lambda files: h5py.File(files[0], "a").pop("bboxes"), "no three-dimensional dataset bboxes"),
    ],
)
def test_broken_shards_are_named(tmp_path, change, words):
    files = write_h5(tmp_path, drawn([2, 3, 1]))
    change(files)
    with pytest.raises(InputError, match=words) as told:
        for record in gqa_h5.read(files):
            record.decode()
    assert re.search(r"[.:] ?", str(told.value)) and "\n" not in str(told.value)


@settings(max_examples=15, deadline=None)
@given(counts=COUNTS)
def test_covr_s_store_gives_each_image_its_row(tmp_path_factory, counts):
    images = dict(drawn(counts))
    files = write_covr(tmp_path_factory.mktemp("covr"), list(images.items()))
    records = list(covr_h5.read(files[::-1]))
    assert sorted(record.image_id for record in records) == sorted(images)
    for record, found in ((record, record.decode()) for record in covr_h5.read(files)):
        told = images[record.image_id]
        k = len(told.boxes)
        assert found.size == SHARES and np.allclose(found.boxes[:k] * (told.size * 2), told.boxes, atol=1e-4)
        assert found.features[:k].tobytes() == told.features.tobytes() and not found.features[k:].any()


def edit_index(files, **changed):
    files[1].write_text(json.dumps(json.loads(files[1].read_text()) | changed))


def words_for_boxes(files):
    with h5py.File(files[0], "a") as file:
        shape = file.pop("boxes").shape
        file["boxes"] = np.full(shape, b"wide")


def edit_boxes(files, value):
    with h5py.File(files[0], "a") as file:
        file["boxes"][...] = value


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda files: files.pop(), "COVR's features are two files"),
        (lambda files: files[0].write_bytes(files[0].read_bytes()[:900]), "features.h5 is no readable HDF5 file"),
        (lambda files: files[1].write_text("[]"), "holds no mapping"),
        (lambda files: edit_index(files, n1=3), "image n1 is in row 3 of 3"),
        (lambda files: edit_index(files, n1="2"), "image n1 is in row '2' of 3"),
        (lambda files: edit_boxes(files, 300), "record 1: boxes are not shares of the image"),
        (words_for_boxes, "features.h5, record 1 cannot be read"),
        (lambda files: h5py.File(files[0], "a").pop("boxes"), "no three-dimensional dataset boxes"),
    ],
)
def test_a_broken_store_of_covr_is_named(tmp_path, change, words):
    files = write_covr(tmp_path, drawn([2, 3, 1]))
    change(files)
    with pytest.raises(InputError, match=words):
        for record in covr_h5.read(files):
            record.decode()


def numbered(counts):
    return [(f"CLEVR_val_{number:06}", found) for number, (_, found) in enumerate(drawn(counts))]


@settings(max_examples=15, deadline=None)
@given(counts=COUNTS)
def test_clevr_hope_s_store_gives_each_picture_the_row_of_its_number(tmp_path_factory, counts):
    images = numbered(counts)
    files = write_frcnn(tmp_path_factory.mktemp("hope"), images[::-1])
    read = [(record.image_id, record.number, record.decode()) for record in frcnn_h5.read(files[::-1])]
    assert [row[:2] for row in read] == [(name, number) for number, (name, _) in enumerate(images, 1)]
    for (_, told), (_, _, found) in zip(images, read, strict=True):
        k = len(told.boxes)
        assert found.size == SHARES and np.allclose(found.boxes[:k] * (told.size * 2), told.boxes, atol=1e-4)
        assert found.features[:k].tobytes() == told.features.tobytes() and not found.boxes[k:].any()


def edit_scenes(files, change):
    data = json.loads(files[1].read_text())
    change(data["scenes"])
    files[1].write_text(json.dumps(data))


def renamed(name):
    return lambda files: edit_scenes(files, lambda scenes: scenes[0].update(image_filename=name))


def edit_shares(files):
    with h5py.File(files[0], "a") as file:
        file["normalized_boxes"][...] = 300


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda files: files.pop(), r"CLEVR-HOPE's features are two files, a store \(HDF5\) and its scenes"),
        (lambda files: files[0].write_bytes(files[0].read_bytes()[:900]), "frcnn.h5 is no readable HDF5 file"),
        (lambda files: h5py.File(files[0], "a").pop("roi_features"), "no three-dimensional dataset roi_features"),
        (lambda files: edit_scenes(files, list.pop), "has 3 rows for the 2 pictures of .*scenes.json|numbers up to 2"),
        (lambda files: edit_scenes(files, list.clear), "has 3 rows for the 0 pictures of .*scenes.json"),
        (renamed("CLEVR_val_000007.png"), "its 3 pictures have numbers up to 7"),
        (renamed("cat.png"), "cat has no number of its own"),
        (renamed(None), "None has no number of its own"),
        (lambda files: edit_scenes(files, lambda scenes: scenes.append(scenes[0])), "has no number of its own"),
        (edit_shares, "record 1: boxes are not shares of the image"),
    ],
)
def test_a_broken_store_of_clevr_hope_is_named(tmp_path, change, words):
    files = write_frcnn(tmp_path, numbered([2, 3, 1]))
    change(files)
    with pytest.raises(InputError, match=words):
        for record in frcnn_h5.read(files):
            record.decode()
