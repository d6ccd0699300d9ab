"""Commands about graph servers; the default chain needs none of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from compvqa import facts
from compvqa.cli.options import NOTHING, Code, Config, Frame, Scenes, optional, scene_tables
from compvqa.errors import InputError


def load_neo4j(
    scenes: Scenes,
    dataset: Annotated[
        Path | None, typer.Option(help="The dataset's folder or table: its questions are loaded too.")
    ] = None,
    splits: Annotated[
        list[Path], typer.Option(help="Folder of the dataset's splits, or a split's table; repeat.")
    ] = NOTHING,
    predictions: Annotated[
        list[Path], typer.Option(help="Models' answers: a folder of runs, a table, .csv or .jsonl; repeat.")
    ] = NOTHING,
    drop: Annotated[
        bool, typer.Option("--drop", help="Remove the dataset or, where none is given, the scenes' graph instead.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="File (JSON) to write when all is loaded: what, and into which server.")
    ] = None,
    config: Config = None,
    code: Code = None,
) -> None:
    """Load scene graphs into the Neo4j server of NEO4J_URI, to be asked by Cypher; goes on where it was stopped.

    With --dataset the whole test-bed: questions, the splits that they are in, and what models answered. --config takes
    the section neo4j. A graph is told by the property `graph` of its nodes, a dataset by `dataset`.
    """
    from compvqa.covr.explore import testbed
    from compvqa.covr.subgraphs.search import Neo4jSettings
    from compvqa.covr.subgraphs.search.neo4j import loading
    from compvqa.covr.subgraphs.search.neo4j.bolt import connect
    from compvqa.covr.subgraphs.search.neo4j.parts import graph_id
    from compvqa.paper.render import write_text

    frame = Frame("load_testbed" if dataset else "load_neo4j", config, 0, code)
    settings = frame.settings(Neo4jSettings)
    questions = dataset / "questions.parquet" if dataset is not None and dataset.is_dir() else dataset
    if questions is None and (splits or predictions):
        raise InputError("splits and predictions are of a dataset: give --dataset too.")
    graph = graph_id(scenes)
    if drop:
        _drop(scenes, graph, questions, settings.patience)
        return
    bed = testbed.WholeTestbed(graph, scenes, questions, splits, predictions) if questions else None

    def work() -> dict[str, int]:
        with connect(settings.patience) as server:
            loaded = loading.Loaded(server, scenes, settings.batch)
            counts = loaded.counts | {"parts loaded": loaded.new, "parts read back": loaded.verify()}
            told = loaded.told
            if bed is not None:
                counts |= bed.load(server)
                told = told | {"dataset": bed.dataset}
        typer.echo("load-neo4j: " + ", ".join(f"{key} {value}" for key, value in told.items()))
        facts.tell(**told)
        if out:
            write_text(out, json.dumps(told | counts, indent=1, ensure_ascii=False) + "\n")
        return counts

    inputs = [*scene_tables(scenes), *optional(questions), *splits, *predictions]
    frame.run(work, inputs, optional(out))


def _drop(scenes: Path, graph: str, questions: Path | None, patience: float) -> None:
    from compvqa.covr.explore import testbed
    from compvqa.covr.subgraphs.search.neo4j import loading
    from compvqa.covr.subgraphs.search.neo4j.bolt import connect

    with connect(patience) as server:
        removed = testbed.drop(server, graph, testbed.dataset_id(graph, questions) if questions else None)
        parts = 0 if questions else loading.drop(server, scenes)
    typer.echo(f"load-neo4j: {removed:,} datasets and {parts:,} parts of scenes removed")


def export_neo4j(
    scenes: Scenes,
    out: Annotated[Path, typer.Option(help="Folder for the CSV files.")],
    batch: Annotated[int, typer.Option(help="Scenes of a part, by which the graph is read back.", min=1)] = 1000,
    code: Code = None,
) -> None:
    """Write scene graphs as CSV for `neo4j-admin database import`.

    On the server's machine, with the server stopped, OUT/import.sh imports them: import.sh [--overwrite-destination]
    [DATABASE]. Then start it and run load-neo4j, which makes constraints and indexes and finds the graph loaded.
    """
    from compvqa.covr.subgraphs.search.neo4j.export import export, file_names

    frame = Frame("export_neo4j", None, 0, code)
    outputs = [out / name for name in file_names()]
    frame.run(lambda: export(scenes, out, batch), scene_tables(scenes), outputs, out / "export.prov.json")
