"""CLEVR-HOPE's Table 2: how its models are trained, as the files of ours say."""

from __future__ import annotations

from typing import Any

from compvqa.files import read_yaml
from compvqa.paper.data import Inputs, many
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.training.settings import OptimisationSettings


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a setting (``options.settings``: what it is called, by its name in ``training.optimisation``), a column a
    model, of which ``options.models`` gives the file's name; one that no file says has its default."""
    told = {column: _settings(inputs, name) for column, name in reference.options["models"].items()}
    rows = []
    for key, label in reference.options["settings"].items():
        cells = [Cell(_said(told[column], key), paper=_text(reference.value(label, column))) for column in told]
        rows.append(Row(label, tuple(cells)))
    lost = [column for column, of in told.items() if of is None]
    notes = [f"No file of ours trains {', '.join(lost)}."] if lost else []
    return Table(reference.title, reference.citation, "Setting", tuple(told), tuple(rows), (*notes, *reference.notes))


def _settings(inputs: Inputs, name: str) -> OptimisationSettings | None:
    """How the model is trained whose file is called so, in the first of the folders that has it."""
    files = (folder / f"{name}.yaml" for folder in many(inputs, "models"))
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        return None
    said: dict[str, Any] = read_yaml(file).get("training", {}).get("optimisation", {})
    known = {key: value for key, value in said.items() if key in OptimisationSettings.model_fields}
    return OptimisationSettings.model_validate(known)


def _said(settings: OptimisationSettings | None, key: str) -> str | None:
    if settings is None:
        return None
    if key == "most_steps" and not settings.most_steps:
        return f"{settings.epochs:g} passes"
    return _text(getattr(settings, key))


def _text(value: object) -> str | None:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else None
