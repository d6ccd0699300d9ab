"""Commands from raw files to splits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from compvqa.cli.options import Code, Config, Frame, Seed, add, optional, place_tables, scene_tables
from compvqa.settings import Settings


class SplitRequest(Settings):
    """A split's definition (a file of config/splits), and what all splits share."""

    definition: dict
    settings: dict = {}


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
    wordnet: Annotated[Path | None, typer.Option(help="Folder of WordNet's data.noun and index.noun.")] = None,
    code: Code = None,
) -> None:
    """Make the vocabulary's lexicon from a file, or from GQA's ontology; what nouns mean besides, from WordNet."""
    from compvqa.errors import InputError
    from compvqa.scenes.lexicon import Lexicon

    given = file or gqa
    if given is None or (file and gqa):
        raise InputError("lexicon: give either --file or --gqa.")
    frame = Frame("lexicon", None, 0, code)

    def work() -> dict[str, int]:
        made = Lexicon.load(given) if file else Lexicon.from_gqa(given)
        made = made.with_wordnet(wordnet) if wordnet else made
        made.dump(out)
        return {kind: len(getattr(made.data, kind)) for kind in ("nouns", "attributes", "relations")}

    frame.run(work, [given, *optional(wordnet)], [out])


def ingest(
    out: Annotated[Path, typer.Argument(help="Folder for the source's scene tables.")],
    lexicon: Annotated[Path | None, typer.Option(help="Lexicon that knows the attributes' groups.")] = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Read one source (--config names its reader and files) into scene tables and a table of rejects."""
    from compvqa.scenes.ingest import SourceSettings, has_places
    from compvqa.scenes.ingest import ingest as work

    frame = Frame("ingest", config, seed, code)
    source = frame.settings(SourceSettings)
    inputs = [*source.files.values(), *([lexicon] if lexicon else [])]
    places = place_tables(out) if has_places(source.reader) else []
    outputs = [*scene_tables(out), *places, out / "rejects.parquet"]
    frame.run(lambda: work(source, lexicon, out), inputs, outputs, out / "source.prov.json", reader=source.reader)


def scenes(
    out: Annotated[Path, typer.Argument(help="Folder for the merged scene tables.")],
    source: Annotated[list[Path], typer.Option(help="A source's folder, the preferred one first; repeat.")],
    code: Code = None,
) -> None:
    """Put the sources together: one scene an image, the first source's."""
    from compvqa.scenes.merge import merge

    frame = Frame("scenes", None, 0, code)
    places = [path for folder in source for path in place_tables(folder) if path.exists()]
    inputs = [*(path for folder in source for path in scene_tables(folder)), *places]
    outputs = [*scene_tables(out), *(place_tables(out) if places else []), out / "rejects.parquet"]
    frame.run(lambda: merge(source, out), inputs, outputs, out / "scenes.prov.json")


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
    scenes: Annotated[
        Path,
        typer.Option(help="The scenes table, for its images; properties may look at the tables beside it."),
    ],
    lexicon: Annotated[Path | None, typer.Option(help="Lexicon that knows the attributes' groups.")] = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Make one compositional split (section 4); --config holds its definition and the common settings."""
    from compvqa.questions.dataset import language_of
    from compvqa.run import validate
    from compvqa.splits.setups import SplitSettings, module_of
    from compvqa.splits.splitters import read_definition
    from compvqa.splits.splitters import split as work

    frame = Frame("split", config, seed, code)
    request = frame.settings(SplitRequest)
    settings = validate(SplitSettings, request.settings, "splits")
    beside = [path for path in scene_tables(scenes.parent) if path != scenes and path.exists()]
    frame.run(
        lambda: work(dataset, request.definition, lexicon, out, settings, seed, scenes),
        [dataset, scenes, *beside, *([lexicon] if lexicon else [])],
        [out],
        language=language_of(dataset),
        setup=module_of(read_definition(request.definition).setup),
    )


def schema(
    defaults: Annotated[
        bool, typer.Option("--defaults", help="Instead, all keys in YAML with default and meaning.")
    ] = False,
) -> None:
    """Print the JSON schema of the configuration."""
    from compvqa import config
    from compvqa.defaults import defaults as keys

    typer.echo(keys() if defaults else config.schema(), nl=False)


def before(app: typer.Typer) -> None:
    """Add the commands that come before an engine's, in the order of the chain."""
    add(app, download, checkpoint, sprites, simulate, lexicon, ingest, scenes)


def after(app: typer.Typer) -> None:
    """Add those that come after them."""
    add(app, read_paraphrases, split, schema)
