"""What else the names of questions may be read as: a puppy is a dog too, a wine bottle a bottle, a couch a sofa.

A question is asked only if its answer, and that there is one object which it speaks of, hold by the annotated names and
by all that these may also be called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import pyarrow.compute as pc

from compvqa import tables
from compvqa.covr.questions.references import names
from compvqa.covr.subgraphs.subgraph import Reference
from compvqa.scenes.graph import SceneGraph
from compvqa.scenes.lexicon import Lexicon
from compvqa.scenes.tables import ATTRIBUTES, OBJECTS, RELATIONS

TABLES = {"noun": OBJECTS, "attribute": ATTRIBUTES, "relation": RELATIONS}


class Readings:
    """For each name the annotated names that may also be called so, itself included."""

    def __init__(self, found: Mapping[str, Mapping[str, frozenset[str]]]):
        self._found = found

    @classmethod
    def of(cls, lexicon: Lexicon, scenes: Path) -> Readings:
        """The readings of all names of the scene tables in the folder ``scenes``, as the lexicon tells them."""
        found: dict[str, dict[str, frozenset[str]]] = {}
        for kind, schema in TABLES.items():
            column = tables.read(scenes / f"{schema.name}.parquet", schema, columns=["name"])["name"]
            specific: dict[str, set[str]] = {}
            for general, special in lexicon.entailments(kind, pc.unique(column).to_pylist()):
                specific.setdefault(general, {general}).add(special)
            found[kind] = {name: frozenset(others) for name, others in specific.items()}
        return cls(found)

    def entailed(self, kind: str, name: str) -> frozenset[str]:
        """The names n such that what is annotated as n may also be called ``name``."""
        return self._found[kind].get(name) or frozenset((name,))

    def read_as(self, g: Reference) -> frozenset[str]:
        """What else of the annotated names may be called by one of the reference's names."""
        return frozenset().union(*(self.others.get(name, ()) for _, name in names(g)))

    @cached_property
    def others(self) -> Mapping[str, frozenset[str]]:
        """For each name of any kind that has another reading what else of the annotated names may be called so."""
        result: dict[str, frozenset[str]] = {}
        for found in self._found.values():
            for name, others in found.items():
                result[name] = result.get(name, frozenset()).union(others) - {name}
        return result

    def matter(self, names: Iterable[str], scenes: Sequence[SceneGraph]) -> bool:
        """Whether one of the scenes holds a name that may be called by one of ``names``, which is another."""
        others = [found for name in names if (found := self.others.get(name))]
        return any(not found.isdisjoint(scene.names) for found in others for scene in scenes)
