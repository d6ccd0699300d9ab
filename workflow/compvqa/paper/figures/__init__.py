"""The figures: each a module with ``make(inputs, reference) -> Figure``."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from matplotlib.figure import Figure

from compvqa import plugins
from compvqa.errors import InputError
from compvqa.paper import reference, style
from compvqa.paper.data import Inputs
from compvqa.questions.dataset import language_of


class FigureModule(Protocol):
    """A module of a figure."""

    def make(self, inputs: Inputs, wanted: reference.Reference, /) -> Figure: ...


def make(definition: Path, inputs: Inputs, out: Path) -> dict[str, int]:
    """Draw the figure that the YAML file ``definition`` describes to ``<out>.png`` and ``<out>.pdf``.

    ``inputs``: paths by input name, at least those that the definition lists.
    """
    wanted = reference.load(definition)
    for dataset in inputs.get("dataset", ()):
        language_of(dataset)
    if wanted.kind != "figure":
        raise InputError(f"{definition} describes a {wanted.kind}, not a figure: correct its kind.")
    module: FigureModule = plugins.find(__name__, wanted.make, "make", f"figure ({definition})")
    with style.applied():
        paths = style.save(module.make(inputs, wanted), out)
    return {"in": sum(len(inputs.get(name, ())) for name in wanted.inputs), "out": len(paths)}
