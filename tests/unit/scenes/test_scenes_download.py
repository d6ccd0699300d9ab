"""Downloads from a server on this machine: whole, resumed, wrong, evil, offline."""

import hashlib
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
import zipfile
from dataclasses import astuple, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from compvqa.errors import InputError
from compvqa.scenes import download as module
from compvqa.scenes.download import Download, download, read_sources
from compvqa.scenes.pins import read_lock

CONTENT = bytes(range(256)) * 64
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Serves ``files``; understands ``ranges``; notes what it was asked for; may stop half-way, with a ``reset``.

    ``/503`` answers so, ``/loop`` leads to itself. ``length`` is said instead of the true one, "" for none.
    ``together`` is waited for before a file is sent.
    """

    files: dict[str, bytes] = {}
    asked: list[str] = []
    stop_after: int | None = None
    reset = False
    ranges = True
    length: str | None = None
    together: threading.Barrier | None = None

    def do_GET(self):
        start = int(self.headers.get("Range", "bytes=0-")[6:].rstrip("-")) if self.ranges else 0
        self.asked.append(self.headers.get("Range", ""))
        body = self.files.get(self.path)
        if self.path == "/loop":
            self.send_response(302)
            self.send_header("Location", "/loop")
            return self.end_headers()
        if body is None:
            return self.send_error(int(self.path[1:]) if self.path[1:].isdigit() else 404)
        if start >= len(body) > 0 and start:
            return self.send_error(416)
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        if self.length != "":
            self.send_header("Content-Length", self.length or str(len(body) - start))
        self.end_headers()
        if self.together:
            self.together.wait(60)
        self.wfile.write(body[start:][: self.stop_after])
        if self.reset:  # as a router that forgot the connection does
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    handler = type("Served", (Handler,), {"files": {"/data.dat": CONTENT}, "asked": []})
    running = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=running.serve_forever, args=[0.02], daemon=True).start()
    handler.root = f"http://127.0.0.1:{running.server_port}"
    yield handler
    running.shutdown()
    running.server_close()


def row(server, **changes):
    made = Download("test", "data.dat", f"{server.root}/data.dat", "1", DIGEST, "MIT", str(len(CONTENT)), "")
    return replace(made, **changes)


def test_a_download_is_checked_and_fetched_once(server, tmp_path):
    counts = download(row(server), tmp_path, tmp_path / "lock.tsv")
    assert (tmp_path / "data.dat").read_bytes() == CONTENT
    assert counts["bytes fetched"] == len(CONTENT)
    again = download(row(server), tmp_path, tmp_path / "lock.tsv")
    assert again["bytes fetched"] == 0 and again["bytes kept"] == len(CONTENT) and len(server.asked) == 1


def test_a_broken_download_goes_on_where_it_stopped(server, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FETCH", 500)
    server.stop_after = 1000
    with pytest.raises(InputError, match="goes on from byte 1,000"):
        download(row(server), tmp_path, tmp_path / "lock.tsv")
    assert (tmp_path / "data.dat.part").stat().st_size == 1000
    server.stop_after = None
    assert download(row(server), tmp_path, tmp_path / "lock.tsv")["bytes fetched"] == len(CONTENT) - 1000
    assert (tmp_path / "data.dat").read_bytes() == CONTENT and server.asked == ["", "bytes=1000-"]
    assert not (tmp_path / "data.dat.part").exists()


@pytest.mark.parametrize("wrong", [{"sha256": "0" * 64}, {"bytes": "5"}])
def test_a_wrong_file_is_refused(server, tmp_path, wrong):
    with pytest.raises(InputError, match="try again"):
        download(row(server, **wrong), tmp_path, tmp_path / "lock.tsv")
    assert not list(tmp_path.iterdir())


def test_the_first_fetch_is_recorded_and_later_ones_are_checked(server, tmp_path):
    lock, unknown = tmp_path / "lock.tsv", row(server, sha256="lock", bytes="")
    download(unknown, tmp_path / "a", lock)
    assert read_lock(lock) == {unknown.url: DIGEST}
    server.files["/data.dat"] = b"something else"
    with pytest.raises(InputError, match=f"not {DIGEST}"):
        download(unknown, tmp_path / "b", lock)
    assert read_lock(lock) == {unknown.url: DIGEST}


def test_a_file_that_is_there_needs_no_network(server, tmp_path):
    (tmp_path / "data.dat").write_bytes(CONTENT)
    offline = row(server, url="http://127.0.0.1:9/data.dat")
    assert download(offline, tmp_path, tmp_path / "lock.tsv")["bytes fetched"] == 0
    (tmp_path / "data.dat").write_bytes(b"broken" * 100)
    with pytest.raises(InputError, match="delete it to fetch it again"):
        download(offline, tmp_path, tmp_path / "lock.tsv")
    assert (tmp_path / "data.dat").exists()


@pytest.mark.parametrize("seconds", ["", "soon", "0", "-1", "nan", "inf"])
def test_a_wrong_wait_is_named(server, tmp_path, monkeypatch, seconds):
    monkeypatch.setenv("COMPVQA_TIMEOUT", seconds)
    with pytest.raises(InputError, match="COMPVQA_TIMEOUT is .* give seconds"):
        download(row(server), tmp_path, tmp_path / "lock.tsv")


def test_no_network_and_no_such_file_are_one_sentence(server, tmp_path):
    with pytest.raises(InputError, match="could not be fetched .*check the network") as error:
        download(row(server, url="http://127.0.0.1:9/data.dat"), tmp_path, tmp_path / "lock.tsv")
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="answered 404"):
        download(row(server, url=f"{server.root}/other"), tmp_path, tmp_path / "lock.tsv")


def zipped(path: Path, names: list[str]) -> bytes:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "hello")
    return path.read_bytes()


def test_an_archive_is_unpacked_beside_it_and_only_what_is_wanted(server, tmp_path):
    server.files["/x"] = zipped(tmp_path / "made", ["a.txt", "deep/er/b.txt"])
    wanted = row(server, url=f"{server.root}/x", sha256="lock", bytes="", unpack="zip", members="deep/er/b.txt")
    counts = download(wanted, tmp_path / "out", tmp_path / "lock.tsv")
    assert counts["members unpacked"] == 1 and not (tmp_path / "out/a.txt").exists()
    assert (tmp_path / "out/deep/er/b.txt").read_text() == "hello"


def test_no_archive_is_not_recorded(server, tmp_path):
    wanted = row(server, sha256="lock", bytes="", unpack="zip")
    with pytest.raises(InputError, match="is no whole zip archive .* its part was deleted"):
        download(wanted, tmp_path / "out", tmp_path / "lock.tsv")
    assert not (tmp_path / "lock.tsv").exists() and not list((tmp_path / "out").iterdir())


def test_an_archive_without_a_wanted_member_is_not_fetched_again_when_the_list_is_right(server, tmp_path):
    server.files["/x"] = zipped(tmp_path / "made", ["a.txt"])
    wanted = row(server, url=f"{server.root}/x", sha256="lock", bytes="", unpack="zip", members="b.txt")
    with pytest.raises(InputError, match="holds no 'b.txt', but 'a.txt': correct the members"):
        download(wanted, tmp_path / "out", tmp_path / "lock.tsv")
    assert not (tmp_path / "lock.tsv").exists()
    assert download(replace(wanted, members="a.txt"), tmp_path / "out", tmp_path / "lock.tsv")["bytes fetched"] == 0


PAGE = b"\n<!DOCTYPE html><html><title>Google Drive - Virus scan warning</title>"


@pytest.mark.parametrize("file", ["data.json", "data.zip", "data.dat"])
def test_a_file_hosts_page_is_told_and_what_was_there_stays(server, tmp_path, file):
    server.files["/page"] = PAGE
    wanted = row(
        server, file=file, url=f"{server.root}/page", sha256="lock", bytes="", unpack=file[5:].strip("datjson")
    )
    with pytest.raises(InputError, match=f"a web page .*: open {wanted.url} in a browser and put the file at .*{file}"):
        download(wanted, tmp_path, tmp_path / "lock.tsv")
    assert not list(tmp_path.iterdir())
    (tmp_path / file).write_bytes(PAGE)  # a user who saved the page
    with pytest.raises(InputError, match="a web page .* open http"):
        download(wanted, tmp_path, tmp_path / "lock.tsv")
    assert [path.name for path in tmp_path.iterdir()] == [file]


def test_a_page_in_the_way_does_not_cost_what_came_before(server, tmp_path):
    (tmp_path / "data.dat.part").write_bytes(CONTENT[:1000])
    server.files["/data.dat"], server.ranges = PAGE, False
    with pytest.raises(InputError, match="answered with a web page"):
        download(row(server), tmp_path, tmp_path / "lock.tsv")
    assert (tmp_path / "data.dat.part").read_bytes() == CONTENT[:1000]


def test_what_is_in_a_git_repository_is_checked_by_the_id_that_git_gives_it(server, tmp_path):
    (tmp_path / "content").write_bytes(CONTENT)
    done = subprocess.run(["git", "hash-object", "content"], cwd=tmp_path, capture_output=True, text=True, check=True)
    pinned = row(server, sha256=f"git:{done.stdout.strip()}", bytes="")
    download(pinned, tmp_path / "a", tmp_path / "lock.tsv")
    assert read_lock(tmp_path / "lock.tsv") == {pinned.url: DIGEST}
    server.files["/data.dat"] = CONTENT[:-1] + b"?"
    with pytest.raises(InputError, match=f"has Git's id git:[0-9a-f]{{40}}, not {pinned.sha256}"):
        download(pinned, tmp_path / "b", tmp_path / "lock.tsv")
    assert not list((tmp_path / "b").iterdir())


@pytest.mark.parametrize(
    ("size", "changes", "words"),
    [
        (len(CONTENT) + 1, {}, "beyond the 16,384 of its bytes: its part was deleted"),
        (3_000_000, {"bytes": "", "about_mb": "0.6"}, "beyond the 2,400,000 of 4 times its about_mb"),
    ],
)
@pytest.mark.parametrize("length", [None, ""])  # as it is, and none
def test_a_body_far_beyond_what_is_declared_is_stopped(server, tmp_path, size, changes, words, length):
    server.files["/data.dat"], server.length = bytes(size), length
    with pytest.raises(InputError, match=words):
        download(row(server, **changes), tmp_path, tmp_path / "lock.tsv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("length", ["many", "-5", "1e3", "9" * 5000])
def test_a_malformed_length_is_told(server, tmp_path, length):
    server.length = length
    with pytest.raises(InputError, match="the malformed Content-Length .*: try again later"):
        download(row(server), tmp_path, tmp_path / "lock.tsv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("loop", "leads from one address to the next without end: correct its URL"),
        ("403", "answered 403 Forbidden: it may ask for a login: open http"),
        ("404", "answered 404 Not Found: correct its URL"),
        ("503", "answered 503 Service Unavailable: try again later"),
    ],
)
def test_what_a_server_refuses_is_one_sentence(server, tmp_path, path, words):
    with pytest.raises(InputError, match=words) as error:
        download(row(server, url=f"{server.root}/{path}"), tmp_path, tmp_path / "lock.tsv")
    assert "\n" not in str(error.value) and not list(tmp_path.iterdir())


def test_a_connection_that_is_reset_is_told_and_the_download_goes_on(server, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FETCH", 500)
    server.stop_after, server.reset = 8000, True
    with pytest.raises(InputError, match="could not be fetched .* goes on from byte"):
        download(row(server), tmp_path, tmp_path / "lock.tsv")
    server.stop_after, server.reset = None, False
    download(row(server), tmp_path, tmp_path / "lock.tsv")
    assert (tmp_path / "data.dat").read_bytes() == CONTENT


def test_a_full_disk_is_told_before_and_while_a_file_comes(server, tmp_path, monkeypatch):
    (tmp_path / "data.dat.part").symlink_to("/dev/full")
    with pytest.raises(InputError, match="data.dat.part could not be written: no space left on device; make room"):
        download(row(server), tmp_path, tmp_path / "lock.tsv")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=10))
    with pytest.raises(InputError, match=r"data.dat takes 16,384 bytes, and the disk of .* has 10 left: make room"):
        download(row(server), tmp_path, tmp_path / "lock.tsv")


def test_what_is_in_the_way_of_the_folder_is_told(server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="data.dat.part could not be written .*: see what is in the way"):
        download(row(server), tmp_path / "file/out", tmp_path / "lock.tsv")


FETCH = """
import sys
from pathlib import Path
from compvqa.scenes.download import Download, download
folder, lock, *row = sys.argv[1:]
download(Download(*row), Path(folder), Path(lock))
"""


def test_of_downloads_at_once_none_loses_its_entry_in_the_lock_file(server, tmp_path):
    """Four processes that have all read the lock file before any of them writes it."""
    server.together = threading.Barrier(4)
    server.files.update({f"/{number}": CONTENT + bytes([number]) for number in range(4)})
    rows = [row(server, url=f"{server.root}/{number}", sha256="lock", bytes="") for number in range(4)]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", FETCH, tmp_path / str(number), tmp_path / "lock.tsv", *astuple(one)],
            env=os.environ | {"PYTHONPATH": str(Path(module.__file__).parents[2])},
            stderr=subprocess.DEVNULL,
        )
        for number, one in enumerate(rows)
    ]
    assert [process.wait(120) for process in running] == [0] * 4
    digests = [hashlib.sha256(server.files[f"/{number}"]).hexdigest() for number in range(4)]
    assert read_lock(tmp_path / "lock.tsv") == {one.url: digest for one, digest in zip(rows, digests, strict=True)}


def test_the_projects_own_list_is_good():
    rows = read_sources(Path(__file__).parents[3] / "config/sources.tsv")
    assert {"gqa", "visual_genome", "imsitu", "covr"} <= {item.name for item in rows}
    assert len({item.url for item in rows}) == len(rows) and all(item.licence for item in rows)


def test_what_the_list_takes_from_github_is_a_commits_and_pinned():
    rows = read_sources(Path(__file__).parents[3] / "config/sources.tsv")
    found = [item for item in rows if "github" in item.url]
    assert len(found) > 6
    for item in found:
        commit = re.fullmatch(r"https://raw\.githubusercontent\.com/[^/]+/[^/]+/([0-9a-f]{40})/.+", item.url)
        assert commit and commit[1].startswith(item.version) and len(item.version) >= 7, item
        assert item.sha256.startswith("git:") or (item.sha256 != "lock" and item.bytes), item


HEAD = "name\tfile\turl\tversion\tsha256\tlicence\tbytes\tunpack\tmembers\tabout_mb\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a\t../x\thttps://h/x\t1\tlock\tMIT\t\t\t\t", "line 2: the file"),
        ("a\tx.zip\thttps://h/x\t1\tlock\tMIT\t\tzip\tx ../y\t", "line 2: the file '../y'"),
        ("a\tx\tfile:///x\t1\tlock\tMIT\t\t\t\t", "not usable"),
        (f"a\t{'x' * 300}\thttps://h/x\t1\tlock\tMIT\t\t\t\t", "line 2: the file"),
        ("a\tx\thttps://h/x\t1\tabc\tMIT\t\t\t\t", "64 hexadecimal"),
        (f"a\tx\thttps://h/x\t1\tgit:{'a' * 64}\tMIT\t\t\t\t", "64 hexadecimal digits, git: and 40, or 'lock'"),
        ("a\tx\thttps://h/x\t1\tlock\tMIT\tmany\t\t\t", "whole number"),
        (f"a\tx\thttps://h/x\t1\tlock\tMIT\t{'9' * 5000}\t\t\t", "whole number"),
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
