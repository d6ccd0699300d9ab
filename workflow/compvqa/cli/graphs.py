"""Commands about graph servers; the default chain needs none of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compvqa.cli.data import Scenes
from compvqa.cli.options import Code, Config, Frame, scene_tables


def load_neo4j(
    scenes: Scenes,
    drop: Annotated[bool, typer.Option("--drop", help="Remove these scenes' graph from the server instead.")] = False,
    config: Config = None,
) -> None:
    """Load scene graphs into the Neo4j server of NEO4J_URI, to be asked by Cypher; goes on where it was stopped.

    --config takes what candidates takes. A graph is told by the property `graph` of its nodes.
    """
    from compvqa.graphs.backend import CandidateSettings
    from compvqa.graphs.neo4j import loading
    from compvqa.graphs.neo4j.bolt import connect
    from compvqa.run import parse_settings

    settings = parse_settings(CandidateSettings, config, "candidates").neo4j
    with connect(settings.patience) as server:
        if drop:
            typer.echo(f"load-neo4j: {loading.drop(server, scenes):,} parts removed")
            return
        loaded = loading.Loaded(server, scenes, settings.batch)
        typer.echo(f"load-neo4j: graph {loaded.graph}, {loaded.new:,} parts loaded, {loaded.verify():,} read back")


def export_neo4j(
    scenes: Scenes,
    out: Annotated[Path, typer.Option(help="Folder for the CSV files.")],
    batch: Annotated[int, typer.Option(help="Scenes of a part, by which the graph is read back.", min=1)] = 1000,
    code: Code = None,
) -> None:
    """Write scene graphs as CSV for `neo4j-admin database import`.

    On the server's machine, with the server stopped, the line in OUT/import.sh imports them:
    neo4j-admin database import full neo4j --nodes=Graph=graph.csv … --array-delimiter=U+001F. Then start it and run
    cypher-shell -f schema.cypher. Runs with NEO4J_URI then find the graph loaded.
    """
    from compvqa.graphs.neo4j.export import export, file_names

    frame = Frame("export_neo4j", None, 0, code)
    outputs = [out / name for name in file_names()]
    frame.run(lambda: export(scenes, out, batch), scene_tables(scenes), outputs, out / "export.prov.json")


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    for command in (load_neo4j, export_neo4j):
        app.command(command.__name__.replace("_", "-"), rich_help_panel=None)(command)
