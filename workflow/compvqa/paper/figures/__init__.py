"""The figures: each a module with ``make(inputs, reference) -> Figure``."""

from __future__ import annotations

from importlib import import_module, util
from pathlib import Path

from compvqa.errors import InputError
from compvqa.paper import reference, style
from compvqa.paper.data import Inputs


def make(definition: Path, inputs: Inputs, out: Path) -> dict[str, int]:
    """Draw the figure that the YAML file ``definition`` describes to ``<out>.png`` and ``<out>.pdf``.

    ``inputs``: paths by input name, at least those that the definition lists.
    """
    wanted = reference.load(definition)
    module = f"{__name__}.{wanted.make}"
    if wanted.kind != "figure" or util.find_spec(module) is None:
        raise InputError(f"{definition}: there is no figure called {wanted.make} in compvqa.paper.figures.")
    with style.applied():
        paths = style.save(import_module(module).make(inputs, wanted), out)
    return {"in": sum(len(inputs.get(name, ())) for name in wanted.inputs), "out": len(paths)}
