"""Commands from scenes to the dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compvqa.cli.options import NOTHING, Code, Config, Frame, Scenes, Seed, parquet_in, parse_shard, scene_tables

Graphs = Annotated[Path, typer.Option(help="Folder with subgraphs/ and occurrences/.")]
Overlap = Annotated[Path, typer.Option(help="Table m(x, y).")]
Shard = Annotated[str, typer.Option(help="Which part of the work: 2-of-4.")]


def subgraphs(
    scenes: Scenes,
    subgraphs: Annotated[Path, typer.Option(help="Table of distinct subgraphs to write.")],
    occurrences: Annotated[Path, typer.Option(help="Table of where they occur to write.")],
    shard: Shard = "1-of-1",
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Enumerate the subgraphs of scenes (COVR, section 3.1)."""
    from compvqa.covr.subgraphs.enumerate import SubgraphSettings, enumerate_scenes

    frame = Frame("subgraphs", config, seed, code)
    settings = frame.settings(SubgraphSettings)
    frame.run(
        lambda: enumerate_scenes(scenes, *parse_shard(shard), subgraphs, occurrences, settings),
        scene_tables(scenes),
        [subgraphs, occurrences],
    )


def overlap(
    out: Annotated[Path, typer.Argument(help="Table m(x, y) to write.")],
    scenes: Scenes,
    lexicon: Annotated[Path, typer.Option(help="Lexicon of the vocabulary.")],
    models: Annotated[Path | None, typer.Option(help="Folder of trained word filters, a folder a kind.")] = None,
    shares: Annotated[
        Path | None, typer.Option(help="Table of how many pairs are exclusive; else shares.parquet beside it.")
    ] = None,
    released: Annotated[
        Path | None, typer.Option(help="Table of what COVR's authors released, as word-released makes it.")
    ] = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Judge which names exclude each other: m(x, y) for all pairs seen in one context (App. A)."""
    from compvqa.covr.filters.words.overlap import OverlapSettings
    from compvqa.covr.filters.words.overlap import overlap as work
    from compvqa.scenes.lexicon import KINDS

    frame = Frame("overlap", config, seed, code)
    settings = frame.settings(OverlapSettings)
    learned = [models / kind for kind in KINDS if models and settings.of(kind) == "learned"]
    files = [folder / name for folder in learned for name in ("model.safetensors", "model.json", "scored.parquet")]
    inputs = [*scene_tables(scenes), lexicon, *files, *([released] if released else [])]
    compared = shares or out.with_name("shares.parquet")
    frame.run(
        lambda: work(scenes, lexicon, out, settings, models, compared, released),
        inputs,
        [out, compared],
        method=sorted({settings.of(kind) for kind in KINDS}),
    )


def candidates(
    scenes: Scenes,
    graphs: Graphs,
    overlap: Overlap,
    seeds: Annotated[Path, typer.Option(help="Folder for the shards' tables of seeds.")],
    candidates: Annotated[Path, typer.Option(help="Folder for the shards' tables of candidate images.")],
    shards: Annotated[int, typer.Option(help="Number of shards to write.", min=1)] = 1,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Find images that share a subgraph, and distractors that differ from it in one node or two (section 3.2)."""
    from compvqa.covr.subgraphs.search import GraphFiles, SearchSettings, find_candidates

    frame = Frame("candidates", config, seed, code)
    settings = frame.settings(SearchSettings)
    graph = GraphFiles(scenes, parquet_in(graphs / "subgraphs"), parquet_in(graphs / "occurrences"))
    names = [f"{number}-of-{shards}.parquet" for number in range(1, shards + 1)]
    out = [(seeds / name, candidates / name) for name in names]
    frame.run(
        lambda: find_candidates(graph, overlap, out, settings, seed),
        [*scene_tables(scenes), *graph.subgraphs, *graph.occurrences, overlap],
        [path for pair in out for path in pair],
        candidates / "candidates.prov.json",
        backend=settings.backend,
    )


def related(
    seeds: Annotated[Path, typer.Option(help="Table of seeds.")],
    candidates: Annotated[Path, typer.Option(help="Table of candidate images.")],
    presence: Annotated[Path, typer.Option(help="Table of presence.")],
    related: Annotated[Path, typer.Option(help="Table of related images to write.")],
    thresholds: Annotated[Path | None, typer.Option(help="Thresholds to use instead of the config's (JSON).")] = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Keep the images that pass all filters, at most ten a key."""
    from compvqa.covr.subgraphs.related import RelatedSettings, relate

    frame = Frame("related", config, seed, code)
    settings = frame.settings(RelatedSettings)
    inputs = [seeds, candidates, presence, *([thresholds] if thresholds else [])]
    frame.run(lambda: relate(seeds, candidates, presence, related, settings.set_by(thresholds)), inputs, [related])


def questions(
    seeds: Annotated[Path, typer.Option(help="Table of seeds.")],
    related: Annotated[Path, typer.Option(help="Table of related images.")],
    others: Annotated[Path, typer.Option(help="Table of the 'others exist' check.")],
    scenes: Scenes,
    lexicon: Annotated[Path, typer.Option(help="Lexicon of the vocabulary.")],
    templates: Annotated[list[Path], typer.Option(help="Folder of templates (YAML); repeat, the first counts.")],
    questions: Annotated[Path, typer.Option(help="Table of questions to write.")],
    dropped: Annotated[Path, typer.Option(help="Table of dropped candidates to write.")],
    testbed: Annotated[str, typer.Option(help="Name of the test-bed.")] = "covr",
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Fill the templates: questions with text, program, images and answer (section 3.3)."""
    from compvqa.covr.questions.generate import QuestionsSettings, generate
    from compvqa.covr.questions.templates import load

    frame = Frame("questions", config, seed, code)
    settings = frame.settings(QuestionsSettings)
    frame.run(
        lambda: generate(
            seeds, related, scenes, lexicon, templates, questions, dropped, settings, seed, testbed, others
        ),
        [seeds, related, others, *scene_tables(scenes), lexicon, *templates],
        [questions, dropped],
        kinds=sorted({template.kind for template in load(*templates)}),
    )


def gather_questions(
    shards: Annotated[Path, typer.Option(help="Folder with shards/ and dropped/.")],
    questions: Annotated[Path, typer.Option(help="Table of all questions to write.")],
    dropped: Annotated[Path, typer.Option(help="Table of all dropped candidates to write.")],
    code: Code = None,
) -> None:
    """Put the shards' questions together, each once."""
    from compvqa.covr.questions.gather import gather

    frame = Frame("gather_questions", None, 0, code)
    made, left = parquet_in(shards / "shards"), parquet_in(shards / "dropped")
    frame.run(lambda: gather(made, left, questions, dropped), [*made, *left], [questions, dropped])


def balance(
    out: Annotated[Path, typer.Argument(help="Table of the balanced dataset to write.")],
    questions: Annotated[Path, typer.Option(help="Table of all questions.")],
    risk: Annotated[list[Path], typer.Option(help="Table of their risks (risk), a shard; repeat.")] = NOTHING,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Leave out risky questions, balance templates, answers and structures, and deal dev and test (App. C)."""
    from compvqa.covr.questions.balance import BalanceSettings
    from compvqa.covr.questions.balance import balance as work

    frame = Frame("balance", config, seed, code)
    settings = frame.settings(BalanceSettings)
    frame.run(lambda: work(questions, out, settings, seed, risk), [questions, *risk], [out])


def read_questions(
    out: Annotated[Path, typer.Argument(help="Folder for the tables of questions, paraphrases and rejects.")],
    scenes: Annotated[Path, typer.Option(help="Folder for the scene tables: images alone.")],
    testbed: Annotated[str, typer.Option(help="Name of the test-bed.")] = "covr",
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Take the questions of COVR's released files (--config names them) as the dataset, instead of making any."""
    from compvqa.covr.released.reader import ReleasedQuestions
    from compvqa.covr.released.reader import read_questions as work

    frame = Frame("read_questions", config, seed, code)
    parts = frame.settings(ReleasedQuestions).parts
    frame.note({"testbed": testbed})
    outputs = [out / f"{name}.parquet" for name in ("questions", "paraphrases", "rejects")]
    frame.run(lambda: work(parts, out, scenes, testbed, seed), parts.values(), [*outputs, *scene_tables(scenes)])
