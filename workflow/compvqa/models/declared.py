"""What a model's module declares, read from its source: importing the module would load torch."""

from __future__ import annotations

import ast
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from compvqa.errors import InputError, not_python
from compvqa.plugins import file_of, module_name, of_own_code

REGIONS, POOLED, PROGRAMS, OWN_PROGRAMS, SCENES = "regions", "pooled", "programs", "own_programs", "scenes"
PICTURES = (REGIONS, POOLED)  # what is seen of pictures: one of them
# Programs: those of train and dev questions. Own ones: each question's, when it is answered too. Scenes: those of a
# baseline, as graphs.
KINDS = (*PICTURES, PROGRAMS, OWN_PROGRAMS, SCENES)


@cache
def reads(model: str) -> tuple[str, ...]:
    """What the model named ``model`` reads besides texts: its literal ``READS``, some of :data:`KINDS`, of
    :data:`PICTURES` one at most; an :class:`InputError` where it is something else, or there is no such model."""
    found: object = ()
    for node in _source(model).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["READS"]:
            found = _literal(node.value)
    if not isinstance(found, tuple) or set(found) - {*KINDS} or set(PICTURES) <= set(found):
        raise InputError(
            f"{_file(model)} has a READS that is no tuple of {', '.join(map(repr, KINDS))}, with one of "
            f"{' and '.join(map(repr, PICTURES))} at most: write it as one."
        )
    return found


def sees(model: str) -> str:
    """Which of :data:`PICTURES` the model named ``model`` reads; empty for one that sees none."""
    return next((kind for kind in PICTURES if kind in reads(model)), "")


@cache
def has_backbone(model: str) -> bool:
    """Whether the model has a backbone, which can be pretrained to match images and subgraphs."""
    return any(isinstance(node, ast.ClassDef) and node.name == "Backbone" for node in _source(model).body)


def _literal(value: ast.expr) -> object:
    try:
        return ast.literal_eval(value)
    except ValueError:
        return None


@cache
def _source(model: str) -> ast.Module:
    path = _file(model)
    try:
        return ast.parse(path.read_bytes())
    except SyntaxError as error:
        raise not_python(error, path) from None


def _file(model: str) -> Path:
    """The file of a model's module."""
    module = module_name("compvqa.models", model)
    try:
        spec = find_spec(module)
    except (SyntaxError, ImportError) as error:  # in an __init__.py of the user's; else there is no such engine
        if told := of_own_code(error):
            raise told from None
        spec = None
    if spec is None or not spec.origin:
        raise InputError(f"there is no model {model}: name another, or write {file_of(module, model)}.")
    return Path(spec.origin)
