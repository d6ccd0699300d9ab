"""The command that scores anyone's predictions, without Snakemake."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compvqa.cli.options import NOTHING, Config, Frame, Seed, scene_tables
from compvqa.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table


def score(
    file: Annotated[Path, typer.Argument(help="Predictions: .csv, .jsonl or .parquet with question_id and answer.")],
    split: Annotated[str, typer.Option(help="A split: its table's path, or its name in the test-bed of --dataset.")],
    dataset: Annotated[
        Path | None, typer.Option(help="Table of the questions; without it, that of the split's test-bed.")
    ] = None,
    part: Annotated[
        list[str], typer.Option(help="A part to score; repeat. Without it, those that FILE answers.")
    ] = NOTHING,
    paraphrased: Annotated[bool, typer.Option("--paraphrased", help="The answers are to the paraphrases.")] = False,
    text: Annotated[
        Path | None, typer.Option(help="Predictions of a model without images; with --size, a generalization score.")
    ] = None,
    size: Annotated[
        Path | None, typer.Option(help="Those of one trained on as many of all questions; with --text.")
    ] = None,
    scenes: Annotated[
        Path | None, typer.Option(help="Folder of the scene tables; without it, that of the dataset's test-bed.")
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(help="Table with question_id and question_index (origins.parquet): FILE has the latter."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Table of the scores to write: .csv or .parquet.")] = None,
    config: Config = None,
    seed: Seed = 1,
) -> None:
    """Score anyone's predictions on a split: overall and by template, property and every facet that the questions'
    language has (--config '{"facets": […]}' names some), with bootstrap intervals."""
    from rich.console import Console

    from compvqa.evaluation.facets import look_at_scenes, names_of
    from compvqa.evaluation.scores import ScoreSettings
    from compvqa.evaluation.submitted import save, score_file
    from compvqa.questions.dataset import language_of

    if (text is None) != (size is None):
        raise InputError(
            "a generalization score compares with two other models' predictions: give both --text and --size."
        )
    if out is not None and out.suffix not in (".csv", ".parquet"):
        raise InputError(f"--out {out} does not say what to write: end it in .csv or .parquet.")
    frame = Frame("score", config, seed, None)
    settings = frame.settings(ScoreSettings)
    made, questions = _find(split, dataset)
    paraphrases = questions.with_name("paraphrases.parquet") if paraphrased else None
    if paraphrases is not None and not paraphrases.exists():
        raise InputError(
            f"{questions} has no paraphrases: leave --paraphrased out, or name a file of them in the config."
        )
    language = language_of(questions)
    beside = scenes or questions.parent.parent / "scenes"
    if "facets" not in settings.model_fields_set:
        told = names_of(language, scenes=scenes is not None or (beside / "scenes.parquet").exists())
        settings = settings.model_copy(update={"facets": told})
    frame.note({"parts": sorted(part), "paraphrased": paraphrased, "facets": sorted(settings.facets)})
    looked_at = scene_tables(beside) if look_at_scenes(language, settings.facets) else []
    baselines = (text, size) if text and size else None
    rows: list[dict] = []

    def work() -> dict[str, int]:
        shown = looked_at[0] if looked_at else None
        found, counts = score_file(file, made, questions, part, paraphrases, baselines, settings, seed, shown, names)
        rows.extend(found)
        if out is not None:
            save(found, out)
        return counts

    others = [path for path in (paraphrases, text, size, names) if path]
    inputs = [file, made, questions, *others, *looked_at]
    frame.run(work, inputs, [out] if out else [], language=language, contrast=list(settings.contrasts))
    for table in _tables(rows, file, settings.level):
        Console().print(table)


def _find(split: str, dataset: Path | None) -> tuple[Path, Path]:
    """The tables of the split and of its dataset, each found beside the other if need be."""
    path = Path(split)
    if path.suffix == ".parquet":
        return path, dataset or path.parent.parent / "dataset/questions.parquet"
    if dataset is None:
        raise InputError(
            f"--split {split} is a name: give --dataset results/<testbed>/dataset/questions.parquet with it."
        )
    folder = dataset.parent.parent / "splits"
    path = folder / f"{split}.parquet"
    if not path.exists():
        known = ", ".join(sorted(other.stem for other in folder.glob("*.parquet"))) or "none"
        raise InputError(f"{folder} has no split {split} (there are {known}): name another, or give its path.")
    return path, dataset


def _tables(rows: list[dict], file: Path, level: float) -> Iterator[Table]:
    """The scores in print, a table for each part."""
    from rich.table import Table
    from rich.text import Text

    for (split, part, text), group in groupby(rows, key=lambda row: (row["split"], row["part"], row["text"])):
        table = Table(
            "", "questions", "accuracy", f"{level:.0%} interval", title=Text(f"{file.name}: {split}, {part}, {text}")
        )
        for column in table.columns[1:]:
            column.justify = "right"
        kinds = groupby(group, key=lambda row: (row["measure"], row["facet"]))
        for _, of in kinds:
            for row in of:
                table.add_row(*map(Text, _cells(row)))
            table.add_section()
        yield table


def _cells(row: dict) -> tuple[str, ...]:
    from compvqa.evaluation.facets import PROPERTY, TEMPLATE

    form = (lambda value: f"{100 * value:.1f}") if row["measure"] == "accuracy" else "{:.2f}".format
    whole = "all" if row["measure"] == "accuracy" else f"{row['measure']} score"
    value, low, high = ("–" if row[column] is None else form(row[column]) for column in ("score", "low", "high"))
    between = "–" if row["low"] is None else f"{low} – {high}"
    told = row["value"] if row["facet"] in (TEMPLATE, PROPERTY) else f"{row['facet']}: {row['value']}"
    return told if row["value"] else whole, f"{row['n']:,}", value, between


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    app.command()(score)
