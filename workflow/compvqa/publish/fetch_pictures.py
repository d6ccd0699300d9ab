"""Fetch the pictures that the questions of this folder show, check each, and put them beside the questions.

    python fetch_pictures.py

It needs what `datasets` brings, and room for the archives that pictures.json names: those that are in
archives/<image space>/ (numbered where several have one name) are not fetched again, and a download that was cut off
goes on where it stopped. After it, the configuration `images` is there as the card says. Nothing is written where a
picture is missing, or is another than the questions were made of.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tarfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

MOST, BATCH = 480_000_000, 100  # bytes of the pictures of a file; pictures that are read together by who streams
SUFFIXES = (".png", ".jpg", ".jpeg")
_TEXT = {"dtype": "string", "_type": "Value"}
FEATURES = {"image": _TEXT, "sha256": _TEXT, "picture": {"_type": "Image"}}
SCHEMA = pa.schema(
    [
        ("image", pa.string()),
        ("sha256", pa.string()),
        ("picture", pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
    ],
    metadata={"huggingface": json.dumps({"info": {"features": FEATURES}}, sort_keys=True)},
)
Reader = Callable[[], bytes]


def fetch(url: str, path: Path) -> None:
    """Have what ``url`` gives in the file ``path``, unless it is there; what a cut-off download left is kept."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    start = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={start}-"} if start else {})
    with urllib.request.urlopen(request) as reply:  # noqa: S310  (an address of pictures.json)
        start = start if reply.status == 206 else 0
        length = reply.headers.get("Content-Length")
        total = start + int(length) if length else None
        with (
            part.open("ab" if start else "wb") as file,
            tqdm(total=total, initial=start, unit="B", unit_scale=True, desc=path.name) as bar,
        ):
            while block := reply.read(1 << 20):
                file.write(block)
                bar.update(len(block))
    if total is not None and part.stat().st_size != total:
        raise SystemExit(f"{url} was cut off after {part.stat().st_size:,} of {total:,} bytes: run again to go on.")
    part.rename(path)


def inside(path: Path) -> Iterator[tuple[PurePosixPath, Reader]]:
    """The pictures of an archive (zip or tar) by their names in it, each with what reads it."""
    if zipfile.is_zipfile(path):
        zipped = zipfile.ZipFile(path)
        found = ((name, lambda name=name: zipped.read(name)) for name in zipped.namelist())
    elif tarfile.is_tarfile(path):
        tarred = tarfile.open(path)  # noqa: SIM115  (read until the end)
        members = (member for member in tarred if member.isfile())
        found = ((member.name, lambda member=member: _read(tarred, member)) for member in members)
    else:
        raise SystemExit(f"{path} is neither a zip nor a tar archive: remove it and run again.")
    return ((place, read) for name, read in found if (place := PurePosixPath(name)).suffix.lower() in SUFFIXES)


def _read(tarred: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tarred.extractfile(member)
    return file.read() if file else b""


def places(downloads: dict[str, list[str]], wanted: set[str], archives: Path) -> dict[str, list[tuple[str, Reader]]]:
    """For each picture that is wanted and found, the name of each file that is called so and what reads it: one may be
    a thumbnail."""
    found: dict[str, list[tuple[str, Reader]]] = {}
    for space, urls in downloads.items():
        names = [PurePosixPath(url).name for url in urls]
        for number, (url, name) in enumerate(zip(urls, names, strict=True), 1):
            path = archives / space / (name if names.count(name) == 1 else f"{number}-{name}")
            try:
                fetch(url, path)
            except (urllib.error.URLError, OSError) as error:
                raise SystemExit(f"{url} could not be fetched ({error}): run again, or put it at {path}.") from None
            for place, read in inside(path):
                if (image := f"{space}:{place.stem}") in wanted:
                    found.setdefault(image, []).append((place.name, read))
    return found


def write(rows: Iterator[dict[str, Any]], folder: Path) -> None:
    """Write rows of pictures into files of the folder, each of about :data:`MOST` bytes at most."""
    folder.mkdir()
    number, row = 0, next(rows, None)
    while row is not None:
        size = 0
        with pq.ParquetWriter(folder / f"pictures-{number:05}.parquet", SCHEMA) as writer:
            while row is not None and size <= MOST:
                batch: list[dict[str, Any]] = []
                while row is not None and len(batch) < BATCH:
                    batch.append(row)
                    row = next(rows, None)
                size += sum(len(one["picture"]["bytes"]) for one in batch)
                writer.write_batch(pa.RecordBatch.from_pylist(batch, SCHEMA))
        number += 1


def main() -> None:
    """Fetch, check and write."""
    here = Path(__file__).parent
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--archives", type=Path, default=here / "archives", help="folder of the downloads")
    told = json.loads((here / "pictures.json").read_text(encoding="utf-8"))
    archives, wanted = parser.parse_args().archives, told["pictures"]
    found = places(told["downloads"], {*wanted}, archives)
    if lost := sorted({*wanted} - {*found}):
        raise SystemExit(f"{len(lost)} of {len(wanted)} pictures are in no archive, the first {lost[0]}.")
    unlike: list[str] = []

    def rows() -> Iterator[dict[str, Any]]:
        for image in tqdm(sorted(wanted), desc="pictures", unit="picture"):
            read = ((name, data()) for name, data in found[image])
            alike = (one for one in read if sha256(one[1]).hexdigest() == wanted[image])
            if (one := next(alike, None)) is None:
                unlike.append(image)
            else:
                yield {"image": image, "sha256": wanted[image], "picture": {"bytes": one[1], "path": one[0]}}

    part, out = here / "images.part", here / "images"
    shutil.rmtree(part, ignore_errors=True)
    write(rows(), part)
    if unlike:
        shutil.rmtree(part)
        told = f"{len(unlike)} of {len(wanted)} pictures are others than the questions were made of"
        raise SystemExit(f"{told}, the first {unlike[0]}.")
    shutil.rmtree(out, ignore_errors=True)
    part.rename(out)
    print(f"{len(wanted)} pictures, each as it was: load the configuration images.", file=sys.stderr)


if __name__ == "__main__":
    main()
