"""Commands from raw files to splits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from compvqa.cli.options import Code, Config, Frame, Seed, parquet_in, parse_shard, scene_tables
from compvqa.settings import Settings


class SplitRequest(Settings):
    """A split's definition (a file of config/splits), and what all splits share."""

    definition: dict
    settings: dict = {}


Scenes = Annotated[Path, typer.Option(help="Folder of the merged scene tables.")]
Graphs = Annotated[Path, typer.Option(help="Folder with subgraphs/ and occurrences/.")]
Overlap = Annotated[Path, typer.Option(help="Table m(x, y).")]
Shard = Annotated[str, typer.Option(help="Which part of the work: 2-of-4.")]


def download(
    name: Annotated[str, typer.Argument(help="The source's name in the list.")],
    file: Annotated[str, typer.Argument(help="The file's name in the list.")],
    folder: Annotated[Path, typer.Option(help="Folder for the file and what is in it.")],
    sources: Annotated[Path, typer.Option(help="The list of downloads (TSV).")],
    lock: Annotated[Path, typer.Option(help="Where sha256 are recorded on the first fetch.")],
    code: Code = None,
) -> None:
    """Fetch one file of config/sources.tsv: checked, resumed, and unpacked with care."""
    from compvqa.errors import InputError
    from compvqa.scenes.download import download as work
    from compvqa.scenes.download import read_sources

    rows = [row for row in read_sources(sources) if (row.name, row.file) == (name, file)]
    if not rows:
        raise InputError(f"{sources} lists no file {file} of {name}.")
    frame = Frame("download", None, 0, code)
    frame.note({key: getattr(rows[0], key) for key in ("url", "version", "sha256", "licence")})
    outputs = [folder / member for member in rows[0].files()]
    frame.run(lambda: work(rows[0], folder, lock), [], outputs, folder / f"{file}.prov.json")


def checkpoint(
    name: Annotated[str, typer.Argument(help="The checkpoint's name on the Hugging Face Hub.")],
    out: Annotated[Path, typer.Option(help="The list of its files to write (JSON).")],
    hub: Annotated[Path, typer.Option(help="Folder to keep it in, as HF_HUB_CACHE names it.")],
    revision: Annotated[str, typer.Option(help="Branch, tag or commit.")] = "main",
    code: Code = None,
) -> None:
    """Fetch a checkpoint of the Hugging Face Hub, for jobs that then ask no network."""
    from compvqa.models.hub import stage

    frame = Frame("checkpoint", None, 0, code)
    frame.run(lambda: stage(name, revision, hub, out), [], [out])


def sprites(
    out: Annotated[Path, typer.Argument(help="Folder to make the world in.")],
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Draw the sprites world: pictures, annotations in GQA's and imSitu's formats, and the truth apart."""
    from compvqa.scenes.worlds.sprites import SpritesSettings, generate

    frame = Frame("sprites", config, seed, code)
    settings = frame.settings(SpritesSettings)
    names = ("train_sceneGraphs.json", "val_sceneGraphs.json", "imsitu", "lexicon.json", "images", "aside", "truth")
    outputs = [out / name for name in names]
    frame.run(lambda: generate(out, settings, seed), [], outputs, note=out / "sprites.prov.json")


def simulate(
    out: Annotated[Path, typer.Argument(help="Folder to write the raw files in.")],
    ontology: Annotated[Path, typer.Option(help="Folder of GQA's ontology files, for the names and their counts.")],
    gqa: Annotated[int, typer.Option(help="Number of scenes in GQA's format.")] = 85_000,
    imsitu: Annotated[int, typer.Option(help="Number of images in imSitu's format.")] = 100_000,
    dense: Annotated[bool, typer.Option("--dense", help="2.1 relations an object in GQA's scenes, not 0.35.")] = False,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Write raw files of real size and shape in GQA's and imSitu's formats, without pictures, for benchmarks."""
    from compvqa.scenes.worlds.simulate import DENSE, SimulateSettings, files
    from compvqa.scenes.worlds.simulate import simulate as work

    given = {"gqa": gqa, "imsitu": imsitu} | ({"relations": DENSE} if dense else {})
    frame = Frame("simulate", json.dumps(given), seed, code)
    settings = frame.settings(SimulateSettings)
    frame.run(lambda: work(ontology, out, settings, seed), [ontology], files(out, settings), out / "simulate.prov.json")


def lexicon(
    out: Annotated[Path, typer.Argument(help="The lexicon to write (JSON).")],
    file: Annotated[Path | None, typer.Option(help="A lexicon of your own (JSON).")] = None,
    gqa: Annotated[Path | None, typer.Option(help="Folder of GQA's ontology files.")] = None,
    code: Code = None,
) -> None:
    """Make the vocabulary's lexicon from a file, or from GQA's ontology."""
    from compvqa.errors import InputError
    from compvqa.scenes.lexicon import Lexicon

    if (file is None) == (gqa is None):
        raise InputError("lexicon: give either --file or --gqa.")
    frame = Frame("lexicon", None, 0, code)

    def work() -> dict[str, int]:
        made = Lexicon.load(file) if file else Lexicon.from_gqa(gqa)
        made.dump(out)
        return {kind: len(getattr(made.data, kind)) for kind in ("nouns", "attributes", "relations")}

    frame.run(work, [file or gqa], [out])


def ingest(
    out: Annotated[Path, typer.Argument(help="Folder for the source's scene tables.")],
    lexicon: Annotated[Path | None, typer.Option(help="Lexicon that knows the attributes' groups.")] = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Read one source (--config names its reader and files) into scene tables and a table of rejects."""
    from compvqa.scenes.ingest import SourceSettings
    from compvqa.scenes.ingest import ingest as work

    frame = Frame("ingest", config, seed, code)
    source = frame.settings(SourceSettings)
    inputs = [*source.files.values(), *([lexicon] if lexicon else [])]
    outputs = [*scene_tables(out), out / "rejects.parquet"]
    frame.run(lambda: work(source, lexicon, out), inputs, outputs, out / "source.prov.json", reader=source.reader)


def scenes(
    out: Annotated[Path, typer.Argument(help="Folder for the merged scene tables.")],
    source: Annotated[list[Path], typer.Option(help="A source's folder, the preferred one first; repeat.")],
    code: Code = None,
) -> None:
    """Put the sources together: one scene an image, the first source's."""
    from compvqa.scenes.ingest import merge

    frame = Frame("scenes", None, 0, code)
    inputs = [path for folder in source for path in scene_tables(folder)]
    outputs = [*scene_tables(out), out / "rejects.parquet"]
    frame.run(lambda: merge(source, out), inputs, outputs, out / "scenes.prov.json")


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
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Judge which names exclude each other: m(x, y) for all pairs seen in one context (App. A)."""
    from compvqa.covr.filters.names.overlap import OverlapSettings
    from compvqa.covr.filters.names.overlap import overlap as work
    from compvqa.scenes.lexicon import KINDS

    frame = Frame("overlap", config, seed, code)
    settings = frame.settings(OverlapSettings)
    weights = [models / kind / name for kind in KINDS for name in ("model.safetensors", "model.json")] if models else []
    inputs = [*scene_tables(scenes), lexicon, *weights]
    frame.run(lambda: work(scenes, lexicon, out, settings, models), inputs, [out], method=settings.method)


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
    templates: Annotated[Path, typer.Option(help="Folder of templates (YAML).")],
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
        [seeds, related, others, *scene_tables(scenes), lexicon, templates],
        [questions, dropped],
        kinds=sorted({template.kind for template in load(templates)}),
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
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Balance templates, answers and structures, and deal dev and test (App. C)."""
    from compvqa.covr.questions.balance import BalanceSettings
    from compvqa.covr.questions.balance import balance as work

    frame = Frame("balance", config, seed, code)
    settings = frame.settings(BalanceSettings)
    frame.run(lambda: work(questions, out, settings, seed), [questions], [out])


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


def read_paraphrases(
    out: Annotated[Path, typer.Argument(help="Table of paraphrases to write.")],
    file: Annotated[Path, typer.Option(help="CSV, JSON lines or Parquet with the columns question_id and text.")],
    dataset: Annotated[Path, typer.Option(help="Table of the balanced dataset.")],
    code: Code = None,
) -> None:
    """Take people's paraphrases of the dataset's questions, which models then answer too (section 3.4)."""
    from compvqa.questions.paraphrases import read_paraphrases as work

    frame = Frame("read_paraphrases", None, 0, code)
    frame.run(lambda: work(file, dataset, out), [file, dataset], [out])


def split(
    out: Annotated[Path, typer.Argument(help="Table of the split to write.")],
    dataset: Annotated[Path, typer.Option(help="Table of the balanced dataset.")],
    scenes: Annotated[Path, typer.Option(help="The scenes table, to check that no image is on both sides.")],
    lexicon: Annotated[Path | None, typer.Option(help="Lexicon that knows the attributes' groups.")] = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Make one compositional split (section 4); --config holds its definition and the common settings."""
    from compvqa.questions.dataset import language_of
    from compvqa.run import validate
    from compvqa.splits.splitters import SplitSettings
    from compvqa.splits.splitters import split as work

    frame = Frame("split", config, seed, code)
    request = frame.settings(SplitRequest)
    settings = validate(SplitSettings, request.settings, "splits")
    frame.run(
        lambda: work(dataset, request.definition, lexicon, out, settings, seed, scenes),
        [dataset, scenes, *([lexicon] if lexicon else [])],
        [out],
        language=language_of(dataset),
    )


def schema() -> None:
    """Print the JSON schema of the configuration."""
    from compvqa.config import schema as text

    typer.echo(text(), nl=False)


def add_to(app: typer.Typer) -> None:
    """Add these commands in the order of the chain."""
    stages = (download, checkpoint, sprites, simulate, lexicon, ingest, scenes, subgraphs, overlap, candidates, related)
    stages = (*stages, questions, gather_questions, balance, read_questions, read_paraphrases, split, schema)
    for stage in stages:
        app.command(stage.__name__.replace("_", "-"), rich_help_panel=None)(stage)
