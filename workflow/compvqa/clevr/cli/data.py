"""Commands from scenes and templates, or from question files, to the dataset."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from compvqa.cli.options import Code, Config, Frame, Scenes, Seed, parse_shard, scene_tables

Templates = Annotated[
    list[Path], typer.Option(help="Folder of templates (*.json); repeat: of files of one name the first counts.")
]
Words = Annotated[Path, typer.Option(help="Words for attributes and relations, with synonyms (JSON).")]


def questions(
    out: Annotated[Path, typer.Argument(help="Table of questions to write.")],
    dropped: Annotated[Path, typer.Option(help="Table of templates that were tried in vain, to write.")],
    scenes: Scenes,
    templates: Templates,
    words: Words,
    shard: Annotated[str, typer.Option(help="Which part of the scenes: 2-of-4.")] = "1-of-1",
    testbed: Annotated[str, typer.Option(help="Name of the test-bed.")] = "clevr",
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Fill CLEVR's templates on scenes: questions with text, program and answer (CLEVR, 3.2)."""
    from compvqa.clevr.generate import GenerateSettings, generate
    from compvqa.clevr.templates import read_templates
    from compvqa.clevr.words import read_words

    frame = Frame("clevr_questions", config, seed, code)
    settings, part = frame.settings(GenerateSettings), parse_shard(shard)
    frame.note({"testbed": testbed})
    known, said = read_templates(*templates), read_words(words)
    work = partial(generate, scenes, known, said, settings, seed, testbed, out, dropped, *part)
    frame.run(work, [*scene_tables(scenes), *templates, words], [out, dropped])


def read_questions(
    out: Annotated[Path, typer.Argument(help="Folder for questions, what else was told of them, and rejects.")],
    file: Annotated[list[str], typer.Option(help="The file of a side, as <side>=<path>; repeat.")],
    templates: Templates,
    words: Words,
    source: Annotated[str, typer.Option(help="Name of the scenes' source.")] = "clevr",
    testbed: Annotated[str, typer.Option(help="Name of the test-bed.")] = "clevr",
    code: Code = None,
) -> None:
    """Read question files, released ones or of CLEVR's generator, and recover their families."""
    from compvqa.clevr.families import Families
    from compvqa.clevr.official import INFO
    from compvqa.clevr.official import read_questions as read
    from compvqa.clevr.templates import read_templates
    from compvqa.clevr.words import read_words
    from compvqa.errors import InputError

    if wrong := [entry for entry in file if "=" not in entry]:
        raise InputError(f"--file {wrong[0]!r} is not of the form <side>=<path>.")
    files = {side: Path(path) for side, _, path in (entry.partition("=") for entry in file)}
    frame = Frame("read_clevr_questions", None, 0, code)
    frame.note({"source": source, "testbed": testbed})
    families = Families(read_templates(*templates), read_words(words))
    outputs = [out / f"{name}.parquet" for name in ("questions", "origins", "rejects")]
    work = partial(read, files, families, out, testbed, source)
    frame.run(work, [*files.values(), *templates, words], [*outputs, out / INFO])


def gather_questions(
    questions: Annotated[Path, typer.Argument(help="Table of the dataset to write.")],
    dropped: Annotated[Path, typer.Option(help="Table of what was dropped, to write.")],
    shard: Annotated[list[Path], typer.Option(help="Table of a shard's questions; repeat.")],
    shard_dropped: Annotated[list[Path] | None, typer.Option(help="Table of what a shard dropped; repeat.")] = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Put the shards' questions together into the dataset, each in its part."""
    from compvqa.clevr.gather import gather
    from compvqa.clevr.parts import PartsSettings

    frame = Frame("gather_clevr_questions", config, seed, code)
    settings, left = frame.settings(PartsSettings), shard_dropped or []
    work = partial(gather, shard, left, questions, dropped, seed, settings.parts)
    frame.run(work, [*shard, *left], [questions, dropped])
