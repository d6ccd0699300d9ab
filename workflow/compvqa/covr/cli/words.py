"""Commands of the word filter: pairs to label, labels, training and scores (App. A)."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from compvqa.cli.options import Code, Config, Frame, Scenes, Seed, scene_tables

LexiconFile = Annotated[Path, typer.Option("--lexicon", help="Lexicon of the vocabulary.")]
Labels = Annotated[Path, typer.Option(help="Table of labelled pairs.")]


class Kind(StrEnum):
    """What names are of."""

    noun = "noun"
    attribute = "attribute"
    relation = "relation"


class HoldOut(StrEnum):
    """What is held out of a training."""

    pairs = "pairs"
    words = "words"


def word_pairs(
    out: Annotated[Path, typer.Argument(help="CSV file to write: kind,x,y,label,annotator,contexts.")],
    scenes: Scenes,
    most: Annotated[int, typer.Option(help="Pairs of each kind, the most useful first.", min=1)] = 300,
    kind: Annotated[list[Kind] | None, typer.Option(help="Only pairs of this kind; repeat for more.")] = None,
    labelled: Annotated[list[Path] | None, typer.Option(help="CSV file whose pairs are left out; repeat.")] = None,
    config: Config = None,
    code: Code = None,
) -> None:
    """Choose pairs of names, seen in one context, for people to label."""
    from compvqa.covr.filters.words.labels import export
    from compvqa.covr.filters.words.pairs import PairSettings
    from compvqa.scenes.lexicon import KINDS

    frame = Frame("word_pairs", config, 0, code)
    settings = frame.settings(PairSettings)
    kinds, done = tuple(one.value for one in kind or ()) or KINDS, labelled or []
    inputs = [*scene_tables(scenes), *done]
    frame.run(lambda: export(scenes, out, settings, most, done, kinds), inputs, [out])


def word_labels(
    out: Annotated[Path, typer.Argument(help="Table of labelled pairs to write.")],
    scenes: Scenes,
    lexicon: LexiconFile,
    config: Config = None,
    code: Code = None,
) -> None:
    """Check people's labels and put them together; --config names their files, without any the lexicon labels pairs."""
    from compvqa.covr.filters.words.labels import LabelSettings, gather

    frame = Frame("word_labels", config, 0, code)
    settings = frame.settings(LabelSettings)
    inputs = [*scene_tables(scenes), lexicon, *settings.files]
    frame.run(lambda: gather(scenes, lexicon, out, settings), inputs, [out])


def word_released(
    out: Annotated[Path, typer.Argument(help="Table of pairs to write.")],
    file: Annotated[Path, typer.Option(help="COVR's adversarial_groups.yaml.")],
    code: Code = None,
) -> None:
    """Read what COVR's authors released of their own word filters: which pairs exclude each other."""
    from compvqa.covr.filters.words.released import read_released

    Frame("word_released", None, 0, code).run(lambda: read_released(file, out), [file], [out])


def word_filter(
    out: Annotated[Path, typer.Argument(help="Folder for the weights and the scored pairs.")],
    labels: Labels,
    lexicon: LexiconFile,
    kind: Annotated[Kind, typer.Option(help="Which names.")],
    hold_out: Annotated[HoldOut, typer.Option(help="Hold out pairs, or all pairs of some words.")] = HoldOut.pairs,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Fine-tune the word filter of one kind on labelled pairs, in the manner of NLI."""
    from compvqa.covr.filters.words.settings import WordFilterSettings
    from compvqa.covr.filters.words.training import train

    frame = Frame("word_filter", config, seed, code)
    settings = frame.settings(WordFilterSettings)
    frame.run(
        lambda: train(labels, lexicon, kind.value, hold_out.value, out, settings, seed),
        [labels, lexicon],
        [out / name for name in ("model.safetensors", "model.json", "history.parquet", "scored.parquet")],
    )


def word_scores(
    out: Annotated[Path, typer.Argument(help="Table of scores to write.")],
    scored: Annotated[list[str], typer.Option(help="pairs=FILE or words=FILE: scored pairs of a training; repeat.")],
    lexicon: LexiconFile,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Score the word filters on held-out pairs and words, beside lexicon, cosine and majority."""
    from compvqa.covr.filters.words.scores import word_scores as work
    from compvqa.covr.filters.words.settings import WordFilterSettings
    from compvqa.errors import InputError

    frame = Frame("word_scores", config, seed, code)
    settings = frame.settings(WordFilterSettings)
    files = []
    for text in scored:
        protocol, _, path = text.partition("=")
        if protocol not in set(HoldOut) or not path:
            raise InputError(f"--scored {text!r} is not of the form pairs=FILE or words=FILE.")
        files.append((protocol, Path(path)))
    inputs = [lexicon, *(path for _, path in files)]
    frame.run(lambda: work(files, lexicon, out, settings, seed), inputs, [out])


def annotate(
    what: Annotated[str, typer.Argument(help="What is labelled: words.", metavar="words")],
    file: Annotated[Path, typer.Argument(help="CSV file of pairs, as word-pairs writes it; labels go into it.")],
    annotator: Annotated[str, typer.Option(help="Your name, as it stands beside your labels.")],
) -> None:
    """Label pairs of names in the terminal; every answer is saved at once, and the next call goes on."""
    from compvqa.covr.filters.words.annotate import KEYS
    from compvqa.covr.filters.words.annotate import annotate as work
    from compvqa.errors import InputError

    if what != "words":
        raise InputError(f"annotate {what}: only words are labelled here; say annotate words FILE.")
    name = annotator.strip()
    if not name or ":" in name:
        raise InputError(f"--annotator {annotator!r} is no name: give one without a colon.")

    def ask() -> str:
        try:
            return typer.prompt("e/o/s/u/q", prompt_suffix="> ").strip().lower()
        except typer.Abort:
            return "q"

    typer.echo(KEYS)
    counts = work(file, name, ask, typer.echo)
    typer.echo("\nsaved: " + ", ".join(f"{key} {value:,}" for key, value in counts.items()))
