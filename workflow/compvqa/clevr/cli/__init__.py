"""CLEVR's own commands: ``python -m compvqa clevr …``."""

from __future__ import annotations

import typer

from compvqa.cli.options import add


def add_to(app: typer.Typer) -> None:
    """Add them to the command line, in the order of the chain."""
    from compvqa.clevr.cli import data, execute, lint, pairs, world

    clevr = typer.Typer(
        name="clevr",
        help="CLEVR by hand: scenes with pictures (world), questions on scenes that `ingest` read, files of CLEVR's in "
        "and out, programs run (execute), templates looked over (lint).",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    add(clevr, world.world, world.pool, world.gather_world, data.questions, data.read_questions, data.gather_questions)
    add(clevr, pairs.pair_scenes, pairs.pair_questions, pairs.gather_pair, pairs.prelim_questions, pairs.read_hope)
    add(clevr, execute.write_questions, execute.execute, lint.lint)
    app.add_typer(clevr)
