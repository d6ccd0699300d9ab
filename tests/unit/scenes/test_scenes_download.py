"""Downloads from a server on this machine: whole, resumed, wrong, evil, offline."""

import hashlib
import io
import tarfile
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from compvqa.errors import InputError
from compvqa.scenes import download as module
from compvqa.scenes.download import Download, download, read_lock, read_sources, unpack

CONTENT = bytes(range(256)) * 64
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Serves ``files``; understands ranges; notes what it was asked for; may stop half-way."""

    files: dict[str, bytes] = {}
    asked: list[str] = []
    stop_after: int | None = None

    def do_GET(self):
        start = int(self.headers.get("Range", "bytes=0-")[6:].rstrip("-"))
        self.asked.append(self.headers.get("Range", ""))
        body = self.files.get(self.path)
        if body is None:
            return self.send_error(404)
        if start >= len(body) > 0 and start:
            return self.send_error(416)
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        self.wfile.write(body[start:][: self.stop_after])

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    handler = type("Served", (Handler,), {"files": {"/data.bin": CONTENT}, "asked": []})
    running = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    handler.root = f"http://127.0.0.1:{running.server_port}"
    yield handler
    running.shutdown()
    running.server_close()


def row(server, **changes):
    made = Download("test", "data.bin", f"{server.root}/data.bin", "1", DIGEST, "MIT", str(len(CONTENT)), "")
    return replace(made, **changes)


def test_a_download_is_checked_and_fetched_once(server, tmp_path):
    counts = download(row(server), tmp_path, tmp_path / "lock.tsv")
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    assert counts["bytes fetched"] == len(CONTENT)
    again = download(row(server), tmp_path, tmp_path / "lock.tsv")
    assert again["bytes fetched"] == 0 and again["bytes kept"] == len(CONTENT) and len(server.asked) == 1


def test_a_broken_download_goes_on_where_it_stopped(server, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FETCH", 500)
    server.stop_after = 1000
    with pytest.raises(InputError, match="goes on from byte 1,000"):
        download(row(server), tmp_path, tmp_path / "lock.tsv")
    assert (tmp_path / "data.bin.part").stat().st_size == 1000
    server.stop_after = None
    assert download(row(server), tmp_path, tmp_path / "lock.tsv")["bytes fetched"] == len(CONTENT) - 1000
    assert (tmp_path / "data.bin").read_bytes() == CONTENT and server.asked == ["", "bytes=1000-"]
    assert not (tmp_path / "data.bin.part").exists()


@pytest.mark.parametrize("wrong", [{"sha256": "0" * 64}, {"bytes": "5"}])
def test_a_wrong_file_is_refused(server, tmp_path, wrong):
    with pytest.raises(InputError, match="try again"):
        download(row(server, **wrong), tmp_path, tmp_path / "lock.tsv")
    assert not list(tmp_path.iterdir())


def test_the_first_fetch_is_recorded_and_later_ones_are_checked(server, tmp_path):
    lock, unknown = tmp_path / "lock.tsv", row(server, sha256="lock", bytes="")
    download(unknown, tmp_path / "a", lock)
    assert read_lock(lock) == {unknown.url: DIGEST}
    server.files["/data.bin"] = b"something else"
    with pytest.raises(InputError, match=f"not {DIGEST}"):
        download(unknown, tmp_path / "b", lock)
    assert read_lock(lock) == {unknown.url: DIGEST}


def test_a_file_that_is_there_needs_no_network(server, tmp_path):
    (tmp_path / "data.bin").write_bytes(CONTENT)
    offline = row(server, url="http://127.0.0.1:9/data.bin")
    assert download(offline, tmp_path, tmp_path / "lock.tsv")["bytes fetched"] == 0
    (tmp_path / "data.bin").write_bytes(b"broken" * 100)
    with pytest.raises(InputError, match="delete it to fetch it again"):
        download(offline, tmp_path, tmp_path / "lock.tsv")
    assert (tmp_path / "data.bin").exists()


@pytest.mark.parametrize("seconds", ["", "soon", "0", "-1", "nan", "inf"])
def test_a_wrong_wait_is_named(server, tmp_path, monkeypatch, seconds):
    monkeypatch.setenv("COMPVQA_TIMEOUT", seconds)
    with pytest.raises(InputError, match="COMPVQA_TIMEOUT is .* give seconds"):
        download(row(server), tmp_path, tmp_path / "lock.tsv")


def test_no_network_and_no_such_file_are_one_sentence(server, tmp_path):
    with pytest.raises(InputError, match="could not be fetched .*check the network") as error:
        download(row(server, url="http://127.0.0.1:9/data.bin"), tmp_path, tmp_path / "lock.tsv")
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="answered 404"):
        download(row(server, url=f"{server.root}/other"), tmp_path, tmp_path / "lock.tsv")


def make_zip(path: Path, names: list[str], link: str | None = None) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "hello")
        if link:
            info = zipfile.ZipInfo(link)
            info.external_attr = 0o120777 << 16
            archive.writestr(info, "/etc")
    return path


def make_tar(path: Path, names: list[str], link: bytes | None = None) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = 5
            archive.addfile(info, io.BytesIO(b"hello"))
        if link:
            info = tarfile.TarInfo("link")
            info.type, info.linkname = link, "/etc/passwd"
            archive.addfile(info)
    return path


@pytest.mark.parametrize(("make", "kind"), [(make_zip, "zip"), (make_tar, "tar")])
def test_an_archive_is_unpacked_beside_it(server, tmp_path, make, kind):
    content = make(tmp_path / "made", ["a.txt", "deep/er/b.txt"]).read_bytes()
    server.files["/x"] = content
    wanted = row(server, url=f"{server.root}/x", sha256="lock", bytes="", unpack=kind)
    counts = download(wanted, tmp_path / "out", tmp_path / "lock.tsv")
    assert counts["members unpacked"] == 2
    assert (tmp_path / "out/deep/er/b.txt").read_text() == "hello"


@pytest.mark.parametrize("name", ["../evil.txt", "a/../../evil.txt", "/evil.txt", "C:\\evil.txt", "..\\evil.txt"])
@pytest.mark.parametrize(("make", "kind"), [(make_zip, "zip"), (make_tar, "tar")])
def test_an_archive_that_leaves_the_folder_is_refused_whole(tmp_path, make, kind, name):
    archive = make(tmp_path / "evil", ["good.txt", name])
    with pytest.raises(InputError, match="leaves the folder: nothing was unpacked"):
        unpack(archive, tmp_path / "out", kind)
    assert not (tmp_path / "out").exists() and not (tmp_path / "evil.txt").exists()


def test_links_are_refused(tmp_path):
    archives = [(make_zip(tmp_path / "a", [], link="link"), "zip")]
    archives += [
        (make_tar(tmp_path / f"t{kind[0]}", [], link=kind), "tar") for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE)
    ]
    for archive, kind in archives:
        with pytest.raises(InputError, match="is a link"):
            unpack(archive, tmp_path / "out", kind)


def test_a_link_in_the_way_is_not_followed(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out/deep").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="leads out of"):
        unpack(make_zip(tmp_path / "a", ["deep/b.txt"]), tmp_path / "out", "zip")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_no_archive_is_not_recorded(server, tmp_path):
    wanted = row(server, sha256="lock", bytes="", unpack="zip")
    with pytest.raises(InputError, match="is no zip archive"):
        download(wanted, tmp_path / "out", tmp_path / "lock.tsv")
    assert not (tmp_path / "lock.tsv").exists()


def test_the_projects_own_list_is_good():
    rows = read_sources(Path(__file__).parents[3] / "config/sources.tsv")
    assert {"gqa", "visual_genome", "imsitu", "covr"} <= {item.name for item in rows}
    assert len({item.url for item in rows}) == len(rows) and all(item.licence for item in rows)


HEAD = "name\tfile\turl\tversion\tsha256\tlicence\tbytes\tunpack\tmembers\tabout_mb\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a\t../x\thttps://h/x\t1\tlock\tMIT\t\t\t\t", "line 2: the file"),
        ("a\tx\tfile:///x\t1\tlock\tMIT\t\t\t\t", "not usable"),
        ("a\tx\thttps://h/x\t1\tabc\tMIT\t\t\t\t", "64 hexadecimal"),
        ("a\tx\thttps://h/x\t1\tlock\tMIT\tmany\t\t\t", "whole number"),
        ("a\tx\thttps://h/x\t1\tlock\tMIT\t\trar\t\t", "zip, tar or empty"),
        ("a\tx\thttps://h/x\t1\tlock\tMIT\t\t\t\t-3", "about_mb must be a number"),
        ("a\tx", "expected 10 columns"),
    ],
)
def test_a_bad_line_of_the_list_is_named(tmp_path, line, words):
    path = tmp_path / "sources.tsv"
    path.write_text(HEAD + line + "\n")
    with pytest.raises(InputError, match=words):
        read_sources(path)
