"""The dataset folder opens offline with its pictures: each once, or inline, in the order of the questions' images; or a
script fetches them."""

import json
import re
import subprocess
import sys
import tarfile
import threading
import zipfile
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import mlcroissant as mlc
import pyarrow.parquet as pq
import pytest
from datasets import load_dataset

from compvqa.errors import InputError
from compvqa.publish.parquet import publish_split
from compvqa.publish.pictures import (
    FETCHED,
    IMAGES,
    PICTURES,
    archives_of,
    check_allowed,
    picture_files,
    publish_pictures,
)
from compvqa.publish.settings import PublishSettings
from compvqa.scenes.download import read_sources
from fixtures.published import PARTS, Published

ROOT = Path(__file__).parents[3]


@pytest.fixture
def published(tmp_path):
    (tmp_path / "made").mkdir()
    return Published(tmp_path / "made")


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """The hub's library with nothing kept from before."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")


def reds(pictures):
    """How red each picture is: they are of one colour, 60 times their number."""
    return [picture.convert("RGB").getpixel((0, 0))[0] for picture in pictures]


def shown_by_card(published):
    """What the lines of code of the card give, as they stand there, but for the folder."""
    card = (published.folder / "README.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", card, re.DOTALL))
    names = {}
    exec(code.replace("path/of/this/folder", str(published.folder)), names)
    return names["questions"]


def test_the_cards_own_lines_show_the_pictures_of_a_question_in_their_order(published, cached):
    published.finish(pictures="once")
    questions = shown_by_card(published)
    for part in questions:
        for row in questions[part]:
            assert reds(row["pictures"]) == [60 * int(name.removeprefix("vg:")) for name in row["images"]]
            assert row["answer"] == "2" and json.loads(row["program"]) and row["properties"]
    assert questions["train"][0]["images"] == ["vg:0", "vg:1"]


def test_each_picture_is_there_once_as_its_file_is(published):
    published.finish(pictures="once")
    (path,) = (published.folder / IMAGES).iterdir()
    rows = pq.read_table(path).to_pylist()
    assert [row["image"] for row in rows] == [f"vg:{number}" for number in range(4)]
    for number, row in enumerate(rows):
        data = (published.images["vg"] / f"{number}.png").read_bytes()
        assert row["picture"] == {"bytes": data, "path": f"{number}.png"}
        assert row["sha256"] == sha256(data).hexdigest()


def test_inline_the_pictures_come_with_each_question_also_in_streams(published, cached):
    published.finish(pictures="inline")
    assert not (published.folder / IMAGES).exists()
    for streaming in (False, True):
        parts = load_dataset(str(published.folder), name="iid", streaming=streaming)
        rows = {part: next(iter(rows)) for part, rows in parts.items()}
        assert {part: reds(row["pictures"]) for part, row in rows.items()} == {
            "train": [0, 60],
            "dev": [60, 120],
            "test": [120, 180],
        }


def test_pictures_that_are_there_once_stream(published, cached):
    published.finish(pictures="once")
    stream = load_dataset(str(published.folder), name="images", split="pictures", streaming=True)
    assert reds(row["picture"] for row in stream) == [0, 60, 120, 180]


def files(published, number):
    return [published.folder / path for path in picture_files(PublishSettings(pictures="once", picture_files=number))]


@pytest.mark.parametrize("number", [1, 3, 4])
def test_pictures_lie_in_as_many_files_as_are_asked_for(published, number):
    published.write()
    out = files(published, number)
    assert publish_pictures([published.questions], published.images, out) == {"out": 4, "files": number}
    assert [row["image"] for path in out for row in pq.read_table(path).to_pylist()] == [f"vg:{n}" for n in range(4)]


@pytest.mark.parametrize(("number", "most", "fit"), [(5, 10**9, 4), (1, 1, 4)])
def test_files_that_are_too_large_or_too_many_are_refused(published, number, most, fit):
    published.write()
    with pytest.raises(InputError, match=f"picture_files: {fit}}}"):
        publish_pictures([published.questions], published.images, files(published, number), most)


def test_what_is_too_much_inline_is_refused(published):
    published.write()
    files = {part: published.file("iid", part) for part in PARTS["iid"]}
    with pytest.raises(InputError, match="more than 1 bytes of pictures: write `publish: {pictures: once}`"):
        publish_split(published.questions, published.split("iid"), files, published.images, most=1)


def test_a_picture_that_is_missing_stops_the_run(published):
    published.write()
    (published.images["vg"] / "2.png").unlink()
    with pytest.raises(InputError, match="the picture of vg:2 is in no folder of `images`"):
        publish_pictures([published.questions], published.images, files(published, 1))


@pytest.mark.parametrize("pictures", ["once", "inline"])
def test_croissant_tells_and_reads_the_pictures(published, pictures):
    published.finish(pictures=pictures)
    opened = mlc.Dataset(jsonld=str(published.folder / "croissant.json"))
    assert (set(opened.metadata.issues.errors), set(opened.metadata.issues.warnings)) == (set(), set())
    if pictures == "once":
        rows = list(opened.records("images/pictures-00000-of-00001"))
        assert reds(row["images/pictures-00000-of-00001/picture"] for row in rows) == [0, 60, 120, 180]
    else:
        (row,) = opened.records("iid/dev")
        assert row["iid/dev/images"] == [b"vg:1", b"vg:2"]
        told = {records.name: records.description for records in opened.metadata.record_sets}
        assert "the column pictures has their pictures" in told["iid/dev"]


def test_the_work_of_others_is_handed_on_by_a_licence_alone():
    spaces, world = {"sprites": Path("made/images"), "vg": Path("vg/images")}, Path("made")
    check_allowed(spaces, world, PublishSettings(picture_licences={"vg": "cc-by-4.0"}))
    check_allowed({"sprites": spaces["sprites"]}, world, PublishSettings())
    for given in (world, None):
        with pytest.raises(InputError, match="are others' work: name the licence"):
            check_allowed(spaces, given, PublishSettings())


class Files(SimpleHTTPRequestHandler):
    """Serves files, and from where a request says; the first so many bytes of the first reply alone, if asked to."""

    cut: ClassVar[list[int]] = []

    def do_GET(self):
        data = (Path(self.directory) / self.path.strip("/")).read_bytes()
        start = int((self.headers["Range"] or "bytes=0-").removeprefix("bytes=").rstrip("-"))
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        self.wfile.write(data[start : start + self.cut.pop() if self.cut else None])

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def archives(published, tmp_path):
    """Two archives of the pictures behind a server on loopback: a zip with the first two, a tar with the others."""
    folder = tmp_path / "served"
    folder.mkdir()
    with zipfile.ZipFile(folder / "one.zip", "w") as zipped, tarfile.open(folder / "two.tar", "w") as tarred:
        for number in range(4):
            path = published.images["vg"] / f"{number}.png"
            if number < 2:
                zipped.writestr(f"thumbnails/{path.name}", "another of that name")
                zipped.write(path, f"VG/{path.name}")
            else:
                tarred.add(path, f"VG/{path.name}")
        zipped.writestr("VG/read.me", "no picture")
    Files.cut.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield [f"http://127.0.0.1:{server.server_port}/{name}" for name in ("one.zip", "two.tar")]
        server.shutdown()


def to_fetch(published, archives):
    """The folder with what fetches pictures, as it is handed on."""
    published.finish(pictures="fetched", archives=archives)
    assert not (published.folder / IMAGES).exists()


def fetch(published):
    """Run the script of the folder."""
    return subprocess.run([sys.executable, published.folder / FETCHED[1]], capture_output=True, text=True, timeout=60)


def test_pictures_that_may_not_be_handed_on_are_fetched_and_shown_by_the_cards_lines(published, archives, cached):
    to_fetch(published, archives)
    assert load_dataset(str(published.folder), name="iid")["train"][0]["images"] == ["vg:0", "vg:1"]  # without them
    done = fetch(published)
    assert done.returncode == 0, done.stderr
    (path,) = (published.folder / IMAGES).iterdir()
    for number, row in enumerate(pq.read_table(path).to_pylist()):
        data = (published.images["vg"] / f"{number}.png").read_bytes()
        assert row == {
            "image": f"vg:{number}",
            "sha256": sha256(data).hexdigest(),
            "picture": {"bytes": data, "path": f"{number}.png"},
        }
    assert pq.read_schema(path).metadata[b"huggingface"].decode() == PICTURES.foreign["huggingface"]
    questions = shown_by_card(published)
    assert reds(questions["test_comp"][0]["pictures"]) == [120, 180]


def test_archives_of_one_name_are_kept_apart(published, archives, tmp_path):
    alike = []
    for number, url in enumerate(archives):
        (tmp_path / f"served/{number}").mkdir()
        (tmp_path / "served" / url.rpartition("/")[2]).rename(tmp_path / f"served/{number}/all")
        alike.append(f"{url.rpartition('/')[0]}/{number}/all")
    to_fetch(published, alike)
    done = fetch(published)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (published.folder / "archives/vg").iterdir()) == ["1-all", "2-all"]


def test_a_download_that_is_cut_off_goes_on_where_it_stopped(published, archives):
    to_fetch(published, archives)
    Files.cut.append(100)
    done = fetch(published)
    assert done.returncode == 1 and "one.zip was cut off after 100 of" in done.stderr
    assert (published.folder / "archives/vg/one.zip.part").stat().st_size == 100
    assert fetch(published).returncode == 0 and (published.folder / IMAGES).is_dir()


def test_a_picture_that_is_another_or_in_no_archive_is_told_and_nothing_is_written(published, archives):
    to_fetch(published, archives)
    told = json.loads((published.folder / FETCHED[0]).read_text())
    for name, words in (
        ("vg:3", "1 of 4 pictures are others than the questions were made of, the first vg:3"),
        ("vg:9", "1 of 5 pictures are in no archive, the first vg:9"),
    ):
        pictures = told["pictures"] | {name: "0" * 64}
        (published.folder / FETCHED[0]).write_text(json.dumps(told | {"pictures": pictures}))
        done = fetch(published)
        assert done.returncode == 1 and words in done.stderr and "Traceback" not in done.stderr
        assert not list(published.folder.glob(f"{IMAGES}*"))


def test_what_cannot_be_fetched_is_told(published, archives):
    with pytest.raises(InputError, match="no download has the pictures of vg: name their archives"):
        published.finish(pictures="fetched", archives=[])
    to_fetch(published, [archives[0] + ".gone"])
    (published.folder / "archives/vg").mkdir(parents=True)
    (published.folder / "archives/vg/one.zip.gone").write_text("no archive")
    done = fetch(published)
    assert done.returncode == 1 and "is neither a zip nor a tar archive: remove it and run again." in done.stderr


def test_archives_are_those_of_the_download_in_whose_folder_pictures_lie_or_that_are_named():
    folders = {"vg": Path("resources/gqa_images/images"), "mine": Path("mine/images")}
    rows = read_sources(ROOT / "config/sources.tsv")
    assert archives_of(folders, PublishSettings(pictures="fetched"), rows) == [
        "vg=https://downloads.cs.stanford.edu/nlp/data/gqa/images.zip"
    ]
    named = PublishSettings(pictures="fetched", picture_archives={"mine": ["https://example.org/a.zip"]})
    assert archives_of(folders, named, rows)[1:] == ["mine=https://example.org/a.zip"]
