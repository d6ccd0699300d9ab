"""The command that looks templates of CLEVR's questions over."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from compvqa.cli.options import Seed


class Distinct(StrEnum):
    """What it means that two counts must differ."""

    sets = "sets"
    outputs = "outputs"


def lint(
    templates: Annotated[
        list[Path], typer.Argument(help="Folder of templates, or a file of them (JSON, as in CLEVR's release); repeat.")
    ],
    words: Annotated[
        Path, typer.Option(help="The words that questions are made of, and their synonyms (JSON).")
    ] = Path("config/words/clevr.json"),
    scenes: Annotated[
        Path | None,
        typer.Option(help="Scenes to search in: a file of CLEVR's, or a folder of tables; without it, they are made."),
    ] = None,
    most: Annotated[int, typer.Option(help="How many scenes to search in.", min=1)] = 60,
    distinct: Annotated[
        Distinct,
        typer.Option(help="Two counts that must differ are of other objects (sets), or other numbers (the original)."),
    ] = Distinct.sets,
    seed: Seed = 1,
) -> None:
    """Tell which templates of CLEVR's questions are never asked, have one answer, repeat a text or double another.

    What follows from a template alone is called proved; the rest was searched for in so many scenes. The command exits
    with 1 where something was found, as is the first of compare_integer with --distinct outputs. For example:

    python -m compvqa clevr lint config/templates/clevr
    """
    from compvqa.clevr.cli.execute import left_out
    from compvqa.clevr.lint import lint as work
    from compvqa.clevr.lint import sampled, some_of
    from compvqa.clevr.templates import read_file, read_templates
    from compvqa.clevr.verify import scenes_of
    from compvqa.clevr.words import read_words

    families = [item for path in templates for item in (read_templates(path) if path.is_dir() else read_file(path))]
    known = read_words(words)
    looked_at = some_of(scenes_of(scenes, tell=left_out), most, seed) if scenes else sampled(known, most, seed)
    found = work(families, known, looked_at, distinct == Distinct.sets, seed=seed)
    for finding in found:
        typer.echo(str(finding))
    typer.echo(f"{len(families):,} templates, {len(found):,} findings")
    if found:
        raise typer.Exit(1)
