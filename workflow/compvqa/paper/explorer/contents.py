"""A page of contents: links to other pages, such as those of papers, each with its title."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Sequence
from pathlib import Path

from compvqa.paper.render import environment, write_text


def make(pages: Sequence[Path], out: Path, title: str) -> dict[str, int]:
    """Write the page ``out``, which links to ``pages`` by relative paths, in the given order."""
    links = [(title_of(path), link(path, out)) for path in pages]
    write_text(out, environment().get_template("contents.html.j2").render(title=title, pages=links))
    return {"in": len(pages), "out": len(links)}


def title_of(path: Path) -> str:
    """What a page calls itself, or else its file's name."""
    found = re.search(r"<title>(.*?)</title>", path.read_text(encoding="utf-8"), re.S)
    return html.unescape(found[1]) if found else path.stem


def link(path: Path, page: Path) -> str:
    """The relative path to ``path`` from the folder of ``page``."""
    return Path(os.path.relpath(path, page.parent)).as_posix()
