"""What two folders of results say: rows, numbers and pixels compared, whatever made them.

Recipe ids, which change with the code's names, are left out, as are records, manifests and Snakemake's report: runs of
two commits can say the same although no two of their files have the same bytes.
"""

from __future__ import annotations

import base64
import filecmp
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from PIL import Image

from compvqa import tables
from compvqa.errors import InputError
from compvqa.files import read_json
from compvqa.progress import track
from compvqa.provenance.manifest import MANIFEST
from compvqa.records.record import SUFFIX

EQUAL, DIFFERS, RENAMED, ONLY_A, ONLY_B = "equal", "differs", "equal, renamed", "only in A", "only in B"
VERDICTS = (EQUAL, DIFFERS, RENAMED, ONLY_A, ONLY_B)
PICTURES = (".png", ".jpg", ".jpeg")
APART = (MANIFEST, "report.html")  # they tell of the run
_RECIPE = re.compile(rb"\b[0-9a-f]{24}\b")
_EMBEDDED = re.compile(rb"data:image/(?:png|jpeg);base64,([A-Za-z0-9+/=]+)")
_ONLY = "select count(*) from (select {columns} from read_parquet(?) except all select {columns} from read_parquet(?))"


@dataclass(frozen=True)
class Compared:
    """A file of A, or of B alone: what it is (``kind``), its ``verdict`` and, where that is not equal, what differs."""

    path: str
    kind: str
    verdict: str
    told: str = ""


def compare(a: Path, b: Path) -> list[Compared]:
    """Compare the files of two folders by their paths in them; those that only one has, under one other path too.

    :class:`InputError` where one is no folder, or a file can't be read.
    """
    before, after = _files(a), _files(b)
    found = [_compared(path, a / path, b / path) for path in track(sorted(before & after), "comparing", unit="file")]
    gone, new = sorted(before - after), sorted(after - before)
    for path in gone:
        other = next((other for other in new if _alike(path, other) and not _difference(a / path, b / other)), None)
        if other is None:
            found.append(Compared(path, _kind(a / path), ONLY_A))
        else:
            new.remove(other)
            found.append(Compared(path, _kind(a / path), RENAMED, f"{other} in B"))
    found += [Compared(path, _kind(b / path), ONLY_B) for path in new]
    return sorted(found, key=lambda one: (one.kind, one.path))


def same(found: list[Compared]) -> bool:
    """Whether each file of the one is in the other, too, and says the same there."""
    return all(one.verdict in (EQUAL, RENAMED) for one in found)


def _files(folder: Path) -> set[str]:
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder: give two folders of results.")
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {
        path.as_posix()
        for path in found
        if not path.name.endswith(SUFFIX) and path.name not in APART and not any(p.startswith(".") for p in path.parts)
    }


def _alike(path: str, other: str) -> bool:
    """Whether a file may have been renamed, or moved, to the other."""
    one, two = Path(path), Path(other)
    return one.suffix == two.suffix and (one.name == two.name or one.parent == two.parent)


def _kind(path: Path) -> str:
    """What a file is: a table by its schema's name, weights, a picture, or else a page or a file by its suffix."""
    if path.suffix == ".parquet":
        return f"table {tables.metadata(path).get('schema', '')}".strip()
    if path.suffix == ".safetensors":
        return "weights"
    return "pictures" if path.suffix in PICTURES else path.suffix.removeprefix(".") or "other"


def _compared(path: str, a: Path, b: Path) -> Compared:
    told = "" if filecmp.cmp(a, b, shallow=False) else _difference(a, b)
    return Compared(path, _kind(a), DIFFERS if told else EQUAL, told)


def _difference(a: Path, b: Path) -> str:
    """What differs between two files of one suffix, in a few words; "" where nothing does."""
    how: Mapping[str, Callable[[Path, Path], str]] = {
        ".parquet": _rows,
        ".safetensors": _numbers,
        ".json": _values,
        **dict.fromkeys(PICTURES, _pixels),
    }
    return how.get(a.suffix, _text)(a, b)


def _rows(a: Path, b: Path) -> str:
    one, two = (tables.read(path) for path in (a, b))
    said = [{name: text for name, text in tables.metadata(path).items() if name != "recipe"} for path in (a, b)]
    if unlike := sorted(name for name in said[0].keys() | said[1].keys() if said[0].get(name) != said[1].get(name)):
        return f"what they say of themselves: {', '.join(unlike)}"
    if not one.schema.equals(two.schema):
        names = [{f"{field.name} ({field.type})" for field in of.schema} for of in (one, two)]
        sides = ((ONLY_A, names[0] - names[1]), (ONLY_B, names[1] - names[0]))
        apart = [f"{name}: {', '.join(sorted(of))}" for name, of in sides if of]
        return f"columns {'; '.join(apart) or 'in another order'}"
    if one.equals(two):
        return ""
    with duckdb.connect() as db:
        columns = ", ".join(f'"{name}"' for name in one.column_names)
        only = [
            db.execute(_ONLY.format(columns=columns), list(map(str, pair))).fetchall()[0][0]
            for pair in ((a, b), (b, a))
        ]
    if not any(only):  # to DuckDB nan is nan
        return ""
    told = f"of {len(one):,} rows {only[0]:,} {ONLY_A}, of {len(two):,} rows {only[1]:,} {ONLY_B}"
    if len(one) == len(two):
        told += f", in {', '.join(name for name in one.column_names if not one[name].equals(two[name]))}"
    return told


def _numbers(a: Path, b: Path) -> str:
    from compvqa.weights import load_weights

    one, two = load_weights(a), load_weights(b)
    if apart := sorted(one.keys() ^ two.keys()):
        return f"{len(apart):,} tensors only in one of them, such as {apart[0]}"
    shapes = [name for name in one if (one[name].shape, one[name].dtype) != (two[name].shape, two[name].dtype)]
    if shapes:
        return f"{len(shapes):,} tensors of another shape or type, such as {shapes[0]}"
    # as bytes: nan is nan
    changed = [name for name in one if one[name].numpy().tobytes() != two[name].numpy().tobytes()]
    if not changed:
        return ""
    most = max(np.fmax.reduce(abs(one[name].double() - two[name].double()).numpy(), axis=None) for name in changed)
    return f"{len(changed):,} of {len(one):,} tensors, by {most:.3g} at most"


def _values(a: Path, b: Path) -> str:
    one, two = (_without_recipes(read_json(path)) for path in (a, b))
    said = [{key: json.dumps(value, sort_keys=True) for key, value in of.items()} for of in (one, two)]
    keys = sorted(key for key in one.keys() | two.keys() if said[0].get(key) != said[1].get(key))
    return f"under {', '.join(keys)}" if keys else ""


def _without_recipes(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_recipes(item) for key, item in value.items() if key != "recipe"}
    return [_without_recipes(item) for item in value] if isinstance(value, list) else value


def _pixels(a: Path, b: Path) -> str:
    one, two = (np.asarray(_picture(path.read_bytes(), path)) for path in (a, b))
    if one.shape != two.shape:
        return f"{one.shape[1]} x {one.shape[0]} pixels, not {two.shape[1]} x {two.shape[0]}"
    changed = int((one != two).any(axis=2).sum())
    return f"{changed:,} of {one.shape[0] * one.shape[1]:,} pixels" if changed else ""


def _picture(data: bytes, path: Path) -> Image.Image:
    try:
        return Image.open(io.BytesIO(data)).convert("RGBA")
    except OSError as error:
        raise InputError(f"{path} has no readable picture ({error}): make it again.") from None


def _text(a: Path, b: Path) -> str:
    one, two = (list(_lines(path)) for path in (a, b))
    changed = sum(x != y for x, y in zip(one, two, strict=False)) + abs(len(one) - len(two))
    return f"{changed:,} of {max(len(one), len(two)):,} lines" if changed else ""


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file with their ends, without recipes; a picture in a page by its pixels."""

    def drawn(found: re.Match[bytes]) -> bytes:
        return b"picture " + _picture(base64.b64decode(found[1]), path).tobytes().hex().encode()

    told = _RECIPE.sub(b"", _EMBEDDED.sub(drawn, path.read_bytes()))
    yield from (line for line in re.split(rb"(?<=\n)", told) if line)
