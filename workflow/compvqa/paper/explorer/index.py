"""All tables and figures of one paper on one page."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from compvqa.errors import InputError
from compvqa.paper.explorer.contents import links
from compvqa.paper.reference import Reference, load
from compvqa.paper.render import environment, write_text

FILES = {"table": (".csv", ".tex", ".html"), "figure": (".png", ".pdf")}
SCREEN = 100  # pixels of the page to an inch of a figure
START, END = "<!-- part -->", "<!-- /part -->"


@dataclass(frozen=True)
class Section:
    """A table (``html``, part of its page) or figure (``uri``, ``width`` pixels), its caption and files."""

    name: str
    title: str
    citation: str
    caption: str
    files: tuple[str, ...]
    html: str = ""
    uri: str = ""
    width: int = 0
    apart: bool = False


def make(
    definitions: Sequence[Path],
    folder: Path,
    out: Path,
    title: str,
    pages: Sequence[Path] = (),
    others: Sequence[tuple[str, Path]] = (),
) -> dict[str, int]:
    """Write the page ``out`` with the tables and figures of ``definitions`` (YAML files) made in ``folder``.

    They come in the given order, those that stand apart last. ``pages``: further pages to link to; ``others``: such as
    may not be there yet, with their titles.
    """
    sections, missing = [], 0
    for path in definitions:
        wanted = load(path)
        main = folder / f"{path.stem}{'.html' if wanted.kind == 'table' else '.png'}"
        if main.is_file():
            sections.append(_section(path.stem, wanted, main))
        else:
            missing += 1
    sections.sort(key=lambda section: section.apart)
    beside = links(pages, others, out)
    page = environment().get_template("index.html.j2").render(title=title, sections=sections, pages=beside)
    write_text(out, page)
    return {"in": len(definitions), "out": len(sections), "dropped: not made": missing}


def _section(name: str, wanted: Reference, main: Path) -> Section:
    files = tuple(f"{name}{suffix}" for suffix in FILES[wanted.kind])
    made = (name, wanted.title, wanted.citation, wanted.caption, files)
    if wanted.kind == "table":
        return Section(*made, html=_part(main), apart=bool(wanted.apart))
    with Image.open(main) as image:
        width = round(image.width * SCREEN / image.info["dpi"][0])
    uri = "data:image/png;base64," + base64.b64encode(main.read_bytes()).decode()
    return Section(*made, uri=uri, width=width, apart=bool(wanted.apart))


def _part(path: Path) -> str:
    """The table in a page that ``render.to_html`` wrote."""
    page = path.read_text(encoding="utf-8")
    if START not in page or END not in page:
        raise InputError(f"{path} is no table's page: delete it and make it again.")
    return page[page.index(START) + len(START) : page.rindex(END)]
