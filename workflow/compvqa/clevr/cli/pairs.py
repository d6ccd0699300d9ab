"""Commands that make what a held-out pair of attribute values needs (CLEVR-HOPE)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from compvqa.clevr.cli.data import Templates, Words
from compvqa.cli.options import Code, Config, Frame, Scenes, Seed, parse_shard, scene_tables

Made = Annotated[Path, typer.Argument(help="Table of questions to write.")]
Testbed = Annotated[str, typer.Option(help="Name of the test-bed.")]


def pair_scenes(
    out: Annotated[Path, typer.Argument(help="Table of the scenes that the pair takes of each pool, to write.")],
    scenes: Scenes,
    words: Words,
    config: Config = None,
    code: Code = None,
) -> None:
    """Walk the pools of scenes for a held-out pair: from each list, by number of objects, the first ones that fit."""
    from compvqa.clevr.hope.sets import PairSettings
    from compvqa.clevr.hope.walk import walk
    from compvqa.clevr.words import read_words

    frame = Frame("pair_scenes", config, 0, code)
    work = partial(walk, scenes, frame.settings(PairSettings), read_words(words), out)
    frame.run(work, [*scene_tables(scenes), words], [out])


def pair_questions(
    out: Made,
    of: Annotated[
        list[str], typer.Option("--set", help="A set: train, complex_iid, complex_ood, …, or minimal; repeat for more.")
    ],
    dropped: Annotated[Path, typer.Option(help="Table of templates that were tried in vain, to write.")],
    taken: Annotated[Path, typer.Option(help="Table of the scenes that the pair takes.")],
    scenes: Scenes,
    templates: Templates,
    words: Words,
    shard: Annotated[str, typer.Option(help="Which part of the scenes: 2-of-4.")] = "1-of-1",
    testbed: Testbed = "clevr",
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Fill CLEVR's templates for sets of a held-out pair: without it, with it, or with another of its types; and ask of
    pictures of one object whether it is of the pair, in groups of four that differ in nothing but two values."""
    from compvqa.clevr.hope.ask import ask
    from compvqa.clevr.hope.sets import PairSettings
    from compvqa.clevr.templates import read_templates
    from compvqa.clevr.words import read_words

    frame = Frame("pair_questions", config, seed, code)
    settings, said, known = frame.settings(PairSettings), read_words(words), read_templates(*templates)
    part = parse_shard(shard)
    frame.note({"testbed": testbed, "sets": of})
    work = partial(ask, of, scenes, taken, settings, known, said, seed, testbed, out, dropped, part)
    frame.run(work, [*scene_tables(scenes), taken, *templates, words], [out, dropped])


def gather_pair(
    out: Annotated[Path, typer.Argument(help="Table of the dataset to write.")],
    questions: Annotated[list[Path], typer.Option(help="Table of a set's questions; repeat.")],
    scenes: Scenes,
    config: Config = None,
    code: Code = None,
) -> None:
    """Put a held-out pair's sets together, train in the pieces of its sizes, and refuse them where the pair leaks."""
    from compvqa.clevr.hope.gather import gather
    from compvqa.clevr.hope.sets import PairSettings

    frame = Frame("gather_pair", config, 0, code)
    work = partial(gather, questions, scenes, frame.settings(PairSettings), out)
    frame.run(work, [*questions, *scene_tables(scenes)], [out])


def prelim_questions(
    out: Made,
    dropped: Annotated[Path, typer.Option(help="Table of templates that were tried in vain, to write.")],
    scenes: Scenes,
    templates: Templates,
    words: Words,
    testbed: Testbed = "clevr",
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Ask of pictures of one object whether it has a value, and of five how many have it (CLEVR-PRELIM)."""
    from compvqa.clevr.hope.preliminary import questions
    from compvqa.clevr.templates import read_templates
    from compvqa.clevr.words import read_words

    frame = Frame("prelim_questions", None, seed, code)
    frame.note({"testbed": testbed})
    work = partial(questions, scenes, read_templates(*templates), read_words(words), seed, testbed, out, dropped)
    frame.run(work, [*scene_tables(scenes), *templates, words], [out, dropped])


def read_hope(
    questions: Annotated[Path, typer.Argument(help="Released questions of CLEVR-HOPE (train_questions.h5 …).")],
    out: Annotated[Path, typer.Argument(help="File to write, in the format of CLEVR's release (JSON).")],
    vocab: Annotated[Path, typer.Option(help="The words that the numbers stand for (vocab.json, beside them).")],
    scenes: Annotated[Path, typer.Option(help="The scene file that the questions are about (JSON).")],
    split: Annotated[str, typer.Option(help="The side that the file is of: train, iid, ood …")] = "train",
) -> None:
    """Read the authors' released questions (HDF5) and write them as a question file of CLEVR's release.

    They lie at https://archive.org/details/CLEVR-HOPE and https://huggingface.co/datasets/user9000/CLEVR-HOPE. A config
    of the kind clevr_released then names that file, and its scene file as a source of the reader clevr. For example:

    python -m compvqa clevr read-hope train_questions.h5 train.json --vocab vocab.json --scenes scenes_train.json
    """
    from compvqa.clevr.hope.released import convert, read_vocabulary

    counts = convert(questions, read_vocabulary(vocab), scenes, split, out)
    typer.echo(f"{out}: " + ", ".join(f"{name} {n:,}" for name, n in counts.items()))
