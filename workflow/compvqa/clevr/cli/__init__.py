"""CLEVR's own commands."""

from __future__ import annotations

import typer

from compvqa.cli.options import add


def add_to(app: typer.Typer) -> None:
    """Add them to the command line, in the order of the chain."""
    from compvqa.clevr.cli import data

    add(app, data.clevr_questions, data.read_clevr_questions, data.gather_clevr_questions)
