"""A page of contents: links to other pages, such as those of papers, each with its title."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Sequence
from pathlib import Path

from compvqa.paper.render import environment, write_text


def make(pages: Sequence[Path], out: Path, title: str, others: Sequence[tuple[str, Path]] = ()) -> dict[str, int]:
    """Write the page ``out``, which links to ``pages``, then to ``others``, by relative paths, in the given order.

    A page of the same title shows all tables and figures; of one whose title adds to it, what it adds is its name.
    """
    found = [(_beside(name, title), path) for name, path in links(pages, others, out)]
    write_text(out, environment().get_template("contents.html.j2").render(title=title, pages=found))
    return {"in": len(pages) + len(others), "out": len(found)}


def links(pages: Sequence[Path], others: Sequence[tuple[str, Path]], page: Path) -> list[tuple[str, str]]:
    """Title and relative path from ``page`` of each of ``pages`` and of ``others``, which are given with their titles
    and may not be there yet."""
    return [(name, link(path, page)) for name, path in [*((title_of(path), path) for path in pages), *others]]


def _beside(name: str, title: str) -> str:
    return "All tables and figures" if name == title else name.removeprefix(f"{title}: ")


def title_of(path: Path) -> str:
    """What a page calls itself, or else its file's name."""
    found = re.search(r"<title>(.*?)</title>", path.read_text(encoding="utf-8"), re.S)
    return html.unescape(found[1]) if found else path.stem


def link(path: Path, page: Path) -> str:
    """The relative path to ``path`` from the folder of ``page``."""
    return Path(os.path.relpath(path, page.parent)).as_posix()
