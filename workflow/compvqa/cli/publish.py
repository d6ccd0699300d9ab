"""Commands that make what is handed to others: a dataset folder for the hub, tasks of harnesses, the crate of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from compvqa.cli.options import NOTHING, Code, Config, Frame, image_folders
from compvqa.errors import InputError
from compvqa.files import read_yaml

Pictures = Annotated[list[str], typer.Option(help="SPACE=FOLDER of pictures to hand on; repeat for more.")]
World = Annotated[Path | None, typer.Option(help="Folder of the drawn world.")]
Downloads = Annotated[Path | None, typer.Option(help="The list of downloads (TSV), for their URLs and licences.")]


def publish_questions(
    out: Annotated[Path, typer.Argument(help="Table of all questions to write.")],
    dataset: Annotated[Path, typer.Option(help="Table of the balanced dataset.")],
    scenes: Annotated[Path, typer.Option(help="The scenes table, for the images.")],
    code: Code = None,
) -> None:
    """Put all questions in one table with their images and properties, to be handed to others."""
    from compvqa.publish.parquet import publish_questions as work
    from compvqa.questions.dataset import language_of

    frame = Frame("publish_questions", None, 0, code)
    frame.run(lambda: work(dataset, scenes, out), [dataset, scenes], [out], language=language_of(dataset))


def publish_split(
    out: Annotated[list[Path], typer.Argument(help="A file for each part, named <part>.parquet.")],
    questions: Annotated[Path, typer.Option(help="Table of all questions (publish-questions).")],
    split: Annotated[Path, typer.Option(help="Table of the split.")],
    record: Annotated[Path, typer.Option(help="Where to write the record, apart from the folder.")],
    pictures: Pictures = NOTHING,
    world: World = None,
    config: Config = None,
    code: Code = None,
) -> None:
    """Write the questions of each part of a split, with their pictures where --pictures names some."""
    from compvqa.publish.parquet import language_of_published
    from compvqa.publish.parquet import publish_split as work
    from compvqa.publish.pictures import check_allowed
    from compvqa.publish.settings import PublishSettings

    frame = Frame("publish_split", config, 0, code)
    folders = image_folders(pictures)
    check_allowed(folders, world, frame.settings(PublishSettings))
    language = language_of_published(questions)
    frame.run(
        lambda: work(questions, split, {path.stem: path for path in out}, folders or None),
        [questions, split, *folders.values()],
        out,
        record,
        language=language,
    )


def publish_pictures(
    out: Annotated[list[Path], typer.Argument(help="The files of pictures.")],
    questions: Annotated[list[Path], typer.Option(help="Table of all questions (publish-questions); repeat.")],
    pictures: Pictures,
    record: Annotated[Path, typer.Option(help="Where to write the record, apart from the folder.")],
    world: World = None,
    archive: Annotated[list[str], typer.Option(help="SPACE=URL of pictures that are fetched; repeat.")] = NOTHING,
    config: Config = None,
    code: Code = None,
) -> None:
    """Write the pictures that questions show, each once; or which they are, and a script that fetches them."""
    from compvqa.publish import pictures as module
    from compvqa.publish.settings import PublishSettings

    frame = Frame("publish_pictures", config, 0, code)
    folders, settings = image_folders(pictures), frame.settings(PublishSettings)

    def work() -> dict[str, int]:
        if settings.pictures == "fetched":
            return module.publish_list(questions, folders, _by_name(archive, "archive SPACE=URL"), out)
        return module.publish_pictures(questions, folders, out)

    if settings.pictures != "fetched":
        module.check_allowed(folders, world, settings)
    frame.run(work, [*questions, *folders.values()], out, record)


def publish_card(
    folder: Annotated[Path, typer.Argument(help="The dataset folder, with data/<split>/<part>.parquet.")],
    questions: Annotated[list[Path], typer.Option(help="Table of all questions (publish-questions); repeat.")],
    made: Annotated[list[Path], typer.Option(help="Record of the dataset's making, for its day; repeat.")],
    split: Annotated[list[Path], typer.Option(help="A split's definition (YAML); repeat.")],
    record: Annotated[Path, typer.Option(help="Where to write the record, apart from the folder.")],
    raw: Annotated[list[str], typer.Option(help="<source>=<raw file>; repeat.")] = NOTHING,
    world: World = None,
    testbed: Annotated[str, typer.Option(help="Name of the test-bed.")] = "covr",
    datasheet: Annotated[Path | None, typer.Option(help="Answers by question by heading (YAML).")] = None,
    dataset: Annotated[list[Path], typer.Option(help="A dataset that was published, for its risks; repeat.")] = NOTHING,
    judged: Annotated[list[Path], typer.Option(help="What was judged of it, for the true share; repeat.")] = NOTHING,
    sources: Downloads = None,
    config: Config = None,
    code: Code = None,
) -> None:
    """Write a dataset folder's card (README.md) and Croissant metadata (croissant.json)."""
    from compvqa.provenance.sources import sources_of
    from compvqa.publish.card import write_card
    from compvqa.publish.croissant import write_croissant
    from compvqa.publish.description import DATA, describe, sweep
    from compvqa.publish.parquet import language_of_published
    from compvqa.publish.pictures import IMAGES
    from compvqa.publish.settings import PublishSettings
    from compvqa.scenes.download import read_sources
    from compvqa.splits.setups import module_of
    from compvqa.splits.splitters import read_definition

    frame = Frame("publish_card", config, 0, code)
    settings = frame.settings(PublishSettings)
    frame.note({"raw": list(raw), "testbed": testbed})
    card, metadata = folder / "README.md", folder / "croissant.json"

    def work() -> dict[str, int]:
        files = {name: [*map(Path, paths)] for name, paths in _by_name(raw, "raw <source>=<raw file>").items()}
        found = sources_of(files, read_sources(sources) if sources else [], world, settings.licences)
        described = describe(folder, questions, made, split, found, settings, testbed, datasheet, dataset, judged)
        swept = sweep(folder, described)
        write_card(described, card)
        write_croissant(described, metadata)
        counts = {"splits": len(described.splits), "files": sum(len(split.parts) for split in described.splits)}
        return counts | ({"deleted: files of earlier settings": swept} if swept else {})

    shown = [folder / IMAGES] if settings.pictures == "once" else []
    inputs = [*questions, *made, *split, *dataset, *judged, folder / DATA, *shown, *filter(None, [sources, datasheet])]
    language = language_of_published(questions[0])
    setups = {module_of(read_definition(read_yaml(path)).setup) for path in split}
    frame.run(work, inputs, [card, metadata], record, language=language, setups=sorted(setups))


def _by_name(given: list[str], option: str) -> dict[str, list[str]]:
    """What is behind the equals signs by what is before them. option: its name and form, without the dashes."""
    found: dict[str, list[str]] = {}
    for text in given:
        name, equals, rest = text.partition("=")
        if not equals:
            word, form = option.split(" ", 1)
            raise InputError(f"--{word} {text} is not of the form {form}.")
        found.setdefault(name, []).append(rest)
    return found


def crate(
    results: Annotated[Path, typer.Argument(help="Folder of a run's results, as the workflow named it.")],
    project: Annotated[Path, typer.Option(help="Folder of the workflow: what it holds is put into the crate.")],
    target: Annotated[
        list[Path], typer.Option(help="A file that the run was for; repeat. Without it, all that have a record.")
    ] = NOTHING,
    sources: Downloads = None,
    config: Config = None,
    code: Code = None,
) -> None:
    """Describe a finished run as a Workflow Run RO-Crate: ro-crate-metadata.json in the folder of its results."""
    from compvqa.provenance.lineage import Lineage
    from compvqa.provenance.manifest import MANIFEST
    from compvqa.publish.crate import CODE, METADATA, CrateSettings, write_crate
    from compvqa.scenes.download import read_sources

    frame = Frame("crate", config, 0, code)
    settings = frame.settings(CrateSettings)
    lineage = Lineage.read(results, target)
    downloads = read_sources(sources) if sources else []
    out = [results / METADATA, results / CODE]
    read = [*(Path(run.path) for run in lineage.runs), *results.glob(MANIFEST)]
    frame.run(lambda: write_crate(lineage, project, settings, downloads), read, out)


def export_tasks(
    out: Annotated[Path, typer.Argument(help="Folder to write.")],
    form: Annotated[Literal["lmms-eval", "vlmevalkit"], typer.Option(help="The harness that shall ask.")],
    prompt: Annotated[Path, typer.Option(help="A file of config/prompts: what is said beside the pictures.")],
    split: Annotated[list[Path], typer.Option(help="Table of a split, whose tested parts are exported; repeat.")],
    dataset: Annotated[Path, typer.Option(help="Table of the balanced dataset.")],
    scenes: Annotated[Path, typer.Option(help="The scenes table, for the images.")],
    images: Annotated[list[str], typer.Option(help="SPACE=FOLDER of pictures; repeat for more.")],
    testbed: Annotated[str, typer.Option(help="Name of the test-bed, with which tasks' names begin.")],
    code: Code = None,
) -> None:
    """Write the tested parts of splits as tasks of a harness that asks and scores by itself, and a group of all."""
    from compvqa.asking.prompts import Prompt
    from compvqa.asking.questions import Questions
    from compvqa.asking.settings import AskedModel
    from compvqa.publish.tasks import Task, export, files_of, task_name
    from compvqa.run import validate
    from compvqa.splits.splitters import tested

    frame, found = Frame("export_tasks", None, 0, code), {}
    frame.note({"form": form, "testbed": testbed})
    wording, nobody = validate(Prompt, read_yaml(prompt), str(prompt)), AskedModel(inspect="none/none")
    for path in split:
        questions = Questions(dataset, path, scenes, image_folders(images), nobody, 0)
        name, parts = tested(path)
        for part in parts:
            task = task_name(testbed, name, part if parts[1:] else "")
            if task in found:
                raise InputError(f"--split {path}: there is a task {task} already: export it into another folder.")
            found[task] = list(questions.asked([part]))
    tasks, answers = [Task(*item) for item in found.items()], questions.answers()
    outputs = [out / name for name in files_of(form, testbed, list(found))]
    record = out / "export.prov.json"
    given = [dataset, scenes, prompt, *split]
    frame.run(lambda: export(form, tasks, testbed, answers, wording, out), given, outputs, record)


def add_to(app: typer.Typer) -> None:
    """Add these commands in their order."""
    for stage in (publish_questions, publish_split, publish_pictures, publish_card, export_tasks, crate):
        app.command(stage.__name__.replace("_", "-"))(stage)
