"""Archives: members in their place; evil, broken, encrypted and far too large ones refused in one sentence."""

import gzip
import io
import lzma
import random
import shutil
import tarfile
import tracemalloc
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from compvqa.errors import InputError
from compvqa.scenes.contents import Refused
from compvqa.scenes.unpack import unpack


def make_zip(path: Path, names: list[str], link: str | None = None) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "hello")
        if link:
            info = zipfile.ZipInfo(link)
            info.external_attr = 0o120777 << 16
            archive.writestr(info, "/etc")
    return path


def make_tar(path: Path, names: list[str], link: bytes | None = None, mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = 5
            archive.addfile(info, io.BytesIO(b"hello"))
        if link:
            info = tarfile.TarInfo("link")
            info.type, info.linkname = link, "/etc/passwd"
            archive.addfile(info)
    return path


@pytest.mark.parametrize("name", ["../evil.txt", "a/../../evil.txt", "/evil.txt", "C:\\evil.txt", "..\\evil.txt"])
@pytest.mark.parametrize(("make", "kind"), [(make_zip, "zip"), (make_tar, "tar")])
def test_an_archive_that_leaves_the_folder_is_refused_whole(tmp_path, make, kind, name):
    archive = make(tmp_path / "evil", ["good.txt", name])
    with pytest.raises(Refused, match="leaves the folder, so that nothing was unpacked"):
        unpack(archive, tmp_path / "out", kind)
    assert not (tmp_path / "out").exists() and not (tmp_path / "evil.txt").exists()


def test_links_are_refused(tmp_path):
    archives = [(make_zip(tmp_path / "a", [], link="link"), "zip")]
    archives += [
        (make_tar(tmp_path / f"t{kind[0]}", [], link=kind), "tar") for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE)
    ]
    for archive, kind in archives:
        with pytest.raises(Refused, match="is a link"):
            unpack(archive, tmp_path / "out", kind)


def test_a_link_in_the_way_is_not_followed(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out/deep").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="leads out of"):
        unpack(make_zip(tmp_path / "a", ["deep/b.txt"]), tmp_path / "out", "zip")
    assert not list((tmp_path / "elsewhere").iterdir())


MAKERS = [(make_zip, "zip"), (make_tar, "tar")]


@pytest.mark.parametrize(("make", "kind"), MAKERS)
def test_only_wanted_members_are_written(tmp_path, make, kind):
    archive = make(tmp_path / "made", ["a.txt", "./deep/b.txt", "c.txt"])
    assert unpack(archive, tmp_path / "some", kind, ["deep/b.txt"]) == 1
    assert [path.name for path in (tmp_path / "some").rglob("*.txt")] == ["b.txt"]
    assert unpack(archive, tmp_path / "all", kind) == 3


@pytest.mark.parametrize(("make", "kind"), MAKERS)
def test_a_wanted_folder_is_all_files_in_it(tmp_path, make, kind):
    archive = make(tmp_path / "made", ["deep/a.txt", "deep/er/b.txt", "deeper/c.txt", "deep.txt"])
    assert unpack(archive, tmp_path / "out", kind, ["deep/"]) == 2
    assert sorted(path.name for path in (tmp_path / "out").rglob("*.txt")) == ["a.txt", "b.txt"]
    with pytest.raises(InputError, match="holds no 'depth/', but"):
        unpack(archive, tmp_path / "out", kind, ["depth/"])


@pytest.mark.parametrize(("make", "kind"), MAKERS)
def test_a_wanted_member_that_is_not_there_is_told_with_those_that_are(tmp_path, make, kind):
    archive = make(tmp_path / "made", ["a.txt", "b.txt"])
    with pytest.raises(InputError, match="holds no 'c.txt', but 'a.txt', 'b.txt': correct the members"):
        unpack(archive, tmp_path / "out", kind, ["a.txt", "c.txt"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["n" * 300 + ".txt", "ü" * 120, "/".join(["deep"] * 300)])
@pytest.mark.parametrize(("make", "kind"), MAKERS)
def test_a_name_that_no_disk_takes_is_refused(tmp_path, make, kind, name):
    with pytest.raises(Refused, match=f"a name of {len(name)} characters, so that nothing was unpacked"):
        unpack(make(tmp_path / "made", ["a.txt", name]), tmp_path / "out", kind)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("make", "kind"), MAKERS)
def test_a_member_below_a_file_is_refused(tmp_path, make, kind):
    with pytest.raises(Refused, match="holds 'a/b' below a file"):
        unpack(make(tmp_path / "made", ["a", "a/b"]), tmp_path / "out", kind)
    assert not (tmp_path / "out").exists()


def make_bomb(path: Path, kind: str, megabytes: int) -> Path:
    """Zeros, a thousandth of their size."""
    zeros = bytes(megabytes << 20)
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("zeros.json", zeros)
    else:
        with tarfile.open(path, "w:gz") as archive:
            info = tarfile.TarInfo("zeros.json")
            info.size = len(zeros)
            archive.addfile(info, io.BytesIO(zeros))
    return path


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_bomb_is_refused_before_anything_is_written(tmp_path, kind):
    bomb = make_bomb(tmp_path / "bomb", kind, 8)
    with pytest.raises(InputError, match=r"unpacks to 8,388,608 bytes, more than 100 times its own size: .* about_mb"):
        unpack(bomb, tmp_path / "out", kind)
    with pytest.raises(InputError, match="more than 4 times the 2,000,000 that its about_mb gives"):
        unpack(bomb, tmp_path / "out", kind, declared=2e6)
    assert not (tmp_path / "out").exists()
    assert unpack(bomb, tmp_path / "out", kind, declared=3e6) == 1  # as the list of sources says that it is right


def test_many_empty_files_are_a_bomb_too(tmp_path):
    archive = make_tar(tmp_path / "made", [f"{number}" for number in range(1000)])
    with pytest.raises(InputError, match="unpacks to 4,096,000 bytes"):
        unpack(archive, tmp_path / "out", "tar")


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE])
@pytest.mark.parametrize("before", [[], ["a.txt"]])
def test_a_bomb_in_a_header_is_not_read_into_memory(tmp_path, kind, before):
    header = tarfile.TarInfo("long")
    header.type, header.size = kind, 16 << 20
    content = make_tar(tmp_path / "made", before, mode="w").read_bytes()[: 1024 * len(before)]
    (tmp_path / "bomb").write_bytes(gzip.compress(content + header.tobuf() + bytes(header.size)))
    tracemalloc.start()
    with pytest.raises(Refused, match="a header of 16,777,216 bytes"):
        unpack(tmp_path / "bomb", tmp_path / "out", "tar")
    assert tracemalloc.get_traced_memory()[1] < 4 << 20
    tracemalloc.stop()


def test_a_zip_that_lies_about_its_size_gives_no_more_than_it_said(tmp_path):
    bomb = make_bomb(tmp_path / "bomb", "zip", 4)
    size = (4 << 20).to_bytes(4, "little")
    bomb.write_bytes(bomb.read_bytes().replace(size, (5000).to_bytes(4, "little")))
    with pytest.raises(Refused, match="is no whole zip archive"):
        unpack(bomb, tmp_path / "out", "zip")
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def test_what_the_disk_has_no_room_for_is_not_begun(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=9))
    with pytest.raises(InputError, match=r"holds takes 10 bytes, and the disk of .* has 9 left: make room"):
        unpack(make_zip(tmp_path / "made", ["a", "b"]), tmp_path / "out", "zip")
    assert not (tmp_path / "out").exists()


def test_an_encrypted_archive_is_told(tmp_path):
    archive = make_zip(tmp_path / "made", ["a.txt"])
    content = bytearray(archive.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # the flag in the archive's list of members
    archive.write_bytes(content)
    with pytest.raises(Refused, match="is encrypted: 'a.txt' needs a password"):
        unpack(archive, tmp_path / "out", "zip")


def test_a_corrupt_xz_is_told(tmp_path):
    content = bytearray(lzma.compress(make_tar(tmp_path / "made", ["a.txt"], mode="w").read_bytes() + bytes(10_000)))
    content[len(content) // 2] ^= 255
    archive = tmp_path / "corrupt.tar.xz"
    archive.write_bytes(content)
    with pytest.raises(Refused, match="is no whole tar archive"):
        unpack(archive, tmp_path / "out", "tar")


def test_members_after_a_broken_header_are_not_lost_in_silence(tmp_path):
    archive = make_tar(tmp_path / "made", ["a.txt", "b.txt", "c.txt"], mode="w")
    content = bytearray(archive.read_bytes())
    content[1024] ^= 255  # the header of the second member
    archive.write_bytes(content)
    with pytest.raises(Refused, match="is no whole tar archive .broken header at byte 1,024"):
        unpack(archive, tmp_path / "out", "tar")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("kind", "mode"), [("zip", ""), ("tar", "w"), ("tar", "w:gz"), ("tar", "w:bz2"), ("tar", "w:xz")]
)
def test_an_archive_with_any_bytes_broken_is_unpacked_or_told(tmp_path, kind, mode):
    names = [f"{number}.txt" for number in range(10)]
    made = make_zip(tmp_path / "made", names) if kind == "zip" else make_tar(tmp_path / "made", names, mode=mode)
    whole, draw, told = made.read_bytes(), random.Random(mode), 0
    for _ in range(40):
        content = bytearray(whole)
        for _ in range(draw.randrange(1, 4)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        made.write_bytes(content[: draw.choice([len(content), draw.randrange(len(content))])])
        try:
            unpack(made, tmp_path / "out", kind)
        except (Refused, InputError) as error:
            assert str(made) in str(error) and "\n" not in str(error)
            told += 1
    assert told > 10
