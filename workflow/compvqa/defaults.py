"""All keys of the config in YAML: each with its default and, in a comment, its meaning."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import get_args

from pydantic import TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from compvqa.config import Config, World, kinds, worlds
from compvqa.settings import Settings

HEAD = """\
# All keys of a config with their defaults (`python -m compvqa schema --defaults`). What has no value must be given.
# First what every config has; then, a document each, what `dataset` has for each kind, and `world` for each.
"""
WIDTH = 118


def defaults() -> str:
    """The YAML of all defaults: several documents, of which the first is what all configs have."""
    found = [[*_section(Config, {"dataset", "world"})]]
    for name, kind in sorted(kinds().items()):
        found.append(["dataset:", *_indented([f"kind: {name}", *_section(kind, {"kind"})])])
    for name, world in sorted(worlds().items()):
        inner = ["settings:", *_indented(_section(world.SETTINGS))]
        found.append(
            ["world:", *_indented([f"kind: {name}", *_comment(World.model_fields["folder"]), "folder:", *inner])]
        )
    return HEAD + "---\n".join("\n".join(document) + "\n" for document in found)


def _section(model: type[Settings], but: AbstractSet[str] = frozenset()) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if name not in but:
            yield from _field(name, field)


def _field(name: str, field: FieldInfo) -> Iterator[str]:
    inner, given = _settings_in(field), field.get_default(call_default_factory=True)
    is_one = field.annotation is inner
    yield from _comment(field, inner)
    if inner and is_one:
        yield f"{name}:"
        yield from _indented(_section(inner))
        return
    yield f"{name}:" if given is PydanticUndefined else f"{name}: {json.dumps(_plain(given), ensure_ascii=False)}"
    if inner:
        yield "# with"
        yield from (f"#   {line}" for line in _section(inner))


def _plain(default: object) -> object:
    return TypeAdapter(object).dump_python(default, mode="json")


def _settings_in(field: FieldInfo) -> type[Settings] | None:
    """The settings that a field's type is, or has within it (a list of them, or one or none)."""
    waiting = [field.annotation]
    while waiting:
        one = waiting.pop()
        if isinstance(one, type) and issubclass(one, Settings):
            return one
        waiting += get_args(one)
    return None


def _comment(field: FieldInfo, inner: type[Settings] | None = None) -> list[str]:
    text = field.description or (inner.__doc__ or "").partition("\n\n")[0]
    return [f"# {line}" for line in textwrap.wrap(text, WIDTH - 2)]


def _indented(lines: Iterator[str] | list[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)
