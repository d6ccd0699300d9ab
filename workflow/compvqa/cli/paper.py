"""Commands from our tables to those of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from compvqa.cli.options import NOTHING, Code, Config, Frame, Seed, image_folders, scene_tables
from compvqa.errors import InputError

Definition = Annotated[Path, typer.Argument(help="What to make: a file of config/paper/<paper>.")]
Inputs = Annotated[list[str], typer.Option("--input", help="NAME=PATH; repeat for more.")]
Out = Annotated[Path, typer.Option(help="Path to write, without its ending.")]
Links = Annotated[list[str], typer.Option("--link", help="TITLE=PATH of a page that may not be there yet; repeat.")]


def table(
    definition: Definition,
    input: Inputs,
    out: Out,
    apart: Annotated[str, typer.Option(help="Why the paper's numbers can't be compared with ours, if so.")] = "",
    note: Annotated[str, typer.Option(help="What stands below a table of scores about their data.")] = "",
    code: Code = None,
) -> None:
    """Make one table of the paper from our data, the paper's numbers beside ours."""
    from compvqa.paper.tables import make

    frame = Frame("table", None, 0, code)
    if said := {name: text for name, text in (("apart", apart), ("note", note)) if text}:
        frame.note(said)
    _make(frame, partial(make, apart=apart, note=note), definition, input, out, (".html", ".csv", ".tex"))


def figure(definition: Definition, input: Inputs, out: Out, code: Code = None) -> None:
    """Draw one figure of the paper from our data."""
    from compvqa.paper.figures import make

    _make(Frame("figure", None, 0, code), make, definition, input, out, (".png", ".pdf"))


def _make(frame: Frame, make, definition: Path, given: list[str], out: Path, endings) -> None:
    from compvqa.paper.reference import load

    inputs: dict[str, list[Path]] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not equals:
            raise InputError(f"--input {text!r} is not of the form NAME=PATH.")
        inputs.setdefault(name, []).append(Path(path))
    frame.run(
        lambda: make(definition, inputs, out),
        [definition, *(path for paths in inputs.values() for path in paths)],
        [out.with_name(out.name + ending) for ending in endings],
        note=out.with_name(out.name + ".prov.json"),
        make=load(definition).make,
    )


def samples(
    out: Annotated[Path, typer.Argument(help="The page to write.")],
    dataset: Annotated[Path, typer.Option(help="Table of the balanced dataset.")],
    scenes: Annotated[Path, typer.Option(help="Folder of the merged scene tables.")],
    images: Annotated[list[str], typer.Option(help="SPACE=FOLDER of pictures; repeat for more.")] = NOTHING,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Make a page of sample questions with their images, programs and answers."""
    from compvqa.paper.explorer.questions import ExplorerSettings, make
    from compvqa.questions.dataset import language_of

    frame = Frame("samples", config, seed, code)
    settings = frame.settings(ExplorerSettings)
    inputs, shown = [dataset, *scene_tables(scenes)], image_folders(images)
    frame.run(lambda: make(dataset, scenes, shown, out, settings, seed), inputs, [out], language=language_of(dataset))


def index(
    out: Annotated[Path, typer.Argument(help="The page to write.")],
    folder: Annotated[Path, typer.Option(help="Folder of the tables and figures.")],
    show: Annotated[list[Path], typer.Option(help="A table's or figure's definition, in the page's order; repeat.")],
    title: Annotated[str, typer.Option(help="The page's title.")],
    page: Annotated[list[Path], typer.Option(help="A further page to link to; repeat for more.")] = NOTHING,
    link: Links = NOTHING,
    code: Code = None,
) -> None:
    """Put all tables and figures of a paper on one page."""
    from compvqa.paper.explorer.index import make

    frame = Frame("index", None, 0, code)
    made = [folder / f"{page.stem}{ending}" for page in show for ending in (".html", ".png")]
    frame.run(
        lambda: make(show, folder, out, title, page, _titled(link)),
        [*show, *page, *(path for path in made if path.exists())],
        [out],
    )


def contents(
    out: Annotated[Path, typer.Argument(help="The page to write.")],
    pages: Annotated[list[Path], typer.Argument(help="The pages that it links to, in its order.")],
    title: Annotated[str, typer.Option(help="The page's title.")],
    link: Links = NOTHING,
    code: Code = None,
) -> None:
    """Write a page of contents: links to other pages."""
    from compvqa.paper.explorer.contents import make

    frame = Frame("contents", None, 0, code)
    frame.run(lambda: make(pages, out, title, _titled(link)), pages, [out])


def _titled(links: Sequence[str]) -> list[tuple[str, Path]]:
    """Titles and paths of pages given as TITLE=PATH."""
    return [(name, Path(path)) for name, _, path in (text.partition("=") for text in links)]


def add_to(app: typer.Typer) -> None:
    """Add these commands in the order of the chain."""
    for stage in (table, figure, samples, index, contents):
        app.command(stage.__name__)(stage)
