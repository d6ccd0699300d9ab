"""What a model's module declares, read from its source: importing the module would load torch."""

from __future__ import annotations

import ast
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from compvqa.errors import InputError
from compvqa.plugins import module_name

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
            f"compvqa/models/{model}.py has a READS that is no tuple of {', '.join(map(repr, KINDS))}, with one of "
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
    try:
        spec = find_spec(module_name("compvqa.models", model))
    except ModuleNotFoundError:  # a name with a dot in it
        spec = None
    if spec is None or not spec.origin:
        raise InputError(f"there is no model {model}: write compvqa/models/{model}.py or name another.")
    return ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
