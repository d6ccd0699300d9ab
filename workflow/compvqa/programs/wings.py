"""What a language brings with it: modules of its own folder, found by the language's name.

The folder ``compvqa/<language>/`` has

* ``language.py`` with ``LANGUAGE`` (:class:`compvqa.programs.language.Language`);
* ``properties.py`` with ``COLUMNS`` (of the dataset, that properties look at), ``questions(batch, lexicon, graphs)`` (a
  :class:`compvqa.programs.properties.Question` a row), ``named(name)`` (the predicate of a property),
  ``held(question)`` (the names of its properties, sorted) and ``PUBLISHED`` (further columns to publish: name to column
  and meaning), and, if it likes, for the card of what is published, ``ABOUT`` (what its questions are), ``DOUBT`` (how
  sure their answers are) and ``CITATION`` (BibTeX);
* ``facets.py`` with ``FACETS``: what scores of these questions can be told by (:class:`compvqa.programs.facets.Facet`);
* ``trace.py`` with ``traced(program, scenes)`` (index, operator, arguments and value of each row in print),
  ``answered(program, scenes)`` (its answer alone, None where it has none) and ``nouns(program)`` (what it looks for),
  and, if it likes, ``called(scene)`` (what objects are called in print, by id: pages then show which of a picture's
  objects a value, which names them with commas between, is);
* ``story.py`` with ``Tables`` and ``stories`` (for audits).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Protocol

from compvqa.errors import InputError
from compvqa.plugins import ROOT, file_of, load
from compvqa.programs.language import Language
from compvqa.programs.rows import Program


class LanguageModule(Protocol):
    """The module ``language`` of a language."""

    @property
    def LANGUAGE(self) -> Language: ...


class TraceModule(Protocol):
    """The module ``trace`` of a language. Scenes are of :class:`compvqa.scenes.graph.SceneGraph`."""

    def traced(self, program: Program, scenes: Sequence[Any]) -> list[tuple[str, str, str, str]]: ...

    def answered(self, program: Program, scenes: Sequence[Any]) -> str | None: ...

    def nouns(self, program: Program) -> set[str]: ...


PARTS = ("language", "properties", "facets", "trace", "story")


def part(language: str, name: str) -> ModuleType:
    """The module ``name`` (one of :data:`PARTS`) of a language; InputError where there is no such language."""
    full = f"{ROOT}.{language}.{name}"
    try:
        if not re.fullmatch("[a-z][a-z0-9_]*", language):
            raise ModuleNotFoundError(name=full)
        return load(full)
    except ModuleNotFoundError as error:
        if not (error.name and f"{full}.".startswith(f"{error.name}.")):
            raise
        raise InputError(f"there is no language {language!r}: write {file_of(full, language)}.") from None


def language(name: str) -> Language:
    """The language of this name."""
    module: LanguageModule = part(name, "language")
    return module.LANGUAGE
