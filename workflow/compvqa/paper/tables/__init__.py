"""The tables: each a module with ``make(inputs, reference) -> Table``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Protocol

from compvqa import plugins
from compvqa.errors import InputError
from compvqa.paper import reference, render
from compvqa.paper.data import Inputs
from compvqa.questions.dataset import language_of


class TableModule(Protocol):
    """A module of a table."""

    def make(self, inputs: Inputs, wanted: reference.Reference, /) -> render.Table: ...


def make(definition: Path, inputs: Inputs, out: Path, apart: str = "", note: str = "") -> dict[str, int]:
    """Write the table that the YAML file ``definition`` describes to ``<out>.csv``, ``.html`` and ``.tex``.

    ``inputs``: paths by input name, at least those that the definition lists. ``apart``: why the paper's numbers can't
    be compared with ours, if the definition gives no reason. ``note``: what stands below a table of scores about their
    data.
    """
    wanted = reference.load(definition)
    wanted = wanted.model_copy(update={"apart": wanted.apart or apart})
    for dataset in inputs.get("dataset", ()):
        language_of(dataset)
    if wanted.kind != "table":
        raise InputError(f"{definition} describes a {wanted.kind}, not a table: correct its kind.")
    module: TableModule = plugins.find(__name__, wanted.make, "make", f"table ({definition})")
    table = replace(module.make(inputs, wanted), apart=wanted.apart, whose=wanted.whose)
    if note and "scores" in wanted.inputs:
        table = replace(table, notes=(note, *table.notes))
    render.save(table, out)
    return {"in": sum(len(inputs.get(name, ())) for name in wanted.inputs), "out": len(table.rows)}
