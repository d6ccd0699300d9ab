"""The tables: each a module with ``make(inputs, reference) -> Table``."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module, util
from pathlib import Path

from compvqa.errors import InputError
from compvqa.paper import reference, render
from compvqa.paper.data import Inputs


def make(definition: Path, inputs: Inputs, out: Path) -> dict[str, int]:
    """Write the table that the YAML file ``definition`` describes to ``<out>.csv``, ``.html`` and ``.tex``.

    ``inputs``: paths by input name, at least those that the definition lists.
    """
    wanted = reference.load(definition)
    module = f"{__name__}.{wanted.make}"
    if wanted.kind != "table" or util.find_spec(module) is None:
        raise InputError(f"{definition}: there is no table called {wanted.make} in compvqa.paper.tables.")
    table = replace(import_module(module).make(inputs, wanted), apart=wanted.apart)
    render.save(table, out)
    return {"in": sum(len(inputs.get(name, ())) for name in wanted.inputs), "out": len(table.rows)}
