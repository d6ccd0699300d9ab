"""Properties of questions in any language: predicates with names, from which compositional splits are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from compvqa.errors import InputError
from compvqa.programs.rows import Program
from compvqa.scenes.graph import SceneGraph


class AttributeGroups(Protocol):
    """What properties ask of a lexicon."""

    def group(self, attribute: str) -> str | None: ...


class SceneGraphs(Protocol):
    """What properties ask of the scenes."""

    def graphs(self, scene_ids: Iterable[str]) -> Iterator[SceneGraph]: ...


class Question(Protocol):
    """What properties look at."""

    @property
    def template(self) -> str: ...

    @property
    def answer(self) -> str: ...

    @property
    def given(self) -> Sequence[str] | None:
        """The properties that a released file says the question has, by the file's names; None where no file does."""

    @property
    def program(self) -> Program: ...

    def names(self) -> set[str]:
        """The names in the program, and a queried one."""


Predicate = Callable[[Question], bool]


class PropertiesModule(Protocol):
    """The module ``properties`` of a language (:mod:`compvqa.programs.wings`)."""

    @property
    def COLUMNS(self) -> tuple[str, ...]: ...

    @property
    def PUBLISHED(self) -> Mapping[str, tuple[str, str]]: ...

    def questions(
        self, batch: pa.RecordBatch, lexicon: AttributeGroups | None = None, graphs: SceneGraphs | None = None
    ) -> Iterator[Question]: ...

    def named(self, name: str) -> Predicate: ...

    def held(self, question: Any) -> list[str]: ...


@dataclass(frozen=True)
class Property:
    """A kind of property.

    ``holds``: whether a question of the language (:class:`Question`) has it, with the value that follows the name, or
    None. ``values``: what may follow the name after a dash: a tuple of words, or a phrase that says what it may be
    (anything, a number), or None for nothing. ``bare``: whether the name may stand without.
    """

    name: str
    meaning: str
    holds: Callable[[Any, Any], bool]
    values: tuple[str, ...] | str | None = None
    bare: bool = True

    def accepts(self, value: str | None) -> bool:
        """Whether the name may be followed by ``value`` (None: by nothing)."""
        if value is None:
            return self.bare
        if self.values == "a number":
            return value.isdecimal()
        return bool(value) and (value in self.values if isinstance(self.values, tuple) else bool(self.values))

    def form(self) -> str:
        """How the name is written: ``HAS-QUANT[-ALL|SOME]``."""
        if self.values is None:
            return self.name
        tail = "|".join(self.values) if isinstance(self.values, tuple) else f"<{self.values}>"
        return f"{self.name}[-{tail}]" if self.bare else f"{self.name}-{tail}"


def named(name: str, kinds: Iterable[Property]) -> Predicate:
    """The predicate of one property's name among ``kinds``; raises :class:`InputError` for one that there is not."""
    kinds = tuple(kinds)
    for kind in kinds:
        value = name[len(kind.name) + 1 :] if name.startswith(f"{kind.name}-") else None
        if (value is not None or name == kind.name) and kind.accepts(value):
            return lambda question: kind.holds(question, value)
    forms = ", ".join(kind.form() for kind in kinds)
    raise InputError(f"there is no property {name!r}: use one of {forms}.")
