"""Where raw files are from, and under which licence they came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compvqa.scenes.download import Download

UNKNOWN = "unknown"
# The licences that the hub knows by name, among those that data are under
_PAGES = {
    "cc0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "cc-by-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "cc-by-sa-4.0": "https://creativecommons.org/licenses/by-sa/4.0/",
    "cc-by-nc-4.0": "https://creativecommons.org/licenses/by-nc/4.0/",
    "cc-by-nc-sa-4.0": "https://creativecommons.org/licenses/by-nc-sa/4.0/",
    "mit": "https://spdx.org/licenses/MIT",
    "apache-2.0": "https://spdx.org/licenses/Apache-2.0",
    "odc-by": "https://spdx.org/licenses/ODC-By-1.0",
}


@dataclass(frozen=True)
class Licence:
    """A licence as it was stated (``text``), its name on the hub and its page; both are "" where it has none there."""

    text: str
    tag: str = ""
    page: str = ""


@dataclass(frozen=True)
class Source:
    """A source of scenes or questions: its raw files and their licence; ``urls`` where they are downloads."""

    name: str
    licence: Licence
    files: tuple[str, ...]
    urls: tuple[str, ...] = ()
    version: str = ""
    drawn: bool = False


def licence(text: str) -> Licence:
    """The licence that ``text`` (``CC BY 4.0``, ``mit``) names."""
    tag = "-".join(text.lower().split())
    return Licence(text, tag, _PAGES[tag]) if tag in _PAGES else Licence(text)


def common(licences: Iterable[Licence]) -> Licence:
    """The one licence that all are; that of the tag ``other`` where they differ, ``unknown`` where one is not known."""
    found = list(licences)
    if found and len({one.tag or one.text for one in found}) == 1 and found[0].tag:
        return found[0]
    unknown = not found or any(one.text == UNKNOWN for one in found)
    return Licence(UNKNOWN, UNKNOWN) if unknown else Licence("several, by source", "other")


def origins(downloads: Iterable[Download]) -> dict[str, Download]:
    """The path of each file that downloads give, and the download that gives it."""
    return {f"resources/{row.name}/{file}": row for row in downloads for file in row.files()}


def sources_of(
    files: Mapping[str, Sequence[Path]],
    downloads: Iterable[Download],
    world: Path | None = None,
    stated: Mapping[str, str] | None = None,
) -> list[Source]:
    """The sources whose raw ``files`` are given by name.

    ``downloads`` says which are downloads; those in the folder ``world`` are drawn by the workflow. ``stated``: by the
    sources' names, licences that go before those of ``downloads``.
    """
    known = origins(downloads)
    return [_source(name, paths, known, world, (stated or {}).get(name)) for name, paths in files.items()]


def _source(
    name: str, paths: Sequence[Path], known: Mapping[str, Download], world: Path | None, stated: str | None
) -> Source:
    rows = [known.get(path.as_posix()) for path in paths]
    found = [row for row in rows if row]
    if stated:
        terms = licence(stated)
    elif found and len(found) == len(rows):
        texts = sorted({row.licence for row in found})
        terms = licence(texts[0]) if len(texts) == 1 else Licence("; ".join(texts))
    else:
        terms = Licence(UNKNOWN)
    return Source(
        name,
        terms,
        tuple(path.name for path in paths),
        tuple(dict.fromkeys(row.url for row in found)),
        ", ".join(dict.fromkeys(row.version for row in found)),
        world is not None and bool(paths) and all(path.is_relative_to(world) for path in paths),
    )
