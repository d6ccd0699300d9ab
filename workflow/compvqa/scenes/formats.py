"""Which format of scene graphs a file looks to be in, by its first record."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from compvqa.errors import InputError
from compvqa.scenes.stream import elements, members

FORMATS = {"gqa": "GQA", "visual_genome": "Visual Genome", "imsitu": "imSitu", "clevr": "CLEVR"}
READERS = tuple(FORMATS)


def format_of(path: Path) -> str | None:
    """One of :data:`FORMATS`, or None where the file is in none of them, or broken."""
    for read in (members, elements):
        try:
            with closing(read(path)) as records:
                first = next(records, None)
        except InputError:
            continue
        return _of_member(*first) if isinstance(first, tuple) else _of_element(first)
    return None


def _of_member(key: str, value: object) -> str | None:
    if key == "scenes" and isinstance(value, list):
        return "clevr"
    if not isinstance(value, dict):
        return None
    if key == "info" and {"split", "version"} <= value.keys():
        return "clevr"
    if isinstance(value.get("frames"), list) and "verb" in value:
        return "imsitu"
    return "gqa" if isinstance(value.get("objects"), dict) else None


def _of_element(value: object) -> str | None:
    return "visual_genome" if isinstance(value, dict) and isinstance(value.get("objects"), list) else None


def check_format(source: str, reader: str, path: Path) -> None:
    """Raise :class:`InputError` where the file of a source looks to be in a format that another reader reads.

    Only the readers of this package are checked: what a reader of your own takes is its own matter.
    """
    found = format_of(path) if reader in READERS else None
    if found is None or found == reader:
        return
    raise InputError(
        f"Source {source}: {path} looks like {FORMATS[found]}'s format, not {FORMATS[reader]}'s: set reader: {found}."
    )
