"""Facets of questions in any language: what accuracy is told by, beside a question's template and properties."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from compvqa.errors import InputError


@dataclass(frozen=True)
class Facet:
    """A facet.

    ``value``: the value that a question of the language has (:class:`compvqa.programs.properties.Question`), None where
    it has none; a number is written as text. ``scenes``: whether it looks at the question's scenes.
    """

    name: str
    meaning: str
    value: Callable[[Any], str | int | None]
    scenes: bool = False


class FacetsModule(Protocol):
    """The module ``facets`` of a language (:mod:`compvqa.programs.wings`)."""

    @property
    def FACETS(self) -> Iterable[Facet]: ...


def chosen(names: Iterable[str], facets: Iterable[Facet], language: str) -> list[Facet]:
    """The facets ``names`` of those of a language; raises :class:`InputError` for one that there is not."""
    known = {facet.name: facet for facet in facets}
    if unknown := [name for name in names if name not in known]:
        raise InputError(
            f"the language {language} has no facet {unknown[0]!r}: name some of {', '.join(known)} in scores.facets."
        )
    return [known[name] for name in dict.fromkeys(names)]
